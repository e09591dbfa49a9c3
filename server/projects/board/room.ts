/**
 * What the projects of one household may take in the store, in bytes: projects, tasks, comments and
 * attempts together. The store is asked at times, not at each write. Between two counts, the bytes
 * of each write are added. What another relay of the home has written is found by the next count.
 */
import { sql } from 'kysely';
import { commentsThread, isCommentsThread } from '../../../src/shared/domain/threads.ts';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import { refuseProjectBytes } from '../../platform/quotas.ts';
import type { Db, HomeStore } from '../../store/index.ts';
import { PROJECT_SETTINGS } from './settings.ts';

export interface ProjectRoom {
  /** Counts what is stored, where that is not known. Never called within a transaction. */
  ready(): Promise<void>;
  /** Why `bytes` more may not be stored, as a sentence. Null: they may, and are counted. */
  take(bytes: number): string | null;
  /** The same for a message of a thread. Only comments count. */
  takeMessage(threadId: ThreadId, bytes: number): string | null;
  /** Counts again before the next write, because much was deleted. */
  forget(): void;
}

interface ProjectRoomDeps extends HomeStore {
  /** Monotonic ms. */
  readonly elapsed: () => number;
  /** Most bytes. */
  readonly most?: number | undefined;
  readonly settings?: typeof PROJECT_SETTINGS;
}

/** The store knows the length of a long text without reading it. */
const bytesOf = (column: string) => sql<string>`coalesce(sum(octet_length(${sql.ref(column)})), 0)`.as('bytes');

async function countBytes(db: Db, home: string): Promise<number> {
  const attempts = db.selectFrom('attempts').where('home', '=', home);
  const sums = [
    await db.selectFrom('projects').select(bytesOf('value_json')).where('home', '=', home).execute(),
    await db.selectFrom('tasks').select(bytesOf('value_json')).where('home', '=', home).execute(),
    await attempts.select(bytesOf('value_json')).execute(),
    await attempts.select(bytesOf('commands_json')).execute(),
    await attempts.select(bytesOf('draft_json')).execute(),
    await db
      .selectFrom('thread_messages')
      .select(bytesOf('text_json'))
      .where('home', '=', home)
      .where('thread', 'like', `${commentsThread('')}%`)
      .execute(),
  ];
  return sums.flat().reduce((all, { bytes }) => all + Number(bytes), 0);
}

/** Why the value may not be stored in place of the text before it. Null: it may. */
export function refuseBytes(room: ProjectRoom, value: object, before = '') {
  const detail = room.take(Buffer.byteLength(JSON.stringify(value)) - Buffer.byteLength(before));
  return detail === null ? null : ({ ok: false, reason: 'projects-full', detail } as const);
}

export function createProjectRoom({
  db,
  home,
  elapsed,
  most = PROJECT_SETTINGS.householdBytes,
  settings = PROJECT_SETTINGS,
}: ProjectRoomDeps): ProjectRoom {
  let stored = 0;
  let countedAt: number | null = null;
  let isRefused = false;
  let counting: Promise<void> | null = null;
  async function count(): Promise<void> {
    const before = stored;
    const bytes = await countBytes(db, home);
    // What was added meanwhile may not be in the count.
    stored = bytes + Math.max(0, stored - before);
    countedAt = elapsed();
    isRefused = false;
  }
  const room: ProjectRoom = {
    async ready() {
      const validMs = isRefused ? settings.recountMs : settings.countedMs;
      if (countedAt !== null && elapsed() - countedAt < validMs) return;
      await (counting ??= count().finally(() => (counting = null)));
    },
    take(bytes) {
      if (bytes > 0 && stored + bytes > most) {
        isRefused = true;
        return refuseProjectBytes(stored, most);
      }
      stored += bytes;
      return null;
    },
    takeMessage: (threadId, bytes) => (isCommentsThread(threadId) ? room.take(bytes) : null),
    forget: () => void (countedAt = null),
  };
  return room;
}
