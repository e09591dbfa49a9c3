/**
 * Threads: conversations of several agents and the person. See `Threads` in context.ts.
 *
 * Everything is in the store. Only waiting calls are in memory. Messages are numbered from 1, under
 * a lock on the thread's row, so that concurrent processes cannot assign a number twice.
 */
import type { Context } from 'hono';
import type { HTTPException } from 'hono/http-exception';
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { eachOnce, fitting, isOutside, PERSON, refuseMentions, RELAY } from '../../../src/shared/domain/threads.ts';
import { applicationId, isApplicationId } from '../../../src/shared/domain/applications.ts';
import { threadEndpoints } from '../../../src/shared/protocol/endpoints/threads.ts';
import { type Db, parseText } from '../../store/index.ts';
import { refuseThread, refuseThreadMessage } from '../../platform/quotas.ts';
import { answer, applicationOf, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import type { RecordSource } from '../records/index.ts';
import {
  admit,
  type Answer,
  type Changed,
  createThreadsContext,
  type Page,
  type Refusal,
  refuse,
  refuseClosed,
  type Threads,
  type ThreadsContext,
  type ThreadsDeps,
  type WaitFor,
} from './context.ts';
import {
  insertMembers,
  json,
  lockMemberships,
  lockThread,
  messageOf,
  readThread,
  saidBy,
  threadsOf,
  threadsUsed,
  withoutThread,
} from './rows.ts';
import { THREAD_LIMITS } from './settings.ts';
import { createThreadForgetting, type ThreadForgetting } from './forgetting.ts';
export { DELETED_THREAD } from './forgetting.ts';
import { createThreadRecords } from './records.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
export type { ThreadsDeps, Threads } from './context.ts';
export { createThreadTools } from './tools.ts';

// Notifies agents of additions and mentions in threads. Each is marked as announced, so that after
// a crash between the write and the notice the relay announces it at the next start.

interface Announcer {
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

function createAnnouncer({
  db,
  home,
  hooks,
  setAside = SETS_NOTHING_ASIDE,
}: Pick<ThreadsContext, 'db' | 'home' | 'hooks' | 'setAside'>): Announcer {
  const unannouncedMembers = (threadId: ThreadId) =>
    db
      .selectFrom('thread_members')
      .selectAll()
      .where('home', '=', home)
      .where('thread', '=', threadId)
      .where('announced', '=', false)
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
      .where('announced', '=', false)
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
        .where('member.announced', '=', false)
        .where('member.removed_at', 'is', null)
        .orderBy('member.added_at')
        .execute();
      await setAside.each(
        'threads',
        members,
        ({ thread }) => thread,
        (row) => added({ threadId: row.thread, title: parseText(row.title_json) }, [parseText(row.agent_json)]),
      );

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
              .where('mention.announced', '=', false),
          ),
        )
        .orderBy('message.sent_at')
        .orderBy('message.sequence')
        .execute();
      await setAside.each(
        'messages of threads',
        messages,
        ({ thread, sequence }) => `${thread} ${sequence}`,
        (row) => mentioned({ threadId: row.thread, title: parseText(row.title_json) }, messageOf(row)),
      );
    },
  };
}

