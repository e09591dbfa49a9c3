/**
 * Rows of threads, members and messages. Every function takes the transaction or database it runs
 * in.
 */
import { type Selectable, sql } from 'kysely';
import { z } from 'zod';
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import { PERSON, RELAY } from '../../../src/shared/domain/threads.ts';
import type { Thread, ThreadMessage } from '../../../src/shared/protocol/threads.ts';
import { isOneOf, lockNamed } from '../../store/dialect.ts';
import { type Db, parseText } from '../../store/index.ts';
import type { Tables } from '../../store/tables.ts';
import { QUOTA_SPANS, type Said, type ThreadsUsed } from '../../platform/quotas.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

type ThreadRow = Selectable<Tables['threads']>;
export const json = (text: string): string => JSON.stringify(text);
const parseTexts = (text: string): string[] => z.array(z.string()).parse(JSON.parse(text));

export function messageOf(row: Selectable<Tables['thread_messages']>): ThreadMessage {
  return {
    messageId: row.message,
    sequence: row.sequence,
    from: parseText(row.from_json),
    text: parseText(row.text_json),
    mentions: parseTexts(row.mentions_json),
    time: row.sent_at,
    ...(row.restored ? { restored: true } : {}),
  };
}

function threadOf(row: ThreadRow, participants: readonly string[]): Thread {
  const { closed_at: time, closed_by_json: by, summary_json: summary } = row;
  return {
    threadId: row.thread,
    version: row.version,
    title: parseText(row.title_json),
    createdBy: parseText(row.created_by_json),
    createdAt: row.created_at,
    participants: [...participants],
    messages: row.messages,
    lastTime: row.last_at,
    closed: time === null ? null : { time, by: parseText(by ?? json(PERSON)), summary: parseText(summary ?? '""') },
  };
}

/** Current participants of these threads, in the order in which they joined. */
async function readParticipants(
  db: Db,
  home: string,
  threadIds: readonly ThreadId[],
  setAside: SetAside,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('thread_members')
    .select(['thread', 'agent_json'])
    .where('home', '=', home)
    .where(isOneOf('thread', threadIds))
    .where('removed_at', 'is', null)
    .orderBy('added_at')
    .orderBy('agent_json')
    .execute();
  const members = new Map<string, string[]>(threadIds.map((threadId) => [threadId, []]));
  setAside.read(
    'threads',
    rows,
    ({ thread }) => thread,
    (row) => members.get(row.thread)?.push(parseText(row.agent_json)),
  );
  return members;
}

export async function threadsOf(
  db: Db,
  home: string,
  rows: readonly ThreadRow[],
  setAside: SetAside = SETS_NOTHING_ASIDE,
): Promise<Thread[]> {
  if (rows.length === 0) return [];
  const participants = await readParticipants(
    db,
    home,
    rows.map((row) => row.thread),
    setAside,
  );
  return setAside.read(
    'threads',
    rows,
    ({ thread }) => thread,
    (row) => threadOf(row, participants.get(row.thread) ?? []),
  );
}

export async function readThread(db: Db, home: string, threadId: ThreadId): Promise<Thread | null> {
  const rows = await db
    .selectFrom('threads')
    .selectAll()
    .where('home', '=', home)
    .where('thread', '=', threadId)
    .execute();
  return (await threadsOf(db, home, rows))[0] ?? null;
}

/** The thread, locked until the transaction ends, so that messages are numbered in commit order. */
export async function lockThread(db: Db, home: string, threadId: ThreadId): Promise<Thread | null> {
  const rows = await db
    .selectFrom('threads')
    .selectAll()
    .where('home', '=', home)
    .where('thread', '=', threadId)
    .forUpdate()
    .execute();
  return (await threadsOf(db, home, rows))[0] ?? null;
}

/**
 * Serialises changes of membership and closing of threads, so that an agent that leaves its last
 * open thread is handled exactly once.
 */
export async function lockMemberships(db: Db, home: string): Promise<void> {
  await lockNamed(db, `threads of ${home}`);
}

