/**
 * What is left of projects, tasks and attempts when an agent is forgotten or a project is removed.
 *
 * Only ids are left of an agent. A removed project, its tasks and its attempts stay as rows without
 * words, so that their deletion reaches every device and no page gives them back.
 */
import { sql } from 'kysely';
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { DEFAULT_COLUMNS } from '../../../src/shared/domain/projects.ts';
import { type AttemptValue, WORK_DEFAULTS } from '../../../src/shared/protocol/attempts.ts';
import type { ProjectValue, TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { ProjectsBase } from './base.ts';
import type { ProjectForgetting } from './contract.ts';
import { columnsOf, projectValueOf, type TaskRow, taskValueOf, UNCLAIMED } from './rows.ts';

/** Stands where a name or a title must be. */
const DELETED = 'deleted';
/** The branch of an attempt at a task of a removed project. */
export const REMOVED_BRANCH = DELETED;

export const isProjectOf = ({ agents, reviewer }: ProjectValue, gone: ReadonlySet<AgentId>): boolean =>
  agents.some((id) => gone.has(id)) || (reviewer !== null && gone.has(reviewer));

const projectWithout = (value: ProjectValue, gone: ReadonlySet<AgentId>): ProjectValue => ({
  ...value,
  agents: value.agents.filter((id) => !gone.has(id)),
  reviewer: value.reviewer !== null && gone.has(value.reviewer) ? null : value.reviewer,
});

/** The task without what these agents said of it. Null: they said nothing, and it is not theirs. */
export function taskWithout(value: TaskValue, goneIds: ReadonlySet<AgentId>): TaskValue | null {
  const { request, assignee } = value;
  const criteria = value.criteria.map((criterion) =>
    criterion.met !== null && goneIds.has(criterion.met.by)
      ? { ...criterion, met: { ...criterion.met, evidence: '' } }
      : criterion,
  );
  const history = value.history.map((entry) => (goneIds.has(entry.by) ? { ...entry, note: '' } : entry));
  const next: TaskValue = {
    ...{ ...value, criteria, history },
    assignee: assignee !== null && goneIds.has(assignee) ? null : assignee,
    request: request !== null && goneIds.has(request.by) ? { ...request, title: value.title, body: '' } : request,
  };
  return JSON.stringify(next) === JSON.stringify(value) ? null : next;
}

/** Without a verdict that was given in the name of these agents. Null: there is none. */
export const attemptWithout = (value: AttemptValue, gone: ReadonlySet<AgentId>): AttemptValue | null =>
  value.review !== null && gone.has(value.review.by) ? { ...value, review: null } : null;

export const removedProject = ({ createdAt }: ProjectValue): ProjectValue => ({
  ...{ ...WORK_DEFAULTS, copy: [], checks: [], doneNeeds: { ...WORK_DEFAULTS.doneNeeds } },
  ...{ name: DELETED, instructions: '', agents: [], createdAt, removed: true },
  columns: DEFAULT_COLUMNS.map((column) => ({ ...column })),
});

export const removedTask = (value: TaskValue): TaskValue => ({
  ...{ projectId: value.projectId, number: value.number, createdAt: value.createdAt, createdBy: value.createdBy },
  ...{ title: DELETED, description: '', criteria: [], priority: 'normal', labels: [], blockedBy: [], assignee: null },
  ...{
    columnId: value.columnId,
    parentTaskId: null,
    request: null,
    lineComments: [],
    unprepared: null,
    doneWithout: [],
    history: [],
  },
  ...{ updatedAt: value.updatedAt, removed: true },
});

export const removedAttempt = (value: AttemptValue): AttemptValue => ({
  ...{ projectId: value.projectId, taskId: value.taskId, number: value.number, agentId: value.agentId },
  ...{ kind: value.kind, startedAt: value.startedAt, endedAt: value.endedAt ?? value.startedAt },
  ...{ runId: null, model: null, outcome: value.outcome ?? 'lost', note: '', noteBy: 'relay', branch: REMOVED_BRANCH },
  ...{ base: value.base, head: value.head, folder: `projects/${DELETED}/${DELETED}`, receipt: null, review: null },
});

/** Rewrites rows of projects and tasks. A row that does not change keeps its version. */
export function createProjectForgetting(
  { db, home, changed: tell }: Pick<ProjectsBase, 'db' | 'home' | 'changed'>,
  endClaim: (row: Pick<TaskRow, 'project' | 'task' | 'claim_token'>, note: string) => Promise<void>,
): ProjectForgetting {
  const changed = { stamp: null, version: sql<number>`version + 1` };
  const writeProject = (project: ProjectId, value: ProjectValue) =>
    db
      .updateTable('projects')
      .set({ value_json: JSON.stringify(value), removed: value.removed, ...changed })
      .where('home', '=', home)
      .where('project', '=', project)
      .execute();
  const writeTask = (task: string, value: TaskValue) =>
    db
      .updateTable('tasks')
      .set({ ...columnsOf(value), ...(value.removed ? UNCLAIMED : {}), ...changed })
      .where('home', '=', home)
      .where('task', '=', task)
      .execute();
  const tasks = () => db.selectFrom('tasks').selectAll().where('home', '=', home);
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

  return {
    async agents(ids) {
      const goneIds = new Set<AgentId>(ids);
      for (const id of ids)
        for (const row of await tasks().where('holder_json', '=', JSON.stringify(id)).execute())
          await endClaim(row, 'The agent was forgotten.');
      const projectIds = new Set<ProjectId>();
      for (const row of await db.selectFrom('projects').selectAll().where('home', '=', home).execute()) {
        const value = projectValueOf(row);
        if (!isProjectOf(value, goneIds)) continue;
        await writeProject(row.project, projectWithout(value, goneIds));
        projectIds.add(row.project);
      }
      for (const id of ids) {
        const named = sql<boolean>`replace(value_json, ${JSON.stringify(id)}, '') <> value_json`;
        for (const row of await tasks().where(named).execute()) {
          const next = taskWithout(taskValueOf(row), goneIds);
          if (next === null) continue;
          await writeTask(row.task, next);
          projectIds.add(row.project);
        }
      }
      projectIds.forEach(tell);
    },
    async removed() {
      const rows = db.selectFrom('projects').select('project').where('home', '=', home).where('removed', '=', true);
      return (await rows.execute()).map(({ project }) => project);
    },
    async projects(ids) {
      const projectIds = new Set<ProjectId>();
      for (const id of ids) {
        const rows = await db
          .selectFrom('projects')
          .selectAll()
          .where('home', '=', home)
          .where('project', '=', id)
          .where('removed', '=', true)
          .execute();
        for (const row of rows) {
          const value = projectValueOf(row);
          if (isSame(value, removedProject(value))) continue;
          await writeProject(row.project, removedProject(value));
          projectIds.add(row.project);
        }
        if (rows.length === 0) continue;
        for (const row of await tasks().where('project', '=', id).execute()) {
          const value = taskValueOf(row);
          if (isSame(value, removedTask(value))) continue;
          await writeTask(row.task, removedTask(value));
          projectIds.add(row.project);
        }
      }
      projectIds.forEach(tell);
    },
  };
}
