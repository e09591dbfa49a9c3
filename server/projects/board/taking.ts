/** Who may take a task, and how a claim ends. A project may allow one task at a time. */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { takesOneTask, taskAtWork } from '../../../src/shared/domain/one-task.ts';
import { columnOfKind, givesTasks, kindOfColumn, openBlockers } from '../../../src/shared/domain/projects.ts';
import { takersOf } from '../../../src/shared/domain/task-reviews.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { DoneNeeds } from '../../../src/shared/protocol/attempts.ts';
import type { ProjectValue, Task, TaskValue } from '../../../src/shared/protocol/projects.ts';
import { PROJECT_LIMITS } from '../../../src/shared/protocol/projects.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import { type Db, parseText } from '../../store/index.ts';
import type { Refused } from './contract.ts';
import { refuse } from './outcome.ts';
import { claimOf, readStates, type TaskRow, taskValueOf, UNCLAIMED, withHistory } from './rows.ts';
import type { PROJECT_SETTINGS } from './settings.ts';

/** Why a claim ended, where its run did not end it. */
export const LOST = sentence`The run stopped responding.`;
/** The note of a claim that ended with its run. */
export const RUN_ENDED = sentence`Its run ended.`;

/** What a task lacks that would be moved to done. */
const MISSING: Readonly<Record<keyof DoneNeeds, string>> = {
  change: sentence`No file was changed, and nothing was committed.`,
  checks: sentence`Not all checks passed.`,
  criteria: sentence`Not every criterion is met.`,
};

/** The task on which an agent works, in a project that takes one at a time. */
interface AtWork {
  readonly number: number;
  readonly claim: { readonly agentId: AgentId; readonly since: number };
}

/** Why the other task cannot be taken, to an agent that asks for it. */
export function atWorkText({ number, claim }: AtWork, reader: AgentId, names: ReadonlyMap<AgentId, string>): string {
  const since = `on #${number} since ${new Date(claim.since).toISOString()}`;
  return claim.agentId === reader
    ? `You work ${since}. This project takes one task at a time: move that one on, or release it.`
    : `${titled(names.get(claim.agentId) ?? claim.agentId)} works ${since}. This project takes one task at a time.`;
}

/**
 * Why this agent cannot take the unclaimed task: a sentence, or the task that is worked on. Null:
 * it can. `now`: ms since the epoch. `columns`: as for `Projects.claim`.
 */
export async function refuseClaim(
  within: Db,
  home: string,
  project: ProjectValue & { readonly projectId: ProjectId },
  value: Task,
  {
    agentId,
    now,
    columns,
    setAside,
  }: {
    readonly agentId: AgentId;
    readonly now: number;
    readonly columns: readonly string[] | undefined;
    readonly setAside: SetAside;
  },
): Promise<string | AtWork | null> {
  if (!project.agents.includes(agentId)) return 'You are not assigned to this project.';
  if (value.assignee !== null && value.assignee !== agentId) return 'The task is assigned to another agent.';
  const kind = kindOfColumn(project, value.columnId);
  if (kind === 'done') return 'The task is done, and is not started again.';
  if (!givesTasks(project, value.columnId, columns))
    return columns
      ? 'The task is in none of the columns from which this run takes tasks.'
      : 'The task is not in a column that is ready.';
  if (kind === 'review' && takersOf(project, value.history).has(agentId))
    return 'You have worked on this task already, or reviewed it. Somebody else reviews it now.';
  if (value.asked) return 'The task came from elsewhere, and the human has not said yes to it.';
  if (value.blockedBy.length === 0 && !takesOneTask(project)) return null;
  const all = await readStates(within, home, project.projectId, now, setAside);
  const numbers = openBlockers(project, value, all).map(({ number }) => `#${number}`);
  return numbers.length > 0 ? `The task waits for ${numbers.join(', ')}.` : (taskAtWork(project, value, all) ?? null);
}

/** The task without its claim, back in the column from which it was taken. */
export function withoutClaim(
  row: TaskRow,
  project: ProjectValue,
  { time, by, note }: { readonly time: number; readonly by: string; readonly note: string },
) {
  const before = taskValueOf(row);
  const from = row.claimed_from_json === null ? null : parseText(row.claimed_from_json);
  const isAtWork = kindOfColumn(project, before.columnId) === 'in_progress';
  const back = from !== null && kindOfColumn(project, from) !== null ? from : columnOfKind(project, 'ready')?.columnId;
  const columnId = isAtWork && back !== undefined ? back : before.columnId;
  const moved = columnId === before.columnId ? null : columnId;
  const value = withHistory({ ...before, columnId }, { time, by, what: 'released', columnId: moved, note });
  return { value, claim: UNCLAIMED };
}

/** As `withoutClaim`, because its work could not begin. After a few times the task is blocked. */
export function withFailedClaim(
  row: TaskRow,
  project: ProjectValue,
  {
    time,
    why,
    settings,
  }: {
    readonly time: number;
    readonly why: string;
    readonly settings: Pick<typeof PROJECT_SETTINGS, 'unpreparedMost'>;
  },
) {
  const note = why.slice(0, PROJECT_LIMITS.note);
  const { value, claim } = withoutClaim(row, project, { time, by: 'relay', note });
  const times = (value.unprepared?.times ?? 0) + 1;
  const counted = { ...value, unprepared: { times, why: note } };
  const to = columnOfKind(project, 'blocked') ?? columnOfKind(project, 'backlog');
  if (times < settings.unpreparedMost || !to) return { value: counted, claim };
  const { columnId } = to;
  return { value: withHistory({ ...counted, columnId }, { time, by: 'relay', what: 'moved', columnId, note }), claim };
}

/** The condition of done that a task can lack before anybody has worked on it. */
export const unmetCriteria = ({ criteria }: Pick<TaskValue, 'criteria'>): readonly (keyof DoneNeeds)[] =>
  criteria.every(({ met }) => met !== null) ? [] : ['criteria'];

/** What keeps a task from done, of the conditions that its project asks for. Null: nothing. */
export function missingText(
  { doneNeeds }: Pick<ProjectValue, 'doneNeeds'>,
  missing: readonly (keyof DoneNeeds)[],
): string | null {
  const said = missing.filter((need) => doneNeeds[need]).map((need) => MISSING[need]);
  return said.length === 0 ? null : said.join(' ');
}

export const isHeldBy = (row: TaskRow, agentId: string, now: number): boolean => claimOf(row, now)?.agentId === agentId;

/** Why an agent may not change this task. Null: it may. The person always may. */
export const refuseOther = (row: TaskRow, by: string, now: number): Refused | null =>
  by === PERSON || isHeldBy(row, by, now)
    ? null
    : refuse('other-agent', 'You have not claimed this task. claim_task takes it, if nobody else has it.');
