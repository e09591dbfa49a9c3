/** Gives threads back to a relay that has lost them: see ./records.ts. */
import { sql } from 'kysely';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Stamp } from '../../../src/shared/domain/stamp.ts';
import type { RecordAnswer, RecordOf, RecordType } from '../../../src/shared/protocol/records.ts';
import type { Db } from '../../store/index.ts';
import { SCHEMA } from '../../store/schema.ts';
import type { ThreadsContext } from './context.ts';
import { anyOf, json } from './rows.ts';

export type Offered<Type extends RecordType> = RecordOf<Type> & { readonly at: Stamp };
type Numbered = { readonly sequence: number; readonly message: string; readonly sent_at: number };

const TAKEN: RecordAnswer = { answer: 'taken' };
export const KEPT: RecordAnswer = { answer: 'kept' };
const NO_THREAD: RecordAnswer = {
  answer: 'refused',
  why: 'The thread it was said in is not here: give that back too.',
};

export interface Restoring {
  /** Takes it where it is newer than what is here. */
  thread(offered: Offered<'thread'>): Promise<RecordAnswer>;
  /** Those of one thread, which is here. In the same order. */
  messages(threadId: ThreadId, offered: readonly Offered<'thread-message'>[]): Promise<readonly RecordAnswer[]>;
}

export function createRestoring({ db, home }: Pick<ThreadsContext, 'db' | 'home'>): Restoring {
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
              last_at: sql<number>`greatest(threads.last_at, ${closed?.time ?? createdAt}::bigint)`,
            })
            .where(sql<boolean>`threads.stamp collate "C" < ${at}`),
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
   * Those of one thread. They stand where they stood; where others stand there by now, all are put
   * in the order of their times.
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
            eb('message', '=', anyOf(ids)),
            eb('client_json', '=', anyOf(clients)),
            eb('sequence', '=', sql<number>`any(${offered.map(({ value }) => value.sequence)}::int[])`),
          ]),
        )
        .execute();
      const known = new Set(here.map(({ message }) => message));
      // What a page has sent once more since is here, under another name.
      const sent = new Set(here.map(({ client_json }) => client_json));
      const isHere = ({ id, value: { clientId } }: Offered<'thread-message'>) =>
        known.has(id) || (clientId !== null && sent.has(json(clientId)));
      const fresh = [...new Map(offered.filter((each) => !isHere(each)).map((each) => [each.id, each])).values()];
      if (fresh.length === 0) return offered.map(() => KEPT);
      const taken = new Set(here.map(({ sequence }) => sequence));
      const clash =
        fresh.some(({ value }) => taken.has(value.sequence)) || hasTwice(fresh.map(({ value }) => value.sequence));
      const end = clash ? await lastSequence(trx, threadId) : 0;
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
      if (clash) await inOrderOfTime(trx, threadId);
      const last = await lastSequence(trx, threadId);
      await trx
        .updateTable('threads')
        .set({ messages: last, last_at: Math.max(row.last_at, ...fresh.map(({ value }) => value.time)) })
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .execute();
      // Whoever had been given everything has been given this too, before it was lost.
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

  async function lastSequence(trx: Db, threadId: ThreadId): Promise<number> {
    const row = await trx
      .selectFrom('thread_messages')
      .select((eb) => eb.fn.max('sequence').as('last'))
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .executeTakeFirst();
    return row?.last ?? 0;
  }

  /**
   * Places by time. Nobody is given anything twice by it, and what nobody was given yet stays so.
   */
  async function inOrderOfTime(trx: Db, threadId: ThreadId): Promise<void> {
    const rows: readonly Numbered[] = await trx
      .selectFrom('thread_messages')
      .select(['sequence', 'message', 'sent_at'])
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .orderBy('sent_at')
      .orderBy('sequence')
      .execute();
    const sequences = new Map(rows.map(({ sequence }, i) => [sequence, i + 1]));
    const [from, to] = [[...sequences.keys()], [...sequences.values()]];
    const members = await trx
      .selectFrom('thread_members')
      .select(['agent_json', 'seen_sequence'])
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .execute();
    for (const table of ['thread_messages', 'thread_mentions'] as const) {
      // By way of places that nobody has: no two rows may have one place, not for a moment.
      for (const sign of [-1, 1])
        await sql`
          update ${sql.table(`${SCHEMA}.${table}`)} as row set sequence = moved.after * ${sign}::int
          from unnest(${from.map((sequence) => (sign < 0 ? sequence : (sequences.get(sequence) ?? 0) * -1))}::int[], ${to}::int[]) as moved (before, after)
          where row.home = ${home} and row.thread = ${threadId} and row.sequence = moved.before`.execute(trx);
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

  return { thread: restoreThread, messages: restoreMessages };
}

const hasTwice = (sequences: readonly number[]) => new Set(sequences).size < sequences.length;
