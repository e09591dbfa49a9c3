/**
 * Finds tasks by their words. All words of a search must stand in one task: in its title, number,
 * labels, description, criteria or comments.
 *
 * SQL leaves out most tasks, and compares ASCII words alone: what a database takes for lower case
 * depends on its locale. What SQL has let through is compared here.
 */
import { sql } from 'kysely';
import type { ProjectId, TaskId } from '../../../src/shared/domain/ids.ts';
import { cardText, missingWords } from '../../../src/shared/domain/task-search.ts';
import { commentsThread } from '../../../src/shared/domain/threads.ts';
import { type FoundTasks, PROJECT_LIMITS, type TaskValue } from '../../../src/shared/protocol/projects.ts';
import { asciiLower, contains, isOneOf } from '../../store/dialect.ts';
import type { SetAside } from '../../platform/set-aside.ts';
import { type Db, parseText } from '../../store/index.ts';
import { taskValueOf } from './rows.ts';
import { PROJECT_SETTINGS } from './settings.ts';

const isAscii = (word: string) => /^[\x21-\x7e]+$/.test(word);
/** The number of a task stands in no text of its row. */
const isInText = (word: string) => isAscii(word) && !word.startsWith('#') && !/^\d+$/.test(word);
/** The word as JSON spells it inside a string. */
const inJson = (word: string) => JSON.stringify(word).slice(1, -1);

const has = (column: string, word: string) => contains(asciiLower(column), inJson(word));

const textOf = (value: TaskValue): string =>
  [cardText(value), value.description, ...value.criteria.map(({ text }) => text)].join('\n');

export async function searchTasks(
  db: Db,
  { home, projectId, setAside }: { readonly home: string; readonly projectId: ProjectId; readonly setAside: SetAside },
  words: readonly string[],
): Promise<FoundTasks> {
  const compared = words
    .filter(isInText)
    .toSorted((one, other) => other.length - one.length)
    .slice(0, PROJECT_SETTINGS.searchWords);
  /** The comments of each of these tasks, as one text. */
  async function commentsOf(taskIds: readonly TaskId[]): Promise<ReadonlyMap<string, string>> {
    if (taskIds.length === 0) return new Map();
    const rows = await db
      .selectFrom('thread_messages')
      .select(['thread', 'text_json'])
      .where('home', '=', home)
      .where(isOneOf('thread', taskIds.map(commentsThread)))
      .execute();
    const texts = new Map<string, string>();
    for (const { thread, text_json } of rows) texts.set(thread, `${texts.get(thread) ?? ''}\n${parseText(text_json)}`);
    return texts;
  }

  const matches: TaskId[] = [];
  for (let after = 0; ;) {
    let query = db
      .selectFrom('tasks')
      .select(['task', 'number', 'value_json'])
      .where('home', '=', home)
      .where('project', '=', projectId)
      .where('removed', '=', false)
      .where('number', '>', after);
    for (const word of compared)
      query = query.where((or) =>
        or.or([
          has('tasks.value_json', word),
          or.exists(
            or
              .selectFrom('thread_messages')
              .select('message')
              .where('thread_messages.home', '=', home)
              .where('thread_messages.thread', '=', sql<string>`${commentsThread('')} || tasks.task`)
              .where(has('thread_messages.text_json', word)),
          ),
        ]),
      );
    const rows = await query.orderBy('number').limit(PROJECT_SETTINGS.searchPage).execute();
    const readOne = (row: (typeof rows)[number]) => [row.task, textOf(taskValueOf(row))] as const;
    const texts = new Map(setAside.read('tasks', rows, ({ task }) => task, readOne));
    const readable = rows.filter(({ task }) => texts.has(task));
    const unsure = readable.flatMap(({ task }) =>
      missingWords(texts.get(task) ?? '', words).length > 0 ? [task] : [],
    );
    const comments = await commentsOf(unsure);
    for (const { task } of readable) {
      const text = `${texts.get(task) ?? ''}\n${comments.get(commentsThread(task)) ?? ''}`;
      if (missingWords(text, words).length > 0) continue;
      if (matches.length === PROJECT_LIMITS.found) return { taskIds: matches, more: true };
      matches.push(task);
    }
    const last = rows.at(-1);
    if (!last || rows.length < PROJECT_SETTINGS.searchPage) return { taskIds: matches, more: false };
    after = last.number;
  }
}
