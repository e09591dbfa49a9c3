/**
 * What waits for the person, and what is unread, from one source. The number of the inbox, the
 * browser's title and the badge are the length of the same list.
 */
import type { AgentId, ThreadId } from '../../shared/domain/ids.ts';
import type { OccurrenceState } from '../../shared/domain/schedule/timing.ts';
import { taskStateOf } from '../../shared/domain/task-state.ts';
import type { ToolCall } from '../../shared/protocol/approvals.ts';
import type { Dream } from '../../shared/protocol/dreams.ts';
import type { Exam } from '../../shared/protocol/exams.ts';
import type { Costs } from '../../shared/protocol/costs.ts';
import type { RaisedNotification } from '../../shared/protocol/notifications.ts';
import type { Project, TaskCard } from '../../shared/protocol/projects.ts';
import { type Occurrence, type Proposal, type Scheduled, WAITS_FOR_YES } from '../../shared/protocol/schedules.ts';
import type { Thread } from '../../shared/protocol/threads.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { projectsOf } from './projects.ts';
import { createQuery, type Query } from './query.ts';

/** A task whose state is "in review", or that waits for the person in another column. */
export interface WaitingTask {
  readonly kind: 'review' | 'blocked';
  readonly project: Project;
  readonly card: TaskCard;
}
type BudgetStop = Costs['stopped'][number];

/** One thing that only the person can do. */
export type Wait = { readonly key: string } & (
  | { readonly kind: 'question'; readonly call: ToolCall }
  | WaitingTask
  | { readonly kind: 'failed'; readonly run: Occurrence }
  | { readonly kind: 'paused'; readonly scheduled: Scheduled }
  | { readonly kind: 'proposal'; readonly proposal: Proposal }
  | { readonly kind: 'dream'; readonly dream: Dream }
  | { readonly kind: 'exam'; readonly exam: Exam }
  | { readonly kind: 'budget'; readonly stop: BudgetStop }
);

/** Unread messages that are addressed to the person. */
export type Unread = { readonly key: string; readonly count: number } & (
  | { readonly kind: 'agent'; readonly agentId: AgentId }
  | { readonly kind: 'thread'; readonly thread: Thread }
);

export interface InboxSources {
  readonly calls: readonly ToolCall[];
  readonly tasks: readonly WaitingTask[];
  /** Newest first. */
  readonly runs: readonly Occurrence[];
  readonly schedules: readonly Scheduled[];
  readonly proposals: readonly Proposal[];
  readonly dreams: readonly Dream[];
  readonly exams: readonly Exam[];
  readonly stopped: readonly BudgetStop[];
  /** Unread messages by agent. */
  readonly counts: ReadonlyMap<AgentId, number>;
  readonly threads: readonly Thread[];
  readonly notifications: readonly Pick<RaisedNotification, 'kind' | 'path'>[];
  /** The person has put away what ended up to this moment; ms since the epoch. */
  readonly readTo: number;
}

export interface InboxView {
  readonly waits: readonly Wait[];
  readonly unread: readonly Unread[];
}

const FAILED: readonly OccurrenceState[] = ['failed', 'timed-out', 'crashed'];

/**
 * The newest run of each schedule, if it failed. A later run of the same schedule replaces it, and
 * so does a run that continued it. A paused schedule says itself that it failed.
 */
function failedRuns(runs: readonly Occurrence[], paused: ReadonlySet<string>, readTo: number): readonly Occurrence[] {
  const runIds = new Set<string>();
  return runs.filter((run) => {
    if (run.endedAt === null) return false;
    // All wakes of an agent have one schedule id.
    const cause = `${run.scheduleId} ${run.kind === 'wake' ? run.name : ''}`;
    if (runIds.has(cause)) return false;
    runIds.add(cause);
    return (
      FAILED.includes(run.state) && run.continuedBy === null && run.endedAt > readTo && !paused.has(run.scheduleId)
    );
  });
}

/** One stop of the whole household covers those of its agents. */
function stops(stopped: readonly BudgetStop[]): readonly BudgetStop[] {
  const whole = stopped.find(({ scope }) => scope === 'household');
  return whole ? [whole] : stopped;
}

