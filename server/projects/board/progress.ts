/** Progress of a task: moves between columns, and criteria that are met. */
import type { ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { AGENTS_MOVE_TO, kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { Task } from '../../../src/shared/protocol/projects.ts';
import type { ProjectsBase } from './base.ts';
import type { ChangedElsewhere, Projects, Refused } from './contract.ts';
import { refuse } from './outcome.ts';
import { projectValueOf, readProjectRow, readTaskRow, taskOf, taskValueOf, UNCLAIMED, withHistory } from './rows.ts';
import { missingText, refuseOther, unmetCriteria } from './taking.ts';
import type { ChangeTask } from './task-changes.ts';

export function createProgress(
  { db, home, now, connected }: ProjectsBase,
  changing: ChangeTask,
): Pick<Projects, 'move' | 'meet'> {
  /** Conditions of done that do not hold. None where the task does not move to done. */
  async function missingFor(projectId: ProjectId, taskId: TaskId, columnId: string) {
    const project = await readProjectRow(db, home, projectId);
    const task = await readTaskRow(db, home, projectId, taskId);
    if (!project || !task || kindOfColumn(projectValueOf(project), columnId) !== 'done') return [];
    return (
      (await connected.work?.missing(projectValueOf(project), taskId, taskValueOf(task))) ??
      unmetCriteria(taskValueOf(task))
    );
  }

  return {
    async move(by, projectId, taskId, { columnId, note, anyway = false, version }) {
      const missing = await missingFor(projectId, taskId, columnId);
      return await changing<Refused | ChangedElsewhere<Task>>(projectId, taskId, ({ row, value, project }) => {
        const kind = kindOfColumn(project, columnId);
        const unmet = missingText(project, missing);
        const refused =
          refuseOther(row, by, now()) ??
          (kind === null
            ? refuse('misfit', `The project has no column ${titled(columnId)}.`)
            : by !== PERSON && !AGENTS_MOVE_TO.includes(kind)
              ? refuse('misfit', 'Only the human moves a task to done. Move it to review, and say what you did.')
              : kind === 'done' && !anyway && unmet !== null
                ? refuse('not-proven', unmet)
                : null);
        if (refused) return Promise.resolve(refused);
        if (version !== undefined && version !== row.version)
          return Promise.resolve({
            ok: false,
            reason: 'changed-elsewhere',
            current: taskOf(row, now(), connected.restOf),
          });
        if (columnId === value.columnId) return Promise.resolve(null);
        const moved = withHistory(
          {
            ...value,
            columnId,
            doneWithout: kind === 'done' ? [...missing] : [],
            unprepared: by === PERSON ? null : value.unprepared,
          },
          { time: now(), by, what: 'moved', columnId, note },
        );
        return Promise.resolve({ value: moved, ...(kind === 'in_progress' ? {} : { claim: UNCLAIMED }) });
      });
    },
    meet: (by, projectId, taskId, criterionId, { met, evidence }) =>
      changing<Refused>(projectId, taskId, ({ row, value }) => {
        const refused = refuseOther(row, by, now());
        const criterion = value.criteria.find((each) => each.criterionId === criterionId);
        if (refused || !criterion)
          return Promise.resolve(refused ?? refuse('no-task', 'The task has no such criterion.'));
        const next = { ...criterion, met: met ? { time: now(), by, evidence } : null };
        const criteria = value.criteria.map((each) => (each === criterion ? next : each));
        return Promise.resolve({
          value: met
            ? withHistory(
                { ...value, criteria },
                { time: now(), by, what: 'met', columnId: null, note: criterion.text },
              )
            : { ...value, criteria, updatedAt: now() },
        });
      }),
  };
}
