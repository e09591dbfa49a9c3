/**
 * Tells the other devices which conversation is each agent's last, and how long it is, when a session has
 * ended and all of it is here: so that a device knows when it has enough to wake somebody.
 */
import type { Timers } from '../../domain/platform/timers.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { Members } from './members.ts';
import type { Payload } from './payload.ts';
import type { LedgerPort } from './ports.ts';

export interface TipTeller {
  /** Tells in a moment, unless another device has by then. */
  look(): void;
  tell(): Promise<void>;
  close(): void;
}

export function createTipTeller({
  ledger,
  members,
  timers,
  now,
  random,
  isWhole,
  say,
  onTrouble,
}: {
  readonly ledger: Pick<LedgerPort, 'lastTalks'>;
  readonly members: Pick<Members, 'tips' | 'hear'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly random: () => number;
  /** Is everything here that is known of? Else what we would tell is less than what is. */
  readonly isWhole: () => boolean;
  readonly say: (payload: Payload) => Promise<void>;
  readonly onTrouble: (error: unknown) => void;
}): TipTeller {
  let cancel: (() => void) | null = null;

  async function tell() {
    if (!isWhole()) return;
    const known = new Map(members.tips().map((tip) => [tip.agentId, tip]));
    const time = now();
    const tips = (await ledger.lastTalks()).flatMap((talk) => {
      const tip = known.get(talk.agentId);
      return tip?.sessionId === talk.sessionId && tip.messages >= talk.messages ? [] : [{ ...talk, time }];
    });
    if (tips.length === 0) return;
    await members.hear({ tips });
    await say({ tips });
  }

  return {
    look() {
      cancel?.();
      cancel = timers.after(
        SYNC_OWNER.tipsAfter + SYNC_OWNER.relayedWait + random() * SYNC_OWNER.relayedJitter,
        () => void tell().catch(onTrouble),
      );
    },
    tell,
    close: () => cancel?.(),
  };
}
