/**
 * The clock of a home. It sleeps until something is due, writes one row per due occurrence, and
 * passes the occurrences to `perform`, a limited number at a time. Several processes may share the
 * store: each row is claimed by one of them.
 */
import { sleep, type Timers } from '../../src/shared/domain/platform/timers.ts';
import { cutMiddle } from '../../src/shared/domain/cut-middle.ts';
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { quote, titled } from '../../src/shared/domain/quoting.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';
import type { OpenHealth } from '../../src/shared/protocol/http.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { rowOf as inARow, type PlannedStop, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { ALWAYS_THERE, type Database, enduring, isAway } from '../store/index.ts';
import type { Meanwhile } from '../agents/session/contract.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Logger } from '../platform/logger.ts';
import { DATABASE_BROKE } from '../agents/runs/outcome.ts';
import { type Claim, type Ended, type LeftScript, NO_DETAIL, type Row, type ScheduleRows, type Waits } from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

// Renews the leases of claims, so that no other relay takes the work of this one for dead.

interface LeasesDeps {
  readonly rows: Pick<ScheduleRows, 'renew'>;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'untilThere'>;
  readonly limits: Pick<ScheduleLimits, 'renewMs'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly onError: (error: unknown) => void;
}

export interface Leases {
  /** Renews this claim until the returned function is called. */
  hold(claim: Claim): () => void;
  /** Tokens of the claims that are held. */
  tokens(): readonly string[];
  /** Stops renewing. */
  close(): void;
}

export function createLeases({ rows, database = ALWAYS_THERE, limits, timers, now, onError }: LeasesDeps): Leases {
  const claims = new Set<Claim>();
  let closed = false;
  let cancel: (() => void) | null = null;

  function renewLater(): void {
    if (claims.size === 0 || closed) return;
    cancel ??= timers.after(limits.renewMs, () => {
      cancel = null;
      // Renewed as soon as the database is back from an outage. Other processes wait for that, but
      // no longer.
      enduring(database, () => rows.renew([...claims], now()))
        .catch(onError)
        .finally(renewLater);
    });
  }

  return {
    hold(claim) {
      claims.add(claim);
      renewLater();
      return () => void claims.delete(claim);
    },
    tokens: () => [...claims].map(({ token }) => token),
    close() {
      closed = true;
      cancel?.();
    },
  };
}

// Notes for an agent about its own runs without a person. The agent gets one when it wakes, or with
// its next turn if it is awake, because it must know what it has done.

/**
 * Limits of the note. `runs`: runs described one by one. `backMs`: how far back. `examined`: most
 * runs counted. `saidChars`: characters of the last words of each run.
 */
const TOLD = { runs: 10, backMs: 30 * 86_400_000, examined: 500, saidChars: 300 };

const OUTCOMES: Partial<Record<Occurrence['state'], string>> = {
  done: 'done',
  failed: 'failed',
  'timed-out': 'ended at its limit before it was done',
  crashed: 'cut off: the relay died',
  stopped: 'stopped',
};

interface MeanwhileDeps {
  readonly rows: Pick<ScheduleRows, 'runs' | 'endsSince'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'error'>;
}

/**
 * Whether an agent has finished a run since a given time. A team often wakes at once, so the
 * questions of one tick share one query.
 */
function createWasAtWork(rows: MeanwhileDeps['rows']) {
  let asking: { earliest: number; readonly ends: Promise<ReadonlyMap<AgentId, number>> } | null = null;
  async function ask(): Promise<ReadonlyMap<AgentId, number>> {
    await new Promise((resolve) => setImmediate(resolve));
    const { earliest = 0 } = asking ?? {};
    asking = null;
    return await rows.endsSince(earliest);
  }
  return async (agentId: AgentId, since: number): Promise<boolean> => {
    asking ??= { earliest: since, ends: ask() };
    asking.earliest = Math.min(asking.earliest, since);
    return ((await asking.ends).get(agentId) ?? 0) > since;
  };
}

/**
 * Resolves with a note for the agent's model and the time up to which it reports. Null: the agent
 * has finished no run since then.
 */
