/**
 * Scheduled work of one home: routines, reminders and scripts, the clock that performs them, the
 * history of all occurrences, and what agents need to run without a browser.
 */
import { setImmediate } from 'node:timers/promises';
import { DEFAULT_LIMITS } from '../../src/shared/domain/guardrails.ts';
import type { AgentId, ProjectId, ScheduleId } from '../../src/shared/domain/ids.ts';
import {
  type CronClock,
  type OccurrenceEnd,
  rowOf,
  slotAfter,
  spreadOffsets,
  type Timing,
  type TimingContext,
} from '../../src/shared/domain/schedule/timing.ts';
import { darkAt, darkSpans, inOrder, type Moment, momentsBetween } from '../../src/shared/domain/schedule/timeline.ts';
import {
  type Occurrence,
  type Schedule,
  SCHEDULE_BOUNDS,
  type Scheduled,
  WAITS_FOR_YES,
} from '../../src/shared/protocol/schedules.ts';
import { sentence } from '../../src/shared/domain/names.ts';
import { LIMITS } from '../../src/shared/protocol/limits.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import type { Changed, RoostEvent } from '../../src/shared/protocol/events.ts';
import type { Configs, Directory, EventLog, Inbox, Reach, RunScopes, SessionHost } from '../contracts/index.ts';
import type { RecordSource } from '../team/records/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { TeamTools } from '../agents/runs/team-tools.ts';
import { ALWAYS_THERE, type Database, type Db } from '../store/index.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';
import { type Clock, createClock, type Leases, type Performed } from './clock.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';
import { NOT_OURS, type OpenAlone, type UsedUp, type Woken, type WokenRun } from './alone.ts';
import { createPerform, endsInLog, messageIdOf, performedBy } from './perform.ts';
import {
  createScriptTexts,
  isAgreed,
  runsByItself,
  type ScriptFile,
  type Scripts,
  type ScriptText,
  type TextQuestions,
} from './scripts.ts';
import { createProposals, type Proposals } from './proposals.ts';
import { createScheduleRecords } from './records.ts';
import type { Snapshots } from './snapshots.ts';
import { siteOf } from './place.ts';
import { CHANGED_ELSEWHERE, createRefusals, nameTaken, noRoom, type Refused, type Written } from './refusals.ts';
import type { SpentByRoutine } from './history.ts';
import type { Mappings } from './mapping-contract.ts';
export { createAlone, createRoutineOf, pulseIdOf } from './alone.ts';
export type { Proposals } from './proposals.ts';
export { createSnapshots, type Snapshots } from './snapshots.ts';
export { createGoOn, type GoOn } from './perform.ts';
export { createLeases, createMeanwhile, createClockWatch, type ClockWatch, type WatchedClock } from './clock.ts';
export type { Mappings } from './mapping-contract.ts';
export { createMappings } from './mappings.ts';
export { createScheduleRows } from './rows.ts';
export { createSizeOfRun, type SizeOfRun } from './size-of-run.ts';
export { createScripts, type Scripts, type TextQuestion, type TextQuestions } from './scripts.ts';
export type { Refused, Written } from './refusals.ts';

// When schedules are due: for the clock, and for the timeline of the coming hours.

/** Most calendar-based moments in a timeline. Each of them is expensive to find. */
const SLOW_MOMENTS = 10_000;

/** A blackout of an agent. */
interface Dark {
  readonly agentId: AgentId;
  readonly from: number;
  readonly to: number;
  readonly label: string;
}

interface PreviewDeps {
  readonly rows: Pick<ScheduleRows, 'all' | 'get' | 'ofInterval'>;
  readonly configs: Pick<Configs, 'household' | 'agent'>;
  readonly cron: CronClock;
}

/** Whether the schedule needs an offset assigned: it has an interval without its own offset. */
const needsOffset = (timing: Timing): timing is Extract<Timing, { kind: 'every' }> =>
  timing.kind === 'every' && timing.offset === null;
