/** Saying something in a thread. */
import { PERSON, refuseMentions } from '../../src/domain/threads.ts';
import type { Thread, ThreadMessage } from '../../src/protocol/threads.ts';
import type { Db } from '../store/index.ts';
import { refuseThreadMessage } from '../quotas.ts';
import { admit, refuse, refuseClosed, type ThreadsContext } from './context.ts';
import { json, lockThread, messageOf } from './rows.ts';
import type { Announcer } from './announcer.ts';
import type { Answer, Threads } from './types.ts';
import { saidBy } from './used.ts';

type Sent = Answer<{ readonly thread: Thread; readonly message: ThreadMessage; readonly repeated: boolean }>;

export function createSending(context: ThreadsContext, announcer: Announcer): Pick<Threads, 'send'> {
  const { db, home, now, newId, inTurn, changed, findAgents, refuseForRoom } = context;

  async function readSent(trx: Db, threadId: string, clientId: string): Promise<ThreadMessage | null> {
    const row = await trx
      .selectFrom('thread_messages')
      .selectAll()
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('client_json', '=', json(clientId))
      .executeTakeFirst();
    return row ? messageOf(row) : null;
  }

  async function write(trx: Db, thread: Thread, message: ThreadMessage, clientId: string | null): Promise<void> {
    const { messageId, place, from, text, mentions, time } = message;
    const at = { home, thread: thread.threadId, place };
    await trx
      .insertInto('thread_messages')
      .values({
        ...at,
        message: messageId,
        from_json: json(from),
        text_json: json(text),
        mentions_json: JSON.stringify(mentions),
        sent_at: time,
        client_json: clientId === null ? null : json(clientId),
      })
      .execute();
    if (mentions.length > 0)
      await trx
        .insertInto('thread_mentions')
        .values(mentions.map((agentId) => ({ ...at, agent_json: json(agentId), announced: false })))
        .execute();
    await trx
      .updateTable('threads')
      .set({ messages: place, last_at: Math.max(time, thread.lastTime) })
      .where('home', '=', home)
      .where('thread', '=', thread.threadId)
      .execute();
  }

  return {
    send: (by, threadId, { text, mentionRefs, clientId }) =>
      inTurn(async () => {
        const found = await findAgents(mentionRefs);
        const sent = await db.transaction().execute(async (trx): Promise<Sent> => {
          const taken = admit(await lockThread(trx, home, threadId), by);
          if (!taken.ok) return taken;
          const { thread } = taken;
          const before = clientId === null ? null : await readSent(trx, threadId, clientId);
          if (before) return { ok: true, thread, message: before, repeated: true };
          const closed = refuseClosed(thread);
          if (closed) return closed;
          if (!found.ok) return found;
          const bad = refuseMentions({ from: by, participants: thread.participants, mentions: found.agents });
          if (bad !== null) return refuse('bad-mention', bad);
          const time = now();
          const over =
            by === PERSON
              ? null
              : ((await refuseForRoom?.()) ??
                refuseThreadMessage(Buffer.byteLength(json(text)), thread.messages, await saidBy(trx, home, by, time)));
          if (over !== null) return refuse('too-many', over);
          const message: ThreadMessage = {
            messageId: newId(),
            place: thread.messages + 1,
            from: by,
            text,
            mentions: found.agents.map(({ agentId }) => agentId),
            time,
          };
          await write(trx, thread, message, clientId);
          return { ok: true, thread, message, repeated: false };
        });
        if (!sent.ok) return sent;
        if (!sent.repeated) changed(sent.thread.participants);
        return { ok: true, message: sent.message, notes: await announcer.mentioned(sent.thread, sent.message) };
      }),
  };
}
