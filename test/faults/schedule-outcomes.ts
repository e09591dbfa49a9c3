/**
 * What a conversation tells of a run, against what stands in the account of what was due: both say
 * the same.
 */
import type { Store } from '../../server/store/index.ts';
import { eventSchema } from '../../src/shared/protocol/events.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';

/** Where the two differ. A run of which the log knows no end has none, or is `crashed`. */
export async function faultsOfOutcomes({ db }: Pick<Store, 'db'>, rows: readonly Occurrence[]): Promise<string[]> {
  const events = await db.selectFrom('events').select('event_json').where('kind', '=', 'run-ended').execute();
  const told = new Map<string, string>();
  for (const { event_json } of events) {
    const event = eventSchema.parse(JSON.parse(event_json));
    if (event.kind === 'run-ended') told.set(event.runId, event.outcome);
  }
  return rows.flatMap(({ runId, state, name, dueAt }) => {
    if (runId === null || state === 'skipped') return [];
    const outcome = told.get(runId) ?? 'crashed';
    return outcome === state
      ? []
      : [`${name} of ${new Date(dueAt).toISOString()} is ${state}, and its conversation tells that it is ${outcome}`];
  });
}
