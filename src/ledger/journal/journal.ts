/** Writing the journal: what a row holds is durable when the write has resolved. */
import type { Doc } from '../../protocol/documents.ts';
import { journalTransaction, type JournalDatabase, type JournalRow } from './database.ts';

/** Writes one row. Answers its number. Rejects with the transaction's own error, and has then written nothing. */
export async function writeRow(db: JournalDatabase, docs: readonly Doc[]): Promise<number> {
  const tx = journalTransaction(db, 'strict');
  // Not ended with `tx.commit()`: with no room left, Chromium (156) then says neither that it is done nor that it failed.
  const added = tx.objectStore('journal').add({ docs });
  // The transaction's own error names the cause (a full disk, say); its request only says that it was aborted.
  const [seq, done] = await Promise.allSettled([added, tx.done]);
  if (done.status === 'rejected') throw done.reason;
  if (seq.status === 'rejected') throw seq.reason;
  return seq.value;
}

/** Rows after `seq`, oldest first, at most `limit`; all of them where there is none. */
export async function rowsAfter(db: JournalDatabase, seq: number, limit?: number): Promise<{ seq: number; docs: readonly Doc[] }[]> {
  const rows: JournalRow[] = await db.getAll('journal', IDBKeyRange.lowerBound(seq, true), limit);
  return rows.flatMap(({ seq: number, docs }) => (number === undefined ? [] : [{ seq: number, docs }]));
}

/** All documents in the journal, a few rows in memory at a time. */
export async function* journalDocuments(db: JournalDatabase, stride: number): AsyncGenerator<readonly Doc[]> {
  let seq = 0;
  for (;;) {
    const rows = await rowsAfter(db, seq, stride);
    for (const row of rows) yield row.docs;
    const last = rows.at(-1);
    if (rows.length < stride || !last) return;
    seq = last.seq;
  }
}
