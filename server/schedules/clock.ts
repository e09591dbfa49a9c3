/**
 * A home's clock. It sleeps until something is due, gives every moment that has come a row, and
 * hands what is to be done to `perform`, so many at once. Another process that shares the store may
 * do the same: a row is claimed by one of them.
 */
import { cutMiddle } from '../../src/shared/domain/cut-middle.ts';
import type { AgentId, RunId } from '../../src/shared/domain/ids.ts';
import { momentText } from '../../src/shared/domain/zone-days.ts';
import { quote, titled } from '../../src/shared/domain/quoting.ts';
import type { Occurrence } from '../../src/shared/protocol/schedules.ts';
import { sleep, type Timers } from '../../src/shared/domain/platform/timers.ts';
import type { OpenHealth } from '../../src/shared/protocol/http.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import { rowOf as inARow, type PlannedStop, type TimingContext } from '../../src/shared/domain/schedule/timing.ts';
import { sentence } from '../../src/shared/domain/sentence.ts';
import type { Configs, Meanwhile } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import { DATABASE_BROKE } from '../agents/runs/outcome.ts';
import { type Database, isAway } from '../store/index.ts';
import { type Claim, type Ended, type LeftScript, NO_DETAIL, type Row, type ScheduleRows, type Waits } from './rows.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';
import type { Leases } from './leases.ts';

// What an agent did alone, for when it wakes, and for its next turn where it is awake: it was
// itself that did it, and it must know.

/**
 * Runs that are told of one by one, how far back, how many are counted, and characters of the last
 * words of each.
 */
const TOLD = { runs: 10, backMs: 30 * 86_400_000, lookedAt: 500, saidChars: 300 };

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
 * Whether this agent was at work since then. Those of a team, which all wake in one go, are looked
 * for at once.
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

/** Resolves with a note for its mind, and up to when it tells; null: it did nothing since then. */
export function createMeanwhile({ rows, configs, now, logger }: MeanwhileDeps): Meanwhile {
  const wasAtWork = createWasAtWork(rows);
  return async (agentId, since, asleep) => {
    try {
      const time = now();
      const from = Math.max(since, time - TOLD.backMs);
      if (!(await wasAtWork(agentId, from))) return null;
      // Its own alone: however much the others did, or idled, nothing of it is pushed out.
      const own = await rows.runs({ agentId, before: time + 1, endedAfter: from, most: TOLD.lookedAt });
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
      // Of very many it is known that there are more.
      const least = own.length === TOLD.lookedAt ? 'at least ' : '';
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
      // No reason not to wake, nor not to answer.
      logger.error('what an agent did alone could not be read; it goes on without it', { error: String(error) });
      return null;
    }
  };
}

// Watches whether the clocks go by which things are due: one that stands is the one thing that it
// cannot say itself.

/**
 * One home's clock, as it is watched. `seenAt`: when it looked last; null: it has not begun.
 * `stoodMs`: at its start; null: it had not. `copied`: its home is a copy, and what is due is not
 * due here.
 */
export interface WatchedClock {
  readonly id: string;
  seenAt(): number | null;
  copied(): boolean;
  readonly stoodMs: number | null;
}

export interface ClockWatch {
  /** Of all homes, for anybody: it names none. */
  state(): OpenHealth['clock'];
  close(): void;
}

interface ClockWatchDeps {
  readonly clocks: () => readonly WatchedClock[];
  /** ms, only ever forward: a wall clock that is set anew stops nothing. */
  readonly elapsed: () => number;
  readonly timers: Timers;
  /** A sentence, when one begins to stand, and when all go again. */
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
  /** By home: its last look that was noticed, and when that was. */
  const noticed = new Map<string, { readonly seenAt: number | null; readonly at: number }>();
  let told = false;
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
    if (still !== null && !told)
      say(
        'The clock stands still: nothing that is due is begun, and none of it is lost. The log says why; it is tried again every minute.',
      );
    if (still === null && told) say('The clock goes again.');
    told = still !== null;
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
 * What became of a moment. `again`: nothing yet, and it waits until then, ms since the epoch;
 * `waits`: for what. `forgets`: it was no moment of its own, and is done with.
 */
export type Performed = (Ended & { readonly forgets?: true }) | { readonly again: number; readonly waits?: Waits };

/** What one that performs a moment may do with its row. */
interface Performing {
  /** Its run begins. False: somebody else has the moment now, and nothing may begin. */
  begins(runId: RunId): Promise<boolean>;
}

export interface ClockDeps {
  readonly rows: ScheduleRows;
  readonly leases: Leases;
  /** No other process can have this store open. */
  readonly alone: boolean;
  readonly database: Pick<Database, 'steadyMs' | 'untilThere'>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits: ScheduleLimits;
  /** The household's zone, by which things are due that have none of their own. */
  readZone(): Promise<string>;
  /** When each of these agents' is due in that zone, and whether a moment passes by in the dark. */
  readRules(
    zone: string,
    agentIds: readonly AgentId[],
  ): Promise<{ contextOf(row: Row): TimingContext; isDark(row: Row, at: number): boolean }>;
  /** Does what is due. Never rejects for what an agent or a script does. */
  perform(claim: Claim, row: Row, performing: Performing): Promise<Performed>;
  /**
   * Ends what is left of a script whose relay died, and says what became of it. `row` null: it is
   * scheduled no more.
   */
  endLeft(left: LeftScript, row: Row | null): Promise<Ended>;
  /** How these runs ended, those that did, though nobody had written it here. */
  endsOf(runIds: ReadonlySet<RunId>): Promise<ReadonlyMap<string, Ended>>;
  /** A schedule has come to an end so often in a row: it is paused. */
  onPaused(row: Row, why: string): void;
  /** Something of it has changed, for the pages. */
  onChange(agentId: AgentId | null): void;
}

export interface Clock {
  /** Begins to go. Says how long it stood. */
  start(): Promise<{ readonly stoodMs: number; readonly planned: boolean }>;
  /** Looks now: something was changed. */
  wake(): void;
  /** Of schedules: how many of them are being done. */
  running(): ReadonlyMap<string, number>;
  /** When it went last, ms since the epoch; null: it has not begun. */
  seenAt(): number | null;
  /** Resolves when nothing is due any more and nothing is being done. For tests. */
  whenQuiet(): Promise<void>;
  /**
   * `planned`: the person ended the relay. Nothing is begun after it; what is being done is waited
   * for.
   */
  close(planned: boolean): Promise<void>;
}

/** The database was lost in the middle of it. */
const BROKE_OFF: Ended = {
  end: { state: 'failed', reason: null },
  detail: { ...NO_DETAIL, detail: DATABASE_BROKE },
};
const BROKEN = 'Something in the relay broke. The relay’s log says more.';

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

