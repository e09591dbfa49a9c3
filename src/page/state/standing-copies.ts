/**
 * Leaves with the relay what agents need to be at work while no page is open: of those for whom
 * something is scheduled, and of everybody where an application may start a session; unless the
 * person has taken it back. It is left anew whenever this page knows newer words.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import { runAgain } from '../../shared/domain/platform/single-flight.ts';
import type { Changes } from './documents.ts';
import type { Household } from './household.ts';
import type { Live } from './live.ts';
import type { Device } from './ports.ts';
import type { ReachPort } from './reach.ts';
import type { WakeSizes } from './wake-sizes.ts';

/**
 * ms of quiet after a change before copies are compared: talk comes in bursts, and a copy is as
 * long as a conversation.
 */
const COMPARE_AFTER_MS = 5_000;

export interface StandingCopiesDeps {
  readonly household: Household;
  readonly live: Live;
  readonly wakeSizes: WakeSizes;
  readonly reach: ReachPort;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after'>;
}

export interface StandingCopies {
  /** Something was stored: what is left may be older than that. */
  hearDocuments(): void;
  /** Begins to leave them. Returns the way to stop. */
  start(): () => void;
}

export function createStandingCopies({
  household,
  live,
  wakeSizes,
  reach,
  changes,
  device,
}: StandingCopiesDeps): StandingCopies {
  let stopped = true;
  /** Whether anybody has something scheduled, as far as was heard. */
  let anybody = false;
  let cancel: (() => void) | null = null;

  /** Whoever shows what is left asks again; it is no reason to compare. */
  let telling = false;
  function tellLeft(agentId: AgentId): void {
    telling = true;
    changes.tell({ what: 'schedules', agentId });
    telling = false;
  }

  const compareNow = runAgain(async () => {
    cancel = null;
    if (stopped || live.store.getState().link.kind !== 'live') return;
    try {
      const { leaveCopies } = await import('./standing-copy.ts');
      await leaveCopies({
        household,
        wakeSizes,
        reach,
        isStopped: () => stopped,
        onScheduled: (now) => (anybody = now),
        onLeft: tellLeft,
      });
    } catch {
      // The ledger could not be read just now, which the page says elsewhere; it is compared again
      // with the next change.
    }
  });
  function compareSoon(ms: number): void {
    cancel?.();
    cancel = device.after(ms, () => void compareNow());
  }

  return {
    hearDocuments() {
      if (anybody && !stopped) compareSoon(COMPARE_AFTER_MS);
    },
    start() {
      stopped = false;
      const stop = changes.subscribe(({ what }) => {
        if (telling) return;
        if (what === 'schedules') compareSoon(0);
        else if (what === 'credentials' || what === 'everything') compareSoon(COMPARE_AFTER_MS);
      });
      compareSoon(COMPARE_AFTER_MS);
      return () => {
        stopped = true;
        cancel?.();
        stop();
      };
    },
  };
}
