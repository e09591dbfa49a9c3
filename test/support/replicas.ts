/** Replicas joined by lines in one process, in virtual time. */
import type { Link, LinkEnd, Replica } from '../../src/shared/replication/index.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * What happens to a frame on its way: the delays, in ms, of each copy that arrives, and the bytes
 * of it.
 */
export type Carrier = (frame: Uint8Array) => readonly { readonly ms: number; readonly frame: Uint8Array }[];

export interface Line {
  readonly live: () => boolean;
  cut(): void;
  /** Bytes handed to each end so far. */
  readonly sent: { readonly a: number; readonly b: number };
}

export interface End {
  readonly replica: Replica;
  readonly name: string;
  /** What it is to the other. */
  readonly kind: Link['kind'];
}

/** Every frame arrives, in order, after 5 ms. */
export const steady: Carrier = (frame) => [{ ms: 5, frame }];

export interface LineOptions {
  readonly carry?: Carrier;
  /** A replica gave the line up. */
  readonly onClose?: (reason: string) => void;
  readonly onCut?: () => void;
}

/** A line from a to b; frames that are under way when it is cut are lost. */
export function join(time: VirtualTime, a: End, b: End, { carry = steady, onClose, onCut }: LineOptions = {}): Line {
  let live = true;
  const sent = { a: 0, b: 0 };
  const ends: { a?: LinkEnd; b?: LinkEnd } = {};
  const waiting = { a: 0, b: 0 };

  function cut(): void {
    if (!live) return;
    live = false;
    ends.a?.gone();
    ends.b?.gone();
    onCut?.();
  }
  const link = (side: 'a' | 'b', other: End): Link => ({
    kind: other.kind,
    name: other.name,
    buffered: () => waiting[side],
    close(reason) {
      onClose?.(reason);
      cut();
    },
    send(frame) {
      if (!live) return;
      sent[side] += frame.length;
      waiting[side] += frame.length;
      time.after(1, () => {
        waiting[side] -= frame.length;
        if (live) ends[side]?.drained();
      });
      for (const copy of carry(frame)) {
        time.after(copy.ms, () => {
          if (live) ends[side === 'a' ? 'b' : 'a']?.take(copy.frame);
        });
      }
    },
  });
  ends.a = a.replica.connect(link('a', b));
  ends.b = b.replica.connect(link('b', a));
  return { live: () => live, cut, sent };
}
