/** HTTP routes for schedules, runs and proposals. */
import type { Context } from 'hono';
import type { ScheduleId } from '../../src/shared/domain/ids.ts';
import { clashesOf } from '../../src/shared/domain/schedule/timeline.ts';
import { scheduleEndpoints } from '../../src/shared/protocol/endpoints/schedules.ts';
import { WAITS_FOR_YES, type Schedule, type Scheduled } from '../../src/shared/protocol/schedules.ts';
import type { Directory } from '../team/directory/index.ts';
import { agentIdIn } from '../team/directory/index.ts';
import { answer, applicationOf, type Env, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { changedElsewhere } from '../http/version.ts';
import type { Runs } from '../agents/runs/index.ts';
import { runsByItself } from './scripts.ts';
import type { Snapshots, GoOn, Refused, Schedules, Scripts, Written } from './index.ts';

export interface ScheduleRoutesDeps {
  readonly schedules: Schedules;
  readonly goOn: GoOn;
  readonly snapshots: Pick<Snapshots, 'allow'>;
  readonly runs: Pick<Runs, 'stop' | 'stopRun'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly now: () => number;
  readonly scripts: Pick<Scripts, 'off' | 'refuseOwnHosts'>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Limits of a timeline: moments per schedule, and occurrences in all. */
const SHOWN = { moments: 2_000, occurrences: 2_000 };

const unknown = () => problem(404, 'unknown-schedule', 'There is no such schedule. It may have been removed.');

const waitsForYes = () => problem(409, 'misfit', 'It waits for your yes. Answer that first, at the top of the page.');

const unknownProposal = () => problem(404, 'unknown-proposal', 'There is no such proposal. It may have been answered.');

/** A query value in ms since the epoch. Left out: everything up to now. */
function beforeOf(before: string | null, now: number): number {
  const to = before === null ? now + 1 : Number(before);
  if (!Number.isSafeInteger(to)) throw problem(400, 'misfit', '`before` is not a time in ms since the epoch.');
  return to;
}

/** A refusal as a problem that names the field. */
function refusal({ field, reason }: Refused) {
  return problem(400, 'misfit', reason, {
    fields: { errors: field === null ? [] : [{ field, message: reason }] },
  });
}

function done(written: Written | null): Scheduled {
  if (!written) throw unknown();
  if (!written.ok) throw refusal(written);
  return written.scheduled;
}

/** A script is a program on the relay's machine. Only the person may set, change or start one. */
function refuseScript(context: Context<Env>, ...schedules: readonly Schedule[]): void {
  if (applicationOf(context) !== null && schedules.some(({ kind }) => kind === 'script'))
    throw problem(403, 'no-scope', 'Only the person can set, change and start scripts, on the page.');
}

export function createScheduleRoutes({
  schedules,
  runs,
  goOn,
  snapshots,
  directory,
  now,
  scripts,
}: ScheduleRoutesDeps): readonly Handled[] {
  const agentOf = (called: string) => agentIdIn(directory, called);
  /** A schedule may name its agent by id, name or seat. */
  const resolved = async (schedule: Schedule): Promise<Schedule> => ({
    ...schedule,
    agentId: await agentOf(schedule.agentId),
  });
  async function one(scheduleId: ScheduleId): Promise<Scheduled> {
    const scheduled = await schedules.get(scheduleId);
    if (!scheduled) throw unknown();
    return scheduled;
  }
  /** A schedule that is due here, and to which the person has consented. */
  async function here(scheduleId: ScheduleId): Promise<Scheduled> {
    const scheduled = await one(scheduleId);
    if (scheduled.elsewhere !== null)
      throw problem(409, 'misfit', 'The schedule is due at another relay of this household, and does not run here.');
    if (scheduled.pausedWhy === WAITS_FOR_YES) throw waitsForYes();
    return scheduled;
  }
  /**
   * The person enables something that runs, so its agent may store a snapshot. An API client cannot
   * allow that for the person.
   */
  async function allowed({ schedule, pausedWhy }: Scheduled, context: Context<Env>): Promise<void> {
    if (applicationOf(context) !== null) return;
    if (runsByItself(schedule) && pausedWhy === null) await snapshots.allow(schedule.agentId);
  }
  return answer(scheduleEndpoints, {
    async schedules({ agent }) {
      const why = await scripts.off();
      return {
        schedules: await schedules.list(agent === null ? undefined : await agentOf(agent)),
        scripts: why === null,
        ...(why === null ? {} : { why }),
        ownHosts: scripts.refuseOwnHosts() === null,
      };
    },
    async addSchedule({ body }, context) {
      refuseScript(context, body);
      const scheduled = done(await schedules.add(await resolved(body)));
      await allowed(scheduled, context);
      return scheduled;
    },
    schedule: ({ scheduleId }) => one(scheduleId),
    async changeSchedule({ scheduleId, body }, context) {
      const { version, ...schedule } = body;
      refuseScript(context, schedule, (await one(scheduleId)).schedule);
      const written = await schedules.change(scheduleId, await resolved(schedule), version);
      if (written?.ok === false && written.field === 'version') throw changedElsewhere(await one(scheduleId));
      const scheduled = done(written);
      await allowed(scheduled, context);
      return scheduled;
    },
    async removeSchedule({ scheduleId }, context) {
      refuseScript(context, (await one(scheduleId)).schedule);
      if (!(await schedules.remove(scheduleId))) throw unknown();
      return null;
    },
    async toggleSchedule({ scheduleId }, context) {
      const { schedule, pausedWhy } = await one(scheduleId);
      refuseScript(context, schedule);
      if (pausedWhy === WAITS_FOR_YES && applicationOf(context) !== null) throw waitsForYes();
      if (schedule.kind === 'reminder')
        throw problem(400, 'misfit', 'A reminder cannot be switched off. Remove it instead.');
      const enabled = pausedWhy !== null || !schedule.enabled;
      const scheduled = done(await schedules.change(scheduleId, { ...schedule, enabled }));
      await allowed(scheduled, context);
      return scheduled;
    },
    async triggerSchedule({ scheduleId }, context) {
      refuseScript(context, (await here(scheduleId)).schedule);
      if (!(await schedules.trigger(scheduleId))) throw unknown();
      return null;
    },
    async moveSchedules({ body }, context) {
      await schedules.move(body.gone);
      if (body.gone) for (const each of await schedules.list()) await allowed(each, context);
      return null;
    },
    async duplicateSchedule({ scheduleId }, context) {
      const { schedule } = await here(scheduleId);
      refuseScript(context, schedule);
      const name = await schedules.freeName(schedule.agentId, schedule.name);
      // The relay runs the accepted text, not the current content of the file.
      const text = await schedules.acceptedText(scheduleId);
      return done(
        await schedules.add(
          schedule.kind === 'reminder' ? { ...schedule, name } : { ...schedule, name, enabled: false },
          ...(text ? [text] : []),
        ),
      );
    },
    async reorderSchedules({ body }) {
      const refused = await schedules.reorder(body.scheduleIds);
      if (refused) throw refusal(refused);
      return null;
    },
    async scheduleHistory({ scheduleId, before, limit }) {
      await one(scheduleId);
      const to = beforeOf(before, now()) - 1;
      const found = await schedules.history(0, to, { scheduleId, most: limit + 1 });
      return { occurrences: found.slice(0, limit), more: found.length > limit };
    },
    async runs({ agent, before, limit }) {
      const agentId = agent === null ? null : await agentOf(agent);
      const found = await schedules.runs({ agentId, before: beforeOf(before, now()), most: limit + 1 });
      return { runs: found.slice(0, limit), more: found.length > limit };
    },
    stopRun({ runId }) {
      if (!runs.stopRun(runId)) throw problem(404, 'unknown-run', 'No such run is under way.');
      return null;
    },
    async continueRun({ runId }) {
      const went = await goOn(runId);
      if (!went.ok && went.reason === 'unknown') throw problem(404, 'unknown-run', went.detail);
      if (!went.ok) throw problem(409, 'cannot-go-on', went.detail);
      return null;
    },
    proposals: async () => ({ proposals: await schedules.proposals.open() }),
    async acceptProposal({ proposalId }, context) {
      const written = await schedules.proposals.accept(proposalId);
      if (!written) throw unknownProposal();
      const scheduled = done(written);
      await allowed(scheduled, context);
      return scheduled;
    },
    async declineProposal({ proposalId }) {
      if (!(await schedules.proposals.decline(proposalId))) throw unknownProposal();
      return null;
    },
    async timeline({ hours }) {
      const time = now();
      const [from, to] = [time - hours * HOUR_MS, time + hours * HOUR_MS];
      const leftOut = { moments: false, occurrences: false };
      const [moments, occurrences, all] = await Promise.all([
        schedules.timeline(time, to, SHOWN.moments, () => (leftOut.moments = true)),
        schedules.history(from, time, { most: SHOWN.occurrences, idle: 'last' }),
        schedules.list(),
      ]);
      leftOut.occurrences = occurrences.length >= SHOWN.occurrences;
      const running = moments.filter(({ dark }) => dark === null);
      const models = new Set(
        all.filter(({ schedule }) => schedule.kind !== 'script').map(({ scheduleId }) => scheduleId),
      );
      const runs = running.filter(({ id }) => models.has(id)).length;
      const dearest = Math.max(-1, ...occurrences.map(({ costMicroUsd }) => costMicroUsd ?? -1));
      return {
        from,
        to,
        moments: moments.map(({ id, ...moment }) => ({ scheduleId: id, ...moment })),
        occurrences,
        blackouts: await schedules.blackouts(time, to),
        clashes: clashesOf(moments).map(({ agentIds, ...clash }) => ({ ...clash, agentIds: [...agentIds] })),
        most: { runs, microUsd: runs === 0 ? 0 : dearest < 0 ? null : runs * dearest },
        ...(leftOut.moments || leftOut.occurrences ? { leftOut } : {}),
      };
    },
    async agentSchedule({ agentId: called }) {
      const agentId = await agentOf(called);
      const most = SHOWN.occurrences;
      const occurrences = await schedules.history(now() - DAY_MS, now(), { agentId, most, idle: 'last' });
      return { schedules: await schedules.list(agentId), occurrences, more: occurrences.length >= most };
    },
  });
}
