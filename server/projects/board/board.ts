/** What the page shows of projects: the list with its counts, and a board page by page. */
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';
import { cardOf, type Project, projectSchema, type TaskValue } from '../../../src/shared/protocol/projects.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import { STORE_NOW } from '../../store/dialect.ts';
import { type Db, parseText } from '../../store/index.ts';
import type { BoardPage, ProjectCommands, Projects, RestOf } from './contract.ts';
import { claimOf, json, projectValueOf, readProjectRow, taskValueOf } from './rows.ts';
import { PROJECT_SETTINGS } from './settings.ts';

/** A page of the board of a project. */
export async function readBoard(
  db: Db,
  {
    home,
    projectId,
    now,
    restOf,
    setAside,
  }: {
    readonly home: string;
    readonly projectId: ProjectId;
    readonly now: number;
    readonly restOf: RestOf;
    readonly setAside: SetAside;
  },
  { since, after, limit }: Parameters<Projects['board']>[1],
): Promise<BoardPage> {
  // Before the rows are read. A change that is committed later has begun shortly before, at most.
  const clock = await db.selectNoFrom(STORE_NOW.as('ms')).executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('tasks')
    .selectAll()
    .where('home', '=', home)
    .where('project', '=', projectId)
    .where('number', '>', after)
    // Of a whole board, deleted tasks are no part. Of its changes they are.
    .$if(since === null, (query) => query.where('removed', '=', false))
    // An agent begins and stops without a change of the row of its task.
    .$if(since !== null, (query) =>
      query.where((eb) => eb.or([eb('changed_at', '>=', since ?? 0), eb('holder_json', 'is not', null)])),
    )
    .orderBy('number')
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit);
  return {
    cards: setAside.read(
      'tasks',
      page.filter(({ removed }) => !removed),
      ({ task }) => task,
      (row) => {
        // The rows were checked when they were written.
        const value = JSON.parse(row.value_json) as TaskValue;
        const { task: taskId, version } = row;
        return cardOf({
          ...value,
          taskId,
          version,
          claim: claimOf(row, now, restOf),
          ...(row.asked ? { asked: true as const } : {}),
        });
      },
    ),
    gone: page.filter(({ removed }) => removed).map(({ task }) => task),
    asOf: Number(clock.ms) - PROJECT_SETTINGS.changesOverlapMs,
    next: rows.length > limit ? (page.at(-1)?.number ?? null) : null,
  };
}

/** Projects with the number of tasks in each column, oldest first. */
export async function readProjects(
  db: Db,
  home: string,
  setAside: SetAside,
  projectId?: ProjectId,
): Promise<Project[]> {
  const rows = await db
    .selectFrom('projects')
    .selectAll()
    .where('home', '=', home)
    .where('removed', '=', false)
    .$if(projectId !== undefined, (query) => query.where('project', '=', projectId ?? ''))
    .orderBy('created_at')
    .orderBy('project')
    .execute();
  const counted = await db
    .selectFrom('tasks')
    .select(['project', 'column_json', (eb) => eb.fn.countAll<string>().as('count')])
    .where('home', '=', home)
    .where('removed', '=', false)
    .$if(projectId !== undefined, (query) => query.where('project', '=', projectId ?? ''))
    .groupBy(['project', 'column_json'])
    .execute();
  // A task whose column cannot be read does not hide its project.
  const readable = setAside.read(
    'tasks',
    counted,
    ({ project, column_json }) => `${project} ${column_json}`,
    ({ project, column_json, count }) => ({ project, columnId: parseText(column_json), count: Number(count) }),
  );
  const readOne = (row: (typeof rows)[number]) => {
    const own = readable.filter(({ project }) => project === row.project);
    const counts = Object.fromEntries(own.map(({ columnId, count }) => [columnId, count]));
    return projectSchema.parse({ ...projectValueOf(row), projectId: row.project, version: row.version, counts });
  };
  return setAside.read('projects', rows, ({ project }) => project, readOne);
}

/** Agents with a project. */
export async function readAssigned(db: Db, home: string, setAside: SetAside): Promise<ReadonlySet<AgentId>> {
  const rows = await db
    .selectFrom('projects')
    .select(['project', 'value_json'])
    .where('home', '=', home)
    .where('removed', '=', false)
    .execute();
  return new Set(
    setAside.read('projects', rows, ({ project }) => project, projectValueOf).flatMap(({ agents }) => agents),
  );
}

/** Projects of which this agent has a task. */
export async function readClaimedIn(db: Db, home: string, agentId: AgentId): Promise<readonly ProjectId[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('project')
    .distinct()
    .where('home', '=', home)
    .where('holder_json', '=', json(agentId))
    .execute();
  return rows.map(({ project }) => project);
}

/** What the projects of its tasks grant this agent of commands. */
export async function readCommandsOf(db: Db, home: string, agentId: AgentId): Promise<readonly ProjectCommands[]> {
  const claimedIn = await readClaimedIn(db, home, agentId);
  const rows = await Promise.all(claimedIn.map((projectId) => readProjectRow(db, home, projectId)));
  return rows.flatMap((row) => (row ? [{ projectId: row.project, commands: projectValueOf(row).commands }] : []));
}

/** Tasks whose work could not begin the last time. */
export async function readUnprepared(db: Db, home: string, projectId: ProjectId, setAside: SetAside) {
  const rows = await db
    .selectFrom('tasks')
    .select(['task', 'value_json'])
    .where('home', '=', home)
    .where('project', '=', projectId)
    .where('removed', '=', false)
    .where('value_json', 'like', '%"unprepared":{%')
    .execute();
  const readOne = (row: (typeof rows)[number]) => ({ taskId: row.task, unprepared: taskValueOf(row).unprepared });
  return setAside
    .read('tasks', rows, ({ task }) => task, readOne)
    .flatMap(({ taskId, unprepared }) => (unprepared ? [{ taskId, why: unprepared.why }] : []));
}
