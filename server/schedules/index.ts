/**
 * What is due without anybody there: routines, reminders and scripts of one home, its clock, the account of every moment
 * that came, and what agents need to be at work alone.
 */
import { createQueue } from '../../src/domain/platform/queue.ts';
import { rowOf, type OccurrenceEnd } from '../../src/domain/schedule/occurrence.ts';
import type { Moment } from '../../src/domain/schedule/timeline.ts';
import { slotAfter, type CronClock, type Timing } from '../../src/domain/schedule/timing.ts';
import type { Timers } from '../../src/domain/platform/timers.ts';
import type { Changed, RoostEvent } from '../../src/protocol/events.ts';
import type { Occurrence, Schedule, Scheduled } from '../../src/protocol/schedules.ts';
import type { Configs, Inbox, Reach, SessionHost } from '../contracts.ts';
import type { RecordSource } from '../records/index.ts';
import type { Logger } from '../runs/context.ts';
import type { OpenAlone } from './alone.ts';
import { createClock, type Clock } from './clock.ts';
import { cronProblem } from '../../src/protocol/cron.ts';
import { createPerform } from './perform.ts';
import { createPreview, offsetOf, type Dark } from './preview.ts';
import { createScheduleRecords } from './records.ts';
import { isOn, type Row, type ScheduleRows } from './rows.ts';
import type { Scripts } from './scripts.ts';
import { SCHEDULE_LIMITS, type ScheduleLimits } from './settings.ts';

export { createAlone } from './alone.ts';
export { createCopies, type Copies } from './copies.ts';
export { createMeanwhile } from './meanwhile.ts';
export { createScheduleRows } from './rows.ts';
export { createScripts, type Scripts } from './scripts.ts';
export { createSealer, readSealingKey, type Sealer } from './sealer.ts';

/** A sentence for people: nothing was changed. `field`: what is wrong with it. */
export interface Refused {
  readonly ok: false;
  readonly field: 'name' | 'script' | 'timing.cron' | 'timing.at' | 'scheduleIds' | null;
  readonly reason: string;
}
export type Written = { readonly ok: true; readonly scheduled: Scheduled } | Refused;

export interface Schedules {
  readonly clock: Clock;
  readonly records: RecordSource;
  list(agentId?: string): Promise<Scheduled[]>;
  get(scheduleId: string): Promise<Scheduled | null>;
  /** By its name, among what is scheduled for this agent. */
  named(agentId: string, name: string): Promise<Scheduled | null>;
  add(schedule: Schedule): Promise<Written>;
  /** Null: it is not there. */
  change(scheduleId: string, schedule: Schedule): Promise<Written | null>;
  /** False: it was not there. What is due of it and was not begun is cancelled with it. */
  remove(scheduleId: string): Promise<boolean>;
  /** One moment more, now. False: it is not there. */
  trigger(scheduleId: string): Promise<boolean>;
  reorder(scheduleIds: readonly string[]): Promise<Refused | null>;
  /** Switches off all that runs by itself for this agent; reminders stay, and wait in its inbox when they are due. */
  stopAll(agentId: string): Promise<void>;
  /** What became of what was due in (`from`, `to`], the newest first, with what runs. */
  history(
    from: number,
    to: number,
    which: { readonly agentId?: string; readonly scheduleId?: string; readonly most: number },
  ): Promise<Occurrence[]>;
  /** What will be due in (`from`, `to`], as things are; of each schedule at most `most`. */
  timeline(from: number, to: number, most: number): Promise<readonly Moment[]>;
  /** When agents that have something scheduled are not woken, in (`from`, `to`]. */
  blackouts(from: number, to: number): Promise<Dark[]>;
  close(planned: boolean): Promise<void>;
}

