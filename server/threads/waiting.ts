/** Waiting for something in a thread: a look at what is there, and another whenever something happens. */
import { PERSON } from '../../src/domain/threads.ts';
import { admit, refuse, refuseClosed, type ThreadsContext } from './context.ts';
import type { Reading } from './reading.ts';
import { json, readThread } from './rows.ts';
import type { Answer, Page, Threads, WaitFor } from './types.ts';

export function createWaiting({ db, home, notifier }: ThreadsContext, { takeUnread }: Reading): Pick<Threads, 'wait'> {
  /** The thread with the oldest message that this agent waits for and was not given yet; null where there is none. */
  async function findUnread(agentId: string, until: WaitFor, threadId: string | null): Promise<string | null> {
    let query = db
      .selectFrom('thread_members as member')
      .innerJoin('thread_messages as message', (join) =>
        join
          .onRef('message.home', '=', 'member.home')
          .onRef('message.thread', '=', 'member.thread')
          .onRef('message.place', '>', 'member.seen_place'),
      )
      .select('message.thread')
      .where('member.home', '=', home)
      .where('member.agent_json', '=', json(agentId))
      .where('member.removed_at', 'is', null)
      .where('message.from_json', '<>', json(agentId))
      .orderBy('message.sent_at')
      .orderBy('message.place')
      .limit(1);
    if (threadId !== null) query = query.where('message.thread', '=', threadId);
    if (until.kind === 'from') query = query.where('message.from_json', '=', json(until.who));
    if (until.kind === 'mention')
      query = query.innerJoin('thread_mentions as mention', (join) =>
        join
          .onRef('mention.home', '=', 'message.home')
          .onRef('mention.thread', '=', 'message.thread')
          .onRef('mention.place', '=', 'message.place')
          .on('mention.agent_json', '=', json(agentId)),
      );
    return (await query.executeTakeFirst())?.thread ?? null;
  }

  /** Null: nothing yet. A refusal where nothing can come any more. */
  async function look(
    agentId: string,
    until: WaitFor,
    threadId: string | null,
    run: string,
  ): Promise<Answer<{ readonly page: Page }> | null> {
    for (
      let found = await findUnread(agentId, until, threadId);
      found !== null;
      found = await findUnread(agentId, until, threadId)
    ) {
      const page = await takeUnread(agentId, found, run);
      if (page) return { ok: true, page };
      // Another call of this agent was given it meanwhile.
    }
    if (threadId === null) return null;
    const taken = admit(await readThread(db, home, threadId), agentId);
    if (!taken.ok) return taken;
    if (until.kind === 'from' && until.who !== PERSON && !taken.thread.participants.includes(until.who))
      return refuse(
        'not-in-it',
        `${until.name} is not in the thread “${taken.thread.title}”, and will say nothing there.`,
      );
    return refuseClosed(taken.thread);
  }

  return {
    async wait(reader, { until, threadId, limitMs, signal, run }) {
      const listener = notifier.listen(reader, { limitMs, signal });
      try {
        for (;;) {
          const found = signal.aborted ? null : await look(reader, until, threadId, run);
          if (found) return found.ok ? { ok: true, came: true, page: found.page } : found;
          const why = await listener.next();
          if (why !== 'rung') return { ok: true, came: false, why };
        }
      } finally {
        listener.stop();
      }
    },
  };
}
