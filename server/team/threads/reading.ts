/** Reading threads. What an agent was given is marked, so that a wait gives it what is new. */
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import { isApplicationId } from '../../../src/shared/domain/applications.ts';
import { fitting, isOutside, PERSON } from '../../../src/shared/domain/threads.ts';
import type { ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { parseText, type Db } from '../../store/index.ts';
import { admit, type ThreadsContext } from './context.ts';
import { json, messageOf, readThread, threadsOf } from './rows.ts';
import { THREAD_LIMITS } from './settings.ts';
import type { Page, Threads } from './types.ts';

export interface Reading extends Pick<Threads, 'list' | 'read'> {
  /**
   * All that this agent was not given yet of what others said, oldest first, up to a page, and
   * marks it as given; null where there is nothing, or it is not in it.
   */
  takeUnread(agentId: AgentId, threadId: ThreadId, run: string): Promise<Page | null>;
}

export function createReading({ db, home, inTurn, hooks, tell, now }: ThreadsContext): Reading {
  const { pageCharacters, page: pageSize } = THREAD_LIMITS;

  const memberOf = (agentId: AgentId, threadId: ThreadId) => (trx: Db) =>
    trx
      .selectFrom('thread_members')
      .select('seen_sequence')
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('agent_json', '=', json(agentId))
      .where('removed_at', 'is', null);
  const markSeen = (trx: Db, agentId: AgentId, threadId: ThreadId, sequence: number) =>
    trx
      .updateTable('thread_members')
      .set({ seen_sequence: sequence })
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('agent_json', '=', json(agentId))
      .execute();

  /** The person sees who has read; nobody is rung for it. */
  const tellRead = () => tell({ kind: 'changed', time: now(), what: 'threads', agentId: null });
  async function readBy(trx: Db, threadId: ThreadId): Promise<Readonly<Record<string, number>>> {
    const members = await trx
      .selectFrom('thread_members')
      .select(['agent_json', 'seen_sequence'])
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('removed_at', 'is', null)
      .execute();
    return Object.fromEntries(members.map((row) => [parseText(row.agent_json), row.seen_sequence]));
  }

  /**
   * A mention that is read here waits in the inbox too; told of in turn, so after it was put there.
   */
  async function announceRead(
    agentId: AgentId,
    threadId: ThreadId,
    messages: readonly ThreadMessage[],
    run: string,
  ): Promise<void> {
    const messageIds = messages.filter(({ mentions }) => mentions.includes(agentId)).map(({ messageId }) => messageId);
    if (messageIds.length > 0) await inTurn(() => hooks.mentionsRead({ threadId, agentId, messageIds, run }));
  }

  return {
    async list(reader, { before, limit, closedToo }) {
      const from =
        before === null
          ? undefined
          : await db
              .selectFrom('threads')
              .select(['last_at', 'thread'])
              .where('home', '=', home)
              .where('thread', '=', before)
              .executeTakeFirst();
      if (before !== null && !from) return { threads: [], more: false };
      let query = db
        .selectFrom('threads')
        .selectAll()
        .where('home', '=', home)
        .orderBy('last_at', 'desc')
        .orderBy('thread', 'desc')
        .limit(limit + 1);
      if (!closedToo) query = query.where('closed_at', 'is', null);
      if (from)
        query = query.where(({ eb, refTuple, tuple }) =>
          eb(refTuple('last_at', 'thread'), '<', tuple(from.last_at, from.thread)),
        );
      if (isApplicationId(reader)) query = query.where('created_by_json', '=', json(reader));
      else if (reader !== PERSON)
        query = query.where('thread', 'in', (eb) =>
          eb
            .selectFrom('thread_members')
            .select('thread_members.thread')
            .where('thread_members.home', '=', home)
            .where('agent_json', '=', json(reader))
            .where('removed_at', 'is', null),
        );
      const rows = await query.execute();
      return { threads: await threadsOf(db, home, rows.slice(0, limit)), more: rows.length > limit };
    },
    async read(reader, threadId, { before, limit, run }) {
      let isNews = false;
      const read = await db.transaction().execute(async (trx) => {
        const taken = admit(await readThread(trx, home, threadId), reader);
        if (!taken.ok) return taken;
        const said = trx
          .selectFrom('thread_messages')
          .selectAll()
          .where('home', '=', home)
          .where('thread', '=', threadId)
          .orderBy('sequence', 'desc');
        const rows = await (before === null ? said : said.where('sequence', '<', before)).limit(limit + 1).execute();
        const newest = fitting(rows.slice(0, limit).map(messageOf), pageCharacters);
        const messages = [...newest].reverse();
        const [first, last] = [messages[0], messages.at(-1)];
        if (run !== null && first && last) {
          const member = await memberOf(reader, threadId)(trx).forUpdate().executeTakeFirst();
          // A page that begins behind what was not given yet leaves that to be given.
          if (member && first.sequence <= member.seen_sequence + 1 && last.sequence > member.seen_sequence) {
            await markSeen(trx, reader, threadId, last.sequence);
            isNews = true;
          }
        }
        const given = isOutside(reader) && before === null ? { read: await readBy(trx, threadId) } : {};
        return { ...taken, messages, more: rows.length > messages.length, ...given };
      });
      if (isNews) tellRead();
      if (read.ok && run !== null) await announceRead(reader, threadId, read.messages, run);
      return read;
    },
    async takeUnread(agentId, threadId, run) {
      const taken = await db.transaction().execute(async (trx) => {
        const member = await memberOf(agentId, threadId)(trx).forUpdate().executeTakeFirst();
        if (!member) return null;
        const rows = await trx
          .selectFrom('thread_messages')
          .selectAll()
          .where('home', '=', home)
          .where('thread', '=', threadId)
          .where('sequence', '>', member.seen_sequence)
          .where('from_json', '<>', json(agentId))
          .orderBy('sequence')
          .limit(pageSize.otherwise + 1)
          .execute();
        const messages = fitting(rows.slice(0, pageSize.otherwise).map(messageOf), pageCharacters);
        const last = messages.at(-1);
        const thread = await readThread(trx, home, threadId);
        if (!last || thread === null) return null;
        await markSeen(trx, agentId, threadId, last.sequence);
        return { thread, messages, more: rows.length > messages.length };
      });
      if (taken) tellRead();
      if (taken) await announceRead(agentId, threadId, taken.messages, run);
      return taken;
    },
  };
}