export interface SchedulesDeps {
  readonly rows: ScheduleRows;
  /** Names the home. */
  readonly home: string;
  /** No other process can have this store open. */
  readonly onlyOne: boolean;
  readonly cron: CronClock;
  readonly configs: Configs;
  readonly inbox: Inbox;
  readonly reach: Pick<Reach, 'ask' | 'askTo'>;
  readonly host: Pick<SessionHost, 'stateOf'>;
  readonly alone: OpenAlone;
  readonly scripts: Scripts;
  readonly announce: (event: RoostEvent) => void;
  readonly now: () => number;
  readonly newId: () => string;
  readonly timers: Timers;
  readonly logger: Logger;
  readonly limits?: ScheduleLimits;
}

// In one piece: a schedule’s life: made, changed, due, paused and gone touch the same rows.
export function createSchedules(deps: SchedulesDeps): Schedules {
  const { rows, home, cron, configs, inbox, alone, logger, now, newId, limits = SCHEDULE_LIMITS } = deps;
  const changed = (agentId: string | null, what: Changed = 'schedules') =>
    deps.announce({ kind: 'changed', time: now(), what, agentId });

  const inTurn = createQueue();
  const preview = createPreview({ rows, configs, cron });

  const clock = createClock({
    rows,
    alone: deps.onlyOne,
    now,
    newId,
    timers: deps.timers,
    logger,
    limits,
    readZone: preview.readZone,
    readRules: preview.readRules,
    perform: createPerform({
      rows,
      alone,
      reach: deps.reach,
      host: deps.host,
      inbox,
      configs,
      somethingWaits: async (agentId) => (await inbox.count(agentId)) > 0,
      runScript: (script) => deps.scripts.run(script),
      remove: async (scheduleId) => void (await rows.remove(scheduleId, now())),
      newId,
      now,
      busyMs: limits.busyMs,
    }),
    onPaused: ({ schedule: { agentId, name } }, why) => {
      logger.warn('what was scheduled failed too often, and is paused', { agentId, name, why });
      changed(agentId);
    },
    onChange: changed,
  });

  function shown(row: Row, running: ReadonlyMap<string, number>, ends: readonly OccurrenceEnd[]): Scheduled {
    return {
      scheduleId: row.scheduleId,
      schedule: row.schedule,
      nextAt: row.dueAt,
      offset: offsetOf(row),
      pausedWhy: row.pausedWhy,
      skippedInARow: rowOf(ends, 'skipped'),
      failedInARow: rowOf(ends, 'failed'),
      position: row.position,
      running: running.get(row.scheduleId) ?? 0,
    };
  }
  async function allShown(which: readonly Row[]): Promise<Scheduled[]> {
    const ends = await rows.endsOf(
      which.map(({ scheduleId }) => scheduleId),
      limits.endsInARow,
    );
    const running = clock.running();
    return which.map((row) => shown(row, running, ends.get(row.scheduleId) ?? []));
  }
  async function oneShown(row: Row | null): Promise<Scheduled | null> {
    return row && ((await allShown([row]))[0] ?? null);
  }

  /** What is due once and lies behind would never be. */
  function refusedTiming(timing: Timing, before: Timing | null): Refused | null {
    if (timing.kind === 'cron') {
      const problem = cronProblem(timing.cron);
      return problem === null ? null : { ok: false, field: 'timing.cron', reason: `It is no cron text: ${problem}` };
    }
    if (timing.kind !== 'once' || timing.at > now()) return null;
    if (before?.kind === 'once' && before.at === timing.at) return null;
    return { ok: false, field: 'timing.at', reason: 'That time is over already. Choose one that is to come.' };
  }
  async function refusedName({ agentId, name }: Schedule, own: string | null): Promise<Refused | null> {
    const other = await rows.named(agentId, name);
    if (!other || other.scheduleId === own) return null;
    return {
      ok: false,
      field: 'name',
      reason: `This agent has something called “${name}” already. Choose another name.`,
    };
  }
  async function refusedScript(schedule: Schedule): Promise<Refused | null> {
    if (schedule.kind !== 'script' || !schedule.enabled) return null;
    const reason = await deps.scripts.refuse(schedule.agentId, schedule.script);
    return reason === null ? null : { ok: false, field: 'script', reason };
  }
  /** One after another: each is given its place beside those before it. */
  const written = (scheduleId: string, schedule: Schedule, position: number | null): Promise<Written> =>
    inTurn(async () => {
      const [contextOf, givenOffset] = await Promise.all([
        preview.readContext(),
        preview.offsetFor(scheduleId, schedule.timing),
      ]);
      const time = now();
      const dueAt = isOn({ schedule, pausedWhy: null })
        ? slotAfter(schedule.timing, time, contextOf({ givenOffset }))
        : null;
      await rows.write(scheduleId, schedule, time, dueAt, position, givenOffset);
      changed(schedule.agentId);
      clock.wake();
      const scheduled = await oneShown(await rows.get(scheduleId));
      if (!scheduled) throw new Error('What was written is not there.');
      return { ok: true, scheduled };
    });

  return {
    clock,
    records: createScheduleRecords({
      rows,
      home,
      batch: limits.batch,
      now,
      async nextOf({ scheduleId, schedule }) {
        const [contextOf, givenOffset] = await Promise.all([
          preview.readContext(),
          preview.offsetFor(scheduleId, schedule.timing),
        ]);
        const on = isOn({ schedule, pausedWhy: null });
        return { givenOffset, dueAt: on ? slotAfter(schedule.timing, now(), contextOf({ givenOffset })) : null };
      },
      onChange: clock.wake,
    }),
    list: async (agentId) => allShown(await rows.all(agentId)),
    get: async (scheduleId) => oneShown(await rows.get(scheduleId)),
    named: async (agentId, name) => oneShown(await rows.named(agentId, name)),
    async add(schedule) {
      const { own, all } = await rows.count(schedule.agentId);
      if (own >= limits.perAgent || all >= limits.perHousehold)
        return {
          ok: false,
          field: null,
          reason: `There is room for ${limits.perAgent} of an agent and ${limits.perHousehold} of the household. Take one away first.`,
        };
      const refused =
        refusedTiming(schedule.timing, null) ?? (await refusedName(schedule, null)) ?? (await refusedScript(schedule));
      return refused ?? (await written(newId(), schedule, all));
    },
    async change(scheduleId, schedule) {
      const row = await rows.get(scheduleId);
      if (!row) return null;
      if (row.schedule.kind !== schedule.kind)
        return { ok: false, field: null, reason: `It is a ${row.schedule.kind}, and stays one.` };
      const refused =
        refusedTiming(schedule.timing, row.schedule.timing) ??
        (await refusedName(schedule, scheduleId)) ??
        (await refusedScript(schedule));
      return refused ?? (await written(scheduleId, schedule, null));
    },
    async remove(scheduleId) {
      const row = await rows.get(scheduleId);
      if (!row || !(await rows.remove(scheduleId, now()))) return false;
      changed(row.schedule.agentId);
      clock.wake();
      return true;
    },
    async trigger(scheduleId) {
      const row = await rows.get(scheduleId);
      if (!row) return false;
      await rows.trigger(row, now());
      clock.wake();
      return true;
    },
    async stopAll(agentId) {
      for (const { scheduleId, schedule } of await rows.all(agentId))
        if (schedule.kind !== 'reminder' && schedule.enabled)
          await written(scheduleId, { ...schedule, enabled: false }, null);
    },
    async reorder(scheduleIds) {
      const all = new Set((await rows.all()).map(({ scheduleId }) => scheduleId));
      if (
        scheduleIds.length !== all.size ||
        new Set(scheduleIds).size !== all.size ||
        !scheduleIds.every((id) => all.has(id))
      )
        return { ok: false, field: 'scheduleIds', reason: 'It must name all that there is, each once.' };
      await rows.reorder(scheduleIds);
      changed(null);
      return null;
    },
    history: (from, to, which) => rows.between(from, to, which),
    timeline: preview.timeline,
    blackouts: preview.blackouts,
    close: (planned) => clock.close(planned),
  };
}
