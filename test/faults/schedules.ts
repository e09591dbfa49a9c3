/**
 * A household that lives by its routines: the team as a relay wires it, on the embedded store, with
 * a model over HTTP; only the clock is the test's, which jumps to what is due next. The relay is
 * dropped without a word, or ended, at moments that chance says, and started again after seconds or
 * hours.
 */
import { randomUUID } from 'node:crypto';
import { createScheduleRows, type ScheduleRows } from '../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../server/schedules/settings.ts';
import type { Store } from '../../server/store/index.ts';
import { createAnthropicMind, type Mind } from '../../server/agents/minds/index.ts';
import { END_STATES } from '../../src/shared/domain/schedule/timing.ts';
import type { Occurrence, Scheduled } from '../../src/shared/protocol/schedules.ts';
import { openMortalRelay, type MortalRelay } from '../support/mortal-relay.ts';
import { createRandom } from '../support/random.ts';
import { SNAPSHOT, createHandClock, routine } from '../support/schedules.ts';
import { startScriptedModel, type Script, type ScriptedModel } from '../support/scripted-model.ts';
import { createStorePlace } from '../support/stores.ts';
import { faultsOfOutcomes } from './schedule-outcomes.ts';
import { BERLIN, momentsByHand, timingsOf, YEAR_START } from './schedule-moments.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const SLICES = 50;
/** A fiftieth of a year. */
export const SLICE_MS = (365 * DAY) / SLICES;
export const KILLS_IN_A_SLICE = 10;
const POSITIONS = [0, 1, 2, 3, 5, 6, 7, 8] as const;
export const AGENTS = POSITIONS.map((position) => `agent-${position}`);
/**
 * Where a relay dies: at a statement of the store, before or after it, or while a model answers.
 */
export const STATEMENTS = {
  'while it claims': /with "next"/i,
  'while it begins': /update .*"occurrences" set "state" = \$1, "run" =/i,
  'while it ends': /update .*"occurrences" set "state" = \$1, "reason" = \$2, "ended_at" =/i,
  'while it judges': /insert into .*"occurrences"/i,
};
const SORTS = [
  'anywhere',
  'while it claims',
  'while it begins',
  'while it ends',
  'while it judges',
  'in a run',
] as const;
/** Statements from the first that is due to the one at which it dies, at most. */
const WITHIN_STATEMENTS = 70;

type Clock = ReturnType<typeof createHandClock>;

export interface ScheduleHouse {
  readonly clock: Clock;
  readonly model: ScriptedModel;
  readonly store: Store;
  /** What the store has, whoever lives. */
  readonly eyes: ScheduleRows;
  relay(): MortalRelay;
  /** Opens another relay on the same home. */
  restart(): Promise<void>;
  /**
   * Everything that is due up to then comes to its end; a relay that dies on the way ends it early.
   */
  liveTo(time: number): Promise<void>;
  /** What was logged by relays that lived. */
  logged(): readonly string[];
  close(): Promise<void>;
}

export interface NightOptions {
  readonly start: number;
  readonly script?: Script;
  readonly agents?: number;
  /** Has room for another home, and stays open; left out: one of its own. */
  readonly shared?: Store;
}

/** A household whose agents have left their copies, with its relay running. */
export async function openScheduleHouse({
  start,
  script = () => [{ say: 'I looked around.' }],
  agents = POSITIONS.length,
  shared,
}: NightOptions): Promise<ScheduleHouse> {
  const place = shared ? null : await createStorePlace('sqlite');
  const store = shared ?? (await place?.open());
  if (!store) throw new Error('There is no store.');
  const model = await startScriptedModel(script);
  const mind: Mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: model.url });
  const home = randomUUID();
  const clock = createHandClock(start);
  const eyes = createScheduleRows({ db: store.db, home, limits: SCHEDULE_LIMITS });
  const before: string[] = [];
  const openRelay = () => openMortalRelay({ store, home, mind, now: clock.now });
  let relay = await openRelay();
  await relay.team.directory.set({
    agents: POSITIONS.slice(0, agents).map((position) => ({
      agentId: `agent-${position}`,
      name: `Agent ${position}`,
      position,
      retired: false,
    })),
  });
  await relay.team.configs.setHousehold({
    time_zone: BERLIN,
    coordination: {
      max_concurrent_pulse_sessions: 16,
      wake_guardrails: { max_daily_session_minutes: 1_440 },
      blackouts: [{ label: 'deep night', start_time: '03:30', end_time: '04:30', days: [] }],
    },
  });
  for (const position of POSITIONS.slice(0, agents))
    await relay.team.snapshots.leave(`agent-${position}`, { ...SNAPSHOT, name: `Agent ${position}`, position }, 'v1');
  await relay.team.schedules.clock.start();

  return {
    clock,
    model,
    store,
    eyes,
    relay: () => relay,
    async restart() {
      before.push(...relay.logged);
      relay = await openRelay();
      await relay.team.schedules.clock.start();
    },
    async liveTo(time) {
      for (;;) {
        const { schedules } = relay.team;
        schedules.clock.wake();
        await Promise.race([schedules.clock.whenQuiet(), relay.dead]);
        if (relay.isDead()) return;
        const next = await eyes.nextAt();
        // What is due now was given back, and waits for its time.
        if (next !== null && next <= clock.now()) continue;
        if (next === null || next > time) break;
        clock.pass(next - clock.now());
      }
      if (time > clock.now()) clock.pass(time - clock.now());
    },
    logged: () => [...before, ...relay.logged],
    async close() {
      if (!relay.isDead()) await relay.stop();
      await mind.close();
      await model.close();
      if (shared) return;
      await store.close();
      await place?.remove();
    },
  };
}

