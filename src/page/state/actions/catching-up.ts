/**
 * What a call waits for, so that nobody wakes without what was said last: here while the page was
 * closed, or on other devices.
 */
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { arrivingOf } from '../devices.ts';
import { until } from '../until.ts';
import type { Parts } from './parts.ts';

/** ms that a call waits for what is known to be on its way from other devices. */
const CATCH_UP_PATIENCE_MS = 4_000;
/**
 * ms that it waits to know what there is at all, while the line to the relay is being made, or was
 * just made.
 */
const COMPARE_PATIENCE_MS = 10_000;

export interface CaughtUp {
  /** Whose last session is not whole on this device. */
  readonly late: ReadonlySet<string>;
  /** False: it could not be found out in time whether other devices have more. */
  readonly compared: boolean;
}
export const NOBODY_LATE: CaughtUp = { late: new Set(), compared: true };

export interface CatchingUp {
  /** Resolves when the last sessions of these agents are here, or will not be for now. */
  caughtUp(agentIds: readonly AgentId[]): Promise<CaughtUp>;
  /** What is known of it at once. */
  known(): CaughtUp;
}

export function createCatchingUp({
  owner,
  devices,
  device,
  live,
  pending,
}: Pick<Parts, 'owner' | 'devices' | 'device' | 'live' | 'pending'>): CatchingUp {
  const known = (): CaughtUp => ({ late: new Set(arrivingOf(devices.store.getState())), compared: true });

  return {
    known,
    async caughtUp(agentIds) {
      pending.setState({ step: t`Listening for what was said last…` });
      // What the relay still holds of the last session: the page may just have been opened.
      await until(device, COMPARE_PATIENCE_MS, live.store, ({ link }) => link.kind !== 'connecting');
      // Whether there are other devices at all is told by the owner, which may just have begun too.
      await until(
        device,
        COMPARE_PATIENCE_MS,
        devices.store,
        ({ status, failed }) => status !== null || failed !== null,
      );
      const { status } = devices.store.getState();
      if ((status?.kind !== 'shared' && status?.kind !== 'returning') || agentIds.length === 0) return NOBODY_LATE;
      pending.setState({ step: t`Fetching what was said elsewhere…` });
      // A relay that is away has nothing newer, and begins nothing either: that is said where it is
      // asked to.
      const isThere = live.store.getState().link.kind === 'live' && status.link !== 'off';
      try {
        const { arriving, compared } = await owner.call('caughtUp', {
          agentIds,
          patience: isThere ? CATCH_UP_PATIENCE_MS : 0,
          comparePatience: isThere && status.link !== 'lost' ? COMPARE_PATIENCE_MS : 0,
        });
        return { late: new Set(arriving), compared: compared || !isThere };
      } catch {
        // Who is whole here can be woken all the same: what was told last of the others stands.
        return known();
      }
    },
  };
}
