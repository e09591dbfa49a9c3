/**
 * Threads and what was said in them, as records. A thread has the stamp of its newest version; what
 * was said is told once and never changes. What is given back stands where it stood, marked as
 * given back, and nobody is woken or told by it.
 */
import { sql } from 'kysely';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import type { RecordAnswer, RecordOf, RelayRecord } from '../../../src/shared/protocol/records.ts';
import type { RecordSource, Unannounced } from '../records/index.ts';
import { parseText } from '../../store/index.ts';
import type { ThreadsContext } from './context.ts';
import { anyOf, messageOf } from './rows.ts';
import { createRestoring, KEPT, type Offered } from './restoring.ts';
import { THREAD_LIMITS } from './settings.ts';

export function createThreadRecords({
  db,
  home,
  inTurn,
}: Pick<ThreadsContext, 'db' | 'home' | 'inTurn'>): RecordSource {
  const restoring = createRestoring({ db, home });

  async function membersOf(threadId: ThreadId): Promise<RecordOf<'thread'>['value']['members']> {
    const rows = await db
      .selectFrom('thread_members')
      .selectAll()
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .orderBy('added_at')
      .orderBy('agent_json')
      .execute();
    return rows.map((row) => ({
      agentId: parseText(row.agent_json),
      addedAt: row.added_at,
      addedBy: parseText(row.added_by_json),
      times: row.times,
      removedAt: row.removed_at,
    }));
  }

  async function unannouncedThreads(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('threads')
      .selectAll()
      .where('home', '=', home)
      .where('stamp', 'is', null)
      .orderBy('created_at')
      .limit(THREAD_LIMITS.recordsAnnounced)
      .execute();
    return await Promise.all(
      rows.map(async (row): Promise<Unannounced> => ({
        record: {
          type: 'thread',
          id: row.thread,
          value: {
            title: parseText(row.title_json),
            createdBy: parseText(row.created_by_json),
            createdAt: row.created_at,
            members: await membersOf(row.thread),
            closed:
              row.closed_at === null
                ? null
                : {
                    time: row.closed_at,
                    by: parseText(row.closed_by_json ?? row.created_by_json),
                    summary: parseText(row.summary_json ?? '""'),
                  },
          },
        },
        async announced(at) {
          await db
            .updateTable('threads')
            .set({ stamp: at })
            .where('home', '=', home)
            .where('thread', '=', row.thread)
            .where('stamp', 'is', null)
            // One that was changed meanwhile is told once more.
            .where('version', '=', row.version)
            .execute();
        },
      })),
    );
  }

  async function unannouncedMessages(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('thread_messages')
      .selectAll()
      .where('home', '=', home)
      .where(sql<boolean>`not announced`)
      .orderBy('thread')
      .orderBy('sequence')
      .limit(THREAD_LIMITS.recordsAnnounced)
      .execute();
    return rows.map((row): Unannounced => {
      const { sequence, from, text, mentions, time } = messageOf(row);
      return {
        record: {
          type: 'thread-message',
          id: row.message,
          value: {
            threadId: row.thread,
            sequence,
            from,
            text,
            mentions,
            time,
            clientId: row.client_json === null ? null : parseText(row.client_json),
          },
        },
        async announced() {
          await db
            .updateTable('thread_messages')
            .set({ announced: true })
            .where('home', '=', home)
            .where('thread', '=', row.thread)
            .where('message', '=', row.message)
            .execute();
        },
      };
    });
  }

  return {
    types: ['thread', 'thread-message'],
    hears: ({ what }) => what === 'threads',
    says: ['threads'],
    async unannounced() {
      const threads = await unannouncedThreads();
      return threads.length > 0 ? threads : await unannouncedMessages();
    },
    async standings(asked) {
      const rows = await db
        .selectFrom('threads')
        .select(['thread', 'stamp', 'messages'])
        .where('home', '=', home)
        .where('thread', '=', anyOf(asked.map(({ id }) => id)))
        .execute();
      return asked.map(({ type, id, at, messages = 0 }) => {
        const row = type === 'thread' ? rows.find(({ thread }) => thread === id) : undefined;
        if (!row) return 'unknown';
        return (row.stamp === null || row.stamp >= at) && row.messages >= messages ? 'known' : 'older';
      });
    },
    restore: (offered) =>
      inTurn(async () => {
        const answers = new Map<RelayRecord, RecordAnswer>();
        const said = new Map<string, Offered<'thread-message'>[]>();
        for (const record of offered) {
          if (record.type === 'thread') answers.set(record, await restoring.thread(record));
          else if (record.type === 'thread-message') {
            const { threadId } = record.value;
            said.set(threadId, [...(said.get(threadId) ?? []), record]);
          }
        }
        for (const [threadId, records] of said) {
          const restored = await restoring.messages(threadId, records);
          records.forEach((record, i) => answers.set(record, restored[i] ?? KEPT));
        }
        return offered.map((record) => answers.get(record) ?? KEPT);
      }),
  };
}