/** Membership: creating, joining, leaving and closing threads. */
function createMembership(
  context: ThreadsContext,
  announcer: Announcer,
): Pick<Threads, 'create' | 'add' | 'remove' | 'attach' | 'close'> {
  const { db, home, now, newId, hooks, inTurn, changed, findAgents, directory, refuseForRoom } = context;

  /** Runs one change of an open thread. Resolves when it is on disk. */
  const change = <Value>(
    by: string,
    threadId: ThreadId,
    version: number | undefined,
    work: (trx: Db, thread: Thread) => Promise<Answer<Value>>,
  ): Promise<Changed<Value & { readonly thread: Thread }>> =>
    db.transaction().execute(async (trx) => {
      await lockMemberships(trx, home);
      const admitted = admit(await lockThread(trx, home, threadId), by);
      if (!admitted.ok) return admitted;
      const closed = refuseClosed(admitted.thread);
      if (closed) return closed;
      if (version !== undefined && version !== admitted.thread.version)
        return {
          ok: false,
          reason: 'changed-elsewhere',
          detail: 'The thread was changed meanwhile.',
          thread: admitted.thread,
        };
      const done = await work(trx, admitted.thread);
      if (done.ok)
        await trx
          .updateTable('threads')
          .set((eb) => ({ stamp: null, version: eb('version', '+', 1) }))
          .where('home', '=', home)
          .where('thread', '=', threadId)
          .execute();
      return done.ok ? { ...done, thread: (await readThread(trx, home, threadId)) ?? admitted.thread } : done;
    });

  async function nameOf(agentId: AgentId): Promise<string> {
    return (await directory.all()).find((member) => member.agentId === agentId)?.name ?? agentId;
  }

  return {
    create: (by, { title, participantRefs }) =>
      inTurn(async () => {
        const participants = await findAgents(participantRefs);
        if (!participants.ok) return participants;
        const others = participants.agents.map(({ agentId }) => agentId).filter((agentId) => agentId !== by);
        if (others.length === 0) return refuse('nobody', 'Name at least one other agent to talk with.');
        const threadId = newId();
        const time = now();
        const refusal = await db.transaction().execute(async (trx): Promise<string | null> => {
          await lockMemberships(trx, home);
          const over =
            by === PERSON ? null : ((await refuseForRoom?.()) ?? refuseThread(await threadsUsed(trx, home, by, time)));
          if (over !== null) return over;
          const row = {
            home,
            thread: threadId,
            title_json: json(title),
            created_by_json: json(by),
            created_at: time,
            last_at: time,
            messages: 0,
          };
          await trx
            .insertInto('threads')
            .values({ ...row, closed_at: null, closed_by_json: null, summary_json: null, stamp: null })
            .execute();
          await insertMembers(trx, { home, threadId, agentIds: isOutside(by) ? others : [by, ...others], by, time });
          return null;
        });
        if (refusal !== null) return refuse('too-many', refusal);
        const created = admit(await readThread(db, home, threadId), by);
        if (!created.ok) return created;
        changed(created.thread.participants);
        return { ...created, notes: await announcer.added(created.thread, others) };
      }),
    add: (by, threadId, agentRef, version) =>
      inTurn(async () => {
        const participant = await findAgents([agentRef]);
        const named = participant.ok ? participant.agents.map(({ agentId }) => agentId) : [];
        const done = await change(by, threadId, version, async (trx, thread) => {
          if (!participant.ok) return participant;
          const agentIds = named.filter((agentId) => !thread.participants.includes(agentId));
          await insertMembers(trx, { home, threadId, agentIds, by, time: now() });
          return { ok: true, isNew: agentIds.length > 0 };
        });
        if (!done.ok) return done;
        if (done.isNew) changed(done.thread.participants);
        return { ok: true, thread: done.thread, notes: await announcer.added(done.thread, named) };
      }),
    remove: (by, threadId, agentRef) =>
      inTurn(async () => {
        const participant = await directory.find(agentRef);
        // An agent that is retired or unknown can still be named by its id.
        const agentId = participant.ok ? participant.agent.agentId : agentRef;
        const name = await nameOf(agentId);
        const done = await change(by, threadId, undefined, async (trx, thread) => {
          if (!thread.participants.includes(agentId))
            return refuse(
              'not-in-it',
              participant.ok ? `${name} is not in the thread ${titled(thread.title)}.` : participant.reason,
            );
          const member = trx
            .updateTable('thread_members')
            .where('home', '=', home)
            .where('thread', '=', threadId)
            .where('agent_json', '=', json(agentId));
          await member.set({ removed_at: now() }).execute();
          return { ok: true, gone: thread.participants, left: await withoutThread(trx, home, [agentId]) };
        });
        if (!done.ok) return done;
        changed(done.gone);
        for (const leaver of done.left) await hooks.leftLast({ agentId: leaver, event: 'removed_from_last_thread' });
        return { ok: true, thread: done.thread };
      }),
    attach: ({ threadId, title, agentIds }) =>
      inTurn(async () => {
        const time = now();
        const isChanged = await db.transaction().execute(async (trx) => {
          await lockMemberships(trx, home);
          const before = await lockThread(trx, home, threadId);
          const missing = agentIds.filter((agentId) => !before?.participants.includes(agentId));
          if (before && before.closed === null && missing.length === 0) return false;
          const closing = { closed_at: null, closed_by_json: null, summary_json: null, stamp: null };
          if (before)
            await trx
              .updateTable('threads')
              .set((eb) => ({ ...closing, version: eb('version', '+', 1) }))
              .where('home', '=', home)
              .where('thread', '=', threadId)
              .execute();
          else
            await trx
              .insertInto('threads')
              .values({
                ...{ home, thread: threadId, title_json: json(title), created_by_json: json(RELAY) },
                ...{ created_at: time, last_at: time, messages: 0, ...closing },
              })
              .execute();
          await insertMembers(trx, { home, threadId, agentIds: missing, by: RELAY, time, seen: before?.messages ?? 0 });
          return true;
        });
        if (isChanged) changed(agentIds);
      }),
    close: (by, threadId, summary, version) =>
      inTurn(async () => {
        const time = now();
        const done = await change(by, threadId, version, async (trx, thread) => {
          const row = trx.updateTable('threads').where('home', '=', home).where('thread', '=', threadId);
          await row
            .set({
              closed_at: time,
              closed_by_json: json(by),
              summary_json: json(summary),
              last_at: Math.max(time, thread.lastTime),
            })
            .execute();
          return { ok: true, left: await withoutThread(trx, home, thread.participants) };
        });
        if (!done.ok) return done;
        changed(done.thread.participants);
        for (const agentId of done.left) await hooks.leftLast({ agentId, event: 'last_thread_closed' });
        return { ok: true, thread: done.thread };
      }),
  };
}