/** Offset of an interval in minutes: its own or the assigned one. */
const offsetOf = ({ schedule: { timing }, givenOffset }: Pick<Row, 'schedule' | 'givenOffset'>): number | null =>
  timing.kind === 'every' ? (timing.offset ?? givenOffset ?? 0) : null;

/** Whether the person has set one specific time. */
const isOnce = ({ timing }: Schedule) => timing.kind === 'once';
/** Whether the schedule waits for the end of a blackout instead of being skipped. */
const waitsForBlackoutEnd = ({ kind }: Schedule) => kind === 'reminder';

/** Of the moments of a reminder in one blackout, the first is delivered at its end. */
const firstPerBlackout = (moments: readonly Moment[]): readonly Moment[] =>
  moments.map((moment, n) =>
    moment.dark !== null && (moments[n - 1]?.dark ?? null) === null ? { ...moment, dark: null } : moment,
  );

function createPreview({ rows, configs, cron }: PreviewDeps) {
  const readZone = async () => (await configs.household()).effective.time_zone;
  const contextIn =
    (zone: string) =>
    ({ givenOffset }: Pick<Row, 'givenOffset'>): TimingContext => ({ cron, zone, offset: givenOffset ?? 0 });
  async function blackoutsOf(agentIds: readonly AgentId[]) {
    const known = new Map(
      await Promise.all(
        [...new Set(agentIds)].map(
          async (agentId) => [agentId, (await configs.agent(agentId)).effective.coordination.blackouts] as const,
        ),
      ),
    );
    return (agentId: AgentId) => known.get(agentId) ?? DEFAULT_LIMITS.blackouts;
  }

  return {
    readZone,
    readContext: async () => contextIn(await readZone()),
    /**
     * The assigned offset of a schedule, spread from those with the same interval. A schedule keeps
     * its offset, and the others stay unchanged.
     */
    async offsetFor(scheduleId: ScheduleId, timing: Timing): Promise<number | null> {
      if (!needsOffset(timing)) return null;
      const before = await rows.get(scheduleId);
      if (before && before.givenOffset !== null && needsOffset(before.schedule.timing))
        if (before.schedule.timing.minutes === timing.minutes) return before.givenOffset;
      const { minutes } = timing;
      const others = (await rows.ofInterval(minutes)).filter((row) => row.scheduleId !== scheduleId);
      const offsets = spreadOffsets([
        ...others.map((row) => ({ id: row.scheduleId, minutes, offset: offsetOf(row) })),
        { id: scheduleId, minutes, offset: null },
      ]);
      return offsets.get(scheduleId) ?? 0;
    },
    /**
     * Timing rules of these agents, and whether an occurrence falls into a blackout, by the current
     * settings.
     */
    async readRules(zone: string, agentIds: readonly AgentId[]) {
      const of = await blackoutsOf(agentIds);
      const isDark = ({ schedule }: Row, at: number) =>
        darkAt({ inDark: waitsForBlackoutEnd(schedule) || isOnce(schedule) }, of(schedule.agentId), zone, at) !== null;
      return { contextOf: contextIn(zone), isDark };
    },
    /** `onCut`: called for a schedule that may have more moments. */
    async timeline(
      from: number,
      to: number,
      most: number,
      onCut: () => void = () => undefined,
    ): Promise<readonly Moment[]> {
      const [zone, all] = await Promise.all([readZone(), rows.all()]);
      const blackouts = await blackoutsOf(all.map(({ schedule }) => schedule.agentId));
      const isSlow = ({ schedule: { timing } }: Row) => timing.kind === 'cron' || timing.kind === 'weekly';
      const share = Math.max(1, Math.floor(SLOW_MOMENTS / Math.max(1, all.filter(isSlow).length)));
      const moments: Moment[] = [];
      for (const row of all) {
        const { agentId, timing } = row.schedule;
        const one = {
          id: row.scheduleId,
          agentId,
          timing,
          enabled: isOn(row),
          inDark: isOnce(row.schedule),
        };
        const context = { cron, zone, offsetOf: () => row.givenOffset ?? 0, blackoutsOf: blackouts };
        const bound = isSlow(row) ? Math.min(most, share) : most;
        const own = momentsBetween([one], from, to, { ...context, most: bound });
        if (own.length >= bound) onCut();
        moments.push(...(waitsForBlackoutEnd(row.schedule) ? firstPerBlackout(own) : own));
        // Yields, so that a long list of one household does not block the others of the relay.
        if (isSlow(row)) await setImmediate();
      }
      return moments.sort(inOrder);
    },
    async blackouts(from: number, to: number): Promise<Dark[]> {
      const [zone, all] = await Promise.all([readZone(), rows.all()]);
      const agentIds = [...new Set(all.map(({ schedule }) => schedule.agentId))];
      const of = await blackoutsOf(agentIds);
      return agentIds.flatMap((agentId) =>
        darkSpans(of(agentId), zone, from, to).map((span) => ({ agentId, ...span })),
      );
    },
  };
}

