/**
 * The gate on the store. See `Gate` in contracts.ts for what it promises, and
 * src/shared/domain/wake-gate.ts for what it decides.
 */
import { sql } from 'kysely';
import type { WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { realTimers, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import {
  decideWake,
  nextPass,
  sessionMs,
  wakeKindOf,
  type WakeFacts,
  type WakeQuestion,
} from '../../../src/shared/domain/wake-gate.ts';
import { dayOf } from '../../../src/shared/domain/zone-days.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { wakeSourceSchema, type WakeDecision } from '../../../src/shared/protocol/wakes.ts';
import type { Gate, WakePermit, WakeRequest } from '../../contracts/index.ts';
import { ALWAYS_THERE, writeOnce, type Database, type Db } from '../../store/index.ts';
import type { OpenConfigs } from './configs.ts';
import { readFacts, type About, type OpenWakeSession } from './facts.ts';
import {
  budgetKey,
  countFromNow,
  insertDecision,
  isDecided,
  readFeed,
  readGranted,
  readOpen,
  sourceKey,
  sourceLabel,
} from './wake-rows.ts';
import { createWakeSessions, endAsSeen, type WakeSessions } from './wake-sessions.ts';

export interface GateDeps {
  readonly db: Db;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'backMs'>;
  /** Names the home: homes that share a store do not share limits. */
  readonly home: string;
  readonly configs: OpenConfigs;
  readonly newId: () => string;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  readonly timers?: Timers;
  /** Into the event log, for the pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
  /** A sign of life of what runs could not be written; the next one is tried all the same. */
  readonly onHeartbeatError: (error: unknown) => void;
}

/** For stats: somebody who has asked for nothing today, of an agent that is free. */
const ANYBODY: WakeQuestion = { way: 'api', byPerson: false, state: 'idle' };

interface Situation {
  readonly limits: WakeLimits;
  readonly facts: WakeFacts;
  readonly dead: readonly OpenWakeSession[];
}

async function situationOf(
  db: Db,
  about: About,
  limits: WakeLimits,
  time: number,
  sessions: WakeSessions,
): Promise<Situation> {
  const { facts, open } = await readFacts(db, about, limits, time);
  const live = open.filter((session) => sessions.isLive(session, time));
  const dead = open.filter((session) => !live.includes(session));
  // As if their end had been written.
  const { day } = facts;
  const deadMs = dead.reduce(
    (sum, { opened, seen }) => sum + Math.max(0, Math.min(seen, day.end) - Math.max(opened, day.start)),
    0,
  );
  return {
    limits,
    dead,
    facts: { ...facts, endedMs: facts.endedMs + deadMs, running: live.map(({ opened }) => opened) },
  };
}

function leftOf(
  { way }: WakeRequest,
  { maxWakesPerSession }: WakeLimits,
  { callsInSession }: WakeFacts,
  granted: boolean,
): number | null {
  if (way !== 'wake_agent') return null;
  return Math.max(0, maxWakesPerSession - callsInSession - (granted ? 1 : 0));
}

interface OpenGate extends Gate {
  /** Decides once about nobody, and takes it back. */
  warm(): Promise<void>;
}

/** Takes back what a transaction wrote. */
class TakenBack extends Error {}

export function createGate(deps: GateDeps): OpenGate {
  const { db, home, configs, now, newId, alone, timers = realTimers, onHeartbeatError: onError } = deps;
  const { database = ALWAYS_THERE } = deps;
  const sessions = createWakeSessions({ db, database, home, now, alone, timers, onError });
  const tell = (agentId: AgentId | null) => deps.tell({ kind: 'changed', time: now(), what: 'wakes', agentId });

  /** Wakes whose sessions an earlier process left running. */
  const left = new Set<string>();
  /** The latest moment that was decided at: null before the first. */
  let latest: number | null = null;
  async function mendClock(db: Db, time: number): Promise<void> {
    if (latest === null || time < latest) await countFromNow(db, home, time);
    latest = time;
  }

  /** null: somebody else was first, and what was decided on holds no more. */
  async function decide(limits: WakeLimits, decisions: number | null, request: WakeRequest, decisionId: string) {
    const {
      source,
      target,
      way,
      alone: canWorkAlone = false,
      inDark = false,
      quiet = false,
      since,
      grantedAt,
    } = request;
    // Not before: others may have decided while this one waited for its turn.
    const time = now();
    await mendClock(db, time);
    const budget = budgetKey(request, dayOf(limits.timeZone, time));
    const { facts, dead } = await situationOf(
      db,
      { home, target, source: sourceKey(source), budget },
      limits,
      time,
      sessions,
    );
    // Decided here, where decisions of all processes stand one after the other: of two that ask at
    // once, one begins.
    const atWork = request.oneAtATime === true && facts.running.length > 0;
    const question: WakeQuestion = {
      way,
      byPerson: source.kind === 'person',
      state: atWork ? 'busy' : request.state,
      atWork,
      alone: canWorkAlone,
      inDark,
      scheduled: source.kind === 'schedule' || source.kind === 'script' || grantedAt !== undefined,
      ...(since === undefined ? {} : { since }),
    };
    const { outcome, check, until, detail } = decideWake(question, limits, facts, time);
    const { reason, messageId, callId = null } = request;
    const decision: WakeDecision = {
      decisionId,
      time,
      target,
      source,
      way,
      reason,
      messageId,
      callId,
      outcome,
      check,
      until,
      detail,
    };
    // Also those that another process of this household has left.
    if (dead.length > 0)
      await endAsSeen(db, home)
        .where('wake', '=', sql<string>`any(${dead.map(({ wake }) => wake)}::text[])`)
        .execute();
    const left = leftOf(request, limits, facts, outcome === 'granted');
    if (quiet === 'deferred' ? outcome === 'deferred' : quiet && outcome !== 'granted')
      return { decision, left, isWritten: false };
    if (outcome === 'granted') sessions.opened(decisionId);
    const isNoWake = wakeKindOf(question) === 'flag' || grantedAt !== undefined;
    const isWritten = await writeOnce({
      write: async () => (await insertDecision(db, home, decision, budget, decisions, isNoWake)) || null,
      look: async () => (await isDecided(db, home, decisionId)) || null,
    });
    if (!isWritten) {
      sessions.withdrawn(decisionId);
      return null;
    }
    return { decision, left, isWritten: true };
  }

  function permitFor(decisionId: string): WakePermit {
    let released: Promise<void> | null = null;
    async function end(): Promise<void> {
      const agentId = await sessions.ended(decisionId);
      if (agentId !== null) tell(agentId);
    }
    return { release: () => (released ??= end()) };
  }

  return {
    async ask(request) {
      const decisionId = newId();
      const { target, source } = request;
      try {
        const { isWritten, ...answer } = await configs.deciding(
          { target, caller: source.kind === 'agent' ? source.agentId : null },
          (limits, decisions) => decide(limits, decisions, request, decisionId),
        );
        if (isWritten) tell(request.target);
        return { ...answer, permit: answer.decision.outcome === 'granted' ? permitFor(decisionId) : null };
      } catch (error) {
        sessions.withdrawn(decisionId);
        throw error;
      }
    },
    async recover() {
      for (const wake of await sessions.closeDead()) left.add(wake);
      if (left.size > 0) tell(null);
    },
    async stats(agentId) {
      const limits = await configs.limits(agentId);
      const time = now();
      await mendClock(db, time);
      const { facts } = await situationOf(
        db,
        { home, target: agentId, source: null, budget: null },
        limits,
        time,
        sessions,
      );
      const granted = db
        .selectFrom('wakes')
        .where('home', '=', home)
        .where('granted_target_json', '=', JSON.stringify(agentId));
      const { last } = await granted.select((eb) => eb.fn.max('asked_at').as('last')).executeTakeFirstOrThrow();
      const sources = await granted
        .where('asked_at', '>=', facts.day.start)
        .where('asked_at', '<', facts.day.end)
        .select((eb) => ['source_json', 'clears', eb.fn.countAll<string>().as('wakes')])
        .groupBy(['source_json', 'clears'])
        .execute();
      const bySource = new Map<string, number>();
      let wakesToday = 0;
      for (const { source_json, clears, wakes } of sources) {
        const source = wakeSourceSchema.parse(JSON.parse(source_json));
        if ((source.kind === 'agent' || source.kind === 'api') && !clears) wakesToday += Number(wakes);
        const label = sourceLabel(source);
        bySource.set(label, (bySource.get(label) ?? 0) + Number(wakes));
      }
      return {
        wakesToday,
        maxWakesPerDay: limits.maxWakesPerDay,
        cooldownSeconds: limits.cooldownSeconds,
        lastWakeTime: last,
        maxDailySessionMinutes: limits.maxDailySessionMinutes,
        minutesToday: sessionMs(facts, limits.timeZone, time) / 60_000,
        bySource: Object.fromEntries(bySource),
        running: facts.running.length,
        nextWakeTime: nextPass(ANYBODY, limits, facts, time),
        stoppedBy: decideWake(ANYBODY, limits, facts, time).check,
      };
    },
    async warm() {
      const time = now();
      const limits = await configs.limits('warm');
      await mendClock(db, time);
      await situationOf(db, { home, target: 'warm', source: null, budget: null }, limits, time, sessions);
      const decision: WakeDecision = {
        decisionId: newId(),
        time,
        target: 'warm',
        source: { kind: 'person' },
        way: 'person',
        reason: null,
        messageId: null,
        callId: null,
        outcome: 'granted',
        check: null,
        until: null,
        detail: '',
      };
      const taken = db.transaction().execute(async (trx) => {
        await insertDecision(trx, home, decision, null, null);
        throw new TakenBack();
      });
      await taken.catch((error: unknown) => {
        if (!(error instanceof TakenBack)) throw error;
      });
    },
    async open(since) {
      const decisions = await readOpen(db, home, since);
      return decisions.map((decision) => ({ ...decision, isLeft: left.has(decision.decisionId) }));
    },
    granted: (wake) => readGranted(db, home, wake),
    feed: (page) => readFeed(db, home, page),
    close: () => sessions.close(),
  };
}

/** The wake gate: what may wake whom, what was decided, and the settings it keeps to. */
export { createConfigs, writeConfig, type OpenConfigs } from './configs.ts';
export { createGateRoutes } from './routes.ts';
export { agentOfScope, HOUSEHOLD_SCOPE, PRICES_SCOPE, scopeOf, ZONE_SCOPE } from './configs.ts';
