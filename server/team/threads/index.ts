/**
 * Threads: agents, and the person, talking among several. See `Threads` in types.ts.
 *
 * Everything is in the store; what is in memory is who waits. Messages have places from 1, given
 * out under a lock on their thread's row, so two processes that write at once cannot give one
 * twice.
 */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import { applicationId } from '../../../src/shared/domain/applications.ts';
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { eachOnce, PERSON, refuseMentions } from '../../../src/shared/domain/threads.ts';
import { threadEndpoints } from '../../../src/shared/protocol/endpoints/threads.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { answer, applicationOf, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import { refuseThreadMessage } from '../../platform/quotas.ts';
import type { RecordSource } from '../records/index.ts';
import type { Db } from '../../store/index.ts';
import { type Announcer, createAnnouncer } from './announcer.ts';
import { createThreadsContext, type ThreadsDeps, admit, refuse, refuseClosed, type ThreadsContext } from './context.ts';
import { createMembership } from './membership.ts';
import { createReading, type Reading } from './reading.ts';
import { createThreadRecords } from './records.ts';
import { json, lockThread, messageOf, readThread } from './rows.ts';
import type { Answer, Changed, Threads, Page, WaitFor, Refusal } from './types.ts';
import { saidBy } from './used.ts';

// Calls of the person, who reads and writes in every thread, and of applications.

/** `field`: the part of the body that names agents. */
function refusal({ reason, detail }: Refusal, field: string): HTTPException {
  switch (reason) {
    case 'no-thread':
    case 'not-in-it':
      return problem(404, reason, detail);
    case 'closed':
      return problem(409, reason, detail);
    case 'too-many':
      return problem(429, reason, detail);
    case 'unknown-agent':
    case 'bad-mention':
    case 'nobody':
      return problem(400, reason, detail, { fields: { errors: [{ field, message: detail }] } });
  }
}

function orRefuse<Value>(outcome: Changed<Value>, field = 'body'): { readonly ok: true } & Value {
  if (outcome.ok) return outcome;
  if (outcome.reason === 'changed-elsewhere') throw changedElsewhere(outcome.thread);
  throw refusal(outcome, field);
}

export function createThreadRoutes({ threads }: { readonly threads: Threads }): readonly Handled[] {
  /** Who speaks: the person from a page, or an application under its own name. */
  function speakerOf(context: Context<Env>): string {
    const application = applicationOf(context);
    if (application === null) return PERSON;
    if (application.label === '')
      throw problem(403, 'no-scope', 'This application has no name to write under. Make it a credential with one.');
    return applicationId(application.label);
  }
  return answer(threadEndpoints, {
    async threads({ before, limit }, context) {
      const listed = await threads.list(speakerOf(context), { before, limit, closedToo: true });
      return { threads: [...listed.threads], more: listed.more };
    },
    async createThread({ body: { title, participants } }, context) {
      return orRefuse(
        await threads.create(speakerOf(context), { title, participantRefs: participants }),
        'participants',
      ).thread;
    },
    async threadMessages({ threadId, before, limit }, context) {
      const { thread, messages, more, read } = orRefuse(
        await threads.read(speakerOf(context), threadId, { before, limit, run: null }),
      );
      return { thread, messages: [...messages], more, ...(read ? { read } : {}) };
    },
    async sendToThread({ threadId, body: { text, mentions, clientId } }, context) {
      return orRefuse(
        await threads.send(speakerOf(context), threadId, { text, mentionRefs: mentions, clientId }),
        'mentions',
      ).message;
    },
    addToThread: async ({ threadId, body }, context) =>
      orRefuse(await threads.add(speakerOf(context), threadId, body.agentId, body.version), 'agentId').thread,
    removeFromThread: async ({ threadId, agentId }, context) =>
      orRefuse(await threads.remove(speakerOf(context), threadId, agentId)).thread,
    closeThread: async ({ threadId, body }, context) =>
      orRefuse(await threads.close(speakerOf(context), threadId, body.summary, body.version)).thread,
  });
}

/** Saying something in a thread. */
type Sent = Answer<{ readonly thread: Thread; readonly message: ThreadMessage; readonly repeated: boolean }>;

