/**
 * The journal from its oldest end: documents on their way into a volume, a few rows in memory at a
 * time.
 */
import type { Doc } from '../../../shared/protocol/documents.ts';
import {
  journalTransaction,
  readMeta,
  type JournalDatabase,
  type JournalRow,
  type VolumeRecord,
} from '../journal/database.ts';
import { LEDGER } from '../settings.ts';
import { encodeDocument, type StoredDoc } from './codec.ts';

export interface Group {
  readonly docs: readonly Doc[];
  readonly stored: readonly StoredDoc[];
  /** Journal rows that are filed with this group. */
  readonly rows: readonly number[];
  /** How far the row after them is filed; null: not begun. */
  readonly within: { readonly seq: number; readonly docs: number } | null;
}

export interface Rows {
  /**
   * The oldest documents that fit one commit, `most` at most, of rows up to `upTo`; empty where
   * there are none.
   */
  next(upTo: number, most: number): Promise<Group>;
  /** The group lies in the volume: its rows go, in one transaction with the volume's record. */
  filed(group: Group, record: VolumeRecord): Promise<void>;
}

export async function createRows(db: JournalDatabase): Promise<Rows> {
  let rows: { seq: number; docs: readonly Doc[] }[] = [];
  const begun = await readMeta(db, 'filed');
  let position = begun ?? { seq: 0, docs: 0 };

  async function load(upTo: number) {
    const from = rows.at(-1)?.seq ?? 0;
    if (from >= upTo) return;
    const found: JournalRow[] = await db.getAll('journal', IDBKeyRange.bound(from, upTo, true), LEDGER.journalStride);
    for (const { seq, docs } of found) if (seq !== undefined) rows.push({ seq, docs });
  }

  return {
    async next(upTo, most) {
      if (rows.length < 2) await load(upTo);
      const docs: Doc[] = [];
      const stored: StoredDoc[] = [];
      const done: number[] = [];
      let within: Group['within'] = null;
      let chars = 0;
      for (const row of rows) {
        let at = row.seq === position.seq ? position.docs : 0;
        for (; at < row.docs.length && docs.length < most; at++) {
          const doc = row.docs[at];
          if (!doc) continue;
          const encoded = encodeDocument(doc);
          const weight = JSON.stringify(encoded).length;
          if (docs.length > 0 && chars + weight > LEDGER.groupChars) break;
          chars += weight;
          docs.push(doc);
          stored.push(...encoded);
        }
        if (at < row.docs.length) {
          within = at > 0 ? { seq: row.seq, docs: at } : null;
          break;
        }
        done.push(row.seq);
      }
      return { docs, stored, rows: done, within };
    },
    async filed({ rows: done, within }, record) {
      const tx = journalTransaction(db, 'relaxed');
      const writes: Promise<unknown>[] = done.map((seq) => tx.objectStore('journal').delete(seq));
      writes.push(tx.objectStore('volumes').put(record));
      const last = done.at(-1);
      if (last !== undefined) writes.push(tx.objectStore('meta').put(last, 'filedThrough'));
      if (within) writes.push(tx.objectStore('meta').put(within, 'filed'));
      await Promise.all([...writes, tx.done]);
      const gone = new Set(done);
      rows = rows.filter(({ seq }) => !gone.has(seq));
      if (within) position = within;
    },
  };
}
