/**
 * Rows of projects and tasks. Every function takes the transaction or database it runs in. A
 * deleted project or task is not found.
 */
import type { Selectable } from 'kysely';
import { z } from 'zod';
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import type { TaskState } from '../../../src/shared/domain/projects.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import {
  PROJECT_LIMITS,
  projectValueSchema,
  type ProjectValue,
  type Task,
  taskSchema,
  taskValueSchema,
  type TaskValue,
} from '../../../src/shared/protocol/projects.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import { type Db, parseText } from '../../store/index.ts';
import type { Tables } from '../../store/tables.ts';
import type { Holder, RestOf } from './contract.ts';

type ProjectRow = Selectable<Tables['projects']>;
export type TaskRow = Selectable<Tables['tasks']>;
export const json = (text: string): string => JSON.stringify(text);

export const projectValueOf = (row: Pick<ProjectRow, 'value_json'>): ProjectValue =>
  projectValueSchema.parse(JSON.parse(row.value_json));
export const taskValueOf = (row: Pick<TaskRow, 'value_json'>): TaskValue =>
  taskValueSchema.parse(JSON.parse(row.value_json));

/** The agent that works on a task now. An expired lease is no claim. */
export function claimOf(
  row: Pick<TaskRow, 'holder_json' | 'claimed_at' | 'lease_until'> & Partial<Pick<TaskRow, 'run'>>,
  now: number,
  restOf?: RestOf,
): Task['claim'] {
  if (row.holder_json === null || row.claimed_at === null || row.lease_until === null || row.lease_until < now)
    return null;
  const claim = { agentId: parseText(row.holder_json), since: row.claimed_at };
  const rests = row.run == null ? undefined : restOf?.({ ...claim, run: row.run });
  return rests === undefined ? claim : { ...claim, rests };
}

/** Set where it came as a record, and the person has not said yes to it. */
const askedOf = ({ asked }: Pick<TaskRow, 'asked'>) => (asked ? { asked: true as const } : {});

export function taskOf(row: TaskRow, now: number, restOf?: RestOf): Task {
  const value = z.looseObject({}).parse(JSON.parse(row.value_json));
  return taskSchema.parse({
    ...{ ...value, taskId: row.task, version: row.version, claim: claimOf(row, now, restOf) },
    ...askedOf(row),
  });
}

/** The newest entries of a task's history. */
export const withHistory = (value: TaskValue, entry: TaskValue['history'][number]): TaskValue => ({
  ...value,
  updatedAt: Math.max(value.updatedAt, entry.time),
  history: [...value.history, entry].slice(-PROJECT_LIMITS.history),
});

/** The person's move is their yes to a task that came as a record. */
export function agreedTo({ history: before }: TaskValue, { history: after }: TaskValue) {
  const last = after.at(-1);
  return last !== before.at(-1) && last?.by === PERSON && last.columnId !== null ? { asked: false } : {};
}

/** The columns of a task's row that follow from its value. */
export const columnsOf = (value: TaskValue) => ({
  number: value.number,
  column_json: json(value.columnId),
  assignee_json: value.assignee === null ? null : json(value.assignee),
  priority: value.priority,
  blocked_json: JSON.stringify(value.blockedBy),
  created_by_json: json(value.createdBy),
  created_at: value.createdAt,
  value_json: JSON.stringify(value),
  removed: value.removed,
});
export const UNCLAIMED = {
  holder_json: null,
  run: null,
  claimed_at: null,
  claimed_from_json: null,
  lease_until: null,
} as const;

/** The run or the credential that holds a claim, as rows name it. */
export const runOf = (holder: Holder): string =>
  'runId' in holder ? `run ${holder.runId}` : `credential ${holder.credentialId}`;

export async function readProjectRow(db: Db, home: string, projectId: ProjectId, lock = false) {
  const query = db
    .selectFrom('projects')
    .selectAll()
    .where('home', '=', home)
    .where('project', '=', projectId)
    .where('removed', '=', false);
  return (await (lock ? query.forUpdate() : query).executeTakeFirst()) ?? null;
}

export async function readTaskRow(db: Db, home: string, projectId: ProjectId, taskId: TaskId, lock = false) {
  const query = db
    .selectFrom('tasks')
    .selectAll()
    .where('home', '=', home)
    .where('task', '=', taskId)
    .where('project', '=', projectId)
    .where('removed', '=', false);
  return (await (lock ? query.forUpdate() : query).executeTakeFirst()) ?? null;
}

/** Also true for a deleted task. */
export async function hasTaskRow(db: Db, home: string, taskId: TaskId): Promise<boolean> {
  const query = db.selectFrom('tasks').select('task').where('home', '=', home).where('task', '=', taskId);
  return (await query.executeTakeFirst()) !== undefined;
}

/** The fields of all tasks of a project that the rules read. */
export async function readStates(
  db: Db,
  home: string,
  projectId: ProjectId,
  now: number,
  setAside: SetAside,
): Promise<readonly (TaskState & { readonly number: number; readonly version: number })[]> {
  const rows = await db
    .selectFrom('tasks')
    .select([
      ...(['task', 'number', 'column_json', 'assignee_json', 'priority', 'blocked_json', 'created_at'] as const),
      ...(['holder_json', 'claimed_at', 'lease_until', 'asked', 'version'] as const),
    ])
    .where('home', '=', home)
    .where('project', '=', projectId)
    .where('removed', '=', false)
    .execute();
  const readOne = (row: (typeof rows)[number]) => ({
    taskId: row.task,
    number: row.number,
    columnId: parseText(row.column_json),
    assignee: row.assignee_json === null ? null : (parseText(row.assignee_json) as AgentId),
    priority: row.priority as TaskState['priority'],
    blockedBy: JSON.parse(row.blocked_json) as TaskId[],
    createdAt: row.created_at,
    version: row.version,
    claim: claimOf(row, now),
    ...askedOf(row),
  });
  return setAside.read('tasks', rows, ({ task }) => task, readOne);
}

/** Claims of runs that hold now, of one project or one task. */
export async function readClaims(
  db: Db,
  home: string,
  now: number,
  of: { readonly projectId: ProjectId } | { readonly taskId: TaskId },
  setAside: SetAside,
) {
  const rows = await db
    .selectFrom('tasks')
    .select(['task', 'holder_json', 'claimed_at', 'lease_until', 'claim_token', 'run'])
    .where('home', '=', home)
    .where((eb) => ('taskId' in of ? eb('task', '=', of.taskId) : eb('project', '=', of.projectId)))
    .where('removed', '=', false)
    .where('holder_json', 'is not', null)
    .execute();
  const readOne = (row: (typeof rows)[number]) => ({ row, claim: claimOf(row, now) });
  return setAside
    .read('tasks', rows, ({ task }) => task, readOne)
    .flatMap(({ row, claim }) =>
      claim === null || row.run === null
        ? []
        : [{ ...claim, taskId: row.task, token: Number(row.claim_token), run: row.run }],
    );
}