// Reading threads. What an agent was given is marked, so that a wait gives it only what is new.

interface Reading extends Pick<Threads, 'list' | 'read'> {
  /**
   * The messages of others that this agent was not given yet, oldest first, up to a page. Marks
   * them as given. Null: there are none, or the agent is not in the thread.
   */
  takeUnread(agentId: AgentId, threadId: ThreadId, run: string): Promise<Page | null>;
}

function createReading({ db, home, inTurn, hooks, tell, now, setAside = SETS_NOTHING_ASIDE }: ThreadsContext): Reading {
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

  /** Announces to pages who has read. Waiting agents are not notified. */
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
   * Marks mentions that were read here as read in the inbox too. Queued, so that it runs after they
   * were put there.
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
      return { threads: await threadsOf(db, home, rows.slice(0, limit), setAside), more: rows.length > limit };
    },
    async read(reader, threadId, { before, limit, run }) {
      let isNews = false;
      const read = await db.transaction().execute(async (trx) => {
        const admitted = admit(await readThread(trx, home, threadId), reader);
        if (!admitted.ok) return admitted;
        const messagesQuery = trx
          .selectFrom('thread_messages')
          .selectAll()
          .where('home', '=', home)
          .where('thread', '=', threadId)
          .orderBy('sequence', 'desc');
        const rows = await (before === null ? messagesQuery : messagesQuery.where('sequence', '<', before))
          .limit(limit + 1)
          .execute();
        const newest = fitting(rows.slice(0, limit).map(messageOf), pageCharacters);
        const messages = [...newest].reverse();
        const [first, last] = [messages[0], messages.at(-1)];
        if (run !== null && first && last) {
          const member = await memberOf(reader, threadId)(trx).forUpdate().executeTakeFirst();
          // A page that begins after unread messages does not mark those as given.
          if (member && first.sequence <= member.seen_sequence + 1 && last.sequence > member.seen_sequence) {
            await markSeen(trx, reader, threadId, last.sequence);
            isNews = true;
          }
        }
        const given = isOutside(reader) && before === null ? { read: await readBy(trx, threadId) } : {};
        return { ...admitted, messages, more: rows.length > messages.length, ...given };
      });
      if (isNews) tellRead();
      if (read.ok && run !== null) await announceRead(reader, threadId, read.messages, run);
      return read;
    },
    async takeUnread(agentId, threadId, run) {
      const unread = await db.transaction().execute(async (trx) => {
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
      if (unread) tellRead();
      if (unread) await announceRead(agentId, threadId, unread.messages, run);
      return unread;
    },
  };
}