export interface Slice {
  readonly moments: number;
  readonly ends: Readonly<Record<string, number>>;
  /** At what a relay was killed: by what the store says of the moments that were open then. */
  readonly kills: Readonly<Record<string, number>>;
  readonly stops: number;
  readonly runs: number;
}

/**
 * `many` routines of eight agents; every sixth asks a model, the others look whether something
 * waits.
 */
export async function addRoutines(house: ScheduleHouse, many: number, random: () => number): Promise<void> {
  for (const [i, timing] of timingsOf(random, many).entries()) {
    const written = await house.relay().team.schedules.add(
      routine({
        agentId: AGENTS[i % AGENTS.length] ?? '',
        name: `Routine ${i}`,
        timing,
        catch_up: (['skip', 'once', 'each'] as const)[i % 3] ?? 'once',
        when: i % 6 === 0 ? 'always' : 'something_waits',
      }),
    );
    if (!written.ok) throw new Error(written.reason);
  }
}

const downtimeOf = (random: () => number) => {
  const sort = random();
  if (sort < 0.4) return Math.floor(random() * 50_000);
  return Math.floor(random() * (sort < 0.8 ? 12 * MINUTE : 8 * HOUR));
};

async function openStates(eyes: ScheduleRows, now: number): Promise<string> {
  const open = (await eyes.between(now - DAY, now, { most: 5_000 })).filter(({ endedAt }) => endedAt === null);
  if (open.some(({ state }) => state === 'running')) return 'running';
  if (open.some(({ state }) => state === 'claimed')) return 'claimed';
  return open.length > 0 ? 'due' : 'between';
}

/**
 * Lives so long with so many kills, and one stop by the person; throws what is wrong with the
 * account then.
 */
export async function liveSlice(
  house: ScheduleHouse,
  spanMs: number,
  kills: number,
  random: () => number,
): Promise<Slice> {
  const { clock, eyes, model } = house;
  const from = clock.now();
  const to = from + spanMs;
  const scheduled = await house.relay().team.schedules.list();
  const preview = await house.relay().team.schedules.timeline(from, to + DAY, 5_000);
  const firstRequest = model.requests.length;
  const killAt = Array.from({ length: kills }, () => from + Math.floor(random() * spanMs)).sort((a, b) => a - b);
  const stopAt = from + Math.floor(random() * spanMs);
  const killed: Record<string, number> = {};
  let stops = 0;
  for (const at of killAt) {
    if (stops === 0 && at > stopAt) {
      await house.liveTo(stopAt);
      await house.relay().stop();
      clock.pass(downtimeOf(random));
      await house.restart();
      stops += 1;
    }
    if (clock.now() < at) await house.liveTo(at);
    const relay = house.relay();
    const sort = SORTS[Math.floor(random() * SORTS.length)] ?? 'anywhere';
    if (sort === 'in a run') model.follow(() => (relay.die(), [{ say: 'I was heard by nobody.' }]));
    else
      relay.dieAt(
        sort === 'anywhere' ? 1 + Math.floor(random() * WITHIN_STATEMENTS) : STATEMENTS[sort],
        random() < 0.5,
      );
    while (!relay.isDead()) await house.liveTo(clock.now() + 10 * MINUTE);
    model.follow(() => [{ say: 'I looked around.' }]);
    const left = `${sort}, left ${await openStates(eyes, clock.now())}`;
    killed[left] = (killed[left] ?? 0) + 1;
    clock.pass(downtimeOf(random));
    await house.restart();
  }
  await house.liveTo(Math.max(to, clock.now()));
  const until = clock.now();
  const rows = await eyes.between(from, until, { most: 1_000_000 });
  const faults = [
    ...faultsOfAccount(scheduled, rows, from, until),
    ...faultsOfPreview(
      preview.filter(({ at }) => at <= until),
      rows,
      until <= to + DAY ? until : to + DAY,
    ),
    ...faultsOfRequests(house, firstRequest),
    ...(await faultsOfOutcomes(house.store, rows)),
  ];
  if (faults.length > 0) throw new Error(`${faults.length} faults:\n${faults.slice(0, 20).join('\n')}`);
  const ends: Record<string, number> = {};
  for (const { state, reason } of rows) {
    const end = reason === null ? state : `${state}: ${reason}`;
    ends[end] = (ends[end] ?? 0) + 1;
  }
  return {
    moments: rows.length,
    ends,
    kills: killed,
    stops,
    runs: rows.filter(({ runId }) => runId !== null).length,
  };
}