  const failed = (error: unknown) =>
    logger.error('the clock could not look at what is due; it looks again', { error: String(error) });

  async function finish(claim: Claim, row: Row, { end, detail, removes = false }: Ended): Promise<void> {
    if (!(await rows.end(claim, end, detail, now(), { removes })))
      return logger.warn('somebody else has ended what this relay was doing', {
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
        logger.error('what was due could not be done', { scheduleId: claim.scheduleId, error: String(error) });
        return { end: { state: 'failed', reason: null }, detail: { ...NO_DETAIL, detail: BROKEN } };
      });
    await tryOn(async () => {
      if (!('again' in performed)) {
        await (performed.forgets ? rows.forgetHeld(claim) : finish(claim, row, performed));
        return await rows.hurry(claim.agentId, now());
      }
      // What has begun is not done twice.
      if (!(await rows.putBack(claim, performed.again, performed.waits))) await finish(claim, row, BROKE_OFF);
    });
    deps.onChange(claim.agentId);
  }

  /**
   * A store that is away for a while is no other end: what became of it is written once it is there
   * again.
   */
  async function tryOn(write: () => Promise<unknown>): Promise<void> {
    for (let tries = 1; ; tries++)
      try {
        await write();
        return;
      } catch (error) {
        if (closed || tries >= limits.endTries) throw error;
        failed(error);
        await (isAway(error) ? database.untilThere() : Promise.resolve());
        await sleep(timers.after, limits.endAgainMs);
      }
  }

  function begin(claim: Claim, handled: (claim: Claim) => Promise<void> = handle): void {
    const release = leases.hold(claim);
    const work = handled(claim)
      .catch(failed)
      .finally(() => {
        release();
        live.delete(claim);
        wake();
      });
    live.set(claim, work);
  }

  /**
   * What this process is at is not dead, however long it was held up; and what the log knows to
   * have ended has ended so.
   */
  async function recover(time: number, all: boolean): Promise<void> {
    // After an outage others first renew what they hold.
    if (!all && database.steadyMs() < limits.steadyMs) return;
    const mine = leases.tokens();
    const runIds = await rows.dead(time, all, mine);
    const ends = runIds.length === 0 ? new Map<string, Ended>() : await deps.endsOf(new Set(runIds));
    // Before what they are part of is crashed: they are told, and what is left of them is ended.
    for (const left of await rows.takeOver(time, all, mine, newId())) begin(left.claim, () => handleLeft(left));
    await rows.recover(time, all, leases.tokens(), ends);
  }

  /** Gives what is due by now its rows. Only that is read, however much is scheduled. */
  async function judgeDue(time: number): Promise<void> {
    for (let tries = 0; !closed && tries < limits.judgeTries;) {
      const due = await rows.due(time);
      if (due.length === 0) return;
      // Before the transaction: it may have the store's one connection.
      const rules = await deps.readRules(
        zone ?? (await deps.readZone()),
        due.map(({ agentId }) => agentId),
      );
      const ids = due.map(({ scheduleId }) => scheduleId);
      if ((await rows.advance(ids, { now: time, stops, ...rules })) > 0) continue;
      // Each is written by somebody at this moment, or judged by another process.
      tries += 1;
      await sleep(timers.after, limits.judgeAgainMs);
    }
  }

  /**
   * The household may live elsewhere from now on: what was due by the clocks there is, and what is
   * to come goes by those here.
   */
  async function followZone(time: number): Promise<void> {
    const here = await deps.readZone();
    if (zone !== null && zone !== here) {
      await judgeDue(time);
      const { contextOf } = await deps.readRules(here, []);
      // One that could not be judged is due still, and is no moment to be passed over.
      await rows.reckon(time, contextOf, ({ dueAt }) => dueAt === null || dueAt > time, true);
    }
    zone = here;
  }

  async function look(): Promise<void> {
    if (closed) return;
    const time = now();
    await followZone(time);
    // A clock that went back would stand still until it has caught up with itself.
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
  async function lookAndSleep(): Promise<void> {
    cancel?.();
    cancel = null;
    let broken = false;
    await look().catch((error: unknown) => {
      broken = true;
      failed(error);
    });
    if (isClosed()) return;
    const full = live.size >= limits.atOnce;
    const nextAt = await rows.nextAt().catch(() => null);
    const wait = nextAt === null || full ? limits.checkMs : Math.min(limits.checkMs, Math.max(0, nextAt - now()));
    // What is made up for waits for its place, and looking at it again at once would be in vain.
    cancel = timers.after(
      broken || (wait === 0 && live.size > 0) ? Math.max(wait, limits.catchUp.staggerMs) : wait,
      wake,
    );
  }

  function wake(): void {
    if (started && !closed) void inTurn(lookAndSleep).catch(failed);
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
