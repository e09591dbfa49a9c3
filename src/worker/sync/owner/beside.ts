/**
 * The entries once more in files, as the database's changes are followed there. Without files,
 * nothing is done.
 */
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import type { Replacement, SealedLog } from '../mirror/index.ts';
import { writeMeta, type SyncDatabase } from './database.ts';

export interface Beside {
  /** These are durable in the database. */
  add(entries: readonly Entry[]): void;
  /** Resolves when no file holds what was there before. */
  replace(changes: readonly Replacement[]): Promise<void>;
}

export const createBeside = (db: SyncDatabase, log: SealedLog | null): Beside => ({
  add: (entries) => log?.add(entries),
  async replace(changes) {
    if (!log) return;
    // A crash in between must not leave what was forgotten in a file.
    await writeMeta(db, { filesStale: true });
    await log.replace(changes);
    await writeMeta(db, { filesStale: false });
  },
});
