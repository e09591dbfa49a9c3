/**
 * Threads and their messages as records. A thread has the stamp of its newest version. A message is
 * announced once and never changes. A restored message gets its old place and is marked as
 * restored. Nobody is notified or woken by it.
 */
import { sql } from 'kysely';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { RecordAnswer, RecordOf, RecordType, RelayRecord } from '../../../src/shared/protocol/records.ts';
import { givenRows, isBefore, isOneOf, largerOf } from '../../store/dialect.ts';
import { type Db, parseText } from '../../store/index.ts';
import { SCHEMA } from '../../store/tables.ts';
import { type RecordSource, stampRow, statusAt, type Unannounced } from '../records/index.ts';
import type { ThreadsContext } from './context.ts';
import { json, messageOf } from './rows.ts';
import { THREAD_LIMITS } from './settings.ts';

// Restores threads to a relay that has lost them: see server/team/records.

type Offered<Type extends RecordType> = RecordOf<Type> & { readonly at: Stamp };
type Numbered = { readonly sequence: number; readonly message: string; readonly sent_at: number };

const TAKEN: RecordAnswer = { answer: 'taken' };
const KEPT: RecordAnswer = { answer: 'kept' };
const NO_THREAD: RecordAnswer = {
  answer: 'refused',
  why: 'The thread it was said in is not here: give that back too.',
};

interface Restoring {
  /** Stores the thread if it is newer than the row here. */
  thread(offered: Offered<'thread'>): Promise<RecordAnswer>;
  /** Restores messages of one thread, which must exist. The answers are in the same order. */
  messages(threadId: ThreadId, offered: readonly Offered<'thread-message'>[]): Promise<readonly RecordAnswer[]>;
}

async function lastSequence(trx: Db, home: string, threadId: ThreadId): Promise<number> {
  const row = await trx
    .selectFrom('thread_messages')
    .select((eb) => eb.fn.max('sequence').as('last'))
    .where('home', '=', home)
    .where('thread', '=', threadId)
    .executeTakeFirst();
  return row?.last ?? 0;
}

/** Renumbers messages by time. No agent gets a message twice, and unread messages stay unread. */
async function inOrderOfTime(trx: Db, home: string, threadId: ThreadId): Promise<void> {
  const rows: readonly Numbered[] = await trx
    .selectFrom('thread_messages')
    .select(['sequence', 'message', 'sent_at'])
    .where('home', '=', home)
    .where('thread', '=', threadId)
    .orderBy('sent_at')
    .orderBy('sequence')
    .execute();
  const sequences = new Map(rows.map(({ sequence }, i) => [sequence, i + 1]));
  const members = await trx
    .selectFrom('thread_members')
    .select(['agent_json', 'seen_sequence'])
    .where('home', '=', home)
    .where('thread', '=', threadId)
    .execute();
  for (const table of ['thread_messages', 'thread_mentions'] as const) {
    // Done in two steps through negative numbers, because no two rows may share a number at any
    // time.
    for (const sign of [-1, 1]) {
      const moves = [...sequences].map(([before, after]) =>
        sign < 0 ? { before, after: -after } : { before: -after, after },
      );
      await sql`
        update ${sql.table(`${SCHEMA}.${table}`)} as moved set sequence = given.after
        from ${givenRows('given', { before: 'bigint', after: 'bigint' }, moves)}
        where moved.home = ${home} and moved.thread = ${threadId} and moved.sequence = given.before`.execute(trx);
    }
  }
  for (const { agent_json, seen_sequence } of members) {
    const unseen = rows
      .filter(({ sequence }) => sequence > seen_sequence)
      .map(({ sequence }) => sequences.get(sequence) ?? 0);
    const seen = unseen.length === 0 ? rows.length : Math.min(...unseen) - 1;
    await trx
      .updateTable('thread_members')
      .set({ seen_sequence: Math.max(0, seen) })
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('agent_json', '=', agent_json)
      .execute();
  }
}

