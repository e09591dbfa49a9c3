import { webhookNameOf } from '../../../src/shared/domain/applications.ts';
import { kindOfColumn } from '../../../src/shared/domain/projects.ts';
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import type { Project, Task } from '../../../src/shared/protocol/projects.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { CommentPage } from './comments.ts';

/** Projects and tasks as text for models. What people or agents wrote is quoted. */
export function createTaskWords(team: readonly TeamMember[], readerId: string) {
  const nameOf = (id: string) =>
    id === PERSON ? 'the human' : `${withSeatWhereAlike(team, id)}${id === readerId ? ' (you)' : ''}`;
  const columnName = (project: Project, columnId: string) =>
    titled(project.columns.find((column) => column.columnId === columnId)?.name ?? columnId);

  function project(of: Project): string {
    const columns = of.columns.map(
      ({ columnId, name, kind }) => `${titled(name)} (${kind}): ${of.counts[columnId] ?? 0}`,
    );
    return `Project ${titled(of.name)}, id ${of.projectId}. Tasks by column: ${columns.join(', ')}`;
  }
  function line(of: Project, task: Task): string {
    const parts = [
      `#${task.number} ${titled(task.title)}, id ${task.taskId}`,
      `column ${columnName(of, task.columnId)} (${kindOfColumn(of, task.columnId) ?? 'unknown'})`,
      `priority ${task.priority}`,
      ...(webhookNameOf(task.createdBy) === null ? [] : [`created by ${nameOf(task.createdBy)}`]),
      ...(task.parentTaskId === null ? [] : [`part of the task with id ${task.parentTaskId}`]),
      ...(task.assignee === null ? [] : [`assigned to ${nameOf(task.assignee)}`]),
      ...(task.claim === null ? [] : [`claimed by ${nameOf(task.claim.agentId)}`]),
      ...(task.criteria.length === 0
        ? []
        : [`criteria met: ${task.criteria.filter(({ met }) => met !== null).length} of ${task.criteria.length}`]),
    ];
    return parts.join(', ');
  }
  function whole(of: Project, task: Task, comments: CommentPage): string {
    const criteria = task.criteria.flatMap(({ text, met }, i) => [
      writeSaid({ head: `Criterion ${i + 1}, ${met === null ? 'not met' : `met, says ${nameOf(met.by)}`}:`, text }),
      ...(met === null || met.evidence === '' ? [] : [writeSaid({ head: 'Evidence:', text: met.evidence })]),
    ]);
    const notes = task.history.flatMap(({ time, by, what, note: said }) =>
      said === '' ? [] : [writeSaid({ head: `${new Date(time).toISOString()}, ${nameOf(by)} (${what}):`, text: said })],
    );
    const author =
      webhookNameOf(task.createdBy) === null ? '' : `, by ${nameOf(task.createdBy)}: nobody of this household`;
    return [
      line(of, task),
      ...(of.instructions === '' ? [] : [writeSaid({ head: 'Instructions of the project:', text: of.instructions })]),
      ...(task.description === '' ? [] : [writeSaid({ head: `Description${author}:`, text: task.description })]),
      ...criteria,
      ...(task.labels.length === 0 ? [] : [`Labels: ${task.labels.map(titled).join(', ')}`]),
      ...notes,
      ...comments.comments.map(({ sequence, from, text, time }) =>
        writeSaid({ head: `Comment ${sequence}, ${nameOf(from)}, ${new Date(time).toISOString()}:`, text }),
      ),
      ...(comments.more
        ? [`There are earlier comments: read again with commentsBefore ${comments.comments[0]?.sequence ?? 1}.`]
        : []),
    ].join('\n');
  }
  return { project, line, whole, nameOf };
}
