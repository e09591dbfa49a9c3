/** The files of memories as records: each version is a document in every browser. */
import type { MemoryId } from '../../../src/shared/domain/ids.ts';
import type { MemoryValue } from '../../../src/shared/protocol/memories.ts';
import type { RecordAnswer } from '../../../src/shared/protocol/records.ts';
import { isBefore } from '../../store/dialect.ts';
import type { HomeStore } from '../../store/index.ts';
import { type RecordSource, stampRow, stampsOf, statusAt } from '../records/index.ts';
import type { Forgets } from './forgets.ts';
import { columnsOf, type MemoryRows, valueOf } from './rows.ts';

const BATCH = 100;

/** A path that is free, from one that is not: `plans.md` becomes `plans (2).md`. */
function freePath(path: string, taken: ReadonlySet<string>): string {
  for (let number = 2; ; number += 1) {
    const free = path.replace(/(\.\w+)$/, ` (${number})$1`);
    if (!taken.has(free)) return free;
  }
}

interface MemoryRecordsDeps extends HomeStore {
  readonly rows: MemoryRows;
  readonly forgets: Pick<Forgets, 'all'>;
  /** A file without lines that were forgotten. Null: it has none. */
  readonly cleaned: (
    memoryId: MemoryId,
    value: MemoryValue,
    forgets: Awaited<ReturnType<Forgets['all']>>,
  ) => MemoryValue | null;
}

export function createMemoryRecords({ db, home, rows, forgets, cleaned }: MemoryRecordsDeps): RecordSource {
  const table = { db, home, table: 'memories' } as const;
  return {
    types: ['memory'],
    hears: ({ what }) => what === 'memories',
    says: ['memories'],
    unannounced: async () =>
      rows.readable(await rows.all().where('stamp', 'is', null).orderBy('memory').limit(BATCH).execute(), (row) => ({
        record: { type: 'memory' as const, id: row.memory, value: { ...valueOf(row), removed: row.removed } },
        announced: (at) => stampRow(table, row.memory, row.version, at),
      })),
    async statuses(keys) {
      const stamps = await stampsOf(
        table,
        keys.map(({ id }) => id),
      );
      return keys.map(({ id, at }) => statusAt(stamps.get(id), at));
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const { type, id, value, at } of offered) {
        if (type !== 'memory') {
          answers.push({ answer: 'refused', why: 'It is no file of a memory.' });
          continue;
        }
        const result = await rows.change(async (trx) => {
          const cleanedValue = cleaned(id, value, await forgets.all(trx));
          const { removed, ...stored } = cleanedValue ?? value;
          const others = (await rows.filesOf(stored.agentId, trx)).filter((file) => file.memoryId !== id);
          const paths = new Set(others.map((file) => file.path));
          // Two relays of one household may have made a file of the same path.
          const path = !removed && paths.has(stored.path) ? freePath(stored.path, paths) : stored.path;
          const own = {
            ...columnsOf({ ...stored, path }),
            removed,
            stamp: path === stored.path && !cleanedValue ? at : null,
          };
          const { numInsertedOrUpdatedRows = 0n } = await trx
            .insertInto('memories')
            .values({ home, memory: id, ...own })
            .onConflict((conflict) =>
              conflict
                .columns(['home', 'memory'])
                .doUpdateSet((eb) => ({ ...own, version: eb('memories.version', '+', 1) }))
                .where(isBefore('memories.stamp', at)),
            )
            .executeTakeFirst();
          return numInsertedOrUpdatedRows > 0n;
        });
        answers.push({ answer: result ? 'taken' : 'kept' });
      }
      return answers;
    },
  };
}