function createRestoring({ db, home }: Pick<ThreadsContext, 'db' | 'home'>): Restoring {
  const ofThread = (thread: string) => ({ home, thread });

  async function restoreThread({ id, value, at }: Offered<'thread'>): Promise<RecordAnswer> {
    const { title, createdBy, createdAt, members, closed } = value;
    const own = {
      title_json: json(title),
      closed_at: closed?.time ?? null,
      closed_by_json: closed === null ? null : json(closed.by),
      summary_json: closed === null ? null : json(closed.summary),
      stamp: at,
    };
    return await db.transaction().execute(async (trx) => {
      const { numInsertedOrUpdatedRows = 0n } = await trx
        .insertInto('threads')
        .values({
          ...ofThread(id),
          ...own,
          created_by_json: json(createdBy),
          created_at: createdAt,
          last_at: closed?.time ?? createdAt,
          messages: 0,
          version: 0,
        })
        .onConflict((conflict) =>
          conflict
            .columns(['home', 'thread'])
            .doUpdateSet({
              ...own,
              version: sql<number>`threads.version + 1`,
              last_at: largerOf(sql.ref('threads.last_at'), sql`cast(${closed?.time ?? createdAt} as bigint)`),
            })
            .where(isBefore('threads.stamp', at)),
        )
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) return KEPT;
      await trx
        .deleteFrom('thread_members')
        .where('home', '=', home)
        .where('thread', '=', id)
        .where('agent_json', 'not in', [...members.map(({ agentId }) => json(agentId)), ''])
        .execute();
      if (members.length > 0)
        await trx
          .insertInto('thread_members')
          .values(
            members.map(({ agentId, addedAt, addedBy, times, removedAt }) => ({
              ...ofThread(id),
              agent_json: json(agentId),
              added_at: addedAt,
              added_by_json: json(addedBy),
              times,
              removed_at: removedAt,
              seen_sequence: 0,
              announced: true,
            })),
          )
          .onConflict((conflict) =>
            conflict.columns(['home', 'thread', 'agent_json']).doUpdateSet((eb) => ({
              added_at: eb.ref('excluded.added_at'),
              added_by_json: eb.ref('excluded.added_by_json'),
              times: eb.ref('excluded.times'),
              removed_at: eb.ref('excluded.removed_at'),
              announced: true,
            })),
          )
          .execute();
      return TAKEN;
    });
  }

  /**
   * Restores messages of one thread at their old places. If one of the places is taken, all
   * messages of the thread are reordered by time.
   */
  async function restoreMessages(
    threadId: ThreadId,
    offered: readonly Offered<'thread-message'>[],
  ): Promise<readonly RecordAnswer[]> {
    return await db.transaction().execute(async (trx) => {
      const row = await trx
        .selectFrom('threads')
        .select(['messages', 'last_at'])
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .forUpdate()
        .executeTakeFirst();
      if (!row) return offered.map(() => NO_THREAD);
      const ids = offered.map(({ id }) => id);
      const clients = offered.flatMap(({ value: { clientId } }) => (clientId === null ? [] : [json(clientId)]));
      const here = await trx
        .selectFrom('thread_messages')
        .select(['sequence', 'message', 'client_json'])
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .where((eb) =>
          eb.or([
            isOneOf('message', ids),
            isOneOf('client_json', clients),
            isOneOf(
              'sequence',
              offered.map(({ value }) => value.sequence),
            ),
          ]),
        )
        .execute();
      const knownMessages = new Set(here.map(({ message }) => message));
      // A page may have sent the same message again since. It is here under another id.
      const sent = new Set(here.map(({ client_json }) => client_json));
      const isHere = ({ id, value: { clientId } }: Offered<'thread-message'>) =>
        knownMessages.has(id) || (clientId !== null && sent.has(json(clientId)));
      const fresh = [...new Map(offered.filter((each) => !isHere(each)).map((each) => [each.id, each])).values()];
      if (fresh.length === 0) return offered.map(() => KEPT);
      const usedSequences = new Set(here.map(({ sequence }) => sequence));
      const clash =
        fresh.some(({ value }) => usedSequences.has(value.sequence)) ||
        hasTwice(fresh.map(({ value }) => value.sequence));
      const end = clash ? await lastSequence(trx, home, threadId) : 0;
      await trx
        .insertInto('thread_messages')
        .values(
          fresh.map(({ id, value: { sequence, from, text, mentions, time, clientId } }, i) => ({
            ...ofThread(threadId),
            sequence: clash ? end + i + 1 : sequence,
            message: id,
            from_json: json(from),
            text_json: json(text),
            mentions_json: JSON.stringify(mentions),
            sent_at: time,
            client_json: clientId === null ? null : json(clientId),
            announced: true,
            restored: true,
          })),
        )
        .execute();
      if (clash) await inOrderOfTime(trx, home, threadId);
      const last = await lastSequence(trx, home, threadId);
      await trx
        .updateTable('threads')
        .set({ messages: last, last_at: Math.max(row.last_at, ...fresh.map(({ value }) => value.time)) })
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .execute();
      // An agent that had read everything here had also read the lost messages.
      await trx
        .updateTable('thread_members')
        .set({ seen_sequence: last })
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .where('seen_sequence', '>=', row.messages)
        .execute();
      const added = new Set(fresh.map(({ id }) => id));
      return offered.map(({ id }) => (added.has(id) ? TAKEN : KEPT));
    });
  }

  return { thread: restoreThread, messages: restoreMessages };
}

