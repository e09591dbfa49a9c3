/** Decisions as rows. */
import { wakeDecisionSchema, type WakeDecision, type WakeFeed } from '../../src/protocol/wakes.ts';
import type { Db } from '../store/index.ts';
import { sourceKey } from './source.ts';

/**
 * Grants that are noted for later than now are of before the clock went back: they count from now on, so that what they
 * hold back waits for as long as it may, and not for as long as the clock jumped.
 */
export async function countFromNow(db: Db, relay: string, now: number): Promise<void> {
  await db
    .updateTable('wakes')
    .set({ asked_at: now })
    .where('relay', '=', relay)
    .where('granted_target_json', 'is not', null)
    .where('asked_at', '>', now)
    .execute();
}

/** With the session that it opens, where it was granted. `budget`: what it used, see source.ts. */
export async function insertDecision(
  db: Db,
  relay: string,
  decision: WakeDecision,
  budget: string | null,
): Promise<void> {
  const { wakeId: wake, time, source } = decision;
  const granted = decision.outcome === 'granted';
  const target = JSON.stringify(decision.target);
  const row = {
    relay,
    wake,
    asked_at: time,
    target_json: target,
    source_kind: source.kind,
    source_json: sourceKey(source),
    way: decision.way,
    reason: decision.reason,
    message_json: decision.messageId === null ? null : JSON.stringify(decision.messageId),
    outcome: decision.outcome,
    stopped_by: decision.check,
    until_at: decision.until,
    detail_json: JSON.stringify(decision.detail),
    granted_target_json: granted ? target : null,
    budget_json: granted ? budget : null,
  };
  if (!granted) {
    await db.insertInto('wakes').values(row).execute();
    return;
  }
  await db
    .with('decision', (trx) => trx.insertInto('wakes').values(row))
    .insertInto('runs')
    .values({ relay, wake, target_json: target, opened_at: time, seen_at: time, ended_at: null })
    .execute();
}

const COLUMNS = [
  'wake',
  'asked_at',
  'target_json',
  'source_json',
  'way',
  'reason',
  'message_json',
  'outcome',
  'stopped_by',
  'until_at',
  'detail_json',
] as const;

/** Newest first; nothing where `before` is no decision of this household. */
export async function readFeed(
  db: Db,
  relay: string,
  {
    before,
    limit,
    agentId,
  }: { readonly before: string | null; readonly limit: number; readonly agentId: string | null },
): Promise<WakeFeed> {
  let rows = db.selectFrom('wakes').select(COLUMNS).where('relay', '=', relay);
  if (agentId !== null) rows = rows.where('target_json', '=', JSON.stringify(agentId));
  if (before !== null)
    rows = rows.where('place', '<', (eb) =>
      eb
        .selectFrom('wakes as last')
        .select('last.place')
        .where('last.relay', '=', relay)
        .where('last.wake', '=', before),
    );
  const found = await rows
    .orderBy('place', 'desc')
    .limit(limit + 1)
    .execute();
  const wakes = found.slice(0, limit).map((row) =>
    wakeDecisionSchema.parse({
      wakeId: row.wake,
      time: row.asked_at,
      target: JSON.parse(row.target_json),
      source: JSON.parse(row.source_json),
      way: row.way,
      reason: row.reason,
      messageId: row.message_json === null ? null : JSON.parse(row.message_json),
      outcome: row.outcome,
      check: row.stopped_by,
      until: row.until_at,
      detail: JSON.parse(row.detail_json),
    }),
  );
  return { wakes, more: found.length > limit };
}
