/**
 * What an agent has used of its quotas in threads. By indexes alone: a flood must not make each
 * call dearer.
 */
import { sql } from 'kysely';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { QUOTA_SPANS, type Said, type ThreadsUsed } from '../../platform/quotas.ts';
import type { Db } from '../../store/index.ts';
import { json } from './rows.ts';

/**
 * `now`: ms since the epoch. What is later than that is of before the clock went back, and counts
 * for nothing.
 */
export async function threadsUsed(db: Db, home: string, by: string, now: number): Promise<ThreadsUsed> {
  const open = await db
    .selectFrom('threads')
    .select([
      sql<string>`count(*)`.as('all'),
      sql<string>`count(*) filter (where created_by_json = ${json(by)})`.as('own'),
    ])
    .where('home', '=', home)
    .where('created_by_json', '<>', json(PERSON))
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

/** What this agent has said in all threads lately. */
export async function saidBy(db: Db, home: string, by: string, now: number): Promise<Said> {
  const row = await db
    .selectFrom('thread_messages')
    .select([
      sql<string>`count(*) filter (where sent_at > ${now - QUOTA_SPANS.minuteMs}::bigint)`.as('minute'),
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
