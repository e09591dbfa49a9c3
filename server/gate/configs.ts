/**
 * What the person has set, on the store. Nothing of it is kept in memory: a change by one process holds for
 * the next question to any other.
 */
import { sql } from 'kysely';
import type { WakeLimits } from '../../src/domain/guardrails.ts';
import { agentConfigSchema, householdConfigSchema, type AgentConfig, type HouseholdConfig } from '../../src/protocol/config.ts';
import type { RoostEvent } from '../../src/protocol/events.ts';
import type { Configs } from '../contracts.ts';
import type { Db } from '../store/index.ts';
import { effectiveConfig, limitsOf } from './effective.ts';

const HOUSEHOLD = 'household';
const scopeOf = (agentId: string) => `agent ${JSON.stringify(agentId)}`;

export interface ConfigsDeps {
  readonly db: Db;
  /** Names the home: homes that share a store do not share settings. */
  readonly relay: string;
  /** The relay's own, for a household that has set none. */
  readonly timeZone: string;
  /** Into the event log, for the pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
}

export interface OpenConfigs extends Configs {
  /**
   * The limits for a wake of `target`, with the budget of `caller`, an agent or null. Until the transaction ends,
   * nobody else decides in this household, and nobody changes its settings: when the household's switch has
   * been turned, no wake passes any more.
   */
  lockLimits(trx: Db, wake: { readonly target: string; readonly caller: string | null }): Promise<WakeLimits>;
}

export function createConfigs({ db, relay, timeZone, tell, now }: ConfigsDeps): OpenConfigs {

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
  let gathering: { readonly agentIds: Set<string>; readonly parsed: Promise<ReturnType<typeof parse>> } | null = null;
  /** What is asked in one moment, as by eight that are woken at once, is one query. What is asked later is read anew. */
  function read(agentIds: readonly string[]): Promise<ReturnType<typeof parse>> {
    if (!gathering) {
      const asked = new Set<string>();
      const parsed = Promise.resolve().then(async () => {
        gathering = null;
        return parse(await rowsOf(db, [...asked]).execute());
      });
      gathering = { agentIds: asked, parsed };
    }
    for (const agentId of agentIds) gathering.agentIds.add(agentId);
    return gathering.parsed;
  }

  const write = (scope: string, config: AgentConfig | HouseholdConfig) =>
    db
      .insertInto('configs')
      .values({ relay, scope, config_json: JSON.stringify(config) })
      .onConflict((conflict) => conflict.columns(['relay', 'scope']).doUpdateSet((eb) => ({ config_json: eb.ref('excluded.config_json') })))
      .execute();

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
    await trx.insertInto('configs').values({ relay, scope: HOUSEHOLD, config_json: '{}' }).onConflict((conflict) => conflict.doNothing()).execute();
    return await locked();
  }

  return {
    agent,
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
    async lockLimits(trx, { target, caller }) {
      const { household, agent: ownOf } = parse(await lock(trx, caller === null ? [target] : [target, caller]));
      const limits = (agentId: string) => limitsOf(effectiveConfig(household, ownOf(agentId), timeZone));
      return caller === null ? limits(target) : { ...limits(target), maxWakesPerSession: limits(caller).maxWakesPerSession };
    },
  };
}
