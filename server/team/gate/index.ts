/**
 * The gate on the store. See `Gate` in contract.ts, and
 * src/shared/domain/wake-gate.ts for its rules.
 */
import { type Selectable, sql } from 'kysely';
import type { WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import { NUMBERS } from '../../../src/shared/domain/setting-table.ts';
import {
  BUSY,
  decideWake,
  nextPass,
  sessionMs,
  type WakeFacts,
  wakeKindOf,
  type WakeQuestion,
} from '../../../src/shared/domain/wake-gate.ts';
import { type Day, dayOf } from '../../../src/shared/domain/zone-days.ts';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import {
  type WakeDecision,
  wakeDecisionSchema,
  type WakeFeed,
  type WakeSource,
  wakeSourceSchema,
} from '../../../src/shared/protocol/wakes.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { realTimers, type Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { isNoneOf, isOneOf } from '../../store/dialect.ts';
import { SCHEMA, type Tables } from '../../store/tables.ts';
import {
  ALWAYS_THERE,
  type Database,
  type Db,
  type HomeStore,
  parseText,
  runTogether,
  writeOnce,
} from '../../store/index.ts';
import type { Gate, WakePermit, WakeRequest } from './contract.ts';
import { HOUSEHOLD_SCOPE, type OpenConfigs } from './configs.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
export {
  createConfigs,
  writeConfig,
  type OpenConfigs,
  agentOfScope,
  HOUSEHOLD_SCOPE,
  PRICES_SCOPE,
  scopeOf,
  ZONE_SCOPE,
} from './configs.ts';
export { createGateRoutes } from './routes.ts';

// Facts about past wakes on which the gate decides. Reads few rows, however long the history.

const LONGEST_COOLDOWN_MS = NUMBERS.cooldown_seconds.max * 1_000;

/** A wake session without an end. */
interface OpenWakeSession {
  readonly wake: string;
  readonly opened: number;
  readonly seen: number;
}

interface About {
  readonly home: string;
  readonly target: string;
  /** The source of the wake, see `sourceKey`. Null: no particular one. */
  readonly source: string | null;
  /** See `budgetKey`. Null: no budget is used. */
  readonly budget: string | null;
}

interface Known {
  readonly facts: Omit<WakeFacts, 'running'>;
  /** Open sessions of the target. Their process may be dead. */
  readonly open: readonly OpenWakeSession[];
}

/**
 * `wake`: an event wake of the target; `note` is its source. `latest`: a wake of the household.
 * `cleared`: a sleeping flag of the household was cleared. `call`: a call that used the budget.
 * `session`: a session of the target; `note` is its wake.
 */
interface Row {
  readonly what: 'wake' | 'latest' | 'cleared' | 'call' | 'session';
  readonly at: number;
  readonly seen: number | null;
  readonly ended: number | null;
  readonly note: string | null;
}

const WAKE_SESSIONS = sql.table(`${SCHEMA}.wake_sessions`);
const WAKES = sql.table(`${SCHEMA}.wakes`);
const NONE = sql`cast(null as bigint)`;

/** Reads at most as many wakes of the target as a day may have. The decision needs no more. */
function statement(
  { home, target, budget }: About,
  { maxWakesPerDay, floodMaxWakes, floodWindowSeconds }: WakeLimits,
  dayStart: number,
  now: number,
) {
  const aim = JSON.stringify(target);
  const since = Math.min(dayStart, now - LONGEST_COOLDOWN_MS);
  const floodSince = now - floodWindowSeconds * 1_000;
  return sql<Row>`
    select * from (select 'wake' as what, asked_at as at, ${NONE} as seen, ${NONE} as ended, source_json as note from ${WAKES}
      where home = ${home} and granted_target_json = ${aim} and asked_at >= ${since}
        and source_kind in ('agent', 'api') and clears = false
      order by asked_at desc limit ${Math.max(1, maxWakesPerDay)}) as wakes
    union all
    select * from (select 'latest', asked_at, ${NONE}, ${NONE}, cast(null as text) from ${WAKES}
      where home = ${home} and granted_target_json is not null and asked_at > ${floodSince}
        and source_kind in ('agent', 'api') and clears = false
      order by asked_at desc limit ${floodMaxWakes}) as latest
    union all
    select * from (select 'cleared', asked_at, ${NONE}, ${NONE}, cast(null as text) from ${WAKES}
      where home = ${home} and granted_target_json is not null and asked_at > ${floodSince} and clears = true
      order by asked_at desc limit ${floodMaxWakes}) as cleared
    union all
    select 'call', asked_at, ${NONE}, ${NONE}, cast(null as text) from ${WAKES}
      where home = ${home} and budget_json = ${budget}
    union all
    select 'session', opened_at, seen_at, ended_at, wake from ${WAKE_SESSIONS}
      where home = ${home} and target_json = ${aim} and ended_at is null
    union all
    ${
      // Beside the one above and not in one condition with it, which would read every session there
      // ever was.
      sql`select 'session', opened_at, seen_at, ended_at, wake from ${WAKE_SESSIONS}`
    }
      where home = ${home} and target_json = ${aim} and ended_at > ${dayStart}`;
}

/**
 * Reads all facts in one statement. Today's counts are exact up to the daily limit of wakes, which
 * is all the decision needs.
 */
async function readFacts(db: Db, about: About, limits: WakeLimits, now: number): Promise<Known> {
  const day = dayOf(limits.timeZone, now);
  const { rows } = await statement(about, limits, day.start, now).execute(db);
  const of = (what: Row['what']) => rows.filter((row) => row.what === what);
  const latestFirst = (what: Row['what']) =>
    of(what)
      .map(({ at }) => at)
      .toSorted((a, b) => b - a);
  const today = of('wake').filter(({ at }) => at >= day.start && at < day.end);
  const sessions = of('session');
  const endedMs = sessions.reduce(
    (sum, { at, ended }) =>
      sum + (ended === null ? 0 : Math.max(0, Math.min(ended, day.end) - Math.max(at, day.start))),
    0,
  );
  return {
    facts: {
      day,
      callsInSession: of('call').length,
      lastWake: latestFirst('wake')[0] ?? null,
      wakesToday: today.length,
      pairToday: today.filter(({ note }) => note === about.source).length,
      endedMs,
      latest: latestFirst('latest'),
      cleared: latestFirst('cleared'),
    },
    open: sessions.flatMap(({ at, seen, ended, note }) =>
      ended === null ? [{ wake: note ?? '', opened: at, seen: seen ?? at }] : [],
    ),
  };
}

// Decisions as rows, and the keys of sources and budgets.

/**
 * Moves grants with a future time to now. They were written before the wall clock went back. A
 * cooldown then lasts for its normal time, not for as long as the clock jumped.
 */
async function countFromNow(db: Db, home: string, now: number): Promise<void> {
  await db
    .updateTable('wakes')
    .set({ asked_at: now })
    .where('home', '=', home)
    .where('granted_target_json', 'is not', null)
    .where('asked_at', '>', now)
    .execute();
}

/** Key of a source: the same text for the same source, whatever the order of its fields. */
function sourceKey(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return JSON.stringify({ kind: source.kind });
    case 'agent':
      return JSON.stringify({ kind: source.kind, agentId: source.agentId });
    case 'schedule':
    case 'script':
    case 'api':
      return JSON.stringify({ kind: source.kind, name: source.name });
  }
}

