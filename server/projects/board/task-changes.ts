/** Changes of one task, each under a lock on its row. */
import type { ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { kindOfColumn } from '../../../src/shared/domain/projects.ts';
import type { ProjectValue, Task, TaskValue } from '../../../src/shared/protocol/projects.ts';
import { type Db, parseText } from '../../store/index.ts';
import type { ProjectsBase } from './base.ts';
import type { EndedClaim, Outcome, Refused } from './contract.ts';
import { done, NO_PROJECT, NO_TASK } from './outcome.ts';
import { refuseBytes } from './room.ts';
import {
  agreedTo,
  columnsOf,
  projectValueOf,
  readProjectRow,
  readTaskRow,
  taskOf,
  type TaskRow,
  taskValueOf,
  UNCLAIMED,
} from './rows.ts';

/**
 * What becomes of a task: the next value, a refusal, or null where nothing changes. `claim`:
 * columns of the claim. `isAlways`: also where the household has no room for it.
 */
export type Change<Refusal extends { readonly ok: false } = Refused> = (at: {
  readonly trx: Db;
  readonly row: TaskRow;
  readonly value: TaskValue;
  readonly project: ProjectValue;
}) => Promise<Refusal | { readonly value: TaskValue; readonly claim?: object; readonly isAlways?: boolean } | null>;

/** `ended`: the row with the claim that this change ended. */
interface Changing {
  readonly ok: true;
  readonly value: Task;
  readonly isChange: boolean;
  readonly ended: TaskRow | null;
  readonly project: ProjectValue;
}

/** Writes a new value, and where given a new claim, into the row of a task. */
export const writeTask = (db: Db, row: Pick<TaskRow, 'home' | 'task'>, value: TaskValue, claim: object = {}) =>
  db
    .updateTable('tasks')
    .set((eb) => ({ ...columnsOf(value), ...claim, stamp: null, version: eb('version', '+', 1) }))
    .where('home', '=', row.home)
    .where('task', '=', row.task)
    .execute();

export type ChangeTask = ReturnType<typeof createTaskChanges>;

/** `onClaimEnded` is called after each change that ended a claim. */
export function createTaskChanges(
  { db, home, room, now, connected, changed }: ProjectsBase,
  onClaimEnded: (ended: EndedClaim) => void,
) {
  return async function changing<Refusal extends { readonly ok: false }>(
    projectId: ProjectId,
    taskId: TaskId,
    work: Change<Refusal>,
    /** Where it is true, no other task of the project is claimed meanwhile. */
    locksProject: (project: ProjectValue) => boolean = () => false,
  ): Promise<Outcome<Task> | Refusal> {
    await room.ready();
    const outcome = await db.transaction().execute(async (trx): Promise<Refused | Refusal | Changing> => {
      const before = await readProjectRow(trx, home, projectId);
      // The project before the task, as those do that change a project with its tasks.
      const isLocked = before !== null && locksProject(projectValueOf(before));
      const projectRow = isLocked ? await readProjectRow(trx, home, projectId, true) : before;
      if (!projectRow) return NO_PROJECT;
      const row = await readTaskRow(trx, home, projectId, taskId, true);
      if (!row) return NO_TASK;
      const value = taskValueOf(row);
      const change = await work({ trx, row, value, project: projectValueOf(projectRow) });
      if (change !== null && 'ok' in change) return change;
      // The end of a claim is always written. Otherwise nobody could take the task any more.
      const isEnd = row.holder_json !== null && change?.claim === UNCLAIMED;
      const full = change && refuseBytes(room, change.value, row.value_json);
      if (full && !change.isAlways && !isEnd) return full;
      if (change !== null)
        await writeTask(trx, row, change.value, { ...change.claim, ...agreedTo(value, change.value) });
      const after = (await readTaskRow(trx, home, projectId, taskId)) ?? row;
      const ended = row.holder_json !== null && after.holder_json === null ? row : null;
      return {
        ok: true,
        value: taskOf(after, now(), connected.restOf),
        isChange: change !== null,
        ended,
        project: projectValueOf(projectRow),
      };
    });
    if (!outcome.ok) return outcome;
    const { value, isChange, ended, project } = outcome;
    if (isChange) changed(projectId);
    const last = value.history.at(-1);
    if (ended?.holder_json != null && last)
      onClaimEnded({
        projectId,
        taskId,
        last,
        token: ended.claim_token,
        agentId: parseText(ended.holder_json),
        kind: kindOfColumn(project, value.columnId),
      });
    return done(value);
  };
}