export function createMeanwhile({ rows, configs, now, logger }: MeanwhileDeps): Meanwhile {
  const wasAtWork = createWasAtWork(rows);
  return async (agentId, since, asleep) => {
    try {
      const time = now();
      const from = Math.max(since, time - TOLD.backMs);
      if (!(await wasAtWork(agentId, from))) return null;
      // Only this agent's runs are read, so the runs of others cannot push any out.
      const own = await rows.runs({ agentId, before: time + 1, endedAfter: from, most: TOLD.examined });
      if (own.length === 0) return null;
      const zone = (await configs.household()).effective.time_zone;
      const lines = own
        .slice(0, TOLD.runs)
        .reverse()
        .map(({ kind, name, startedAt, dueAt, state, said }) => {
          const what = kind === 'wake' ? `woken by ${titled(name)}` : `${kind} ${titled(name)}`;
          const head = `${what}, ${momentText(startedAt ?? dueAt, zone)}: ${OUTCOMES[state] ?? state}`;
          return said === null ? head : `${head}. Your last words:\n${quote(cutMiddle(said, TOLD.saidChars))}`;
        });
      // At the limit, the exact number is not known.
      const least = own.length === TOLD.examined ? 'at least ' : '';
      const more =
        own.length > TOLD.runs ? `\n${least}${own.length - TOLD.runs} runs before these are not told here.` : '';
      const isOlder =
        from > since && (await rows.runs({ agentId, before: from, endedAfter: since, most: 1 })).length > 0;
      const old = isOlder ? `\nWhat you did more than ${TOLD.backMs / 86_400_000} days ago is not told here.` : '';
      const often = own.length === 1 ? 'once' : `${least}${own.length} times`;
      const head = asleep
        ? `While you slept you were at work ${often}`
        : `Meanwhile you were at work by yourself ${often}`;
      return {
        text: `[${head}, without the human:]${old}${more}\n${lines.join('\n')}`,
        upTo: Math.max(...own.map(({ endedAt }) => endedAt ?? 0)),
      };
    } catch (error) {
      // The note is optional. The agent wakes or answers without it.
      logger.error('An agent’s own runs could not be read. Its wake continues without them.', { error });
      return null;
    }
  };
}

// Watches that all clocks keep running. A clock that has stopped cannot report it itself.

/**
 * The clock of one home, as the watch sees it. `seenAt`: its last tick; null: it has not started.
 * `stoodMs`: how long it had been stopped when it started; null: it had not. `copied`: the home is
 * a copy, so its schedules are not due here.
 */
export interface WatchedClock {
  readonly id: string;
  seenAt(): number | null;
  copied(): boolean;
  readonly stoodMs: number | null;
}

export interface ClockWatch {
  /** Over all homes. It names none of them, so anybody may see it. */
  state(): OpenHealth['clock'];
  close(): void;
}

interface ClockWatchDeps {
  readonly clocks: () => readonly WatchedClock[];
  /** Monotonic time in ms. A change of the wall clock has no effect. */
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** Prints a sentence when a clock stops, and when all run again. */
  readonly say: (line: string) => void;
  readonly limits?: Pick<ScheduleLimits, 'stillMs' | 'watchMs'>;
}

export function createClockWatch({
  clocks,
  elapsed,
  timers,
  say,
  limits = SCHEDULE_LIMITS,
}: ClockWatchDeps): ClockWatch {
  /** Per home: the last `seenAt` that was observed, and when it was first observed. */
  const noticed = new Map<string, { readonly seenAt: number | null; readonly at: number }>();
  let isAnnounced = false;
  let cancel: () => void = () => undefined;

  function standsStill(): number | null {
    const all = clocks();
    for (const { id, seenAt } of all) {
      const seen = seenAt();
      const before = noticed.get(id);
      if (!before || before.seenAt !== seen) noticed.set(id, { seenAt: seen, at: elapsed() });
    }
    const longest = Math.max(0, ...all.map(({ id }) => elapsed() - (noticed.get(id)?.at ?? elapsed())));
    return longest > limits.stillMs ? Math.round(longest) : null;
  }
  function watch(): void {
    const still = standsStill();
    if (still !== null && !isAnnounced)
      say(
        'The clock for schedules has stopped: nothing that is due begins, and none of it is lost. The log says why. The relay tries again every minute.',
      );
    if (still === null && isAnnounced) say('The clock for schedules works again.');
    isAnnounced = still !== null;
    cancel = timers.after(limits.watchMs, watch);
  }
  watch();

  return {
    state() {
      const stood = clocks().flatMap(({ stoodMs }) => stoodMs ?? []);
      return {
        standsStillMs: standsStill(),
        stoodMs: stood.length === 0 ? null : Math.max(...stood),
        copied: clocks().some((clock) => clock.copied()),
      };
    },
    close: () => cancel(),
  };
}