/** For people: "person", an agent's id, or a name. */
function sourceLabel(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return 'person';
    case 'agent':
      return source.agentId;
    case 'schedule':
    case 'script':
    case 'api':
      return source.name;
  }
}

/**
 * Key of the `wake_agent` budget that this call uses: the caller and its session. Null: it uses
 * none. A caller without a session has one budget per day, so that its calls are limited too.
 */
function budgetKey(
  { way, source, callerSession }: Pick<WakeRequest, 'way' | 'source' | 'callerSession'>,
  day: Day,
): string | null {
  if (way !== 'wake_agent') return null;
  return `${sourceKey(source)} ${callerSession === null ? `day ${day.start}` : JSON.stringify(callerSession)}`;
}

/**
 * Writes a decision in one transaction, together with the session it opens if it was granted.
 * `budget`: see `budgetKey`. `decisions`: if the household's counter has changed, nothing is
 * written and the answer is false; null: no other process can have changed it. `clears`: the
 * decision clears a sleeping flag or was counted before, so it does not count as a wake.
 */
async function insertDecision(
  db: Db,
  home: string,
  decision: WakeDecision,
  budget: string | null,
  decisions: number | null,
  clears = false,
): Promise<boolean> {
  const { decisionId: wake, time, source } = decision;
  const granted = decision.outcome === 'granted';
  const target = JSON.stringify(decision.target);
  const wakes = db.insertInto('wakes').values({
    home,
    wake,
    asked_at: time,
    target_json: target,
    source_kind: source.kind,
    source_json: sourceKey(source),
    way: decision.way,
    reason: decision.reason,
    message_json: decision.messageId === null ? null : JSON.stringify(decision.messageId),
    call_id: decision.callId,
    outcome: decision.outcome,
    stopped_by: decision.check,
    until_at: decision.until,
    detail_json: JSON.stringify(decision.detail),
    granted_target_json: granted ? target : null,
    budget_json: granted ? budget : null,
    clears,
  });
  const opens = db
    .insertInto('wake_sessions')
    .values({ home, wake, target_json: target, opened_at: time, seen_at: time, ended_at: null });
  const count = db
    .updateTable('configs')
    .set((eb) => ({ decisions: eb('decisions', '+', 1) }))
    .where('home', '=', home)
    .where('scope', '=', HOUSEHOLD_SCOPE)
    .where('decisions', '=', decisions);
  const writes = granted ? [opens, wakes] : [wakes];
  const changes =
    decisions === null
      ? await runTogether(db, writes)
      : await runTogether(db, [count, ...writes], { ifFirstChanges: true });
  return changes !== null;
}

