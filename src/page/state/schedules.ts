/**
 * What agents do on their own: their schedules, the history of each, and their snapshots at the
 * relay.
 */
import type { AgentId, RunId, ScheduleId } from '../../shared/domain/ids.ts';
import type { Timing } from '../../shared/domain/schedule/timing.ts';
import { t } from '../language/t.ts';
import type { Timeline } from '../../shared/protocol/endpoints/schedules.ts';
import {
  type Occurrence,
  type Proposal,
  type Schedule,
  type Scheduled,
  scheduleSchema,
} from '../../shared/protocol/schedules.ts';
import type { SnapshotStatus } from '../../shared/protocol/snapshots.ts';
import type { Mapping } from '../../shared/protocol/routine-mappings.ts';
import type { RelayProblem, RelayResult } from '../../shared/relay-client/index.ts';
import type { RoostState } from './index.ts';
import type { Notices } from './notices.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createPaged, type Paged } from './pages.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult, type CallRelay } from './call-relay.ts';
import { overNewest } from './documents.ts';

/** Occurrences of one routine per history page. */
const HISTORY = 50;
/** The newest runs that the page knows. No household has this many active at once. */
const NEWEST = 100;

/** Why the relay refused a schedule: errors by field, and a general reason. */
interface Misfit {
  readonly ok: false;
  readonly fields: Readonly<Record<string, string>>;
  /** null: the fields say it all. */
  readonly reason: string | null;
}
/** The agents' snapshots at the relay, and those that the person has withdrawn. */
interface Snapshots {
  readonly snapshots: readonly SnapshotStatus[];
  readonly withdrawn: readonly string[];
}
export type Saved = { readonly ok: true; readonly scheduled: Scheduled } | Misfit;

/**
 * The same fields were changed here and at the relay, so nothing was saved. This is the relay's
 * version.
 */
export interface Clash {
  readonly ok: false;
  readonly clash: Scheduled;
}

interface Listed {
  readonly schedules: readonly Scheduled[];
  /** The relay runs scripts for this household. */
  readonly scripts: boolean;
  /** The reason in the relay's words, if it does not. */
  readonly why?: string | undefined;
  /** Scripts may reach hosts of the relay's own machine that the person names. */
  readonly ownHosts?: boolean | undefined;
}

/** A schedule that gets another timing. */
interface TimingChange {
  readonly scheduleId: ScheduleId;
  /** If the current timing is not this one, somebody else has changed it, and it stays. */
  readonly before: Timing;
  readonly after: Timing;
}

interface TimingsDeps {
  readonly callRelay: CallRelay;
  readonly notices: Pick<Notices, 'info' | 'refused'>;
  /** Reloads the current state. */
  readonly again: () => Promise<void>;
}

/**
 * Changes the timing of several schedules, one after another. Returns whether all succeeded. A
 * notice reports how many did and offers an undo.
 */
function createTimings({
  callRelay,
  notices,
  again,
}: TimingsDeps): (changes: readonly TimingChange[]) => Promise<boolean> {
  /** Changes one schedule. False: it is gone, or somebody else has changed it. */
  async function setTiming({ scheduleId, before, after }: TimingChange): Promise<RelayResult<boolean>> {
    const found = await callRelay((client) => client.schedule({ scheduleId }));
    if (!found.ok)
      return found.problem.kind === 'refused' && found.problem.status === 404 ? { ok: true, value: false } : found;
    const moved = await overNewest(found.value, ({ schedule, version }) => {
      if (JSON.stringify(schedule.timing) !== JSON.stringify(before)) return null;
      const body = { ...scheduleSchema.parse({ ...schedule, timing: after }), version };
      return callRelay((client) => client.changeSchedule({ scheduleId, body }));
    });
    return 'clash' in moved ? { ok: true, value: false } : mapResult(moved, () => true);
  }
  async function setTimings(changes: readonly TimingChange[], back: boolean): Promise<boolean> {
    const moved: TimingChange[] = [];
    let problem: RelayProblem | null = null;
    for (const change of changes) {
      const result = await setTiming(change);
      if (!result.ok) problem = result.problem;
      if (!result.ok) break;
      if (result.value) moved.push({ ...change, before: change.after, after: change.before });
    }
    await again();
    const text = t`${moved.length} of ${changes.length} moved.`;
    if (moved.length > 0)
      notices.info(text, back ? undefined : { label: t`Undo`, run: () => void setTimings(moved, true) });
    else if (!problem) notices.info(t`Nothing was moved, because these times were changed meanwhile.`);
    if (problem) notices.refused(problem);
    return problem === null;
  }
  return (changes) => setTimings(changes, false);
}

