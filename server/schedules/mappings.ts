/**
 * Routines on projects. A mapping lets one routine of an agent work on one project, with what the
 * project sets for it. The rules are in `src/shared/domain/routine-mappings.ts`.
 *
 * Main types: `Mappings`, `RoutineRun`.
 *
 * Invariants:
 * - A run gets exactly what `resolve` answers. Both come from `runsOf`.
 * - A routine that was ever given projects takes tasks only from those. When the last of them is
 *   gone, it takes none.
 * - The default routine, and one with columns of its own, looks in all projects of its agent as
 *   long as it was given none.
 * - A mapping of a deleted project or routine is removed. While its agent is not assigned to the
 *   project, a mapping has no effect.
 * - A mapping that was restored has no effect before the person has agreed to it here.
 */
import type { Mappings, MappingsDeps } from './mapping-contract.ts';
import { createMappingChanges } from './mapping-changes.ts';
import { createMappingRecords } from './mapping-records.ts';
import { createMappingRows } from './mapping-rows.ts';
import { createMappingRuns } from './mapping-runs.ts';

export function createMappings(deps: MappingsDeps): Mappings {
  const { db, home } = deps;
  const rows = createMappingRows(deps);
  async function tidy(): Promise<void> {
    const { numUpdatedRows } = await db
      .updateTable('routine_mappings')
      .set((eb) => ({ removed: true, stamp: null, version: eb('version', '+', 1) }))
      .where('home', '=', home)
      .where('removed', '=', false)
      .where((eb) =>
        eb.or([
          eb(
            'project',
            'in',
            eb.selectFrom('projects').select('project').where('home', '=', home).where('removed', '=', true),
          ),
          eb(
            'schedule',
            'in',
            eb.selectFrom('schedules').select('schedule').where('home', '=', home).where('removed', '=', true),
          ),
        ]),
      )
      .executeTakeFirst();
    if (numUpdatedRows > 0n) deps.onChange(null);
  }
  const unsubscribe = deps.log.subscribe(({ event }) => {
    if (event.kind !== 'record' || !['project', 'schedule'].includes(event.record.type)) return;
    const { value } = event.record;
    if (!('removed' in value) || !value.removed) return;
    void tidy().catch((error: unknown) =>
      deps.logger.error('Mappings of what was deleted could not be removed. The next start removes them.', {
        error,
      }),
    );
  });

  return {
    ...createMappingChanges(deps, rows),
    ...createMappingRuns(deps, rows),
    records: createMappingRecords(deps, rows, tidy),
    recover: tidy,
    close: unsubscribe,
  };
}
