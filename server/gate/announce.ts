/** Says in the event log that something which the relay keeps has changed. */
import type { Changed } from '../../src/protocol/events.ts';
import type { EventLog } from '../contracts.ts';

export interface AnnounceDeps {
  readonly log: Pick<EventLog, 'append'>;
  readonly now: () => number;
  /** The change stands, but pages did not hear of it. */
  readonly onError: (error: unknown) => void;
}

/** Never rejects: what has changed is on disk before anybody is told. */
export type Announce = (what: Changed, agentId: string | null) => Promise<void>;

export function createAnnounce({ log, now, onError }: AnnounceDeps): Announce {
  return async (what, agentId) => {
    try {
      await log.append([{ kind: 'changed', time: now(), what, agentId }]);
    } catch (error) {
      onError(error);
    }
  };
}