/** Whether this decision was written. */
async function isDecided(db: Db, home: string, wake: string): Promise<boolean> {
  const row = await db
    .selectFrom('wakes')
    .select('wake')
    .where('home', '=', home)
    .where('wake', '=', wake)
    .executeTakeFirst();
  return row !== undefined;
}

const COLUMNS = [
  'wake',
  'asked_at',
  'target_json',
  'source_json',
  'way',
  'reason',
  'message_json',
  'call_id',
  'outcome',
  'stopped_by',
  'until_at',
  'detail_json',
] as const;

type WakeRow = Pick<Selectable<Tables['wakes']>, (typeof COLUMNS)[number]>;
const decisionOf = (row: WakeRow): WakeDecision =>
  wakeDecisionSchema.parse({
    decisionId: row.wake,
    time: row.asked_at,
    target: JSON.parse(row.target_json),
    source: JSON.parse(row.source_json),
    way: row.way,
    reason: row.reason,
    messageId: row.message_json === null ? null : JSON.parse(row.message_json),
    callId: row.call_id,
    outcome: row.outcome,
    check: row.stopped_by,
    until: row.until_at,
    detail: JSON.parse(row.detail_json),
  });

/** The granted wake of this agent for this message. Null: there is none. */
async function readGranted(
  db: Db,
  home: string,
  { target, messageId }: { readonly target: string; readonly messageId: MessageId },
): Promise<WakeDecision | null> {
  const row = await db
    .selectFrom('wakes')
    .select(COLUMNS)
    .where('home', '=', home)
    .where('target_json', '=', JSON.stringify(target))
    .where('message_json', '=', JSON.stringify(messageId))
    .where('outcome', '=', 'granted')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? decisionOf(row) : null;
}