// Schedules as a page shows them: the next due time and the latest outcomes.

interface ShownDeps {
  readonly rows: Pick<ScheduleRows, 'endsOf' | 'waitingOf'>;
  readonly configs: Pick<Configs, 'agent'>;
  readonly running: Clock['running'];
  readonly mappings: Pick<Mappings, 'projectsOf'>;
  readonly limits: Pick<ScheduleLimits, 'endsInARow' | 'failuresPause'>;
}

function warningOf(ends: readonly OccurrenceEnd[], most: number): string | null {
  const inARow = rowOf(ends, 'either');
  const skipped = rowOf(ends, 'skipped');
  if (inARow < most) return null;
  if (skipped === inARow) return sentence`It was skipped ${inARow} times in a row. Its history says why.`;
  return sentence`It was skipped or failed ${inARow} times in a row. Its history says why.`;
}

function createShown({ rows, configs, running, mappings, limits }: ShownDeps) {
  function shown(
    row: Row,
    under: ReadonlyMap<string, number>,
    ends: readonly OccurrenceEnd[],
    most: number,
    waits: Scheduled['waits'],
    projectIds: readonly ProjectId[],
  ): Scheduled {
    return {
      scheduleId: row.scheduleId,
      version: row.version,
      schedule: row.schedule,
      nextAt: row.dueAt,
      offset: offsetOf(row),
      pausedWhy: row.pausedWhy,
      warning: warningOf(ends, most),
      skippedInARow: rowOf(ends, 'skipped'),
      failedInARow: rowOf(ends, 'failed'),
      position: row.position,
      created_at: row.createdAt,
      updated_at: row.updatedAt,
      running: under.get(row.scheduleId) ?? 0,
      elsewhere: row.elsewhere === null ? null : row.wanted ? 'asked' : 'due',
      ...(waits ? { waits } : {}),
      ...(projectIds.length > 0 ? { projectIds: [...projectIds] } : {}),
    };
  }
  async function allShown(which: readonly Row[]): Promise<Scheduled[]> {
    const ids = which.map(({ scheduleId }) => scheduleId);
    const [ends, waiting, projects] = await Promise.all([
      rows.endsOf(ids, limits.endsInARow),
      rows.waitingOf(ids),
      mappings.projectsOf(ids),
    ]);
    /** The oldest waiting occurrence of each schedule. */
    const waitsOf = new Map(
      waiting
        .toReversed()
        .map(({ scheduleId, dueAt: since, reason, detail }) => [scheduleId, { since, reason, detail }]),
    );
    const under = running();
    const agentIds = [...new Set(which.map(({ schedule }) => schedule.agentId))];
    const most = new Map(
      await Promise.all(
        agentIds.map(async (id) => [id, (await configs.agent(id)).effective.pulse_max_consecutive_skips] as const),
      ),
    );
    return which.map((row) =>
      shown(
        row,
        under,
        ends.get(row.scheduleId) ?? [],
        most.get(row.schedule.agentId) ?? limits.failuresPause,
        waitsOf.get(row.scheduleId),
        projects.get(row.scheduleId) ?? [],
      ),
    );
  }
  async function oneShown(row: Row | null): Promise<Scheduled | null> {
    return row && ((await allShown([row]))[0] ?? null);
  }

  return { allShown, oneShown };
}

