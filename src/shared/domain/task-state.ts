/**
 * What a task is doing: one answer for card, sheet, tile, inbox and receipt. Pure.
 *
 * `taskStateOf` needs the card of a task. The obstacles and the last step of the agent make it more
 * exact.
 */
import type { AgentId, TaskId } from './ids.ts';
import { type Held, type Obstacles, whyHeld } from './obstacles.ts';
import { type ColumnKind, type TaskState as BoardTask, whyStill } from './projects.ts';

type ProjectState = Parameters<typeof whyStill>[0];

export const TASK_STATES = [
  'planned',
  'queued',
  'working',
  'waits-for-you',
  'stopped',
  'in-review',
  'merged',
  'done',
] as const;
export type TaskStateName = (typeof TASK_STATES)[number];

/** What an agent does now: a verb with its object. Times are ms since the epoch. */
export interface Step {
  readonly text: string;
  readonly from: number;
}

/** `since`: since when it is in this state, in ms since the epoch. */
export type TaskState =
  /** It is in a column from which nobody takes tasks. The person moves it on, or starts it. */
  | { readonly state: 'planned'; readonly kind: ColumnKind; readonly since: number }
  /** It is ready, and nobody has begun. `held`: what keeps agents from it. */
  | { readonly state: 'queued'; readonly held: Held; readonly since: number }
  /** `step` null: the last step is not known here. */
  | { readonly state: 'working'; readonly agentId: AgentId; readonly step: Step | null; readonly since: number }
  /** `held` says whether it is a question, a blocked task, or one that came as a record. */
  | { readonly state: 'waits-for-you'; readonly held: Held; readonly since: number }
  /** Its agent has stopped and the work is unfinished. `claimed`: the agent still has the task. */
  | { readonly state: 'stopped'; readonly agentId: AgentId; readonly claimed: boolean; readonly since: number }
  | { readonly state: 'in-review'; readonly since: number }
  | { readonly state: 'merged'; readonly since: number }
  /** Moved to done by hand. */
  | { readonly state: 'done'; readonly since: number };

/** The parts of a card that the state depends on. */
export interface StatedTask extends BoardTask {
  /** `rests`: since when its agent does not work on it. Left out: it works on it. */
  readonly claim: (NonNullable<BoardTask['claim']> & { readonly rests?: number | undefined }) | null;
  /** The agent whose claim ended without a result, and when. Left out: none, or it went on. */
  readonly stopped?: { readonly agentId: AgentId; readonly at: number } | undefined;
  /** The work was accepted. */
  readonly merged?: true | undefined;
  readonly since: number;
}

export interface StateFacts {
  /** Null: the relay has not said yet what keeps agents from tasks. */
  readonly obstacles: Obstacles | null;
  /** What this agent does now. Null: nothing, or it is not known. */
  readonly stepOf: (agentId: AgentId) => Step | null;
}

export const NO_FACTS: StateFacts = { obstacles: null, stepOf: () => null };

/** Why the task does not move, in more detail than its state. */
export function heldOf(
  project: ProjectState,
  task: StatedTask,
  all: readonly StatedTask[],
  obstacles: Obstacles | null,
): Held {
  const taken = obstacles?.agents.flatMap(({ columnIds }) => columnIds ?? []);
  return whyHeld(whyStill(project, task, all, taken), task, obstacles);
}

/** An agent does one thing at a time: the task that it claimed last. */
const claimedLater = ({ taskId, claim }: StatedTask, all: readonly StatedTask[]) =>
  claim &&
  all.find(
    (other) => other.taskId !== taskId && other.claim?.agentId === claim.agentId && other.claim.since > claim.since,
  )?.claim;

function claimedState(
  { taskId, claim }: { readonly taskId: TaskId; readonly claim: NonNullable<StatedTask['claim']> },
  task: StatedTask,
  all: readonly StatedTask[],
  { stepOf }: StateFacts,
): TaskState {
  const { agentId, since, rests } = claim;
  const later = claimedLater({ ...task, taskId }, all);
  if (later) return { state: 'stopped', agentId, claimed: true, since: later.since };
  const step = stepOf(agentId);
  if (rests !== undefined && step === null) return { state: 'stopped', agentId, claimed: true, since: rests };
  return { state: 'working', agentId, step, since };
}

/** `all`: the tasks of its project. */
export function taskStateOf(
  project: ProjectState,
  task: StatedTask,
  all: readonly StatedTask[],
  facts: StateFacts = NO_FACTS,
): TaskState {
  const { taskId, claim, since, stopped, merged } = task;
  const hold = heldOf(project, task, all, facts.obstacles);
  if (hold.why === 'done') return { state: merged ? 'merged' : 'done', since };
  if (hold.why === 'obstacle' && hold.obstacle.why === 'approval') return { state: 'waits-for-you', held: hold, since };
  if (claim) return claimedState({ taskId, claim }, task, all, facts);
  if (hold.why === 'asked') return { state: 'waits-for-you', held: hold, since };
  if (hold.why === 'column') {
    if (hold.kind === 'review') return { state: 'in-review', since };
    if (hold.kind === 'blocked') return { state: 'waits-for-you', held: hold, since };
  }
  if (stopped) return { state: 'stopped', agentId: stopped.agentId, claimed: false, since: stopped.at };
  return hold.why === 'column' ? { state: 'planned', kind: hold.kind, since } : { state: 'queued', held: hold, since };
}

/** States in which the person can start the task, or have it continued. */
export const canStart = ({ state, ...rest }: TaskState): boolean =>
  state === 'planned' ||
  state === 'queued' ||
  state === 'stopped' ||
  (state === 'waits-for-you' && 'held' in rest && rest.held.why === 'column');