/**
 * The newest decision about each message since then, if it is a grant, or waits until the agent is
 * free.
 */
async function readOpen(db: Db, home: string, since: number, setAside: SetAside): Promise<WakeDecision[]> {
  const about = db
    .selectFrom('wakes')
    .where('home', '=', home)
    .where('asked_at', '>=', since)
    .where('message_json', 'is not', null);
  const newest = about.groupBy(['target_json', 'message_json']).select((eb) => eb.fn.max('sequence').as('newest'));
  const rows = await db
    .selectFrom('wakes')
    .select(COLUMNS)
    .where('sequence', 'in', newest)
    .orderBy('target_json')
    .orderBy('message_json')
    .execute();
  return setAside
    .read('wakes', rows, ({ wake }) => wake, decisionOf)
    .filter(({ outcome, detail }) => outcome === 'granted' || (outcome === 'deferred' && detail === BUSY));
}

/** Newest first. Empty if `before` is no decision of this household. */
async function readFeed(
  db: Db,
  home: string,
  {
    before,
    limit,
    agentId,
  }: { readonly before: string | null; readonly limit: number; readonly agentId: AgentId | null },
  setAside: SetAside,
): Promise<WakeFeed> {
  let rows = db.selectFrom('wakes').select(COLUMNS).where('home', '=', home);
  if (agentId !== null) rows = rows.where('target_json', '=', JSON.stringify(agentId));
  if (before !== null)
    rows = rows.where('sequence', '<', (eb) =>
      eb
        .selectFrom('wakes as last')
        .select('last.sequence')
        .where('last.home', '=', home)
        .where('last.wake', '=', before),
    );
  const page = await rows
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute();
  const wakes = setAside.read('wakes', page.slice(0, limit), ({ wake }) => wake, decisionOf);
  return { wakes, more: page.length > limit };
}

// Sessions opened by wakes, and which of them still run. Each process sends heartbeats for its own
// sessions. When they stop, the sessions count as ended at the last heartbeat. The runs inside a
// session are in server/agents/runs.

const WAKE_SESSION_SETTINGS = {
  /** ms between two heartbeats. After a kill, up to this much of a session is not counted. */
  heartbeatMs: 5_000,
  /** ms without a heartbeat after which a process counts as dead. */
  deadMs: 20_000,
} as const;

interface WakeSessionsDeps extends HomeStore {
  readonly database: Pick<Database, 'backMs'>;
  readonly now: () => number;
  /**
   * No other process can have this store open. Open sessions that are not ours were left by an
   * earlier process.
   */
  readonly alone: boolean;
  readonly timers: Timers;
  /** A heartbeat could not be written. The next one is tried all the same. */
  readonly onError: (error: unknown) => void;
}

interface WakeSessions {
  /** Must be called before other processes can see the row. */
  opened(decisionId: string): void;
  /** The session was not opened after all. */
  withdrawn(decisionId: string): void;
  /** Ends a session. Resolves with its agent. Null: it had ended already, or never existed. */
  ended(decisionId: string): Promise<string | null>;
  isLive(session: OpenWakeSession, time: number): boolean;
  /**
   * Ends sessions of dead processes at their last heartbeat. Resolves with the wakes that had
   * opened them.
   */
  closeDead(): Promise<readonly string[]>;
  /** Ends all sessions of this process. */
  close(): Promise<void>;
}

/** Ends sessions at their last heartbeat. */
const endAsSeen = (db: Db, home: string) =>
  db
    .updateTable('wake_sessions')
    .set((eb) => ({ ended_at: eb.ref('seen_at') }))
    .where('home', '=', home)
    .where('ended_at', 'is', null);

