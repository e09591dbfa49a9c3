/**
 * Stores agent snapshots at the relay, so that agents can work while no page is open. It covers
 * agents with a schedule, or all agents where an application may start a session. Withdrawn
 * snapshots stay withdrawn. A snapshot is renewed whenever this page knows something newer.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import { runAgain } from '../../shared/domain/platform/single-flight.ts';
import type { Changes } from './documents.ts';
import type { Household } from './household.ts';
import type { Live } from './live.ts';
import type { Device } from './ports.ts';
import type { CallRelay } from './call-relay.ts';
import type { WakeSizes } from './wake-sizes.ts';

/**
 * ms of quiet after a change before snapshots are compared. Messages come in bursts, and a snapshot
 * is as long as a conversation.
 */
const COMPARE_AFTER_MS = 5_000;

export interface AgentSnapshotsDeps {
  readonly household: Household;
  readonly live: Live;
  readonly wakeSizes: WakeSizes;
  readonly callRelay: CallRelay;
  readonly changes: Changes;
  readonly device: Pick<Device, 'after'>;
}

export interface AgentSnapshots {
  /** Something was stored, so snapshots may be out of date. */
  hearDocuments(): void;
  /** Starts storing snapshots. Returns a function that stops it. */
  start(): () => void;
}

export function createAgentSnapshots({
  household,
  live,
  wakeSizes,
  callRelay,
  changes,
  device,
}: AgentSnapshotsDeps): AgentSnapshots {
  let stopped = true;
  /** Whether any agent has a schedule, as far as is known. */
  let anybody = false;
  let cancel: (() => void) | null = null;

  /** A change that this module causes itself makes views reload, but needs no comparison. */
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
      const { leaveCopies } = await import('./agent-snapshot.ts');
      await leaveCopies({
        household,
        wakeSizes,
        callRelay,
        isStopped: () => stopped,
        onScheduled: (now) => (anybody = now),
        onLeft: tellLeft,
      });
    } catch {
      // The ledger could not be read, which the page reports elsewhere. The next change compares
      // again.
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