// Runs started by a wake while the agent had no browser. They appear in the same history as
// scheduled runs.

interface WokenDeps {
  readonly rows: Pick<ScheduleRows, 'woken' | 'begins' | 'end' | 'forgetHeld' | 'wakesSince'>;
  readonly leases: Pick<Leases, 'hold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly onChange: (agentId: AgentId) => void;
  readonly now: () => number;
  readonly newId: () => string;
}

/** All wakes of one agent share one id in the history, like the occurrences of a schedule. */
const wakesOf = (agentId: AgentId) => `wakes of ${agentId}`.slice(0, LIMITS.id);

export function createWoken({ rows, leases, directory, onChange, now, newId }: WokenDeps): Woken {
  async function claimed(
    { scheduleId, agentId }: Pick<Occurrence, 'scheduleId' | 'agentId'>,
    called: Pick<Occurrence, 'kind' | 'name'>,
  ): Promise<WokenRun> {
    const claim = await rows.woken({ scheduleId, agentId, token: newId() }, called, now());
    const release = leases.hold(claim);
    onChange(agentId);
    async function finish(performed: Performed): Promise<void> {
      try {
        if ('end' in performed)
          await (performed.forgets ? rows.forgetHeld(claim) : rows.end(claim, performed.end, performed.detail, now()));
      } finally {
        release();
        onChange(agentId);
      }
    }
    return {
      begins: async (runId) => ((await rows.begins(claim, runId, now())) ? null : NOT_OURS),
      end: (worked) => finish(performedBy(worked)),
      finish,
    };
  }
  return {
    async begin(agentId, by, due) {
      const name = (await directory.all()).find((member) => member.agentId === by)?.name ?? by;
      return await claimed({ scheduleId: due?.scheduleId ?? wakesOf(agentId), agentId }, due ?? { kind: 'wake', name });
    },
    goOn: (one) => claimed(one, one),
    async carried(agentId, grantedAt) {
      const since = await rows.wakesSince(agentId, grantedAt);
      if (since.length === 0) return 'no';
      if (since.some(({ state }) => state === 'claimed')) return 'begins';
      // The relay stopped during the run. Messages that the agent had read by then are not
      // delivered again.
      const isCutOff = ({ state, reason }: (typeof since)[number]) => state === 'crashed' || reason === 'planned-stop';
      return since.every(isCutOff) ? 'cut-off' : 'yes';
    },
  };
}