// HTTP routes for the person, who may use every thread, and for API clients.

/** `field`: the field of the body that names agents. */
function refusal({ reason, detail }: Refusal, field: string): HTTPException {
  switch (reason) {
    case 'no-thread':
    case 'not-in-it':
      return problem(404, reason, detail);
    case 'closed':
    case 'projects-full':
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
  /** The author of the call: the person on a page, or an API client under its own name. */
  function speakerOf(context: Context<Env>): string {
    const application = applicationOf(context);
    if (application === null) return PERSON;
    if (application.label === '')
      throw problem(403, 'no-scope', 'This application has no name to write under. Make it a credential with a name.');
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

/** Sending a message to a thread. */
type Sent = Answer<{ readonly thread: Thread; readonly message: ThreadMessage; readonly repeated: boolean }>;

function createSending(context: ThreadsContext, announcer: Announcer): Pick<Threads, 'send'> {
  const { db, home, now, newId, inTurn, changed, findAgents, namedIn, refuseForRoom, room } = context;

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
        const mentioned = await findAgents(mentionRefs);
        const named = await namedIn(text);
        await room?.ready();
        const sent = await db.transaction().execute(async (trx): Promise<Sent> => {
          const admitted = admit(await lockThread(trx, home, threadId), by);
          if (!admitted.ok) return admitted;
          const { thread } = admitted;
          const before = clientId === null ? null : await readSent(trx, threadId, clientId);
          if (before) return { ok: true, thread, message: before, repeated: true };
          const closed = refuseClosed(thread);
          if (closed) return closed;
          if (!mentioned.ok) return mentioned;
          const bad = refuseMentions({ from: by, participants: thread.participants, mentions: mentioned.agents });
          if (bad !== null) return refuse('bad-mention', bad);
          // Agents named in the text count as mentioned too, if they take part.
          const meant = named.filter(({ agentId }) => agentId !== by && thread.participants.includes(agentId));
          const time = now();
          const over =
            by === PERSON
              ? null
              : ((await refuseForRoom?.()) ??
                refuseThreadMessage(Buffer.byteLength(json(text)), thread.messages, await saidBy(trx, home, by, time)));
          if (over !== null) return refuse('too-many', over);
          const full = room?.takeMessage(threadId, Buffer.byteLength(json(text))) ?? null;
          if (full !== null) return refuse('projects-full', full);
          const message: ThreadMessage = {
            messageId: newId(),
            sequence: thread.messages + 1,
            from: by,
            text,
            mentions: eachOnce([...mentioned.agents, ...meant]).map(({ agentId }) => agentId),
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

/** Waiting for a message in a thread: look at what is there, and look again after each notice. */
function createWaiting(
  { db, home, notifier }: ThreadsContext,
  { takeUnread }: Reading,
): Pick<Threads, 'wait' | 'hasNews'> {
  /**
   * Whether others have written in the agent's threads since then, and the agent has not read it.
   */
  const hasNews: Threads['hasNews'] = async (agentId, since) => {
    const firstNew = await db
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
    return firstNew !== undefined;
  };
  /** The thread with the oldest unread message that this agent waits for. Null: there is none. */
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

  /** Null: nothing yet. A refusal: nothing can come any more. */
  async function readUnread(
    agentId: AgentId,
    until: WaitFor,
    threadId: ThreadId | null,
    run: string,
  ): Promise<Answer<{ readonly page: Page }> | null> {
    for (
      let unread = await findUnread(agentId, until, threadId);
      unread !== null;
      unread = await findUnread(agentId, until, threadId)
    ) {
      const page = await takeUnread(agentId, unread, run);
      if (page) return { ok: true, page };
      // A concurrent call of this agent has taken the messages.
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
          const found = signal.aborted ? null : await readUnread(reader, until, threadId, run);
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

/** Threads, and their rows as records. */
export interface OpenThreads extends Threads {
  readonly records: RecordSource;
  readonly forgetting: ThreadForgetting;
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
    forgetting: createThreadForgetting(context),
    recover: () => context.inTurn(() => announcer.all()),
  };
}
