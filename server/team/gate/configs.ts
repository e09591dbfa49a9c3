/**
 * What the person has set, on the store. Where other processes may have it open too, nothing of it
 * is kept in memory: a change by one process holds for the next question to any other. On the
 * embedded store, which has one process, it is read once.
 */
import { sql } from 'kysely';
import { z } from 'zod';
import type { WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import {
  type AgentConfig,
  type AgentConfigInput,
  agentConfigSchema,
  type EffectiveConfig,
  type HouseholdConfig,
  householdConfigSchema,
} from '../../../src/shared/protocol/config.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { Configs } from '../../contracts/index.ts';
import type { Db } from '../../store/index.ts';
import { effectiveConfig } from '../../../src/shared/protocol/effective.ts';

/** The gate's part of what holds for an agent. */
function limitsOf({ coordination, wakes_enabled, time_zone, flood_guard }: EffectiveConfig): WakeLimits {
  const { wake_guardrails: guardrails } = coordination;
  return {
    householdEnabled: wakes_enabled,
    enabled: coordination.wakes_enabled,
    timeZone: time_zone,
    maxWakesPerSession: guardrails.max_wakes_per_session,
    cooldownSeconds: guardrails.cooldown_seconds,
    maxWakesPerDay: guardrails.max_wakes_per_day,
    maxWakesPerPairPerDay: guardrails.max_wakes_per_pair_per_day,
    blackouts: coordination.blackouts,
    maxDailySessionMinutes: guardrails.max_daily_session_minutes,
    maxConcurrentSessions: coordination.max_concurrent_pulse_sessions,
    floodMaxWakes: flood_guard.max_wakes,
    floodWindowSeconds: flood_guard.window_seconds,
  };
}

interface ConfigsDeps {
  readonly db: Db;
  /** Names the home: homes that share a store do not share settings. */
  readonly home: string;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  /** The relay's own, for a household that has set none and began in no browser. */
  readonly timeZone: string;
  /** Into the event log, for the pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
}

export interface OpenConfigs extends Configs {
  /**
   * Decides with the limits for a wake of `target`, with the budget of `caller`, an agent or null.
   * `decide` writes its decision only if the household is still at this count of `decisions`, which
   * each decision and each change of settings counts on. Null: no other process can count on.
   * `decide` answers null if the count is another, and is asked again. So decisions follow each
   * other without a lock, and no wake passes once the household's switch was turned off.
   */
  deciding<Decision>(
    wake: { readonly target: string; readonly caller: string | null },
    decide: (limits: WakeLimits, decisions: number | null) => Promise<Decision | null>,
  ): Promise<Decision>;
  /**
   * Changes what is set of an agent, with `also`, in one transaction. False: `also` could not be,
   * and nothing was changed. `edit` is given what is set of it by then, and what holds.
   */
  changeAgent(
    agentId: AgentId,
    edit: (now: Awaited<ReturnType<Configs['agent']>>) => AgentConfigInput,
    also: (within: Db) => Promise<boolean>,
  ): Promise<boolean>;
  /**
   * The time zone of the browser in which the household begins. It holds as long as the person sets
   * none.
   */
  beginsIn(timeZone: string): Promise<void>;
  /** Runs a change of this row: nobody decides by it meanwhile, and nothing of it is remembered. */
  changing<Result>(scope: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Sets a row. It has no stamp until its change is in the event log. The store counts its version.
 * False: it is not at the `version` that is named, and was not written.
 */
export async function writeConfig(
  db: Db,
  row: { readonly home: string; readonly scope: string; readonly config_json: string },
  version?: number,
): Promise<boolean> {
  const change = { config_json: row.config_json, stamp: null };
  if (version !== undefined && version > 0) {
    const { numUpdatedRows } = await db
      .updateTable('configs')
      .set(change)
      .where('home', '=', row.home)
      .where('scope', '=', row.scope)
      .where('version', '=', version)
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('configs')
    .values({ ...row, stamp: null })
    .onConflict((conflict) => {
      const update = conflict.columns(['home', 'scope']).doUpdateSet(change);
      return version === undefined ? update : update.where('configs.version', '=', version);
    })
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

interface KnownRow {
  readonly config_json: string;
  readonly version: number;
}

/** Whose a row of the table of settings is. */
export const HOUSEHOLD_SCOPE = 'household';
export const PRICES_SCOPE = 'prices';
/** Where the household began: no setting of the person's, so no record. */
export const ZONE_SCOPE = 'zone';
const FOR_ALL = [HOUSEHOLD_SCOPE, ZONE_SCOPE] as const;
const AGENT = 'agent ';
const zoneSchema = z.string();

export const scopeOf = (agentId: AgentId): string => `${AGENT}${JSON.stringify(agentId)}`;
/** The agent whose scope this is. */
export const agentOfScope = (scope: string): string => z.string().parse(JSON.parse(scope.slice(AGENT.length)));

export function createConfigs({ db, home, alone, timeZone: ofRelay, tell, now }: ConfigsDeps): OpenConfigs {
  /**
   * By scope, null where nothing is set. A write counts the turns on as it begins and ends, so that
   * nothing is noted that was read meanwhile.
   */
  const known = new Map<string, KnownRow | null>();
  let turn = 0;
  const inTurn = createQueue();
  /**
   * As of a count of decisions: what was read for those before, as long as nobody else has counted
   * on.
   */
  let held: { readonly decisions: number; readonly known: ReadonlyMap<string, KnownRow | null> } | null = null;

  const rowsOf = (from: Db, agentIds: readonly AgentId[]) =>
    from
      .selectFrom('configs')
      .select(['scope', 'config_json', 'version', 'decisions'])
      .where('home', '=', home)
      .where('scope', '=', sql<string>`any(${[...FOR_ALL, ...agentIds.map(scopeOf)]}::text[])`);

  /** By scope; what is not there is as good as empty. */
  function parse(rows: readonly (KnownRow & { scope: string })[]) {
    const json = new Map(rows.map((row): [string, unknown] => [row.scope, JSON.parse(row.config_json)]));
    const versions = new Map(rows.map(({ scope, version }) => [scope, version]));
    return {
      versionOf: (scope: string) => versions.get(scope) ?? 0,
      household: householdConfigSchema.parse(json.get(HOUSEHOLD_SCOPE) ?? {}),
      timeZone: zoneSchema.parse(json.get(ZONE_SCOPE) ?? ofRelay),
      agent: (agentId: AgentId) => agentConfigSchema.parse(json.get(scopeOf(agentId)) ?? {}),
    };
  }
  const asRows = (settings: ReadonlyMap<string, KnownRow | null>) =>
    [...settings].flatMap(([scope, row]) => (row === null ? [] : [{ scope, ...row }]));
  type Gathered = ReturnType<typeof parse>;
  let gathering: { readonly agentIds: Set<AgentId>; readonly parsed: Promise<Gathered> } | null = null;
  async function gathered(agentIds: ReadonlySet<AgentId>): Promise<Gathered> {
    const began = turn;
    const rows = await rowsOf(db, [...agentIds]).execute();
    if (alone && began === turn)
      for (const scope of [...FOR_ALL, ...[...agentIds].map(scopeOf)])
        known.set(scope, rows.find((row) => row.scope === scope) ?? null);
    return parse(rows);
  }
  /**
   * What is asked in one moment, as by eight that are woken at once, is one query. What is asked
   * later is read anew, unless it is known.
   */
  function read(agentIds: readonly AgentId[]): Promise<Gathered> {
    const scopes = [...FOR_ALL, ...agentIds.map(scopeOf)];
    if (scopes.every((scope) => known.has(scope))) return Promise.resolve(parse(asRows(known)));
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
        held = null;
      };
      forget();
      try {
        return await work();
      } finally {
        forget();
      }
    });
  async function write(scope: string, config: AgentConfig | HouseholdConfig, version?: number): Promise<boolean> {
    const row = { home, scope, config_json: JSON.stringify(config) };
    return await changing(scope, () => writeConfig(db, row, version));
  }

  const agentIn = ({ household, timeZone, agent: ownOf, versionOf }: Gathered, agentId: AgentId) => {
    const own = ownOf(agentId);
    return { own, effective: effectiveConfig(household, own, timeZone), version: versionOf(scopeOf(agentId)) };
  };
  const agent = async (agentId: AgentId) => agentIn(await read([agentId]), agentId);
  const tellOf = (agentId: AgentId) => tell({ kind: 'changed', time: now(), what: 'config', agentId });

  async function heldFor(agentIds: readonly AgentId[]) {
    const scopes = [...FOR_ALL, ...agentIds.map(scopeOf)];
    for (;;) {
      if (held && scopes.every((scope) => held?.known.has(scope))) return held;
      const rows = await rowsOf(db, agentIds).execute();
      const decisions = rows.find(({ scope }) => scope === HOUSEHOLD_SCOPE)?.decisions;
      if (decisions === undefined) {
        await db
          .insertInto('configs')
          .values({ home, scope: HOUSEHOLD_SCOPE, config_json: '{}', stamp: '' })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        continue;
      }
      const fresh = scopes.map((scope) => [scope, rows.find((row) => row.scope === scope) ?? null] as const);
      held = { decisions, known: new Map([...(held?.decisions === decisions ? held.known : []), ...fresh]) };
    }
  }

  return {
    agent,
    changing,
    async household() {
      const { household: own, timeZone, versionOf } = await read([]);
      return { own, effective: effectiveConfig(own, null, timeZone), version: versionOf(HOUSEHOLD_SCOPE) };
    },
    async setAgent(agentId, config, version) {
      const isSet = await write(scopeOf(agentId), agentConfigSchema.parse(config), version);
      if (isSet) tellOf(agentId);
      return isSet;
    },
    async changeAgent(agentId, edit, also) {
      const scope = scopeOf(agentId);
      const done = await changing(scope, () =>
        db.transaction().execute(async (within) => {
          if (!(await also(within))) return false;
          const set = edit(agentIn(parse(await rowsOf(within, [agentId]).execute()), agentId));
          await writeConfig(within, { home, scope, config_json: JSON.stringify(agentConfigSchema.parse(set)) });
          return true;
        }),
      );
      if (done) tellOf(agentId);
      return done;
    },
    async setHousehold(config, version) {
      const isSet = await write(HOUSEHOLD_SCOPE, householdConfigSchema.parse(config), version);
      if (isSet) tell({ kind: 'changed', time: now(), what: 'config', agentId: null });
      return isSet;
    },
    async beginsIn(timeZone) {
      await changing(ZONE_SCOPE, () =>
        writeConfig(db, { home, scope: ZONE_SCOPE, config_json: JSON.stringify(zoneSchema.parse(timeZone)) }),
      );
      tell({ kind: 'changed', time: now(), what: 'config', agentId: null });
    },
    limits: async (agentId) => limitsOf((await agent(agentId)).effective),
    async deciding({ target, caller }, decide) {
      const agentIds = caller === null ? [target] : [target, caller];
      const limitsIn = ({ household, timeZone, agent: ownOf }: ReturnType<typeof parse>): WakeLimits => {
        const limits = (agentId: AgentId) => limitsOf(effectiveConfig(household, ownOf(agentId), timeZone));
        return caller === null
          ? limits(target)
          : { ...limits(target), maxWakesPerSession: limits(caller).maxWakesPerSession };
      };
      return await inTurn(async () => {
        for (;;) {
          const now = alone ? null : await heldFor(agentIds);
          const decision = await decide(
            limitsIn(now ? parse(asRows(now.known)) : await read(agentIds)),
            now?.decisions ?? null,
          );
          held = now && decision !== null ? { ...now, decisions: now.decisions + 1 } : null;
          if (decision !== null) return decision;
        }
      });
    },
  };
}
