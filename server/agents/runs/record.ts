/** How somebody at work writes its events. */
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { UnfitEvents, type EventLog } from '../../contracts/index.ts';

export interface RecordDeps {
  readonly append: EventLog['append'];
  /** Some did not fit their schema, which is a mistake of ours. The others were written. */
  readonly onUnfit: (error: UnfitEvents) => void;
  /** The log cannot be written. */
  readonly fail: (error: unknown) => void;
  /**
   * Whether that has happened. Then only the last word of each answer is written, which has all of
   * it. Left out: never.
   */
  readonly isBroken?: () => boolean;
}

const isLast = ({ kind }: RoostEvent) => kind !== 'text' && kind !== 'tool';

/** Resolves when the events are on disk, with whether all of them are. Never rejects. */
export type WriteEvents = (events: readonly RoostEvent[]) => Promise<boolean>;

export function createRecord({ append, onUnfit, fail, isBroken = () => false }: RecordDeps): WriteEvents {
  return async (given) => {
    const events = isBroken() ? given.filter(isLast) : given;
    try {
      await append(events);
      return events.length === given.length;
    } catch (error) {
      if (!(error instanceof UnfitEvents)) {
        fail(error);
        return false;
      }
      onUnfit(error);
      await append(error.fit).catch(fail);
      return false;
    }
  };
}