const hasTwice = (sequences: readonly number[]) => new Set(sequences).size < sequences.length;

export function createThreadRecords({
  db,
  home,
  inTurn,
  room,
}: Pick<ThreadsContext, 'db' | 'home' | 'inTurn' | 'room'>): RecordSource {
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
        announced: (at) => stampRow({ db, home, table: 'threads' }, row.thread, row.version, at),
      })),
    );
  }

  async function unannouncedMessages(): Promise<Unannounced[]> {
    const rows = await db
      .selectFrom('thread_messages')
      .selectAll()
      .where('home', '=', home)
      .where('announced', '=', false)
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
    async statuses(asked) {
      const rows = await db
        .selectFrom('threads')
        .select(['thread', 'stamp', 'messages'])
        .where('home', '=', home)
        .where(
          isOneOf(
            'thread',
            asked.map(({ id }) => id),
          ),
        )
        .execute();
      return asked.map(({ type, id, at, messages = 0 }) => {
        const row = type === 'thread' ? rows.find(({ thread }) => thread === id) : undefined;
        const status = statusAt(row?.stamp, at);
        return status === 'known' && row && row.messages < messages ? 'older' : status;
      });
    },
    restore: (offered) =>
      inTurn(async () => {
        const answers = new Map<RelayRecord, RecordAnswer>();
        const messagesByThread = new Map<string, Offered<'thread-message'>[]>();
        await room?.ready();
        for (const record of offered) {
          if (record.type === 'thread') answers.set(record, await restoring.thread(record));
          else if (record.type === 'thread-message') {
            const { threadId, text } = record.value;
            const full = room?.takeMessage(threadId, Buffer.byteLength(json(text))) ?? null;
            if (full !== null) {
              answers.set(record, { answer: 'refused', why: full });
              continue;
            }
            messagesByThread.set(threadId, [...(messagesByThread.get(threadId) ?? []), record]);
          }
        }
        for (const [threadId, records] of messagesByThread) {
          const restored = await restoring.messages(threadId, records);
          records.forEach((record, i) => answers.set(record, restored[i] ?? KEPT));
        }
        return offered.map((record) => answers.get(record) ?? KEPT);
      }),
  };
}