export interface Schedules {
  readonly list: Query<Listed>;
  /** `hours`: into the past and into the future. */
  timeline(hours: number): Query<Timeline>;
  history(scheduleId: ScheduleId): Paged<Occurrence>;
  /** The newest runs, newest first. Active ones have not ended. */
  readonly runs: Query<readonly Occurrence[]>;
  /** All runs, newest first; null: of all agents. */
  runLog(agentId: AgentId | null): Paged<Occurrence>;
  /** The run's messages stay. A notice reports a refusal. */
  stopRun(runId: RunId): Promise<void>;
  /**
   * Starts another run that continues it, and returns whether it did. A notice reports a refusal.
   */
  goOn(runId: RunId): Promise<boolean>;
  /**
   * Moves schedules of another relay here. `gone`: the person confirms that the other relay no
   * longer runs.
   */
  move(gone: boolean): Promise<void>;
  readonly snapshots: Query<Snapshots>;
  /** Proposals of agents, oldest first. */
  readonly proposals: Query<readonly Proposal[]>;
  /** Turns the proposal into a routine. A notice reports a refusal. */
  accept(proposal: Proposal): Promise<void>;
  decline(proposal: Proposal): Promise<void>;
  /** The relay's current version; null: the relay has no such schedule, or does not answer. */
  one(scheduleId: ScheduleId): Promise<Scheduled | null>;
  /** `scheduleId` null: a new schedule. Overwrites the current version. */
  save(scheduleId: ScheduleId | null, schedule: Schedule): Promise<Saved>;
  /**
   * Saves a change that is merged with the relay's current version. `merge` returns null for a
   * conflict.
   */
  saveOver(known: Scheduled, merge: (now: Schedule) => Schedule | null): Promise<Saved | Clash>;
  /** A notice reports a refusal. */
  toggle(scheduled: Scheduled): Promise<void>;
  runNow(scheduled: Scheduled): Promise<void>;
  duplicate(scheduled: Scheduled): Promise<void>;
  /** Removes it at once. A notice offers an undo. */
  remove(scheduled: Scheduled): Promise<void>;
  /**
   * Changes the timing of each, one after another. A notice offers an undo. Returns whether all
   * succeeded.
   */
  setTimings(changes: readonly TimingChange[]): Promise<boolean>;
  /** All ids, in the person's order. */
  order(scheduleIds: readonly ScheduleId[]): Promise<void>;
  /** `name`: of the agent. Returns whether its snapshot is gone. */
  withdrawSnapshot(agentId: AgentId, name: string): Promise<boolean>;
}

/** The fields that a refusal names, without the prefix of the schema. */
function misfitOf(problem: RelayProblem): Misfit {
  const errors = problem.kind === 'refused' ? (problem.problem.errors ?? []) : [];
  const fields: Record<string, string> = {};
  for (const { field, message } of errors) fields[field] ??= message;
  return { ok: false, fields, reason: errors.length > 0 ? null : problemText(problem) };
}

