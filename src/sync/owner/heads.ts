/**
 * Tells the other devices which conversation is each agent's last, and how long it is, when a session has
 * ended and all of it is here: so that a device knows when it has enough to wake somebody.
 */
import type { Timers } from '../../domain/platform/timers.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { HouseholdBook } from './household.ts';
import type { Payload } from './payload.ts';
import type { LedgerPort } from './ports.ts';

export interface HeadTeller {
  /** Tells in a moment, unless another device has by then. */
  look(): void;
  tell(): Promise<void>;
  close(): void;
}

export function createHeadTeller({
  ledger,
  book,
  timers,
  now,
  random,
  isWhole,
  say,
  onTrouble,
}: {
  readonly ledger: Pick<LedgerPort, 'lastTalks'>;
  readonly book: Pick<HouseholdBook, 'heads' | 'hear'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly random: () => number;
  /** Is everything here that is known of? Else what we would tell is less than what is. */
  readonly isWhole: () => boolean;
  readonly say: (payload: Payload) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}): HeadTeller {
  let cancel: (() => void) | null = null;

  async function tell() {
    if (!isWhole()) return;
    const known = new Map(book.heads().map((head) => [head.agentId, head]));
    const time = now();
    const heads = (await ledger.lastTalks()).flatMap((talk) => {
      const head = known.get(talk.agentId);
      return head?.sessionId === talk.sessionId && head.messages >= talk.messages ? [] : [{ ...talk, time }];
    });
    if (heads.length === 0) return;
    await book.hear({ heads });
    await say({ heads });
  }

  return {
    look() {
      cancel?.();
      cancel = timers.after(
        SYNC_OWNER.headsAfter + SYNC_OWNER.toldFirst + random() * SYNC_OWNER.toldSpread,
        () => void tell().catch(onTrouble),
      );
    },
    tell,
    close: () => cancel?.(),
  };
}
