/**
 * Settings of the person, in the store. If other processes may have the store open, nothing is
 * cached, so that a change by one process takes effect for the next read of any other. On the
 * embedded store, which has one process, settings are read once.
 */
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
import { createSharedQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { isOneOf } from '../../store/dialect.ts';
import type { Db, HomeStore } from '../../store/index.ts';
import { effectiveConfig } from '../../../src/shared/protocol/effective.ts';
import type { HouseholdConfigInput } from '../../../src/shared/protocol/config.ts';

/** `version`: number of changes so far. 0: nothing was set. */
interface Held<Own> {
  readonly own: Own;
  readonly effective: EffectiveConfig;
  readonly version: number;
}

/**
 * The person's settings, with every default filled in. Changes apply at once. A change that names a
 * version is made only if that version is still the current one. False: it is not.
 */
export interface Configs {
  agent(agentId: AgentId): Promise<Held<AgentConfig>>;
  household(): Promise<Held<HouseholdConfig>>;
  setAgent(agentId: AgentId, config: AgentConfigInput, version?: number): Promise<boolean>;
  setHousehold(config: HouseholdConfigInput, version?: number): Promise<boolean>;
  /** The limits of this agent. */
  limits(agentId: AgentId): Promise<WakeLimits>;
}

/** The gate's part of the effective settings of an agent. */
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

interface ConfigsDeps extends HomeStore {
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  /**
   * The relay's time zone. It applies if the household has set none and no browser has reported
   * one.
   */
  readonly timeZone: string;
  /** Writes to the event log, for pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
}

export interface OpenConfigs extends Configs {
  /**
   * Decides a wake of `target` by its limits and the budget of `caller`, an agent or null.
   * `decisions` is a counter of the household that each decision and each change of settings
   * increments. `decide` must write only if the counter is unchanged, and answers null if it has
   * changed. Then it is asked again. So decisions are serialised without a lock, and no wake passes
   * after the household's switch was turned off. `decisions` null: no other process can increment
   * it. `isCounted` false: the wake changes no facts but those of its target. Then it is decided
   * beside others of that sort, and what they write shares one commit.
   */
  deciding<Decision>(
    wake: { readonly target: string; readonly caller: string | null; readonly isCounted: boolean },
    decide: (limits: WakeLimits, decisions: number | null) => Promise<Decision | null>,
  ): Promise<Decision>;
  /**
   * Changes the settings of an agent in one transaction with `also`. `edit` gets the agent's own
   * and effective settings at that time. False: `also` failed, and nothing was changed.
   */
  changeAgent(
    agentId: AgentId,
    edit: (now: Awaited<ReturnType<Configs['agent']>>) => AgentConfigInput,
    also: (within: Db) => Promise<boolean>,
  ): Promise<boolean>;
  /**
   * Stores the time zone of the browser in which the household begins. It applies until the person
   * sets one.
   */
  beginsIn(timeZone: string): Promise<void>;
  /** Runs a change of this row. No decision runs meanwhile, and cached values are dropped. */
  changing<Result>(scope: string, work: () => Promise<Result>): Promise<Result>;
}

/**
 * Writes a row of settings. Its stamp is null until the change is in the event log. The store
 * counts the version. False: the row has another version than `version`, and nothing was written.
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

/** Scopes of the rows of settings. */
export const HOUSEHOLD_SCOPE = 'household';
export const PRICES_SCOPE = 'prices';
/**
 * The time zone in which the household began. It is not a setting of the person, so it is no
 * record.
 */
export const ZONE_SCOPE = 'zone';
const FOR_ALL = [HOUSEHOLD_SCOPE, ZONE_SCOPE] as const;
const AGENT = 'agent ';
const zoneSchema = z.string();

export const scopeOf = (agentId: AgentId): string => `${AGENT}${JSON.stringify(agentId)}`;
/** The agent whose scope this is. */
export const agentOfScope = (scope: string): string => z.string().parse(JSON.parse(scope.slice(AGENT.length)));

export function createConfigs({ db, home, alone, timeZone: ofRelay, tell, now }: ConfigsDeps): OpenConfigs {
  /**
   * Rows by scope. Null: nothing is set. A write increments `turn` when it begins and ends, so that
   * values read meanwhile are not cached.
   */
  const rowsByScope = new Map<string, KnownRow | null>();
  let turn = 0;
  const inTurn = createSharedQueue();
  /**
   * Rows that were read at this count of decisions. They hold until another process increments it.
   */
  let decisionRows: { readonly decisions: number; readonly known: ReadonlyMap<string, KnownRow | null> } | null = null;

  const rowsOf = (from: Db, agentIds: readonly AgentId[]) =>
    from
      .selectFrom('configs')
      .select(['scope', 'config_json', 'version', 'decisions'])
      .where('home', '=', home)
      .where(isOneOf('scope', [...FOR_ALL, ...agentIds.map(scopeOf)]));

  /** Parses rows by scope. A missing row counts as empty. */
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
        rowsByScope.set(scope, rows.find((row) => row.scope === scope) ?? null);
    return parse(rows);
  }
  /**
   * Reads of the same tick share one query, for example when eight agents are woken together. A
   * later read asks the store again, unless the rows are cached.
   */
  function read(agentIds: readonly AgentId[]): Promise<Gathered> {
    const scopes = [...FOR_ALL, ...agentIds.map(scopeOf)];
    if (scopes.every((scope) => rowsByScope.has(scope))) return Promise.resolve(parse(asRows(rowsByScope)));
    if (!gathering) {
      const askedScopes = new Set<string>();
      const parsed = Promise.resolve().then(() => {
        gathering = null;
        return gathered(askedScopes);
      });
      gathering = { agentIds: askedScopes, parsed };
    }
    for (const agentId of agentIds) gathering.agentIds.add(agentId);
    return gathering.parsed;
  }

  const changing: OpenConfigs['changing'] = (scope, work) =>
    inTurn.alone(async () => {
      const forget = () => {
        turn += 1;
        rowsByScope.delete(scope);
        decisionRows = null;
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
      if (decisionRows && scopes.every((scope) => decisionRows?.known.has(scope))) return decisionRows;
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
      decisionRows = {
        decisions,
        known: new Map([...(decisionRows?.decisions === decisions ? decisionRows.known : []), ...fresh]),
      };
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
    async deciding({ target, caller, isCounted }, decide) {
      const agentIds = caller === null ? [target] : [target, caller];
      const limitsIn = ({ household, timeZone, agent: ownOf }: ReturnType<typeof parse>): WakeLimits => {
        const limits = (agentId: AgentId) => limitsOf(effectiveConfig(household, ownOf(agentId), timeZone));
        return caller === null
          ? limits(target)
          : { ...limits(target), maxWakesPerSession: limits(caller).maxWakesPerSession };
      };
      async function decided() {
        for (;;) {
          const now = alone ? null : await heldFor(agentIds);
          const decision = await decide(
            limitsIn(now ? parse(asRows(now.known)) : await read(agentIds)),
            now?.decisions ?? null,
          );
          decisionRows = now && decision !== null ? { ...now, decisions: now.decisions + 1 } : null;
          if (decision !== null) return decision;
        }
      }
      return await (alone && !isCounted ? inTurn.beside(target, decided) : inTurn.alone(decided));
    },
  };
}
