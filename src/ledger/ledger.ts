/**
 * The ledger: `append` and a few reads.
 *
 * A write goes into the journal and the views in one IndexedDB transaction with strict durability, and is
 * answered when that is on disk. Writes that wait at the same moment share a transaction. From the journal
 * it goes on into the current Fireproof volume, in groups, in its own time. Reads come from views alone.
 */
import type { Doc } from '../protocol/documents.ts';
import type { OwnerCalls, StorageProblem, StorageStatus } from '../protocol/worker.ts';
import { plainDocument } from './plain.ts';
import { StorageProblemError, storageProblemOf } from './problem.ts';
import { writeTransaction, type LedgerDatabase } from './views/database.ts';
import { readConversation, readHousehold, readWakeMaterial } from './views/read.ts';
import { unseen, writeViews } from './views/write.ts';
import { createVolumes } from './volumes/volumes.ts';
import type { Volume } from './volumes/fireproof-volume.ts';

export interface LedgerDeps {
  readonly db: LedgerDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Documents that were new, after they are durable. */
  readonly onDocuments: (docs: readonly Doc[]) => void;
  /** What keeps the ledger from writing; null when it writes again. Told when it changes. */
  readonly onProblem: (problem: StorageProblem | null) => void;
  readonly storage?: StorageManager;
}

export interface Ledger {
  /**
   * Resolves when the documents are durable, with how many were new. Rejects with a ZodError or TypeError
   * for what is no document, and with a StorageProblemError where it cannot be written; nothing of the call
   * is stored then.
   */
  append(docs: readonly unknown[]): Promise<{ readonly written: number }>;
  household(): Promise<ReturnType<OwnerCalls['household']>>;
  conversation(request: Parameters<OwnerCalls['conversation']>[0]): Promise<ReturnType<OwnerCalls['conversation']>>;
  wakeMaterial(request: Parameters<OwnerCalls['wakeMaterial']>[0]): Promise<ReturnType<OwnerCalls['wakeMaterial']>>;
  storage(): Promise<StorageStatus>;
  /** Small things that the owner remembers about itself, by name; undefined where there is none. */
  recall(name: 'cursor'): Promise<unknown>;
  remember(name: 'cursor', value: unknown): Promise<void>;
  /** Resolves when everything appended lies in a volume. */
  drain(): Promise<void>;
  /** Finishes what was accepted, drains the journal and closes everything. */
  close(): Promise<void>;
}

interface Waiting {
  readonly docs: readonly Doc[];
  readonly resolve: (result: { written: number }) => void;
  readonly reject: (error: unknown) => void;
}

export async function createLedger(deps: LedgerDeps): Promise<Ledger> {
  const { db } = deps;
  let documents = Number((await db.get('meta', 'documents')) ?? 0);
  let queue: Waiting[] = [];
  let pumping = false;
  let pumped = Promise.resolve();
  let closed = false;
  // Two sources of trouble, each cleared by its own success.
  let journalProblem: StorageProblem | null = null;
  let volumeProblem: StorageProblem | null = null;

  function tell(change: () => void) {
    const before = journalProblem ?? volumeProblem;
    change();
    const now = journalProblem ?? volumeProblem;
    if (now?.kind !== before?.kind || now?.detail !== before?.detail) deps.onProblem(now);
  }

  const volumes = createVolumes({
    db,
    rows: await db.count('journal'),
    open: deps.openVolume,
    after: deps.after,
    onOutcome: (error) =>
      tell(() => {
        volumeProblem = error === null ? null : storageProblemOf(error);
      }),
  });

  /** One transaction for all of them. Answers with what was new. */
  async function commit(docs: readonly Doc[]): Promise<readonly Doc[]> {
    const tx = writeTransaction(db, 'strict');
    const write = async () => {
      const fresh = await unseen(tx, docs);
      if (fresh.length === 0) return fresh;
      const journal = tx.objectStore('journal');
      const count = tx.objectStore('meta').put(documents + fresh.length, 'documents');
      await Promise.all([count, ...fresh.map((doc) => journal.add({ doc })), writeViews(tx, fresh)]);
      return fresh;
    };
    const [written, done] = await Promise.allSettled([write(), tx.done]);
    // The transaction's own error names the cause (a full disk, say); its requests only say that it was aborted.
    if (done.status === 'rejected') throw done.reason;
    if (written.status === 'rejected') throw written.reason;
    documents += written.value.length;
    return written.value;
  }

  async function store(batch: readonly Waiting[]): Promise<void> {
    try {
      const fresh = new Set((await commit(batch.flatMap(({ docs }) => docs))).map((doc) => doc._id));
      tell(() => {
        journalProblem = null;
      });
      const news: Doc[] = [];
      for (const { docs, resolve } of batch) {
        // A document that two calls brought at once counts for the first.
        const mine = docs.filter((doc) => fresh.delete(doc._id));
        news.push(...mine);
        resolve({ written: mine.length });
      }
      if (news.length === 0) return;
      deps.onDocuments(news);
      volumes.added(news.length, JSON.stringify(news).length);
    } catch (error) {
      if (batch.length > 1) {
        // One call too large for the room that is left must not take the others with it.
        for (const one of batch) await store([one]);
        return;
      }
      const problem = storageProblemOf(error);
      tell(() => {
        journalProblem = problem;
      });
      for (const { reject } of batch) reject(new StorageProblemError(problem, { cause: error }));
    }
  }

  async function pump(): Promise<void> {
    pumping = true;
    while (queue.length > 0) {
      const batch = queue;
      queue = [];
      await store(batch);
    }
    pumping = false;
  }

  return {
    append(values) {
      if (closed) return Promise.reject(new StorageProblemError({ kind: 'no-owner', detail: 'The ledger is closed.' }));
      // Writing on would bury what the volume may still hold.
      if (volumeProblem?.kind === 'unexpectedly-empty') return Promise.reject(new StorageProblemError(volumeProblem));
      return new Promise((resolve, reject) => {
        queue.push({ docs: values.map(plainDocument), resolve, reject });
        if (!pumping) pumped = pump();
      });
    },
    household: () => readHousehold(db),
    conversation: (request) => readConversation(db, request),
    wakeMaterial: (request) => readWakeMaterial(db, request),
    async storage() {
      const [persisted, estimate, journalRows, volumeRecords] = await Promise.all([
        deps.storage?.persisted() ?? null,
        deps.storage?.estimate() ?? null,
        db.count('journal'),
        db.getAll('volumes'),
      ]);
      return {
        persisted,
        usedBytes: estimate?.usage ?? null,
        quotaBytes: estimate?.quota ?? null,
        journalRows,
        documents,
        volumes: volumeRecords.map(({ name, documents: held, sealed }) => ({ name, documents: held, sealed })),
      };
    },
    recall: (name) => db.get('meta', name),
    async remember(name, value) {
      const tx = writeTransaction(db, 'relaxed');
      await Promise.all([tx.objectStore('meta').put(value, name), tx.done]);
    },
    drain: () => volumes.drain(),
    async close() {
      closed = true;
      await pumped;
      await volumes.close();
      db.close();
    },
  };
}
