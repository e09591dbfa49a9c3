/** Decisions as rows, and who asks for a wake as rows know it. */
import { sql, type Selectable } from 'kysely';
import type { AgentId, MessageId } from '../../../src/shared/domain/ids.ts';
import { BUSY } from '../../../src/shared/domain/wake-gate.ts';
import type { Day } from '../../../src/shared/domain/zone-days.ts';
import {
  wakeDecisionSchema,
  type WakeDecision,
  type WakeFeed,
  type WakeSource,
} from '../../../src/shared/protocol/wakes.ts';
import type { WakeRequest } from '../../contracts/index.ts';
import type { Db } from '../../store/index.ts';
import { SCHEMA } from '../../store/schema.ts';
import type { Tables } from '../../store/tables.ts';
import { HOUSEHOLD_SCOPE } from './configs.ts';

const CONFIGS = sql.id(SCHEMA, 'configs');
const WAKE_SESSIONS = sql.id(SCHEMA, 'wake_sessions');
const WAKES = sql.id(SCHEMA, 'wakes');

/**
 * Grants that are noted for later than now are of before the clock went back: they count from now
 * on, so that what they hold back waits for as long as it may, and not for as long as the clock
 * jumped.
 */
export async function countFromNow(db: Db, home: string, now: number): Promise<void> {
  await db
    .updateTable('wakes')
    .set({ asked_at: now })
    .where('home', '=', home)
    .where('granted_target_json', 'is not', null)
    .where('asked_at', '>', now)
    .execute();
}

/**
 * Who asks for a wake, as rows know it: the same text for the same source, whatever the order of
 * its fields.
 */
export function sourceKey(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return JSON.stringify({ kind: source.kind });
    case 'agent':
      return JSON.stringify({ kind: source.kind, agentId: source.agentId });
    case 'schedule':
    case 'script':
    case 'api':
      return JSON.stringify({ kind: source.kind, name: source.name });
  }
}

/** For people: "person", an agent's id, or a name. */
export function sourceLabel(source: WakeSource): string {
  switch (source.kind) {
    case 'person':
      return 'person';
    case 'agent':
      return source.agentId;
    case 'schedule':
    case 'script':
    case 'api':
      return source.name;
  }
}

/**
 * Whose budget of `wake_agent` in which session this would use; null: none. Where the caller has no
 * session, its day is one: it may not call without end.
 */
export function budgetKey(
  { way, source, callerSession }: Pick<WakeRequest, 'way' | 'source' | 'callerSession'>,
  day: Day,
): string | null {
  if (way !== 'wake_agent') return null;
  return `${sourceKey(source)} ${callerSession === null ? `day ${day.start}` : JSON.stringify(callerSession)}`;
}

/**
 * Writes a decision, with the session that it opens if it was granted, in one statement. `budget`:
 * what it used, see `budgetKey`. `decisions`: if the household is at another count by now, nothing
 * is written, and the answer is false; null: no other process can have counted on. `clears`: it
 * clears a sleeping flag, or was counted before, and is counted as no wake.
 */
export async function insertDecision(
  db: Db,
  home: string,
  decision: WakeDecision,
  budget: string | null,
  decisions: number | null,
  clears = false,
): Promise<boolean> {
  const { decisionId: wake, time, source } = decision;
  const granted = decision.outcome === 'granted';
  const target = JSON.stringify(decision.target);
  const from = decisions === null ? sql`(select 1) as claim` : sql`claim`;
  const claim = sql`claim as (
    update ${CONFIGS} set decisions = decisions + 1
    where home = ${home} and scope = ${HOUSEHOLD_SCOPE} and decisions = ${decisions}::bigint returning decisions)`;
  const run = sql`run as (
    insert into ${WAKE_SESSIONS} (home, wake, target_json, opened_at, seen_at)
    select ${home}, ${wake}, ${target}, ${time}::bigint, ${time}::bigint from ${from})`;
  const parts = [...(decisions === null ? [] : [claim]), ...(granted ? [run] : [])];
  const { numAffectedRows } = await sql`
    ${parts.length === 0 ? sql`` : sql`with ${sql.join(parts)}`}
    insert into ${WAKES} (home, wake, asked_at, target_json, source_kind, source_json, way, reason, message_json, call_id,
      outcome, stopped_by, until_at, detail_json, granted_target_json, budget_json, clears)
    select ${home}, ${wake}, ${time}::bigint, ${target}, ${source.kind}, ${sourceKey(source)}, ${decision.way}, ${decision.reason},
      ${decision.messageId === null ? null : JSON.stringify(decision.messageId)}, ${decision.callId}, ${decision.outcome}, ${decision.check},
      ${decision.until}::bigint, ${JSON.stringify(decision.detail)}, ${granted ? target : null}, ${granted ? budget : null}, ${clears}::boolean
    from ${from}`.execute(db);
  return numAffectedRows === 1n;
}

