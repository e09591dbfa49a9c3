/** Writes the journal. The contents of a row are durable when the write resolves. */
import type { Doc } from '../../../shared/protocol/documents.ts';
import { type JournalDatabase, type JournalRow, journalTransaction, type OutboxRow } from './database.ts';

// The outbox: documents for other devices. A row is written in the transaction that makes its
// documents durable, so none is lost. It is removed when they are in a sealed entry.

export interface Outgoing {
  readonly number: number;
  readonly docs: readonly Doc[];
  readonly fromRelay: boolean;
}

/** Waiting rows, oldest first, at most `limit`. */
export async function readOutbox(db: JournalDatabase, limit: number): Promise<readonly Outgoing[]> {
  const rows: OutboxRow[] = await db.getAll('outbox', null, limit);
  return rows.flatMap(({ number, docs, fromRelay }) => (number === undefined ? [] : [{ number, docs, fromRelay }]));
}

export async function clearOutbox(db: JournalDatabase, numbers: readonly number[]): Promise<void> {
  if (numbers.length === 0) return;
  const tx = journalTransaction(db, 'relaxed');
  await Promise.all([...numbers.map((number) => tx.objectStore('outbox').delete(number)), tx.done]);
}

/**
 * Writes one journal row and its outbox rows. Resolves with the number of the row. On failure it
 * writes nothing and rejects with the transaction's error.
 */
export async function writeRow(
  db: JournalDatabase,
  docs: readonly Doc[],
  outgoing: readonly OutboxRow[] = [],
): Promise<number> {
  const tx = journalTransaction(db, 'strict');
  for (const row of outgoing) void tx.objectStore('outbox').add(row);
  // Without `tx.commit()`: on a full disk, Chromium (156) then reports neither success nor failure.
  const added = tx.objectStore('journal').add({ docs });
  // The transaction's error names the cause, such as a full disk. The request's error only says
  // that it was aborted.
  const [seq, done] = await Promise.allSettled([added, tx.done]);
  if (done.status === 'rejected') throw done.reason;
  if (seq.status === 'rejected') throw seq.reason;
  return seq.value;
}

/** Rows after `seq`, oldest first, at most `limit`. Without a limit all of them. */
export async function rowsAfter(
  db: JournalDatabase,
  seq: number,
  limit?: number,
): Promise<{ seq: number; docs: readonly Doc[] }[]> {
  const rows: JournalRow[] = await db.getAll('journal', IDBKeyRange.lowerBound(seq, true), limit);
  return rows.flatMap(({ seq: number, docs }) => (number === undefined ? [] : [{ seq: number, docs }]));
}

/** All documents in the journal. Only a few rows are in memory at a time. */
export async function* journalDocuments(
  db: JournalDatabase,
  stride: number,
): AsyncGenerator<{ readonly seq: number; readonly docs: readonly Doc[] }> {
  let seq = 0;
  for (;;) {
    const rows = await rowsAfter(db, seq, stride);
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < stride || !last) return;
    seq = last.seq;
  }
}
