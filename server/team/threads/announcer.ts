/**
 * Notifies agents of additions and mentions in threads. Each is marked as announced, so that after
 * a crash between the write and the notice the relay announces it at the next start.
 */
import { sql } from 'kysely';
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import type { ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { parseText } from '../../store/index.ts';
import type { ThreadsContext } from './context.ts';
import { json, messageOf } from './rows.ts';

export interface Announcer {
  /** Notifies those of `agentIds` that were added and have not been notified yet, in this order. */
  added(
    thread: { readonly threadId: ThreadId; readonly title: string },
    agentIds: readonly AgentId[],
  ): Promise<readonly string[]>;
  /**
   * Notifies the agents that the message mentions and that have not been notified yet, in the order
   * of the mentions.
   */
  mentioned(
    thread: { readonly threadId: ThreadId; readonly title: string },
    message: ThreadMessage,
  ): Promise<readonly string[]>;
  /** Announces everything that has not been announced yet, in all threads. */
  all(): Promise<void>;
}

const sentences = (notes: readonly (string | null)[]) =>
  notes.flatMap((sentence) => (sentence === null ? [] : [sentence]));

export function createAnnouncer({ db, home, hooks }: Pick<ThreadsContext, 'db' | 'home' | 'hooks'>): Announcer {
  const unannouncedMembers = (threadId: ThreadId) =>
    db
      .selectFrom('thread_members')
      .selectAll()
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where(sql<boolean>`not announced`)
      .where('removed_at', 'is', null)
      .execute();

  const added: Announcer['added'] = async ({ threadId, title }, agentIds) => {
    const waiting = new Map((await unannouncedMembers(threadId)).map((row) => [parseText(row.agent_json), row]));
    const notes: (string | null)[] = [];
    for (const agentId of agentIds) {
      const row = waiting.get(agentId);
      if (!row) continue;
      notes.push(await hooks.added({ threadId, title, agentId, by: parseText(row.added_by_json), times: row.times }));
      await db
        .updateTable('thread_members')
        .set({ announced: true })
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .where('agent_json', '=', json(agentId))
        .execute();
    }
    return sentences(notes);
  };

  const mentioned: Announcer['mentioned'] = async (
    { threadId, title },
    { sequence, messageId, from, text, mentions },
  ) => {
    if (mentions.length === 0) return [];
    const rows = await db
      .selectFrom('thread_mentions')
      .select('agent_json')
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('sequence', '=', sequence)
      .where(sql<boolean>`not announced`)
      .execute();
    const waiting = new Set(rows.map((row) => parseText(row.agent_json)));
    const notes: (string | null)[] = [];
    for (const agentId of mentions.filter((mention) => waiting.has(mention))) {
      notes.push(await hooks.mentioned({ threadId, title, agentId, by: from, messageId, text }));
      await db
        .updateTable('thread_mentions')
        .set({ announced: true })
        .where('home', '=', home)
        .where('thread', '=', threadId)
        .where('sequence', '=', sequence)
        .where('agent_json', '=', json(agentId))
        .execute();
    }
    return sentences(notes);
  };

  return {
    added,
    mentioned,
    async all() {
      const members = await db
        .selectFrom('thread_members as member')
        .innerJoin('threads as thread', (join) =>
          join.onRef('thread.home', '=', 'member.home').onRef('thread.thread', '=', 'member.thread'),
        )
        .select(['thread.thread', 'thread.title_json', 'member.agent_json'])
        .where('member.home', '=', home)
        .where(sql<boolean>`not member.announced`)
        .where('member.removed_at', 'is', null)
        .orderBy('member.added_at')
        .execute();
      for (const row of members)
        await added({ threadId: row.thread, title: parseText(row.title_json) }, [parseText(row.agent_json)]);

      const messages = await db
        .selectFrom('thread_messages as message')
        .innerJoin('threads as thread', (join) =>
          join.onRef('thread.home', '=', 'message.home').onRef('thread.thread', '=', 'message.thread'),
        )
        .selectAll('message')
        .select('thread.title_json')
        .where('message.home', '=', home)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('thread_mentions as mention')
              .select('mention.sequence')
              .whereRef('mention.home', '=', 'message.home')
              .whereRef('mention.thread', '=', 'message.thread')
              .whereRef('mention.sequence', '=', 'message.sequence')
              .where(sql<boolean>`not mention.announced`),
          ),
        )
        .orderBy('message.sent_at')
        .orderBy('message.sequence')
        .execute();
      for (const row of messages)
        await mentioned({ threadId: row.thread, title: parseText(row.title_json) }, messageOf(row));
    },
  };
}
