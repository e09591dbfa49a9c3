/** Decisions as rows. */
import { wakeDecisionSchema, type WakeDecision, type WakeFeed } from '../../src/protocol/wakes.ts';
import type { Db } from '../store/index.ts';
import { sourceKey } from './source.ts';

export interface Asked {
  readonly relay: string;
  readonly process: string;
  /** JSON text, or null. */
  readonly session: string | null;
}

export async function insertDecision(db: Db, decision: WakeDecision, { relay, process, session }: Asked): Promise<void> {
  await db
    .insertInto('wakes')
    .values({
      relay,
      wake: decision.wakeId,
      asked_at: decision.time,
      target_json: JSON.stringify(decision.target),
      source_kind: decision.source.kind,
      source_json: sourceKey(decision.source),
      way: decision.way,
      reason: decision.reason,
      message_json: decision.messageId === null ? null : JSON.stringify(decision.messageId),
      caller_session_json: session,
      outcome: decision.outcome,
      stopped_by: decision.check,
      until_at: decision.until,
      detail_json: JSON.stringify(decision.detail),
      process,
      seen_at: decision.outcome === 'granted' ? decision.time : null,
      ended_at: null,
    })
    .execute();
}

const COLUMNS = ['wake', 'asked_at', 'target_json', 'source_json', 'way', 'reason', 'message_json', 'outcome', 'stopped_by', 'until_at', 'detail_json'] as const;

/** Newest first; nothing where `before` is no decision of this household. */
export async function readFeed(
  db: Db,
  relay: string,
  { before, limit, agentId }: { readonly before: string | null; readonly limit: number; readonly agentId: string | null },
): Promise<WakeFeed> {
  let rows = db.selectFrom('wakes').select(COLUMNS).where('relay', '=', relay);
  if (agentId !== null) rows = rows.where('target_json', '=', JSON.stringify(agentId));
  if (before !== null) rows = rows.where('place', '<', (eb) => eb.selectFrom('wakes as last').select('last.place').where('last.relay', '=', relay).where('last.wake', '=', before));
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