function createWakeSessions({ db, database, home, now, alone, timers, onError }: WakeSessionsDeps): WakeSessions {
  const own = new Set<string>();
  let cancel: (() => void) | null = null;
  /** Queued, so that a heartbeat sent before an end does not arrive after it. */
  const inTurn = createQueue();
  /** After an outage, other processes first get time to send heartbeats. */
  const isTooSoon = () => database.backMs() < WAKE_SESSION_SETTINGS.deadMs;
  const ours = (decisionIds: readonly string[]) =>
    db
      .updateTable('wake_sessions')
      .where('home', '=', home)
      .where(isOneOf('wake', [...decisionIds]));

  function drop(decisionId: string): boolean {
    const had = own.delete(decisionId);
    if (own.size === 0) {
      cancel?.();
      cancel = null;
    }
    return had;
  }
  function beatLater(): void {
    if (own.size === 0) return;
    cancel ??= timers.after(WAKE_SESSION_SETTINGS.heartbeatMs, () => {
      cancel = null;
      void inTurn(beat).catch(onError).finally(beatLater);
    });
  }
  async function beat(): Promise<void> {
    // Another process may have taken this one for dead and ended its sessions. The heartbeat
    // reopens them.
    if (own.size > 0)
      await ours([...own])
        .set({ seen_at: now(), ended_at: null })
        .execute();
  }

  return {
    opened(decisionId) {
      own.add(decisionId);
      beatLater();
    },
    withdrawn: (decisionId) => void drop(decisionId),
    ended(decisionId) {
      const over = { ended_at: now(), seen_at: now() };
      const update = drop(decisionId)
        ? ours([decisionId]).set(over)
        : ours([decisionId]).set(over).where('ended_at', 'is', null);
      return inTurn(async () => {
        const row = await update.returning('target_json').executeTakeFirst();
        return row ? parseText(row.target_json) : null;
      });
    },
    isLive: ({ wake, seen }, time) =>
      own.has(wake) || (!alone && (isTooSoon() || Math.abs(time - seen) < WAKE_SESSION_SETTINGS.deadMs)),
    async closeDead() {
      if (!alone && isTooSoon()) return [];
      const before = alone ? Number.MAX_SAFE_INTEGER : now() - WAKE_SESSION_SETTINGS.deadMs;
      const rows = await endAsSeen(db, home)
        // A heartbeat far in the future was written before the clock went back. A live process
        // sends another one.
        .where((or) => or.or([or('seen_at', '<=', before), or('seen_at', '>', now() + WAKE_SESSION_SETTINGS.deadMs)]))
        .where(isNoneOf('wake', [...own]))
        .returning('wake')
        .execute();
      return rows.map(({ wake }) => wake);
    },
    async close() {
      const decisionIds = [...own];
      decisionIds.forEach(drop);
      await inTurn(async () => {
        if (decisionIds.length > 0) await ours(decisionIds).set({ ended_at: now(), seen_at: now() }).execute();
      });
    },
  };
}

export interface GateDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'backMs'>;
  readonly configs: OpenConfigs;
  readonly newId: () => string;
  /** No other process can have this store open, as with the embedded one. */
  readonly alone: boolean;
  readonly timers?: Timers;
  /** Writes to the event log, for pages. */
  readonly tell: (event: RoostEvent) => void;
  readonly now: () => number;
  /** A heartbeat could not be written. The next one is tried all the same. */
  readonly onHeartbeatError: (error: unknown) => void;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
}

/** A routine asks, and its agent is free. */
const ROUTINE: WakeQuestion = { way: 'schedule', byPerson: false, state: 'idle', alone: true };
/** For statistics: a caller that has made no calls today, and an idle agent. */
const ANYBODY: WakeQuestion = { way: 'api', byPerson: false, state: 'idle' };

const NO_FACTS: Omit<WakeFacts, 'day'> = {
  ...{ callsInSession: 0, lastWake: null, wakesToday: 0, pairToday: 0, endedMs: 0 },
  ...{ latest: [], cleared: [], running: [] },
};

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
  // Dead sessions count as if their end had been written.
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