function createSending(context: ThreadsContext, announcer: Announcer): Pick<Threads, 'send'> {
  const { db, home, now, newId, inTurn, changed, findAgents, namedIn, refuseForRoom } = context;

  async function readSent(trx: Db, threadId: ThreadId, clientId: string): Promise<ThreadMessage | null> {
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
    const { messageId, sequence, from, text, mentions, time } = message;
    const at = { home, thread: thread.threadId, sequence };
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
      .set({ messages: sequence, last_at: Math.max(time, thread.lastTime) })
      .where('home', '=', home)
      .where('thread', '=', thread.threadId)
      .execute();
  }

  return {
    send: (by, threadId, { text, mentionRefs, clientId }) =>
      inTurn(async () => {
        const found = await findAgents(mentionRefs);
        const named = await namedIn(text);
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
          // Whoever is named in the words is meant as well, where that can be.
          const meant = named.filter(({ agentId }) => agentId !== by && thread.participants.includes(agentId));
          const time = now();
          const over =
            by === PERSON
              ? null
              : ((await refuseForRoom?.()) ??
                refuseThreadMessage(Buffer.byteLength(json(text)), thread.messages, await saidBy(trx, home, by, time)));
          if (over !== null) return refuse('too-many', over);
          const message: ThreadMessage = {
            messageId: newId(),
            sequence: thread.messages + 1,
            from: by,
            text,
            mentions: eachOnce([...found.agents, ...meant]).map(({ agentId }) => agentId),
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

/**
 * Waiting for something in a thread: a look at what is there, and another whenever something
 * happens.
 */
function createWaiting(
  { db, home, notifier }: ThreadsContext,
  { takeUnread }: Reading,
): Pick<Threads, 'wait' | 'hasNews'> {
  /** What others have written in its threads since then, and it has not read. */
  const hasNews: Threads['hasNews'] = async (agentId, since) => {
    const found = await db
      .selectFrom('thread_members as member')
      .innerJoin('thread_messages as message', (join) =>
        join
          .onRef('message.home', '=', 'member.home')
          .onRef('message.thread', '=', 'member.thread')
          .onRef('message.sequence', '>', 'member.seen_sequence'),
      )
      .select('message.thread')
      .where('member.home', '=', home)
      .where('member.agent_json', '=', json(agentId))
      .where('member.removed_at', 'is', null)
      .where('message.from_json', '<>', json(agentId))
      .where('message.sent_at', '>=', since)
      .limit(1)
      .executeTakeFirst();
    return found !== undefined;
  };
  /**
   * The thread with the oldest message that this agent waits for and was not given yet; null where
   * there is none.
   */
  async function findUnread(agentId: AgentId, until: WaitFor, threadId: ThreadId | null): Promise<string | null> {
    let query = db
      .selectFrom('thread_members as member')
      .innerJoin('thread_messages as message', (join) =>
        join
          .onRef('message.home', '=', 'member.home')
          .onRef('message.thread', '=', 'member.thread')
          .onRef('message.sequence', '>', 'member.seen_sequence'),
      )
      .select('message.thread')
      .where('member.home', '=', home)
      .where('member.agent_json', '=', json(agentId))
      .where('member.removed_at', 'is', null)
      .where('message.from_json', '<>', json(agentId))
      .orderBy('message.sent_at')
      .orderBy('message.sequence')
      .limit(1);
    if (threadId !== null) query = query.where('message.thread', '=', threadId);
    if (until.kind === 'from') query = query.where('message.from_json', '=', json(until.who));
    if (until.kind === 'mention')
      query = query.innerJoin('thread_mentions as mention', (join) =>
        join
          .onRef('mention.home', '=', 'message.home')
          .onRef('mention.thread', '=', 'message.thread')
          .onRef('mention.sequence', '=', 'message.sequence')
          .on('mention.agent_json', '=', json(agentId)),
      );
    return (await query.executeTakeFirst())?.thread ?? null;
  }

  /** Null: nothing yet. A refusal where nothing can come any more. */
  async function look(
    agentId: AgentId,
    until: WaitFor,
    threadId: ThreadId | null,
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
        `${until.name} is not in the thread ${titled(taken.thread.title)}, and will say nothing there.`,
      );
    return refuseClosed(taken.thread);
  }

  return {
    hasNews,
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

export type { ThreadsDeps } from './context.ts';
export { createThreadTools } from './tools.ts';
export type { Threads } from './types.ts';

/** With the rows that are records. */
export interface OpenThreads extends Threads {
  readonly records: RecordSource;
}

export function createThreads(deps: ThreadsDeps): OpenThreads {
  const context = createThreadsContext(deps);
  const announcer = createAnnouncer(context);
  const reading = createReading(context);
  const { list, read } = reading;
  return {
    ...createMembership(context, announcer),
    ...createSending(context, announcer),
    ...createWaiting(context, reading),
    list,
    read,
    records: createThreadRecords(context),
    recover: () => context.inTurn(() => announcer.all()),
  };
}