const key = (id: string, at: number) => `${id} ${new Date(at).toISOString()}`;

/** Every moment has one row, with one end; nothing else has any. */
function faultsOfAccount(
  scheduled: readonly Scheduled[],
  rows: readonly Occurrence[],
  from: number,
  until: number,
): string[] {
  const names = new Map(scheduled.map(({ scheduleId, schedule }) => [scheduleId, schedule.name]));
  const due = new Set(
    scheduled.flatMap(({ scheduleId, schedule, offset }) =>
      momentsByHand(schedule.timing, offset, from, until).map((at) => key(scheduleId, at)),
    ),
  );
  const known = rows.map(({ scheduleId, dueAt }) => key(scheduleId, dueAt));
  const ended = new Set<string>(END_STATES);
  return [
    ...known.filter((one, i) => known.indexOf(one) !== i).map((one) => `${one} is there twice`),
    ...known.filter((one) => !due.has(one)).map((one) => `${one} was never due`),
    ...[...due]
      .filter((one) => !known.includes(one))
      .map((one) => `${one} was due, and nothing says what became of it`),
    ...rows
      .filter(({ state, endedAt }) => !ended.has(state) || endedAt === null)
      .map(({ scheduleId, dueAt, state }) => `${names.get(scheduleId)}, ${key(scheduleId, dueAt)} is ${state} still`),
    ...rows
      .filter(({ endedAt, dueAt }) => endedAt !== null && endedAt < dueAt)
      .map(({ scheduleId, dueAt }) => `${key(scheduleId, dueAt)} ended before it was due`),
  ];
}

/** What was told before is what came. */
function faultsOfPreview(
  preview: readonly { readonly id: string; readonly at: number; readonly dark: string | null }[],
  rows: readonly Occurrence[],
  until: number,
): string[] {
  const told = new Map(preview.map(({ id, at, dark }) => [key(id, at), dark]));
  const came = new Map(rows.map((row) => [key(row.scheduleId, row.dueAt), row]));
  return [
    ...[...told.keys()].filter((one) => !came.has(one)).map((one) => `${one} was told of, and never came`),
    ...rows
      .filter(({ dueAt }) => dueAt <= until)
      .flatMap((row) => {
        const one = key(row.scheduleId, row.dueAt);
        if (!told.has(one)) return [`${one} came, and was not told of`];
        const dark = told.get(one) !== null;
        if (row.reason === 'blackout' && !dark) return [`${one} passed by in a dark that was not told of`];
        return dark && row.runId !== null ? [`${one} ran in the dark`] : [];
      }),
  ];
}

/**
 * No moment asks a model twice. On the night on which an hour is shown twice, its text is the same
 * for both.
 */
function faultsOfRequests({ model }: ScheduleHouse, from: number): string[] {
  const counts = new Map<string, number>();
  for (const { first, body } of model.requests.slice(from)) {
    if (body.messages.length !== 1) continue;
    const what = /\[Your routine .* is due: .*\]/.exec(first)?.[0] ?? first;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([what, count]) => `${count} runs of ${what}`);
}

/** A year, or a part of it from `start` on, in rounds that follow each other. */
export async function openYear(many = 100, start = YEAR_START, shared?: Store): Promise<ScheduleHouse> {
  const house = await openScheduleHouse({ start, ...(shared ? { shared } : {}) });
  await addRoutines(house, many, createRandom(1));
  return house;
}