export function createGate(deps: GateDeps): Gate {
  const { db, home, configs, now, newId, alone, timers = realTimers, onHeartbeatError: onError } = deps;
  const { database = ALWAYS_THERE, setAside = SETS_NOTHING_ASIDE } = deps;
  const sessions = createWakeSessions({ db, database, home, now, alone, timers, onError });
  const tell = (agentId: AgentId | null) => deps.tell({ kind: 'changed', time: now(), what: 'wakes', agentId });

  /** Wakes whose sessions an earlier process left open. */
  const leftSessions = new Set<string>();
  /** Time of the latest decision. Null: none yet. */
  let latest: number | null = null;
  async function mendClock(db: Db, time: number): Promise<void> {
    if (latest === null || time < latest) await countFromNow(db, home, time);
    latest = time;
  }

  /** Null: another process has decided since, and the facts are out of date. */
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
    // Taken here, because other decisions may have run while this one was queued.
    const time = now();
    await mendClock(db, time);
    const day = dayOf(limits.timeZone, time);
    const budget = budgetKey(request, day);
    // A wake by the person is always granted. Where no other process leaves sessions, nothing is
    // to be known for it.
    const { facts, dead } =
      alone && source.kind === 'person'
        ? { facts: { ...NO_FACTS, day }, dead: [] }
        : await situationOf(db, { home, target, source: sourceKey(source), budget }, limits, time, sessions);
    // Checked here, where the decisions of all processes are serialised: of two concurrent calls,
    // one begins.
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
    // Also ends sessions that another process of this household has left.
    if (dead.length > 0)
      await endAsSeen(db, home)
        .where(
          isOneOf(
            'wake',
            dead.map(({ wake }) => wake),
          ),
        )
        .execute();
    const wakesLeft = leftOf(request, limits, facts, outcome === 'granted');
    if (quiet === 'deferred' ? outcome === 'deferred' : quiet && outcome !== 'granted')
      return { decision, left: wakesLeft, isWritten: false };
    if (outcome === 'granted') sessions.opened(decisionId);
    const isNoWake = wakeKindOf(question) === 'flag' || grantedAt !== undefined;
    const isWritten = await writeOnce({
      write: async () => (await insertDecision(db, home, decision, budget, decisions, isNoWake)) || null,
      check: async () => (await isDecided(db, home, decisionId)) || null,
    });
    if (!isWritten) {
      sessions.withdrawn(decisionId);
      return null;
    }
    return { decision, left: wakesLeft, isWritten: true };
  }

  /** What the gate knows of an agent. */
  async function statusOf(agentId: AgentId) {
    const limits = await configs.limits(agentId);
    const time = now();
    await mendClock(db, time);
    const about = { home, target: agentId, source: null, budget: null };
    const { facts } = await situationOf(db, about, limits, time, sessions);
    return { limits, facts, time };
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
          {
            target,
            caller: source.kind === 'agent' ? source.agentId : null,
            // `statement` counts the wakes of agents and API clients alone.
            isCounted: source.kind !== 'person',
          },
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
      for (const wake of await sessions.closeDead()) leftSessions.add(wake);
      if (leftSessions.size > 0) tell(null);
    },
    async wouldBegin(agentId) {
      const { limits, facts, time } = await statusOf(agentId);
      return decideWake(ROUTINE, limits, facts, time);
    },
    async stats(agentId) {
      const { limits, facts, time } = await statusOf(agentId);
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
    async open(since) {
      const decisions = await readOpen(db, home, since, setAside);
      return decisions.map((decision) => ({ ...decision, isLeft: leftSessions.has(decision.decisionId) }));
    },
    granted: (wake) => readGranted(db, home, wake),
    feed: (page) => readFeed(db, home, page, setAside),
    close: () => sessions.close(),
  };
}
