/**
 * Scheduled work of one home: routines, reminders and scripts, the clock that performs them, the
 * history of all occurrences, and what agents need to run without a browser.
 */
import type { AgentId, ScheduleId } from '../../src/shared/domain/ids.ts';
import { type CronClock, slotAfter } from '../../src/shared/domain/schedule/timing.ts';
import type { Moment } from '../../src/shared/domain/schedule/timeline.ts';
import {
  type Occurrence,
  type Schedule,
  SCHEDULE_BOUNDS,
  type Scheduled,
  WAITS_FOR_YES,
} from '../../src/shared/protocol/schedules.ts';
import { createQueue } from '../../src/shared/domain/platform/queue.ts';
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import type { Changed, RoostEvent } from '../../src/shared/protocol/events.ts';
import type { Wakes } from '../agents/wakes/contract.ts';
import type { RunScopes } from '../agents/runs/run-scopes.ts';
import type { SessionHost } from '../agents/session/contract.ts';
import type { EventLog } from '../log/index.ts';
import type { Directory } from '../team/directory/index.ts';
import type { Configs } from '../team/gate/configs.ts';
import type { Inbox } from '../team/inbox/index.ts';
import type { RecordSource } from '../team/records/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { TeamTools } from '../agents/runs/team-tools.ts';
import { ALWAYS_THERE, type Database, type Db, type HomeStore } from '../store/index.ts';
import { isOn, type ScheduleRows } from './rows.ts';
import { type Clock, createClock, type Leases } from './clock.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';
import type { OpenAlone, UsedUp, Woken } from './alone.ts';
import { endsInLog } from './outcomes.ts';
import { createPerform } from './perform.ts';
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
import { createRefusals, noRoom, type Refused, type Written } from './refusals.ts';
import type { SpentByRoutine } from './history.ts';
import type { Mappings } from './mapping-contract.ts';
import { createPreview, type Dark } from './preview.ts';
import { createScheduleWrites } from './schedule-writes.ts';
import { createShown } from './shown.ts';

export { createAlone, createRoutineOf, defaultRoutineIdOf } from './alone.ts';
export type { Proposals } from './proposals.ts';
export { createSnapshots, type Snapshots } from './snapshots.ts';
export { createGoOn, type GoOn } from './go-on.ts';
export { createLeases, createMeanwhile, createClockWatch, type ClockWatch, type WatchedClock } from './clock.ts';
export type { Mappings } from './mapping-contract.ts';
export { createMappings } from './mappings.ts';
export { createScheduleRows } from './rows.ts';
export { createWoken } from './woken.ts';
export { createSizeOfRun, type SizeOfRun } from './size-of-run.ts';
export { createScripts, type Scripts, type TextQuestion, type TextQuestions } from './scripts.ts';
export type { Refused, Written } from './refusals.ts';

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
   * Occurrences due in (`from`, `to`], newest first, including live ones. `which`: as for `between`
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

interface SchedulesDeps extends HomeStore {
  readonly rows: ScheduleRows;
  readonly leases: Leases;
  /** No other process can have this store open. */
  readonly onlyOne: boolean;
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'steadyMs' | 'untilThere'>;
  readonly cron: CronClock;
  readonly configs: Configs;
  readonly inbox: Inbox;
  readonly log: Pick<EventLog, 'read'>;
  readonly wakes: Pick<Wakes, 'ask' | 'permitFor'>;
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
      wakes: deps.wakes,
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
  const writes = createScheduleWrites({ ...deps, changed, preview, clock, oneShown, refuse, limits });
  const { withText, written, added, changedTo, callOff } = writes;
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
