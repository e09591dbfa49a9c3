/**
 * Stamps events in the order of their ids, so that later events have later stamps whatever the wall
 * clock does. A finished answer gets the stamp of its beginning, so it is placed above what was
 * written meanwhile.
 */
import { createClock, RELAY_NODE, type Stamp } from '../../src/shared/domain/stamp.ts';
import type { RoostEvent, Snapshot, StoredEvent } from '../../src/shared/protocol/events.ts';
import { stampOf } from '../../src/shared/protocol/intake.ts';

/** `answering`: the answers that are unfinished now. */
export function createStamps(now: () => number, { answering }: Pick<Snapshot, 'answering'>) {
  const clock = createClock({ now, node: RELAY_NODE });
  const begun = new Map(answering.flatMap(({ messageId, at }) => (at === undefined ? [] : [[messageId, at] as const])));
  return {
    isAhead: (stamp: Stamp) => clock.isAhead(stamp),
    follow: (stamp: Stamp) => clock.follow(stamp),
    /** Later events get stamps after this one's. */
    followEvent({ id, event }: StoredEvent): void {
      if ('time' in event) clock.follow(stampOf(id, event));
    },
    /**
     * A batch may fail, so until it is written `beginning` holds the answers that the batch itself
     * began (their stamp) or ended (null).
     */
    stamped(event: RoostEvent, beginning: Map<string, Stamp | null>): RoostEvent {
      if (!('time' in event)) return event;
      const at = clock.next();
      if (event.kind === 'answer-started') beginning.set(event.messageId, at);
      if (event.kind !== 'message') return { ...event, at };
      const stood = beginning.has(event.messageId) ? beginning.get(event.messageId) : begun.get(event.messageId);
      beginning.set(event.messageId, null);
      return stood ? { ...event, at: stood, completedAt: at } : { ...event, at };
    },
    /** The event is on disk. */
    written({ event }: StoredEvent): void {
      if (event.kind === 'answer-started' && event.at !== undefined) begun.set(event.messageId, event.at);
      else if (event.kind === 'message') begun.delete(event.messageId);
    },
  };
}
