/**
 * What is left of threads when an agent is forgotten or a project is removed. Messages keep their
 * places without words, so that no page gives them back.
 */
import { sql } from 'kysely';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import { commentsThread } from '../../../src/shared/domain/threads.ts';
import type { ThreadsContext } from './context.ts';
import { json } from './rows.ts';

const NOTHING = json('');
/** The title of a thread whose words were taken out. */
export const DELETED_THREAD = 'deleted';

export interface ThreadForgetting {
  /** Takes out what these agents said, and takes them out of threads. Titles stay. */
  agents(agentIds: readonly string[]): Promise<void>;
  /** Takes every word out of the comments on tasks of these projects. */
  projects(projectIds: readonly string[]): Promise<void>;
  /** Takes every word out of the comments on removed tasks. Resolves with threads that had some. */
  removedTasks(): Promise<ReadonlySet<ThreadId>>;
  /** The threads of comments on tasks of these projects. */
  ofProjects(projectIds: readonly string[]): Promise<ReadonlySet<ThreadId>>;
}

export function createThreadForgetting({
  db,
  home,
  now,
  tell,
}: Pick<ThreadsContext, 'db' | 'home' | 'now' | 'tell'>): ThreadForgetting {
  const changed = { stamp: null, version: sql<number>`version + 1` };
  const threads = () => db.updateTable('threads').where('home', '=', home);
  const messages = () => db.updateTable('thread_messages').where('home', '=', home).where('text_json', '<>', NOTHING);
  const commentsOn = (projectIds: readonly string[]) =>
    db
      .selectFrom('tasks')
      .select(sql<string>`${commentsThread('')} || task`.as('thread'))
      .where('home', '=', home)
      .where('project', 'in', [...projectIds]);
  /** `comments`: threads, or a query that finds them. */
  async function emptyThreads(comments: ReturnType<typeof commentsOn> | readonly ThreadId[]): Promise<void> {
    await messages().set({ text_json: NOTHING }).where('thread', 'in', comments).execute();
    const { numUpdatedRows } = await threads()
      .set({ ...changed, title_json: json(DELETED_THREAD), summary_json: NOTHING })
      .where('thread', 'in', comments)
      .where('title_json', '<>', json(DELETED_THREAD))
      .executeTakeFirst();
    await db.deleteFrom('thread_mentions').where('home', '=', home).where('thread', 'in', comments).execute();
    if (numUpdatedRows > 0n) announce();
  }
  const announce = () => tell({ kind: 'changed', time: now(), what: 'threads', agentId: null });

  return {
    async agents(agentIds) {
      const goneAgents = agentIds.map(json);
      await messages().set({ text_json: NOTHING }).where('from_json', 'in', goneAgents).execute();
      await threads()
        .set({ ...changed, summary_json: NOTHING })
        .where('closed_by_json', 'in', goneAgents)
        .where('summary_json', '<>', NOTHING)
        .execute();
      const members = db
        .selectFrom('thread_members')
        .select('thread')
        .where('home', '=', home)
        .where('agent_json', 'in', goneAgents)
        .where('removed_at', 'is', null);
      await threads().set(changed).where('thread', 'in', members).execute();
      await db
        .updateTable('thread_members')
        .set({ removed_at: now() })
        .where('home', '=', home)
        .where('agent_json', 'in', goneAgents)
        .where('removed_at', 'is', null)
        .execute();
      announce();
    },
    async ofProjects(projectIds) {
      const threadRows = await db
        .selectFrom('threads')
        .select('thread')
        .where('home', '=', home)
        .where('thread', 'in', commentsOn(projectIds))
        .execute();
      return new Set(threadRows.map(({ thread }) => thread));
    },
    projects: (projectIds) => emptyThreads(commentsOn(projectIds)),
    async removedTasks() {
      const removed = db
        .selectFrom('tasks')
        .select(sql<string>`${commentsThread('')} || task`.as('thread'))
        .where('home', '=', home)
        .where('removed', '=', true);
      const rows = await db
        .selectFrom('threads')
        .select('thread')
        .where('home', '=', home)
        .where('thread', 'in', removed)
        .where('title_json', '<>', json(DELETED_THREAD))
        .execute();
      const found = rows.map(({ thread }) => thread);
      if (found.length > 0) await emptyThreads(found);
      return new Set(found);
    },
  };
}