/** Whether this decision was written. */
export async function isDecided(db: Db, home: string, wake: string): Promise<boolean> {
  const row = await db
    .selectFrom('wakes')
    .select('wake')
    .where('home', '=', home)
    .where('wake', '=', wake)
    .executeTakeFirst();
  return row !== undefined;
}

const COLUMNS = [
  'wake',
  'asked_at',
  'target_json',
  'source_json',
  'way',
  'reason',
  'message_json',
  'call_id',
  'outcome',
  'stopped_by',
  'until_at',
  'detail_json',
] as const;

type WakeRow = Pick<Selectable<Tables['wakes']>, (typeof COLUMNS)[number]>;
const decisionOf = (row: WakeRow): WakeDecision =>
  wakeDecisionSchema.parse({
    decisionId: row.wake,
    time: row.asked_at,
    target: JSON.parse(row.target_json),
    source: JSON.parse(row.source_json),
    way: row.way,
    reason: row.reason,
    messageId: row.message_json === null ? null : JSON.parse(row.message_json),
    callId: row.call_id,
    outcome: row.outcome,
    check: row.stopped_by,
    until: row.until_at,
    detail: JSON.parse(row.detail_json),
  });

/** The wake of this agent that was granted for this message; null: none was. */
export async function readGranted(
  db: Db,
  home: string,
  { target, messageId }: { readonly target: string; readonly messageId: MessageId },
): Promise<WakeDecision | null> {
  const row = await db
    .selectFrom('wakes')
    .select(COLUMNS)
    .where('home', '=', home)
    .where('target_json', '=', JSON.stringify(target))
    .where('message_json', '=', JSON.stringify(messageId))
    .where('outcome', '=', 'granted')
    .orderBy('sequence', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? decisionOf(row) : null;
}

/**
 * The newest decision of each message since then, where that is a grant, or that it waits until its
 * agent is free.
 */
export async function readOpen(db: Db, home: string, since: number): Promise<WakeDecision[]> {
  const rows = await db
    .selectFrom('wakes')
    .select(COLUMNS)
    .distinctOn(['target_json', 'message_json'])
    .where('home', '=', home)
    .where('asked_at', '>=', since)
    .where('message_json', 'is not', null)
    .orderBy('target_json')
    .orderBy('message_json')
    .orderBy('sequence', 'desc')
    .execute();
  return rows
    .map(decisionOf)
    .filter(({ outcome, detail }) => outcome === 'granted' || (outcome === 'deferred' && detail === BUSY));
}

/** Newest first; nothing where `before` is no decision of this household. */
export async function readFeed(
  db: Db,
  home: string,
  {
    before,
    limit,
    agentId,
  }: { readonly before: string | null; readonly limit: number; readonly agentId: AgentId | null },
): Promise<WakeFeed> {
  let rows = db.selectFrom('wakes').select(COLUMNS).where('home', '=', home);
  if (agentId !== null) rows = rows.where('target_json', '=', JSON.stringify(agentId));
  if (before !== null)
    rows = rows.where('sequence', '<', (eb) =>
      eb
        .selectFrom('wakes as last')
        .select('last.sequence')
        .where('last.home', '=', home)
        .where('last.wake', '=', before),
    );
  const found = await rows
    .orderBy('sequence', 'desc')
    .limit(limit + 1)
    .execute();
  const wakes = found.slice(0, limit).map(decisionOf);
  return { wakes, more: found.length > limit };
}
