/** What the person has set, as records: limits, and the table of prices. One row is one record. */
import { sql } from 'kysely';
import type { Stamp } from '../../src/domain/stamp.ts';
import { agentConfigSchema, householdConfigSchema } from '../../src/protocol/config.ts';
import { pricesSchema } from '../../src/protocol/costs.ts';
import type { RecordAnswer, RecordOf, RelayRecord } from '../../src/protocol/records.ts';
import { agentOfScope, HOUSEHOLD_SCOPE, PRICES_SCOPE, scopeOf, type OpenConfigs } from '../gate/index.ts';
import type { Db } from '../store/index.ts';
import type { RecordSource } from './index.ts';

type ConfigRecord = RecordOf<'limits'> | RecordOf<'prices'>;

/** The row that a record is. */
function rowOf(record: RelayRecord): { readonly scope: string; readonly value: unknown } | null {
  if (record.type === 'prices') return { scope: PRICES_SCOPE, value: record.value };
  if (record.type !== 'limits') return null;
  const { agentId, config } = record.value;
  return { scope: agentId === null ? HOUSEHOLD_SCOPE : scopeOf(agentId), value: config };
}

/** The record that a row is. The household's limits and the prices are there once; those of an agent are under its id. */
function recordOf(scope: string, json: string): ConfigRecord {
  const value: unknown = JSON.parse(json);
  if (scope === PRICES_SCOPE) return { type: 'prices', id: PRICES_SCOPE, value: pricesSchema.parse(value) };
  if (scope === HOUSEHOLD_SCOPE)
    return { type: 'limits', id: scope, value: { agentId: null, config: householdConfigSchema.parse(value) } };
  return {
    type: 'limits',
    id: scope,
    value: { agentId: agentOfScope(scope), config: agentConfigSchema.parse(value) },
  };
}

export interface ConfigRecordsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  /** Runs a change of this row, while nobody decides by it, and so that nothing of it is remembered. */
  readonly changing: OpenConfigs['changing'];
  /** The prices were changed in the store. */
  readonly forgetPrices: () => void;
}

export function createConfigRecords({ db, home, changing, forgetPrices }: ConfigRecordsDeps): RecordSource {
  const rows = () => db.selectFrom('configs').select(['scope', 'config_json', 'stamp']).where('home', '=', home);

  const restoreOne = (record: RelayRecord & { readonly at: Stamp }): Promise<RecordAnswer> => {
    const row = rowOf(record);
    // Its id says whose it is: another one's would be a second record of the same row.
    if (!row || row.scope !== record.id)
      return Promise.resolve({ answer: 'refused', why: 'It says that it is somebody else’s.' });
    return changing(row.scope, async () => {
      const config_json = JSON.stringify(row.value);
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('configs')
        .values({ home, scope: row.scope, config_json, stamp: record.at })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'scope'])
            .doUpdateSet({ config_json, stamp: record.at })
            // One that was changed and not told has no stamp, and is newer than anything.
            .where(sql<boolean>`configs.stamp collate "C" < ${record.at}`),
        )
        .executeTakeFirst();
      if (row.scope === PRICES_SCOPE) forgetPrices();
      return numInsertedOrUpdatedRows > 0n ? { answer: 'taken' } : { answer: 'kept' };
    });
  };

  return {
    types: ['limits', 'prices'],
    hears: ({ what, agentId }) => what === 'config' || (what === 'costs' && agentId === null),
    says: ['config', 'costs'],
    async unannounced() {
      const changed = await rows().where('stamp', 'is', null).orderBy('scope').execute();
      return changed.map(({ scope, config_json }) => ({
        record: recordOf(scope, config_json),
        async announced(at) {
          await db
            .updateTable('configs')
            .set({ stamp: at })
            .where('home', '=', home)
            .where('scope', '=', scope)
            .where('stamp', 'is', null)
            .where('config_json', '=', config_json)
            .execute();
        },
      }));
    },
    async standings(asked) {
      const held = await rows()
        .where('scope', '=', sql<string>`any(${asked.map(({ id }) => id)}::text[])`)
        .execute();
      return asked.map(({ id, at }) => {
        const row = held.find(({ scope }) => scope === id);
        if (!row || row.stamp === '') return 'unknown';
        return row.stamp === null || row.stamp >= at ? 'known' : 'older';
      });
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const record of offered) answers.push(await restoreOne(record));
      return answers;
    },
  };
}
