/** Settings of the person as records: limits, and the price table. One row is one record. */
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import { agentConfigSchema, householdConfigSchema, type HouseholdConfig } from '../../../src/shared/protocol/config.ts';
import { pricesSchema } from '../../../src/shared/protocol/costs.ts';
import { type ConfigRecord, heldBack, partOf, withParts } from '../../../src/shared/protocol/effective.ts';
import type {
  AskedAnswer,
  AskedOutcome,
  AskedRecord,
  RecordAnswer,
  RelayRecord,
} from '../../../src/shared/protocol/records.ts';
import {
  agentOfScope,
  HOUSEHOLD_SCOPE,
  PRICES_SCOPE,
  scopeOf,
  writeConfig,
  ZONE_SCOPE,
  type OpenConfigs,
} from '../gate/index.ts';
import { isBefore } from '../../store/dialect.ts';
import type { HomeStore } from '../../store/index.ts';
import { type AskedRow, createAskedRows, hashOf, orNoRoom, type RecordSource } from './index.ts';
import { stampRow, stampsOf, statusAt } from './stamps.ts';

/** The row for a record. */
function rowOf(record: RelayRecord): { readonly scope: string; readonly value: unknown } | null {
  if (record.type === 'prices') return { scope: PRICES_SCOPE, value: record.value };
  if (record.type !== 'limits') return null;
  const { agentId, config } = record.value;
  return { scope: agentId === null ? HOUSEHOLD_SCOPE : scopeOf(agentId), value: config };
}

/**
 * The record for a row. The household's limits and the prices exist once. Those of an agent are
 * under its id.
 */
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

export interface ConfigRecordsDeps extends HomeStore {
  /** Runs a change of this row. No decision runs meanwhile, and cached values are dropped. */
  readonly changing: OpenConfigs['changing'];
  /** The prices in the store have changed, so cached ones are dropped. */
  readonly forgetPrices: () => void;
}

export function createConfigRecords({ db, home, changing, forgetPrices }: ConfigRecordsDeps): RecordSource {
  const rows = () =>
    db
      .selectFrom('configs')
      .select(['scope', 'config_json', 'stamp', 'version'])
      .where('home', '=', home)
      .where('scope', '!=', ZONE_SCOPE);

  const askedRows = {
    limits: createAskedRows({ db, home }, 'limits'),
    prices: createAskedRows({ db, home }, 'prices'),
  };

  /** The record as it is effective on this relay. */
  async function holding(scope: string): Promise<ConfigRecord> {
    const row = await rows().where('scope', '=', scope).executeTakeFirst();
    return recordOf(scope, row?.config_json ?? JSON.stringify(scope === PRICES_SCOPE ? { prices: [] } : {}));
  }
  async function householdLimits(): Promise<HouseholdConfig> {
    const record = await holding(HOUSEHOLD_SCOPE);
    return householdConfigSchema.parse(record.type === 'limits' ? record.value.config : {});
  }

  const restoreOne = (record: RelayRecord & { readonly at: Stamp }): Promise<RecordAnswer> => {
    const row = rowOf(record);
    // The id must match the row. Otherwise one row would have two records.
    if (!row || row.scope !== record.id || (record.type !== 'limits' && record.type !== 'prices'))
      return Promise.resolve({ answer: 'refused', why: 'It says that it is somebody else’s.' });
    return changing(row.scope, async () => {
      const heldRecord = heldBack(record, await holding(row.scope), await householdLimits());
      const config_json = JSON.stringify(rowOf(heldRecord.record)?.value);
      const parts = new Map(heldRecord.parts.map(({ part, after }) => [part, after]));
      const taking = db.transaction().execute(async (within): Promise<RecordAnswer> => {
        const { numInsertedOrUpdatedRows = 0n } = await within
          .insertInto('configs')
          .values({ home, scope: row.scope, config_json, stamp: record.at })
          .onConflict((conflict) =>
            conflict
              .columns(['home', 'scope'])
              .doUpdateSet({ config_json, stamp: record.at })
              // A row that was changed and not announced has no stamp. It counts as newer than
              // anything.
              .where(isBefore('configs.stamp', record.at)),
          )
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) return { answer: 'kept' };
        await askedRows[record.type].put(within, record.id, record.at, parts);
        return parts.size > 0 ? { answer: 'asked' } : { answer: 'taken' };
      });
      const answer = await orNoRoom(taking);
      if (row.scope === PRICES_SCOPE) forgetPrices();
      return answer;
    });
  };

  async function shown({ id, part, value }: AskedRow): Promise<AskedRecord | null> {
    const record = await holding(id);
    const here = partOf(record, part);
    // The same value may have been set meanwhile.
    if (hashOf(here) === hashOf(value)) return null;
    const hash = hashOf({ id, part, value });
    if (record.type === 'prices')
      return {
        type: 'prices',
        id,
        part: '',
        hash,
        here: record.value.prices,
        after: pricesSchema.shape.prices.parse(value),
      };
    return {
      ...{ type: 'limits', id, part, agentId: record.value.agentId, hash },
      ...(here === undefined ? {} : { here }),
      ...(value === undefined ? {} : { after: value }),
    };
  }
  /** Applies the person's consent as a change of theirs, over the current settings. */
  const grant = (type: ConfigRecord['type'], { id, part, value }: AskedRow): Promise<AskedOutcome> =>
    changing(id, async () => {
      const set = withParts(await holding(id), [[part, value]]);
      const row = set && rowOf(set);
      if (!row) return { outcome: 'refused', why: 'It does not fit what is set here by now.' };
      await writeConfig(db, { home, scope: id, config_json: JSON.stringify(row.value) });
      if (id === PRICES_SCOPE) forgetPrices();
      await askedRows[type].drop(id, part);
      return { outcome: 'done' };
    });
  async function answerOne({ type, id, part, hash, yes }: AskedAnswer): Promise<AskedOutcome> {
    if (type !== 'limits' && type !== 'prices') return { outcome: 'over' };
    const row = await askedRows[type].get(id, part);
    if (!row || (await shown(row))?.hash !== hash) return { outcome: 'over' };
    if (yes) return await grant(type, row);
    await askedRows[type].decline(id, part);
    return { outcome: 'done' };
  }

  return {
    types: ['limits', 'prices'],
    hears: ({ what, agentId }) => what === 'config' || (what === 'costs' && agentId === null),
    says: ['config', 'costs'],
    async unannounced() {
      const changed = await rows().where('stamp', 'is', null).orderBy('scope').execute();
      return changed.map(({ scope, config_json, version }) => ({
        record: recordOf(scope, config_json),
        announced: (at) => stampRow({ db, home, table: 'configs' }, scope, version, at),
      }));
    },
    async statuses(keys) {
      const stamps = await stampsOf(
        { db, home, table: 'configs' },
        keys.map(({ id }) => id),
      );
      // An empty stamp: the row holds the defaults, which no page has stored.
      return keys.map(({ id, at }) => (stamps.get(id) === '' ? 'unknown' : statusAt(stamps.get(id), at)));
    },
    async restore(offered) {
      const answers: RecordAnswer[] = [];
      for (const record of offered) answers.push(await restoreOne(record));
      return answers;
    },
    async asked() {
      const all: AskedRecord[] = [];
      for (const type of ['limits', 'prices'] as const)
        for (const row of await askedRows[type].all()) {
          const one = await shown(row);
          if (one) all.push(one);
          else await askedRows[type].drop(row.id, row.part);
        }
      return all;
    },
    answer: answerOne,
  };
}