export interface Schedules {
  readonly clock: Clock;
  readonly records: RecordSource;
  /** Routines that agents propose. */
  readonly proposals: Proposals;
  /** Runs that began before then, live and ended, newest first. */
  runs(which: {
    readonly agentId: AgentId | null;
    readonly before: number;
    readonly most: number;
  }): Promise<Occurrence[]>;
  /** Costs of the runs since then, by schedule, most expensive first. */
  spentSince(from: number): Promise<SpentByRoutine[]>;
  list(agentId?: AgentId): Promise<Scheduled[]>;
  get(scheduleId: ScheduleId): Promise<Scheduled | null>;
  /** The agent's schedule with this name. */
  named(agentId: AgentId, name: string): Promise<Scheduled | null>;
  /**
   * Adds a schedule. A reminder or a script replaces one of the same kind and name. `text`: the
   * text of a script, which the person accepts with this call. Left out: the text named by
   * `sha256`, or the current content of the file.
   */
  add(schedule: Schedule, text?: ScriptText): Promise<Written>;
  /** Creates or replaces the schedule with this id. */
  put(scheduleId: ScheduleId, schedule: Schedule): Promise<Written>;
  /** The first free name for this agent: “Morning”, then “Morning (2)”, and so on. */
  freeName(agentId: AgentId, name: string): Promise<string>;
  /**
   * Null: there is no such schedule. A script keeps the text named by its `sha256`. Without
   * `sha256`, the current content of its file is accepted. If `version` is given and is not the
   * current one, the change is refused for that field. Without it, the schedule is overwritten.
   */
  change(scheduleId: ScheduleId, schedule: Schedule, version?: number): Promise<Written | null>;
  /**
   * The person accepts another text of a script. Null: the schedule is gone, or names another
   * script by now.
   */
  accept(scheduleId: ScheduleId, file: ScriptFile, agentId: AgentId): Promise<Written | null>;
  /** The text that the person accepted. Null: none is stored. */
  acceptedText(scheduleId: ScheduleId): Promise<ScriptText | null>;
  /** The person declined this text of a script. `within`: the transaction of the answer. */
  declineText(scheduleId: ScheduleId, sha256: string, within: Db): Promise<void>;
  /** Why the schedule would be refused. Null: nothing known is against it. `text`: as for `add`. */
  refuse(schedule: Schedule, text?: ScriptText): Promise<Refused | null>;
  /** False: there is no such schedule. Its due occurrences that have not begun are cancelled. */
  remove(scheduleId: ScheduleId): Promise<boolean>;
  /**
   * Adds one occurrence that is due now, or was at `at`. A repeat with the same time adds no other.
   * False: there is no such schedule.
   */
  trigger(scheduleId: ScheduleId, at?: number): Promise<boolean>;
  /**
   * Brings schedules that are due at another relay to this one. The other relay is asked to release
   * them. `gone`: the person says that it is gone, so they are due here immediately.
   */
  move(gone: boolean): Promise<void>;
  reorder(scheduleIds: readonly ScheduleId[]): Promise<Refused | null>;
  /**
   * Disables all routines and scripts of this agent. Reminders stay: when they are due, they wait
   * in the inbox.
   */
  stopAll(agentId: AgentId): Promise<void>;
  /**
   * Occurrences due in (`from`, `to`], newest first, including live ones. `idle`: as for `between`
   * of the rows.
   */
  history(from: number, to: number, which: Parameters<ScheduleRows['between']>[2]): Promise<Occurrence[]>;
  /**
   * Occurrences that will be due in (`from`, `to`] by the current settings, at most `most` of each
   * schedule. `onCut`: called for a schedule that may have more.
   */
  timeline(from: number, to: number, most: number, onCut?: () => void): Promise<readonly Moment[]>;
  /** Blackouts in (`from`, `to`] of agents that have a schedule. */
  blackouts(from: number, to: number): Promise<Dark[]>;
  close(planned: boolean): Promise<void>;
}

interface SchedulesDeps {
  readonly db: Db;
  readonly rows: ScheduleRows;
  readonly leases: Leases;
  /** Id of the home. */
  readonly home: string;
  /** No other process can have this store open. */
  readonly onlyOne: boolean;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'steadyMs' | 'untilThere'>;
  readonly cron: CronClock;
  readonly configs: Configs;
  readonly inbox: Inbox;
  readonly log: Pick<EventLog, 'read'>;
  readonly reach: Pick<Reach, 'ask' | 'permitFor'>;
  readonly threads: { hasNews(agentId: AgentId, since: number): Promise<boolean> };
  readonly directory: Pick<Directory, 'all'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly alone: OpenAlone;
  readonly scripts: Scripts;
  /** Questions to the person about changed texts of scripts. */
  readonly questions: TextQuestions;
  readonly snapshots: Pick<Snapshots, 'allow'>;
  readonly mappings: Mappings;
  /** Where runs of routines on projects say what they may take. */
  readonly scopes: Pick<RunScopes, 'enter'>;
  readonly woken: Pick<Woken, 'goOn'>;
  readonly usedUp: (agentId: AgentId) => Promise<UsedUp | null>;
  /** Tools that an agent may be allowed to use. */
  readonly tools: Pick<TeamTools, 'all'>;
  readonly announce: (event: RoostEvent) => void;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
  readonly limits?: ScheduleLimits;
}