/**
 * The outcome of an occurrence. `again`: it has not happened yet and is tried again then, in ms
 * since the epoch; `waits`: for what. `forgets`: it was no occurrence of its schedule, so its row
 * is deleted. `afterwards`: work of the same moment that has rows of its own. It begins once the
 * outcome is stored.
 */
export type Performed =
  | (Ended & { readonly forgets?: true; readonly afterwards?: () => Promise<void> })
  | { readonly again: number; readonly waits?: Waits };

/** What `perform` may do with the row of an occurrence. */
interface Performing {
  /** The run begins. False: another process has the occurrence now, and nothing may begin. */
  begins(runId: RunId): Promise<boolean>;
}

export interface ClockDeps {
  readonly rows: ScheduleRows;
  readonly leases: Leases;
  /** Whether no other process can have this store open. */
  readonly alone: boolean;
  readonly database: Pick<Database, 'steadyMs' | 'untilThere'>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits: ScheduleLimits;
  /** The household's time zone. It applies to schedules without a zone of their own. */
  readZone(): Promise<string>;
  /** Timing rules of these agents in that zone, and whether an occurrence falls into a blackout. */
  readRules(
    zone: string,
    agentIds: readonly AgentId[],
  ): Promise<{ contextOf(row: Row): TimingContext; isDark(row: Row, at: number): boolean }>;
  /** Runs what is due. Never rejects for a failure of an agent or a script. */
  perform(claim: Claim, row: Row, performing: Performing): Promise<Performed>;
  /**
   * Ends what remains of a script whose relay died, and reports the outcome. `row` null: the
   * schedule is gone.
   */
  endLeft(left: LeftScript, row: Row | null): Promise<Ended>;
  /** Outcomes of those runs that have ended although their rows do not say so. */
  endsOf(runIds: ReadonlySet<RunId>): Promise<ReadonlyMap<string, Ended>>;
  /** The schedule failed too often in a row and is now paused. */
  onPaused(row: Row, why: string): void;
  /** Notifies pages that the agent's schedules changed. */
  onChange(agentId: AgentId | null): void;
}

export interface Clock {
  /** Starts the clock. Resolves with how long it had been stopped. */
  start(): Promise<{ readonly stoodMs: number; readonly planned: boolean }>;
  /** Looks for due work now, after a change. */
  wake(): void;
  /** How many occurrences of each schedule are being performed. */
  running(): ReadonlyMap<string, number>;
  /** The last tick, in ms since the epoch. Null: the clock has not started. */
  seenAt(): number | null;
  /** Resolves when nothing is due and nothing is being performed. For tests. */
  whenQuiet(): Promise<void>;
  /**
   * Begins nothing more, and waits for what is being performed. `planned`: the person stopped the
   * relay.
   */
  close(planned: boolean): Promise<void>;
}

/** The database was lost while the occurrence was performed. */
const BROKE_OFF: Ended = {
  end: { state: 'failed', reason: null },
  detail: { ...NO_DETAIL, detail: DATABASE_BROKE },
};
const BROKEN = 'The relay had an error. Its log says more.';

