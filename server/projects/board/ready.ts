/** Tasks that an agent may take now: the list for the agent, and what its routines count. */
import type { AgentId, ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { kindOfColumn, readyFor } from '../../../src/shared/domain/projects.ts';
import { takesOneTask } from '../../../src/shared/domain/one-task.ts';
import { takersOf } from '../../../src/shared/domain/task-reviews.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import { isOneOf } from '../../store/dialect.ts';
import type { ProjectsBase } from './base.ts';
import type { Projects } from './contract.ts';
import { NO_PROJECT, refuse } from './outcome.ts';
import { projectValueOf, readProjectRow, readStates, taskOf } from './rows.ts';
import { atWorkText } from './taking.ts';

type ProjectRow = NonNullable<Awaited<ReturnType<typeof readProjectRow>>>;

/** `sweep` ends claims whose lease is over. */
export function createReady(
  { db, home, directory, now, connected, setAside, settings }: ProjectsBase,
  sweep: () => Promise<void>,
): Pick<Projects, 'ready' | 'readyTasks' | 'atWork' | 'spentUp'> {
  const rowsOf = (taskIds: readonly TaskId[]) =>
    db
      .selectFrom('tasks')
      .selectAll()
      .where('home', '=', home)
      .where(isOneOf('task', [...taskIds]));

  const projectOf = (row: ProjectRow) => ({ ...projectValueOf(row), projectId: row.project });
  const spentToday = async (row: ProjectRow): Promise<string | null> =>
    (await connected.work?.spentToday(projectOf(row)))?.detail ?? null;
  /** Why this agent can begin no task of the project now: a sentence. Null: nothing is known. */
  const keptFrom = async (row: ProjectRow, agentId: AgentId): Promise<string | null> =>
    (await spentToday(row)) ?? (await connected.work?.lacking(agentId, projectOf(row))) ?? null;
  /** Most urgent first. */
  async function readyIn(project: ProjectValue, projectId: ProjectId, agentId: AgentId, columns?: readonly string[]) {
    const tasks = readyFor(project, agentId, await readStates(db, home, projectId, now(), setAside), columns);
    const isInReview = ({ columnId }: (typeof tasks)[number]) => kindOfColumn(project, columnId) === 'review';
    // A task that nobody can read would begin a run at each due moment. Those that are listed are
    // read, and those of which the history says who may review them.
    const unsure = tasks.filter((task, i) => i < settings.readyListed || isInReview(task));
    if (unsure.length === 0) return tasks;
    const rows = await rowsOf(unsure.map(({ taskId }) => taskId)).execute();
    const read = setAside.read(
      'tasks',
      rows,
      ({ task }) => task,
      (row) => taskOf(row, now()),
    );
    const takers = new Map(read.map(({ taskId, history }) => [taskId, takersOf(project, history)]));
    const isRefused = (task: (typeof tasks)[number]) => {
      const by = takers.get(task.taskId);
      return by === undefined || (isInReview(task) && by.has(agentId));
    };
    const refused = new Set(unsure.filter(isRefused).map(({ taskId }) => taskId));
    return tasks.filter(({ taskId }) => !refused.has(taskId));
  }

  return {
    async ready(agentId, projectId, columns): ReturnType<Projects['ready']> {
      await sweep();
      const row = await readProjectRow(db, home, projectId);
      if (!row) return NO_PROJECT;
      const project = projectValueOf(row);
      if (!project.agents.includes(agentId)) return refuse('other-agent', 'You are not assigned to this project.');
      const why = await keptFrom(row, agentId);
      if (why !== null) return refuse('not-ready', why);
      const listed = (await readyIn(project, projectId, agentId, columns)).slice(0, settings.readyListed);
      const rows = await rowsOf(listed.map(({ taskId }) => taskId)).execute();
      const there = rows.filter(({ removed }) => !removed);
      const tasks = setAside.read(
        'tasks',
        there,
        ({ task }) => task,
        (each) => taskOf(each, now()),
      );
      const byId = new Map(tasks.map((task) => [task.taskId, task]));
      return { ok: true, value: listed.flatMap(({ taskId }) => byId.get(taskId) ?? []) };
    },
    async spentUp(projectId) {
      const row = await readProjectRow(db, home, projectId);
      return row ? await spentToday(row) : null;
    },
    async readyTasks(agentId, projectId, columns) {
      await sweep();
      const row = await readProjectRow(db, home, projectId);
      if (!row || (await keptFrom(row, agentId)) !== null) return [];
      return await readyIn(projectValueOf(row), projectId, agentId, columns);
    },
    async atWork(agentId, projectId) {
      const row = await readProjectRow(db, home, projectId);
      if (!row || !takesOneTask(projectValueOf(row))) return null;
      const other = (await readStates(db, home, projectId, now(), setAside)).find(({ claim }) => claim !== null);
      if (other?.claim == null) return null;
      const names = new Map((await directory.all()).map((member) => [member.agentId, member.name]));
      return atWorkText({ number: other.number, claim: other.claim }, agentId, names);
    },
  };
}
