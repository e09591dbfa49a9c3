/**
 * What a page knows of records, for tests: what it has stored, what holds of it, and how it offers
 * it.
 */
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { slotOf, wins } from '../../src/shared/protocol/documents/kinds.ts';
import { askedRecordsSchema, type AskedRecord, type OfferedRecord } from '../../src/shared/protocol/records.ts';
import type { Records } from '../../server/team/records/index.ts';
import type { Browser } from './open-relay.ts';

/** Those that hold, as a page folds them: the newest of each record, and all that was said. */
export function holding(docs: readonly Doc[]): Doc[] {
  const held = new Map<string, Doc>();
  for (const doc of docs) {
    const key = slotOf(doc) ?? doc._id;
    const before = held.get(key);
    if (!before || wins(doc, before)) held.set(key, doc);
  }
  return [...held.values()];
}
export const offered = (doc: Doc): OfferedRecord => ({
  type: doc.type,
  id: String(doc['recordId']),
  at: doc.at,
  value: doc['value'],
});

/** What waits for the person's yes at this relay. */
export async function askedOf(browser: Pick<Browser, 'fetch'>): Promise<readonly AskedRecord[]> {
  return askedRecordsSchema.parse(await (await browser.fetch('/api/records/approvals')).json()).asked;
}
const yesTo = (asked: readonly AskedRecord[]) =>
  asked.map(({ type, id, part, hash }) => ({ type, id, part, hash, yes: true }));

/** The person says yes to all that waits at a relay of this process. */
export async function allowIn(records: Pick<Records, 'asked' | 'answer'>): Promise<void> {
  await records.answer(yesTo(await records.asked()));
}
/** The person says yes to all that waits, or to all of one type. */
export async function allowAll(browser: Pick<Browser, 'fetch'>, type?: AskedRecord['type']): Promise<void> {
  const waiting = await askedOf(browser);
  const answers = yesTo(waiting.filter((record) => type === undefined || record.type === type));
  const answered = await browser.fetch('/api/records/approvals', { method: 'POST', json: { answers } });
  if (!answered.ok) throw new Error(`${answered.status} ${await answered.text()}`);
}