/** Carries out one claim, and writes what became of it. */
function createWork(
  deps: ClockDeps,
  isClosed: () => boolean,
  failed: (error: unknown) => void,
): { readonly carryOut: (claim: Claim) => Promise<void>; readonly endLeft: (left: LeftScript) => Promise<void> } {
  const { rows, database, now, timers, logger, limits } = deps;

  async function finish(claim: Claim, row: Row, { end, detail, removes = false }: Ended): Promise<void> {
    if (!(await rows.end(claim, end, detail, now(), { removes })))
      return logger.warn('Another process has ended what this relay was doing.', {
        scheduleId: claim.scheduleId,
        dueAt: claim.dueAt,
      });
    if (end.state === 'failed' || end.state === 'timed-out' || end.state === 'crashed') {
      const ends = await rows.ends(claim.scheduleId, limits.failuresPause);
      if (inARow(ends, 'failed') >= limits.failuresPause) {
        const why =
          detail.detail === null
            ? sentence`It failed ${limits.failuresPause} times in a row.`
            : sentence`It failed ${limits.failuresPause} times in a row, at last so: ${detail.detail}`;
        await rows.pause(claim.scheduleId, why);
        deps.onPaused(row, why);
      }
    }
  }

  async function handleLeft(left: LeftScript): Promise<void> {
    const { claim } = left;
    const row = await rows.get(claim.scheduleId);
    const ended = await deps.endLeft(left, row);
    await tryOn(() => (row ? finish(claim, row, ended) : rows.end(claim, ended.end, ended.detail, now())));
    deps.onChange(claim.agentId);
  }

  async function handle(claim: Claim): Promise<void> {
    const row = await rows.get(claim.scheduleId);
    if (!row) {
      await rows.end(claim, { state: 'cancelled', reason: null }, NO_DETAIL, now());
      return;
    }
    deps.onChange(claim.agentId);
    const performed = await deps
      .perform(claim, row, { begins: (runId) => rows.begins(claim, runId, now()) })
      .catch((error: unknown): Performed => {
        if (isAway(error)) {
          failed(error);
          return { again: now() };
        }
        logger.error('Something due could not be carried out.', { scheduleId: claim.scheduleId, error });
        return { end: { state: 'failed', reason: null }, detail: { ...NO_DETAIL, detail: BROKEN } };
      });
    await tryOn(async () => {
      if (!('again' in performed)) {
        await (performed.forgets ? rows.forgetHeld(claim) : finish(claim, row, performed));
        return await rows.hurry(claim.agentId, now());
      }
      // A run that has begun is not repeated.
      if (!(await rows.putBack(claim, performed.again, performed.waits))) await finish(claim, row, BROKE_OFF);
    });
    deps.onChange(claim.agentId);
    if ('afterwards' in performed && !isClosed()) await performed.afterwards?.();
  }

  /**
   * Retries a write while the store is unreachable, so that an outage does not change the outcome.
   */
  async function tryOn(write: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        await write();
        return;
      } catch (error) {
        if (isClosed() || tries >= limits.endTries) throw error;
        failed(error);
        await (isAway(error) ? database.untilThere() : Promise.resolve());
        await sleep(timers.after, limits.endAgainMs);
      }
  }

  return { carryOut: handle, endLeft: handleLeft };
}