function createSchedules({ callRelay, changes, device, notices }: RoostState): Schedules {
  const deps = { changes, device, what: ['schedules'] as const };
  const list = relayQuery<Listed>({ callRelay, changes, device }, ['schedules'], (client) => client.schedules());
  const runs = relayQuery<readonly Occurrence[]>({ callRelay, changes, device }, ['schedules'], async (client) =>
    mapResult(await client.runs({ agent: null, before: null, limit: NEWEST }), (page) => page.runs),
  );
  const snapshots = relayQuery<Snapshots>({ callRelay, changes, device }, ['schedules'], (client) =>
    client.agentSnapshots(),
  );
  const proposals = relayQuery<readonly Proposal[]>({ callRelay, changes, device }, ['schedules'], async (client) =>
    mapResult(await client.proposals(), (answer) => answer.proposals),
  );
  const timelines = createQueryFamily((hours: string) =>
    relayQuery<Timeline>({ callRelay, changes, device }, ['schedules'], (client) =>
      client.timeline({ hours: Number(hours) }),
    ),
  );
  const histories = createQueryFamily((scheduleId: ScheduleId) =>
    createPaged<Occurrence, number>({
      ...deps,
      idOf: ({ dueAt }) => dueAt,
      size: HISTORY,
      askPage: async ({ before, limit }) =>
        mapResult(
          await callRelay((client) =>
            client.scheduleHistory({ scheduleId, limit, before: before === null ? null : String(before) }),
          ),
          ({ occurrences, more = false }) => ({ rows: occurrences, more }),
        ),
    }),
  );

  const runLogs = createQueryFamily((agentId: AgentId) =>
    createPaged<Occurrence, number>({
      ...deps,
      idOf: ({ startedAt, dueAt }) => startedAt ?? dueAt,
      size: HISTORY,
      askPage: async ({ before, limit }) =>
        mapResult(
          await callRelay((client) =>
            client.runs({
              limit,
              agent: agentId === '' ? null : agentId,
              before: before === null ? null : String(before),
            }),
          ),
          ({ runs: rows, more = false }) => ({ rows, more }),
        ),
    }),
  );

  /** Reloads the list, whatever the outcome of the call. */
  async function then<Value>(call: Promise<RelayResult<Value>>): Promise<RelayResult<Value>> {
    const result = await call;
    await list.again();
    return result;
  }
  async function told<Value>(call: Promise<RelayResult<Value>>): Promise<Value | null> {
    const result = await then(call);
    if (result.ok) return result.value;
    notices.refused(result.problem);
    return null;
  }

  const undoMaking = ({ scheduleId }: Pick<Scheduled, 'scheduleId'>) => ({
    label: t`Undo`,
    run: () => void told(callRelay((client) => client.removeSchedule({ scheduleId }))),
  });

  async function mappingsOf({ scheduleId, schedule: { agentId }, projectIds = [] }: Scheduled): Promise<Mapping[]> {
    const answers = await Promise.all(
      projectIds.map((projectId) => callRelay((client) => client.mappings({ projectId, agentId }))),
    );
    return answers
      .flatMap((answer) => (answer.ok ? answer.value.mappings : []))
      .filter(({ routineId }) => routineId === scheduleId);
  }
  async function bringBack(schedule: Schedule, mappings: readonly Mapping[]): Promise<void> {
    const made = await told(callRelay((client) => client.addSchedule({ body: schedule })));
    if (!made) return;
    for (const { projectId, agentId, columnIds, toolOverrides, separate } of mappings) {
      const body = { routineId: made.scheduleId, columnIds, toolOverrides, separate };
      await told(callRelay((client) => client.createMapping({ projectId, agentId, body })));
    }
  }

  return {
    list,
    setTimings: createTimings({ callRelay, notices, again: list.again }),
    async order(scheduleIds) {
      const { store } = list;
      const shown = store.getState();
      const before = shown.kind === 'ready' ? shown.value.schedules.map(({ scheduleId }) => scheduleId) : null;
      const put = async (ids: readonly ScheduleId[]) => {
        const result = await then(callRelay((client) => client.reorderSchedules({ body: { scheduleIds: [...ids] } })));
        if (!result.ok) notices.refused(result.problem);
        return result.ok;
      };
      if ((await put(scheduleIds)) && before)
        notices.info(t`The order is changed.`, { label: t`Undo`, run: () => void put(before) });
    },
    snapshots,
    runs,
    runLog: (agentId) => runLogs(agentId ?? ''),
    async stopRun(runId) {
      const stopped = await callRelay((client) => client.stopRun({ runId }));
      await runs.again();
      if (!stopped.ok) notices.refused(stopped.problem);
    },
    async goOn(runId) {
      const went = await then(callRelay((client) => client.continueRun({ runId })));
      await runs.again();
      if (!went.ok) notices.refused(went.problem);
      return went.ok;
    },
    async move(gone) {
      await told(callRelay((client) => client.moveSchedules({ body: { gone } })));
    },
    proposals,
    async accept({ proposalId, routine }) {
      const made = await told(callRelay((client) => client.acceptProposal({ proposalId })));
      await proposals.again();
      if (made) notices.info(t`“${routine.name}” is a routine now.`, undoMaking(made));
    },
    async decline({ proposalId }) {
      await told(callRelay((client) => client.declineProposal({ proposalId })));
      await proposals.again();
    },
    timeline: (hours) => timelines(String(hours)),
    history: histories,
    async one(scheduleId) {
      const result = await callRelay((client) => client.schedule({ scheduleId }));
      return result.ok ? result.value : null;
    },
    async saveOver(before, merge) {
      const result = await overNewest(before, ({ scheduleId, schedule, version }) => {
        const merged = merge(schedule);
        return (
          merged && then(callRelay((client) => client.changeSchedule({ scheduleId, body: { ...merged, version } })))
        );
      });
      if ('clash' in result) return { ok: false, clash: result.clash };
      return result.ok ? { ok: true, scheduled: result.value } : misfitOf(result.problem);
    },
    async save(scheduleId, schedule) {
      const result = await then(
        callRelay((client) =>
          scheduleId === null
            ? client.addSchedule({ body: schedule })
            : client.changeSchedule({ scheduleId, body: schedule }),
        ),
      );
      return result.ok ? { ok: true, scheduled: result.value } : misfitOf(result.problem);
    },
    async toggle({ scheduleId }) {
      await told(callRelay((client) => client.toggleSchedule({ scheduleId })));
    },
    async runNow({ scheduleId, schedule }) {
      const result = await then(callRelay((client) => client.triggerSchedule({ scheduleId })));
      if (result.ok) notices.info(t`“${schedule.name}” is due now.`);
      else notices.refused(result.problem);
    },
    async duplicate({ scheduleId }) {
      const made = await told(callRelay((client) => client.duplicateSchedule({ scheduleId })));
      if (made) notices.info(t`“${made.schedule.name}” is there, switched off.`, undoMaking(made));
    },
    async remove(scheduled) {
      const { scheduleId, schedule } = scheduled;
      // Its work on projects goes with it, and comes back with it.
      const mappings = await mappingsOf(scheduled);
      const result = await then(callRelay((client) => client.removeSchedule({ scheduleId })));
      if (!result.ok) return notices.refused(result.problem);
      notices.info(t`“${schedule.name}” is deleted.`, {
        label: t`Undo`,
        run: () => void bringBack(schedule, mappings),
      });
    },
    async withdrawSnapshot(agentId, name) {
      const result = await callRelay((client) => client.withdrawAgentSnapshot({ agentId }));
      await snapshots.again();
      if (result.ok) notices.info(t`The copy of ${name} is removed. ${name} no longer works alone.`);
      else notices.refused(result.problem);
      return result.ok;
    },
  };
}

/** One instance per page. */
export const schedulesOf = onePerPage(createSchedules);
