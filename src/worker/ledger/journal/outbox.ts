/**
 * What is to go out to other devices. A row is written in the transaction that makes its documents
 * durable, so that none is forgotten, and goes when they lie in a sealed entry.
 */
import type { Doc } from '../../../shared/protocol/documents.ts';
import { journalTransaction, type JournalDatabase, type OutboxRow } from './database.ts';

export interface Outgoing {
  readonly number: number;
  readonly docs: readonly Doc[];
  readonly fromRelay: boolean;
}

/** The rows that wait, oldest first, at most `limit`. */
export async function readOutbox(db: JournalDatabase, limit: number): Promise<readonly Outgoing[]> {
  const rows: OutboxRow[] = await db.getAll('outbox', null, limit);
  return rows.flatMap(({ number, docs, fromRelay }) => (number === undefined ? [] : [{ number, docs, fromRelay }]));
}

export async function clearOutbox(db: JournalDatabase, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return;
  const tx = journalTransaction(db, 'relaxed');
  await Promise.all([...numbers.map((number) => tx.objectStore('outbox').delete(number)), tx.done]);
}