export function createClock(deps: ClockDeps): Clock {
  const { rows, leases, alone, database, now, newId, timers, logger, limits } = deps;
  const live = new Map<Claim, Promise<void>>();
  const inTurn = createQueue();
  let stops: readonly PlannedStop[] = [];
  let closed = false;
  let started = false;
  let cancel: (() => void) | null = null;
  let seen: number | null = null;
  let begunAt: number | null = null;
  let zone: string | null = null;
  let forgotten = 0;

  const failed = (error: unknown) => logger.error('The clock could not check what is due. It tries again.', { error });
  const work = createWork(deps, () => closed, failed);

  function begin(claim: Claim, handled: (claim: Claim) => Promise<void> = work.carryOut): void {
    const release = leases.hold(claim);
    const done = handled(claim)
      .catch(failed)
      .finally(() => {
        release();
        live.delete(claim);
        wake();
      });
    live.set(claim, done);
  }

  /**
   * Ends what dead processes have left behind. Work of this process is never dead, however long it
   * was delayed. If the event log knows how a run ended, that is its outcome.
   */
  async function recover(time: number, all: boolean): Promise<void> {
    // After an outage, other processes first get time to renew their leases.
    if (!all && database.steadyMs() < limits.steadyMs) return;
    const mine = leases.tokens();
    const runIds = await rows.dead(time, all, mine);
    const ends = runIds.length === 0 ? new Map<string, Ended>() : await deps.endsOf(new Set(runIds));
    // Before the occurrences are marked as crashed: each script's processes are ended and its agent
    // is notified.
    for (const left of await rows.takeOver(time, all, mine, newId())) begin(left.claim, () => work.endLeft(left));
    await rows.recover(time, all, leases.tokens(), ends);
  }

  /**
   * Writes the rows of all occurrences due by now. It reads only due schedules, however many there
   * are.
   */
  async function judgeDue(time: number): Promise<void> {
    for (let tries = 0; !closed && tries < limits.judgeTries;) {
      const due = await rows.due(time);
      if (due.length === 0) return;
      // Read before the transaction, which may hold the store's only connection.
      const rules = await deps.readRules(
        zone ?? (await deps.readZone()),
        due.map(({ agentId }) => agentId),
      );
      const ids = due.map(({ scheduleId }) => scheduleId);
      const judged = await rows.advance(ids, { now: time, stops, ...rules });
      if (judged === due.length && judged < limits.batch) return;
      if (judged > 0) continue;
      // Every due row is locked: it is being written, or another process judges it.
      tries += 1;
      await sleep(timers.after, limits.judgeAgainMs);
    }
  }

  /**
   * Follows a change of the household's time zone. Past occurrences are judged by the old zone, and
   * later ones are computed in the new zone.
   */
  async function followZone(time: number): Promise<void> {
    const here = await deps.readZone();
    if (zone !== null && zone !== here) {
      await judgeDue(time);
      const { contextOf } = await deps.readRules(here, []);
      // A schedule that could not be judged is still due. Computing its next time now would skip an
      // occurrence.
      await rows.reckon(time, contextOf, ({ dueAt }) => dueAt === null || dueAt > time, true);
    }
    zone = here;
  }

  async function check(): Promise<void> {
    if (closed) return;
    const time = now();
    await followZone(time);
    // The wall clock went back. Without this the clock would stand still until that time is reached
    // again.
    if (seen !== null && time < seen - limits.catchUp.onTimeMs) {
      const { contextOf } = await deps.readRules(zone ?? '', []);
      await rows.reckon(time, contextOf, ({ judgedAt }) => judgedAt > time);
    }
    if (seen === null || Math.abs(time - seen) >= limits.checkMs / 2) {
      await rows.writeSign(time, null);
      await recover(time, false);
    }
    seen = time;
    await judgeDue(time);
    while (!closed && live.size < limits.atOnce) {
      const late = [...live.keys()].filter((claim) => claim.late).length < limits.lateAtOnce;
      const claim = await rows.claim(now(), newId(), late);
      if (!claim) break;
      begin(claim);
    }
    if (time - forgotten > limits.keptMs / 100) {
      forgotten = time;
      await rows.forget(time - limits.keptMs);
    }
  }

  const isClosed = () => closed;
  async function checkAndSleep(): Promise<void> {
    cancel?.();
    cancel = null;
    let broken = false;
    await check().catch((error: unknown) => {
      broken = true;
      failed(error);
    });
    if (isClosed()) return;
    const full = live.size >= limits.atOnce;
    const nextAt = await rows.nextAt().catch(() => null);
    const wait = nextAt === null || full ? limits.checkMs : Math.min(limits.checkMs, Math.max(0, nextAt - now()));
    // Catch-up occurrences wait for a free slot. Looking again immediately would find none.
    cancel = timers.after(
      broken || (wait === 0 && live.size > 0) ? Math.max(wait, limits.catchUp.staggerMs) : wait,
      wake,
    );
  }

  function wake(): void {
    if (started && !closed) void inTurn(checkAndSleep).catch(failed);
  }

  return {
    async start() {
      const time = now();
      begunAt = time;
      const sign = await rows.sign();
      const from = sign?.stoppedAt ?? sign?.seenAt ?? time;
      const planned = sign?.stoppedAt !== null && sign !== null;
      stops = planned && time > from ? [{ from, to: time }] : [];
      await recover(time, alone);
      started = true;
      wake();
      return { stoodMs: Math.max(0, time - from), planned };
    },
    wake,
    running() {
      const counts = new Map<string, number>();
      for (const { scheduleId } of live.keys()) counts.set(scheduleId, (counts.get(scheduleId) ?? 0) + 1);
      return counts;
    },
    seenAt: () => seen ?? begunAt,
    async whenQuiet() {
      for (;;) {
        await inTurn(() => Promise.resolve());
        if (live.size === 0) return;
        await Promise.all(live.values());
      }
    },
    async close(planned) {
      if (closed) return;
      closed = true;
      cancel?.();
      leases.close();
      await inTurn(() => Promise.resolve());
      await Promise.all(live.values());
      if (started) await rows.writeSign(now(), planned ? now() : null).catch(failed);
    },
  };
}