function threadIdIn(path: string): ThreadId | null {
  const [, place, id = ''] = path.split('/');
  if (place !== 'threads' || id === '') return null;
  try {
    return decodeURIComponent(id);
  } catch {
    return null;
  }
}

/** Pure. */
export function inboxOf(sources: InboxSources): InboxView {
  const { calls, tasks, runs, schedules, proposals, dreams, exams } = sources;
  const { stopped, counts, threads, notifications, readTo } = sources;
  const paused = schedules.filter(
    ({ pausedWhy, elsewhere }) => pausedWhy !== null && pausedWhy !== WAITS_FOR_YES && elsewhere === null,
  );
  const pausedIds = new Set<string>(paused.map(({ scheduleId }) => scheduleId));
  const mentions = new Map<string, number>();
  for (const { kind, path } of notifications) {
    const threadId = kind === 'mention' ? threadIdIn(path) : null;
    if (threadId !== null) mentions.set(threadId, (mentions.get(threadId) ?? 0) + 1);
  }
  return {
    waits: [
      ...calls.map((call) => ({ key: `question ${call.callId}`, kind: 'question', call }) as const),
      ...tasks.map((task) => ({ key: `task ${task.card.taskId}`, ...task })),
      ...failedRuns(runs, pausedIds, readTo).map(
        (run) => ({ key: `failed ${run.scheduleId} ${run.dueAt}`, kind: 'failed', run }) as const,
      ),
      ...paused.map((scheduled) => ({ key: `paused ${scheduled.scheduleId}`, kind: 'paused', scheduled }) as const),
      ...proposals.map((proposal) => ({ key: `proposal ${proposal.proposalId}`, kind: 'proposal', proposal }) as const),
      ...dreams.map((dream) => ({ key: `dream ${dream.dreamId}`, kind: 'dream', dream }) as const),
      ...exams.map((exam) => ({ key: `exam ${exam.examId}`, kind: 'exam', exam }) as const),
      ...stops(stopped).map((stop) => ({ key: `budget ${stop.agentId ?? ''}`, kind: 'budget', stop }) as const),
    ],
    unread: [
      ...[...counts].flatMap(([agentId, count]) =>
        count === 0 ? [] : [{ key: `agent ${agentId}`, kind: 'agent', agentId, count } as const],
      ),
      ...threads.flatMap((thread) => {
        const count = mentions.get(thread.threadId) ?? 0;
        return count === 0 ? [] : [{ key: `thread ${thread.threadId}`, kind: 'thread', thread, count } as const];
      }),
    ],
  };
}

/**
 * Why the task waits for the person; null: it does not. A question of its agent is in the inbox as
 * a question.
 */
export function waitingKind(project: Project, card: TaskCard, all: readonly TaskCard[]): WaitingTask['kind'] | null {
  const { state, ...rest } = taskStateOf(project, card, all);
  if (state === 'in-review') return 'review';
  return state === 'waits-for-you' && 'held' in rest && rest.held.why === 'column' ? 'blocked' : null;
}

/** ms between a change of a project and the next request. Each request of an agent changes one. */
const TASKS_AGAIN_MS = 2_000;

function createWaitingTasks(roost: RoostState): Query<readonly WaitingTask[]> {
  const { callRelay, changes, device } = roost;
  const projects = projectsOf(roost);
  return createQuery<readonly WaitingTask[]>({
    ...{ changes, device, what: ['projects'], askAgainMs: TASKS_AGAIN_MS },
    async ask() {
      const listed = await callRelay((client) => client.projects());
      if (!listed.ok) return listed;
      const waiting: WaitingTask[] = [];
      for (const project of listed.value.projects) {
        const isWaiting = ({ columnId, kind }: Project['columns'][number]) =>
          (kind === 'review' || kind === 'blocked') && (project.counts[columnId] ?? 0) > 0;
        if (!project.columns.some(isWaiting)) continue;
        const board = projects.tasks(project.projectId);
        await board.again();
        const cards = board.store.getState();
        if (cards.kind !== 'ready') continue;
        for (const card of cards.value) {
          const kind = waitingKind(project, card, cards.value);
          if (kind !== null) waiting.push({ kind, project, card });
        }
      }
      return { ok: true, value: waiting };
    },
  });
}

/** Tasks of all projects that wait for the person. */
export const waitingTasksOf = onePerPage(createWaitingTasks);