/**
 * Adds agents to a thread. They count as not notified yet. `seen`: messages that they need not be
 * given.
 */
export async function insertMembers(
  db: Db,
  {
    home,
    threadId,
    agentIds,
    by,
    time,
    seen = 0,
  }: { home: string; threadId: ThreadId; agentIds: readonly AgentId[]; by: string; time: number; seen?: number },
): Promise<void> {
  if (agentIds.length === 0) return;
  const rows = agentIds.map((agentId) => ({
    home,
    thread: threadId,
    agent_json: json(agentId),
    added_at: time,
    added_by_json: json(by),
    times: 1,
    removed_at: null,
    seen_sequence: seen,
    // The creator of a thread needs no notice, and the relay adds agents silently.
    announced: agentId === by || by === RELAY,
  }));
  await db
    .insertInto('thread_members')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['home', 'thread', 'agent_json']).doUpdateSet((eb) => ({
        added_at: eb.ref('excluded.added_at'),
        added_by_json: eb.ref('excluded.added_by_json'),
        announced: eb.ref('excluded.announced'),
        removed_at: null,
        times: sql<number>`thread_members.times + 1`,
      })),
    )
    .execute();
}

/** Those of `agentIds` that are in no open thread, but for threads of the relay's own. */
export async function withoutThread(db: Db, home: string, agentIds: readonly AgentId[]): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('thread_members as member')
    .innerJoin('threads as thread', (join) =>
      join.onRef('thread.home', '=', 'member.home').onRef('thread.thread', '=', 'member.thread'),
    )
    .select('member.agent_json')
    .distinct()
    .where('member.home', '=', home)
    .where(isOneOf('member.agent_json', agentIds.map(json)))
    .where('member.removed_at', 'is', null)
    .where('thread.closed_at', 'is', null)
    .where('thread.created_by_json', '<>', json(RELAY))
    .execute();
  const inOne = new Set(rows.map((row) => parseText(row.agent_json)));
  return agentIds.filter((agentId) => !inOne.has(agentId));
}

// What an agent has used of its quotas in threads. Read from indexes only, so that a flood does not
// make each call more expensive.

/**
 * `now`: in ms since the epoch. Later rows were written before the wall clock went back, and are
 * not counted.
 */
export async function threadsUsed(db: Db, home: string, by: string, now: number): Promise<ThreadsUsed> {
  const open = await db
    .selectFrom('threads')
    .select([
      sql<string>`count(*)`.as('all'),
      sql<string>`count(*) filter (where created_by_json = ${json(by)})`.as('own'),
    ])
    .where('home', '=', home)
    .where('created_by_json', 'not in', [json(PERSON), json(RELAY)])
    .where('closed_at', 'is', null)
    .executeTakeFirstOrThrow();
  const recent = await db
    .selectFrom('threads')
    .select(sql<string>`count(*)`.as('own'))
    .where('home', '=', home)
    .where('created_by_json', '=', json(by))
    .where('created_at', '>', now - QUOTA_SPANS.hourMs)
    .where('created_at', '<=', now)
    .executeTakeFirstOrThrow();
  return { openByOne: Number(open.own), openInAll: Number(open.all), byOneInAnHour: Number(recent.own) };
}

/** How much this agent has written in all threads in the last hour. */
export async function saidBy(db: Db, home: string, by: string, now: number): Promise<Said> {
  const row = await db
    .selectFrom('thread_messages')
    .select([
      sql<string>`count(*) filter (where sent_at > ${now - QUOTA_SPANS.minuteMs})`.as('minute'),
      sql<string>`count(*)`.as('messages'),
      sql<string>`coalesce(sum(octet_length(text_json)), 0)`.as('bytes'),
    ])
    .where('home', '=', home)
    .where('from_json', '=', json(by))
    .where('sent_at', '>', now - QUOTA_SPANS.hourMs)
    .where('sent_at', '<=', now)
    .executeTakeFirstOrThrow();
  return { minute: Number(row.minute), hour: { messages: Number(row.messages), bytes: Number(row.bytes) } };
}
