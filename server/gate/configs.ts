/**
 * What the person has set, on the store. Where other processes may have it open too, nothing of it is kept in memory:
 * a change by one process holds for the next question to any other. On the embedded store, which has one process, it is
 * read once.
 */
import { sql } from 'kysely';
import type { WakeLimits } from '../../src/domain/guardrails.ts';
import { createQueue } from '../../src/domain/platform/queue.ts';
import {
  agentConfigSchema,
  householdConfigSchema,
  type AgentConfig,
  type HouseholdConfig,
} from '../../src/protocol/config.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { Configs } from '../contracts.ts';
import type { Db } from '../store/index.ts';
import { effectiveConfig, limitsOf } from './effective.ts';
import { HOUSEHOLD_SCOPE as HOUSEHOLD, scopeOf } from './scopes.ts';

export interface ConfigsDeps {
  readonly db: Db;
  /** Names the home: homes that share a store do not share settings. */
  readonly relay: string;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  /** The relay's own, for a household that has set none. */
  readonly timeZone: string;
  /** Into the event log, for the pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
}

export interface OpenConfigs extends Configs {
  /**
   * Decides with the limits for a wake of `target`, with the budget of `caller`, an agent or null. Until `decide` has
   * ended, nobody else decides in this household, and nobody changes its settings: when the household's switch has
   * been turned, no wake passes any more. What it reads through `db` is what was committed before.
   */
  deciding<Decision>(
    wake: { readonly target: string; readonly caller: string | null },
    decide: (db: Db, limits: WakeLimits) => Promise<Decision>,
  ): Promise<Decision>;
  /** Runs a change of this row: nobody decides by it meanwhile, and nothing of it is remembered. */
  changing<Result>(scope: string, work: () => Promise<Result>): Promise<Result>;
}

/** Sets a row. It has no stamp until its change is in the event log. */
export async function writeConfig(
  db: Db,
  row: { readonly relay: string; readonly scope: string; readonly config_json: string },
): Promise<void> {
  await db
    .insertInto('configs')
    .values({ ...row, stamp: null })
    .onConflict((conflict) =>
      conflict.columns(['relay', 'scope']).doUpdateSet({ config_json: row.config_json, stamp: null }),
    )
    .execute();
}

export function createConfigs({ db, relay, alone, timeZone, tell, now }: ConfigsDeps): OpenConfigs {
  /** By scope, null where nothing is set. A write counts the turns on as it begins and ends, so that nothing is noted that was read meanwhile. */
  const known = new Map<string, string | null>();
  let turn = 0;
  const inTurn = createQueue();

  const rowsOf = (from: Db, agentIds: readonly string[]) =>
    from
      .selectFrom('configs')
      .select(['scope', 'config_json'])
      .where('relay', '=', relay)
      .where('scope', '=', sql<string>`any(${[HOUSEHOLD, ...agentIds.map(scopeOf)]}::text[])`);

  /** By scope; what is not there is as good as empty. */
  function parse(rows: readonly { scope: string; config_json: string }[]) {
    const json = new Map(rows.map((row): [string, unknown] => [row.scope, JSON.parse(row.config_json)]));
    return {
      household: householdConfigSchema.parse(json.get(HOUSEHOLD) ?? {}),
      agent: (agentId: string) => agentConfigSchema.parse(json.get(scopeOf(agentId)) ?? {}),
    };
  }
  type Gathered = ReturnType<typeof parse>;
  let gathering: { readonly agentIds: Set<string>; readonly parsed: Promise<Gathered> } | null = null;
  async function gathered(agentIds: ReadonlySet<string>): Promise<Gathered> {
    const began = turn;
    const rows = await rowsOf(db, [...agentIds]).execute();
    if (alone && began === turn)
      for (const scope of [HOUSEHOLD, ...[...agentIds].map(scopeOf)])
        known.set(scope, rows.find((row) => row.scope === scope)?.config_json ?? null);
    return parse(rows);
  }
  /** What is asked in one moment, as by eight that are woken at once, is one query. What is asked later is read anew, unless it is known. */
  function read(agentIds: readonly string[]): Promise<Gathered> {
    const scopes = [HOUSEHOLD, ...agentIds.map(scopeOf)];
    if (scopes.every((scope) => known.has(scope))) {
      const rows = scopes.flatMap((scope) => {
        const config_json = known.get(scope) ?? null;
        return config_json === null ? [] : [{ scope, config_json }];
      });
      return Promise.resolve(parse(rows));
    }
    if (!gathering) {
      const asked = new Set<string>();
      const parsed = Promise.resolve().then(() => {
        gathering = null;
        return gathered(asked);
      });
      gathering = { agentIds: asked, parsed };
    }
    for (const agentId of agentIds) gathering.agentIds.add(agentId);
    return gathering.parsed;
  }

  const changing: OpenConfigs['changing'] = (scope, work) =>
    inTurn(async () => {
      const forget = () => {
        turn += 1;
        known.delete(scope);
      };
      forget();
      try {
        return await work();
      } finally {
        forget();
      }
    });
  const write = (scope: string, config: AgentConfig | HouseholdConfig) =>
    changing(scope, () => writeConfig(db, { relay, scope, config_json: JSON.stringify(config) }));

  async function agent(agentId: string) {
    const { household, agent: ownOf } = await read([agentId]);
    const own = ownOf(agentId);
    return { own, effective: effectiveConfig(household, own, timeZone) };
  }

  /** The household's row is what is locked, so it has to be there. */
  async function lock(trx: Db, agentIds: readonly string[]) {
    // The household before agents: everybody locks in this order.
    const locked = () => rowsOf(trx, agentIds).orderBy('scope', 'desc').forUpdate().execute();
    const rows = await locked();
    if (rows.some(({ scope }) => scope === HOUSEHOLD)) return rows;
    await trx
      .insertInto('configs')
      .values({ relay, scope: HOUSEHOLD, config_json: '{}', stamp: '' })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return await locked();
  }

  return {
    agent,
    changing,
    async household() {
      const { household: own } = await read([]);
      return { own, effective: effectiveConfig(own, null, timeZone) };
    },
    async setAgent(agentId, config) {
      await write(scopeOf(agentId), agentConfigSchema.parse(config));
      tell({ kind: 'changed', time: now(), what: 'config', agentId });
    },
    async setHousehold(config) {
      await write(HOUSEHOLD, householdConfigSchema.parse(config));
      tell({ kind: 'changed', time: now(), what: 'config', agentId: null });
    },
    limits: async (agentId) => limitsOf((await agent(agentId)).effective),
    async deciding({ target, caller }, decide) {
      const agentIds = caller === null ? [target] : [target, caller];
      const limitsIn = ({ household, agent: ownOf }: ReturnType<typeof parse>): WakeLimits => {
        const limits = (agentId: string) => limitsOf(effectiveConfig(household, ownOf(agentId), timeZone));
        return caller === null
          ? limits(target)
          : { ...limits(target), maxWakesPerSession: limits(caller).maxWakesPerSession };
      };
      // A transaction costs the embedded store as much as the decision, and would lock out nobody who is there.
      if (alone) return await inTurn(async () => decide(db, limitsIn(await read(agentIds))));
      return await db
        .transaction()
        // Each statement sees what was committed before it: what is read after the lock is what holds.
        .setIsolationLevel('read committed')
        .execute(async (trx) => decide(trx, limitsIn(parse(await lock(trx, agentIds)))));
    },
  };
}
