/** What is known of one peer, and how it is told what is here. */
import { errorMessage } from '../domain/platform/error-message.ts';
import type { Entry, EntryKey, Have } from '../protocol/sync/entries.ts';
import { createAccount, type Account } from './account.ts';
import type { Link } from './contract.ts';
import { encodeFrame, type Frame } from './frames.ts';
import type { ReplicationSettings } from './settings.ts';
import { createTasks, type Tasks } from './tasks.ts';

export interface Peer {
  readonly link: Link;
  /** What it has said it has. */
  readonly has: Account;
  /** Of that, what is left to the relay for a moment. */
  readonly fresh: Account;
  /**
   * Writers of this device that are not known to be the same there: nothing of them is fetched from
   * it yet.
   */
  readonly doubted: Set<string>;
  readonly tasks: Tasks;
  /** Has it said everything it has? */
  heard: boolean;
  /** How many frames have come from it. */
  frames: number;
  /** Requests on this link that were not answered in time. */
  lost: number;
  /** Was it told everything that is here? Until then nothing is pushed. */
  announced(): boolean;
  live(): boolean;
  hasRoom(): boolean;
  /** False where the link is gone. */
  send(frame: Frame): boolean;
  /** To be told that these are here, or no longer: the next time that there is room. */
  owe(keys: Iterable<EntryKey>): void;
  oweLess(key: EntryKey): void;
  /** To be told everything. */
  oweAll(): void;
  /** To be handed these with `replace`. */
  oweReplaced(entries: readonly Entry[]): void;
  /** Tells what is owed, as far as there is room. */
  flush(): void;
  end(): void;
}

export function createPeer({
  link,
  settings,
  here,
  broken,
}: {
  readonly link: Link;
  readonly settings: ReplicationSettings;
  /** What is here; null: not known yet. */
  readonly here: () => Have | null;
  readonly broken: (reason: string) => void;
}): Peer {
  const more = createAccount();
  const less = createAccount();
  let replaced: Entry[] = [];
  let all = true;
  let announced = false;
  let live = true;
  const hasRoom = () => live && link.buffered() < settings.bufferBytes;

  const peer: Peer = {
    link,
    has: createAccount(),
    fresh: createAccount(),
    doubted: new Set(),
    tasks: createTasks({ hasRoom, most: settings.peerTasks }),
    heard: false,
    frames: 0,
    lost: 0,
    announced: () => announced,
    live: () => live,
    hasRoom,
    send(frame) {
      if (!live) return false;
      try {
        link.send(encodeFrame(frame));
        return true;
      } catch (error) {
        broken(`A frame could not be handed on: ${errorMessage(error)}`);
        return false;
      }
    },
    owe(keys) {
      for (const key of keys) {
        less.remove(key);
        more.add(key);
      }
    },
    oweLess(key) {
      more.remove(key);
      less.add(key);
    },
    oweAll() {
      all = true;
    },
    oweReplaced(entries) {
      replaced.push(...entries);
    },
    flush() {
      const mine = here();
      if (mine === null) return;
      if (all && hasRoom() && peer.send({ kind: 'have', have: mine })) {
        all = false;
        announced = true;
        more.set(new Map());
        less.set(new Map());
      }
      if (!less.isEmpty() && hasRoom() && peer.send({ kind: 'less', have: less.now() })) less.set(new Map());
      if (!more.isEmpty() && hasRoom() && peer.send({ kind: 'more', have: more.now() })) more.set(new Map());
      while (replaced.length > 0 && hasRoom()) {
        const entries = upTo(replaced, settings.frameBytes);
        if (!peer.send({ kind: 'entries', request: null, replace: true, entries })) break;
        replaced = replaced.slice(entries.length);
      }
    },
    end() {
      live = false;
      replaced = [];
      peer.tasks.stop();
    },
  };
  return peer;
}

/** The first of them, up to so many bytes; one at least. */
function upTo(entries: readonly Entry[], bytes: number): readonly Entry[] {
  let sum = 0;
  const end = entries.findIndex((entry, i) => (sum += entry.sealed.length) > bytes && i > 0);
  return end < 0 ? entries : entries.slice(0, end);
}