export function createSchedules(deps: SchedulesDeps): Schedules {
  const { rows, home, cron, configs, inbox, alone, logger, now, newId, limits = SCHEDULE_LIMITS } = deps;
  const changed = (agentId: AgentId | null, what: Changed = 'schedules') =>
    deps.announce({ kind: 'changed', time: now(), what, agentId });

  const inTurn = createQueue();
  const { questions } = deps;
  const texts = createScriptTexts({ db: deps.db, home, scripts: deps.scripts, questions, now });
  const preview = createPreview({ rows, configs, cron });

  const clock = createClock({
    rows,
    leases: deps.leases,
    alone: deps.onlyOne,
    database: deps.database ?? ALWAYS_THERE,
    now,
    newId,
    timers: deps.timers,
    logger,
    limits,
    readZone: preview.readZone,
    readRules: preview.readRules,
    ...createPerform({
      rows,
      alone,
      reach: deps.reach,
      host: deps.host,
      inbox,
      configs,
      readContext: async () => (await preview.readContext())({ givenOffset: null }),
      // The inbox holds messages, mentions and due reminders. New messages of others in the agent's
      // threads are counted separately.
      somethingWaits: async (agentId, since) =>
        (await inbox.count(agentId)) > 0 || (await deps.threads.hasNews(agentId, since)),
      usedUp: deps.usedUp,
      scripts: deps.scripts,
      texts,
      mappings: deps.mappings,
      scopes: deps.scopes,
      woken: deps.woken,
      logger,
      now,
      limits,
    }),
    endsOf: (runIds) => endsInLog(deps.log, runIds, limits.saidChars),
    onPaused: ({ schedule: { agentId, name } }, why) => {
      logger.warn('A schedule failed too often, and is paused.', { agentId, name, why });
      changed(agentId);
    },
    onChange: changed,
  });

  const { allShown, oneShown } = createShown({
    ...{ rows, configs, running: clock.running, limits },
    mappings: deps.mappings,
  });
  const refuse = createRefusals({ rows, scripts: deps.scripts, tools: deps.tools, now });
  /**
   * The schedule with the hash of the script text that runs from now on. If the schedule names a
   * hash, it means exactly that text. `text`: accepted with this call; null: the text accepted
   * before stays. `problem`: a sentence on why the file cannot be read.
   */
  async function withText(schedule: Schedule, before: Row | null, given: ScriptText | undefined) {
    if (schedule.kind !== 'script') return { schedule, text: null, problem: null };
    if (given) return { schedule: { ...schedule, sha256: given.sha256 }, text: given, problem: null };
    const { sha256 } = schedule;
    const own = before?.schedule.kind === 'script' ? before.schedule : null;
    const isSame = own?.agentId === schedule.agentId && own.script === schedule.script;
    if (sha256 !== undefined && isSame && sha256 === own.sha256) return { schedule, text: null, problem: null };
    const file = await deps.scripts.read(schedule.agentId, schedule.script);
    if (typeof file === 'string') return { schedule, text: null, problem: file };
    if (sha256 !== undefined && sha256 !== file.sha256) return { schedule, text: null, problem: null };
    return { schedule: { ...schedule, sha256: file.sha256 }, text: file, problem: null };
  }
  /**
   * Runs in a queue with the other writes, so that the position and the checks made before are
   * still valid.
   */
  async function written(
    scheduleId: ScheduleId,
    schedule: Schedule,
    position: number | null,
    text: ScriptText | null = null,
    version?: number,
  ): Promise<Written> {
    const [contextOf, givenOffset] = await Promise.all([
      preview.readContext(),
      preview.offsetFor(scheduleId, schedule.timing),
    ]);
    const time = now();
    const dueAt = isOn({ schedule, pausedWhy: null })
      ? slotAfter(schedule.timing, time, contextOf({ givenOffset }))
      : null;
    const wrote = await rows.write(scheduleId, schedule, time, dueAt, position, givenOffset, text, version);
    if (wrote === 'changed-elsewhere') return CHANGED_ELSEWHERE;
    if (wrote !== 'written') return wrote === 'named' ? nameTaken(schedule) : noRoom(limits);
    if (text) await questions.withdraw(scheduleId);
    changed(schedule.agentId);
    clock.wake();
    const scheduled = await oneShown(await rows.get(scheduleId));
    if (!scheduled) throw new Error('The row that was written does not exist.');
    return { ok: true, scheduled };
  }

  async function added(scheduleId: ScheduleId, asked: Schedule, given?: ScriptText): Promise<Written> {
    const { schedule, text, problem } = await withText(asked, null, given);
    const refused = await refuse(schedule, null, problem);
    return refused ?? (await written(scheduleId, schedule, (await rows.count(schedule.agentId)).all, text));
  }
  async function changedTo(row: Row, asked: Schedule, given?: ScriptText, version?: number): Promise<Written> {
    const { scheduleId } = row;
    if (version !== undefined && version !== row.version) return CHANGED_ELSEWHERE;
    if (row.schedule.kind !== asked.kind)
      return { ok: false, field: null, reason: `It is a ${row.schedule.kind}, and its kind cannot change.` };
    const { schedule, text, problem } = await withText(asked, row, given);
    const refused = await refuse(schedule, row, problem);
    if (refused) return refused;
    // A waiting occurrence of the old reminder must not arrive beside the new one.
    if (schedule.kind === 'reminder') await callOff(scheduleId);
    return await written(scheduleId, schedule, null, text, version);
  }
  /** Cancels its waiting occurrences and withdraws their messages. */
  async function callOff(scheduleId: ScheduleId): Promise<void> {
    const waiting = await rows.waitingOf([scheduleId]);
    await rows.cancelDue(scheduleId, now());
    for (const { dueAt, isNotice } of waiting) if (!isNotice) await inbox.withdraw(messageIdOf({ scheduleId, dueAt }));
  }

  const schedules: Omit<Schedules, 'proposals'> = {
    clock,
    runs: (which) => rows.runs(which),
    spentSince: (from) => rows.spentSince(from),
    records: createScheduleRecords({
      ...{ db: deps.db, home },
      rows,
      site: () => siteOf(deps.db, home),
      batch: limits.batch,
      now,
      async nextOf({ scheduleId, schedule }) {
        const [contextOf, givenOffset] = await Promise.all([
          preview.readContext(),
          preview.offsetFor(scheduleId, schedule.timing),
        ]);
        const on = isOn({ schedule, pausedWhy: null });
        const dueAt = on ? slotAfter(schedule.timing, now(), contextOf({ givenOffset })) : null;
        return { givenOffset, dueAt, contextOf };
      },
      projectsOf: deps.mappings.shownOf,
      onMoved({ agentId, name }) {
        logger.warn('A schedule is now due at another relay of the household, and not here.', { agentId, name });
        changed(agentId);
      },
      onStale: () => changed(null),
      onChange: clock.wake,
      async onYes({ scheduleId, schedule }) {
        // The person enables something that runs, so its agent may store a snapshot for that.
        if (runsByItself(schedule)) await deps.snapshots.allow(schedule.agentId);
        await deps.mappings.agree(scheduleId);
        changed(schedule.agentId);
      },
      async onNo({ scheduleId, schedule }) {
        if (schedule.kind === 'reminder') await rows.remove(scheduleId, now());
        else await inTurn(() => written(scheduleId, { ...schedule, enabled: false }, null));
        changed(schedule.agentId);
      },
    }),
    list: async (agentId) => allShown(await rows.all(agentId)),
    get: async (scheduleId) => oneShown(await rows.get(scheduleId)),
    named: async (agentId, name) => oneShown(await rows.named(agentId, name)),
    add: (schedule, text) =>
      inTurn(async () => {
        const before = schedule.kind === 'routine' ? null : await rows.named(schedule.agentId, schedule.name);
        return before?.schedule.kind === schedule.kind
          ? await changedTo(before, schedule, text)
          : await added(newId(), schedule, text);
      }),
    change: (scheduleId, schedule, version) =>
      inTurn(async () => {
        const row = await rows.get(scheduleId);
        return row && (await changedTo(row, schedule, undefined, version));
      }),
    accept: (scheduleId, file, agentId) =>
      inTurn(async () => {
        const row = await rows.get(scheduleId);
        if (row?.schedule.kind !== 'script' || row.schedule.agentId !== agentId) return null;
        // The file's path may have changed since the question was asked.
        const lies = await deps.scripts.read(agentId, row.schedule.script);
        if (typeof lies === 'string' || lies.path !== file.path) return null;
        return await changedTo(row, row.schedule, file);
      }),
    async acceptedText(scheduleId) {
      const row = await rows.get(scheduleId);
      return row?.schedule.kind === 'script' ? await texts.accepted(scheduleId, row.schedule) : null;
    },
    declineText: texts.decline,
    async refuse(schedule, text) {
      const before = await rows.named(schedule.agentId, schedule.name);
      const isOfKind = before?.schedule.kind === schedule.kind;
      const { own, all } = await rows.count(schedule.agentId);
      if (!before && (own >= limits.perAgent || all >= limits.perHousehold)) return noRoom(limits);
      const { schedule: asked, problem } = await withText(schedule, isOfKind ? before : null, text);
      return await refuse(asked, isOfKind ? before : null, problem);
    },
    put: (scheduleId, schedule) =>
      inTurn(async () => {
        const row = await rows.get(scheduleId);
        return row ? await changedTo(row, schedule) : await added(scheduleId, schedule);
      }),
    async freeName(agentId, name) {
      for (let n = 1; ; n++) {
        const ending = n === 1 ? '' : ` (${n})`;
        const free = `${name.slice(0, SCHEDULE_BOUNDS.name - ending.length)}${ending}`;
        if (!(await rows.named(agentId, free))) return free;
      }
    },
    // In turn, so that a change that is under way finds its row at the end.
    remove: (scheduleId) =>
      inTurn(async () => {
        const row = await rows.get(scheduleId);
        if (row?.schedule.kind === 'reminder') await callOff(scheduleId);
        if (!row || !(await rows.remove(scheduleId, now()))) return false;
        if (row.schedule.kind === 'script') await questions.withdraw(scheduleId);
        changed(row.schedule.agentId);
        clock.wake();
        return true;
      }),
    async trigger(scheduleId, at = now()) {
      const row = await rows.get(scheduleId);
      if (!row) return false;
      await rows.trigger(row, at);
      clock.wake();
      return true;
    },
    async move(gone) {
      for (const { scheduleId, schedule, agreed } of await rows.away())
        if (!gone) await rows.ask(scheduleId);
        else if (isAgreed(agreed, schedule)) await inTurn(() => written(scheduleId, schedule, null));
        else await rows.bringHere(scheduleId, now());
      changed(null);
    },
    async stopAll(agentId) {
      for (const { scheduleId, schedule, elsewhere, pausedWhy } of await rows.all(agentId))
        // A schedule of another relay is disabled there. One that waits for the person's consent is
        // off anyway.
        if (elsewhere === null && pausedWhy !== WAITS_FOR_YES && schedule.kind !== 'reminder' && schedule.enabled)
          await inTurn(() => written(scheduleId, { ...schedule, enabled: false }, null));
    },
    async reorder(scheduleIds) {
      const all = new Set((await rows.all()).map(({ scheduleId }) => scheduleId));
      if (
        scheduleIds.length !== all.size ||
        new Set(scheduleIds).size !== all.size ||
        !scheduleIds.every((id) => all.has(id))
      )
        return { ok: false, field: 'scheduleIds', reason: 'The order must name every schedule, each once.' };
      await rows.reorder(scheduleIds);
      changed(null);
      return null;
    },
    history: (from, to, which) => rows.between(from, to, which),
    timeline: preview.timeline,
    blackouts: preview.blackouts,
    close: (planned) => clock.close(planned),
  };
  return { ...schedules, proposals: createProposals({ db: deps.db, home, schedules, now, newId, onChange: changed }) };
}
