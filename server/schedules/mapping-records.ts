/** Mappings as records: see server/team/records. */
import type { HomeStore } from '../store/index.ts';
import { sql } from 'kysely';
import type { RecordAnswer } from '../../src/shared/protocol/records.ts';
import { isBefore } from '../store/dialect.ts';
import { type RecordSource, stampRow, stampsOf, statusAt } from '../team/records/index.ts';
import { SCHEDULE_LIMITS } from './settings.ts';
import { columnsOf, mappingIdOf, type MappingRows, valueOf } from './mapping-rows.ts';

/** `tidy` removes mappings whose project or routine was deleted. */
export function createMappingRecords(
  { db, home }: HomeStore,
  { table, readable }: MappingRows,
  tidy: () => Promise<void>,
): RecordSource {
  return {
    types: ['routine-mapping'],
    hears: ({ what }) => what === 'schedules',
    says: ['schedules'],
    async unannounced() {
      const changed = await table()
        .where('stamp', 'is', null)
        .orderBy('created_at')
        .limit(SCHEDULE_LIMITS.batch)
        .execute();
      return readable(changed).map((row) => ({
        record: { type: 'routine-mapping', id: row.mapping, value: valueOf(row) },
        announced: (at) => stampRow({ db, home, table: 'routine_mappings' }, row.mapping, row.version, at),
      }));
    },
    async statuses(keys) {
      const stamps = await stampsOf(
        { db, home, table: 'routine_mappings' },
        keys.map(({ id }) => id),
      );
      return keys.map(({ id, at }) => statusAt(stamps.get(id), at));
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const { type, id, value, at } of offered) {
        if (type !== 'routine-mapping' || id !== mappingIdOf(value.projectId, value.routineId)) {
          answers.push({ answer: 'refused', why: 'It is no mapping of a routine.' });
          continue;
        }
        const { removed, ...stored } = value;
        const own = { ...columnsOf(stored), removed, stamp: at, created_at: stored.createdAt };
        const { numInsertedOrUpdatedRows = 0n } = await db
          .insertInto('routine_mappings')
          .values({ home, mapping: id, ...own, agreed: false })
          .onConflict((conflict) =>
            conflict
              .columns(['home', 'mapping'])
              .doUpdateSet({
                ...own,
                // The same as the person has agreed to here needs no new consent.
                agreed: sql<boolean>`routine_mappings.agreed and routine_mappings.value_json = excluded.value_json`,
                version: sql<number>`routine_mappings.version + 1`,
              })
              .where(isBefore('routine_mappings.stamp', at)),
          )
          .executeTakeFirst();
        answers.push({ answer: numInsertedOrUpdatedRows === 0n ? 'kept' : 'taken' });
      }
      await tidy();
      return answers;
    },
  };
}
