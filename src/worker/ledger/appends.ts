/**
 * Appends to the ledger. Calls that wait at the same moment share one row of the journal, and each
 * document is written once.
 */
import type { Doc } from '../../shared/protocol/documents.ts';
import type { createQueue } from '../../shared/domain/platform/queue.ts';
import type { StorageProblem } from '../../shared/protocol/worker.ts';
import type { LedgerDeps, Origin } from './contract.ts';
import type { OutboxRow } from './journal/database.ts';
import { writeRow } from './journal/journal.ts';
import { StorageProblemError, storageProblemOf } from './problem.ts';
import { LEDGER } from './settings.ts';
import type { Views } from './views/views.ts';

interface Waiting {
  readonly docs: readonly Doc[];
  readonly origin: Origin;
  readonly resolve: (result: { written: number }) => void;
  readonly reject: (error: unknown) => void;
}

interface AppendsDeps {
  readonly deps: Pick<LedgerDeps, 'journal' | 'shares' | 'onOutbox' | 'onDocuments'>;
  readonly elapsed: () => number;
  readonly views: () => Views;
  /** Queue of appends and of work that must run between two appends. */
  readonly inTurn: ReturnType<typeof createQueue>;
  /** The newest stamp in the views. */
  readonly newest: string;
  readonly isForgotten: (doc: Doc) => boolean;
  /** Documents with a request to forget are stored. */
  readonly onForgets: (docs: readonly Doc[]) => void;
  /** Null: the last append succeeded. */
  readonly onProblem: (problem: StorageProblem | null) => void;
}

export function createAppends({
  deps,
  elapsed,
  views,
  inTurn,
  isForgotten,
  onForgets,
  onProblem,
  ...from
}: AppendsDeps) {
  let { newest } = from;
  let lastAppend = -Infinity;
  let queue: Waiting[] = [];
  let pumping: Promise<void> | null = null;

  /**
   * Removes documents that are already here, duplicates, and documents that were forgotten for
   * good.
   */
  async function unheard(docs: readonly Doc[]): Promise<readonly Doc[]> {
    const distinct = new Map<string, Doc>();
    const doubtful: Doc[] = [];
    for (const doc of docs) {
      if (distinct.has(doc._id) || isForgotten(doc)) continue;
      distinct.set(doc._id, doc);
      // A stamp later than all others belongs to a new document. The views catch an exception to
      // this rule.
      if (doc.at <= newest) doubtful.push(doc);
    }
    if (doubtful.length === 0) return [...distinct.values()];
    const unknown = new Set((await views().unknown(doubtful)).map(({ _id }) => _id));
    for (const { _id } of doubtful) if (!unknown.has(_id)) distinct.delete(_id);
    return [...distinct.values()];
  }

  /**
   * The outbox rows of a batch. Consecutive calls of one origin share a row, so many waiting calls
   * cost one row. A document of two origins goes with the first.
   */
  function outgoingOf(batch: readonly Waiting[], fresh: readonly Doc[]): OutboxRow[] {
    if (!deps.shares()) return [];
    const unsentById = new Map(fresh.map((doc) => [doc._id, doc]));
    const rows: { docs: Doc[]; fromRelay: boolean }[] = [];
    for (const { docs, origin } of batch) {
      const own = docs.flatMap(({ _id }) => {
        const doc = unsentById.get(_id);
        unsentById.delete(_id);
        return doc ? [doc] : [];
      });
      if (origin === 'elsewhere' || own.length === 0) continue;
      const fromRelay = origin === 'relay';
      const last = rows.at(-1);
      if (last?.fromRelay === fromRelay && last.docs.length < LEDGER.outboxDocuments) last.docs.push(...own);
      else rows.push({ docs: own, fromRelay });
    }
    return rows;
  }

  async function store(batch: readonly Waiting[]): Promise<void> {
    try {
      const fresh = await unheard(batch.flatMap(({ docs }) => docs));
      if (fresh.length > 0) {
        const outgoing = outgoingOf(batch, fresh);
        const seq = await writeRow(deps.journal, fresh, outgoing);
        if (outgoing.length > 0) deps.onOutbox();
        for (const { at } of fresh) if (at > newest) newest = at;
        views().add({ seq, docs: fresh });
      }
      onProblem(null);
      const left = new Set(fresh.map(({ _id }) => _id));
      for (const { docs, resolve } of batch) {
        // A document that two calls bring at once counts for the first.
        resolve({ written: docs.filter(({ _id }) => left.delete(_id)).length });
      }
      lastAppend = elapsed();
      if (fresh.length === 0) return;
      deps.onDocuments(fresh);
      if (fresh.some(({ type }) => type === 'forget' || type === 'forget-undo')) onForgets(fresh);
    } catch (error) {
      if (batch.length > 1) {
        // One call that is too large for the free space must not fail the others.
        for (const one of batch) await store([one]);
        return;
      }
      const problem = storageProblemOf(error);
      onProblem(problem);
      for (const { reject } of batch) reject(new StorageProblemError(problem, { cause: error }));
    }
  }

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      if (views().waiting() > 2 * LEDGER.viewsWait) await views().readable();
      await inTurn(() => {
        // Take the queue as late as possible: calls from the same message as the first are in it by
        // now.
        const batch = queue;
        queue = [];
        return store(batch);
      });
    }
    pumping = null;
  }

  return {
    add: (docs: readonly Doc[], origin: Origin): Promise<{ written: number }> =>
      new Promise((resolve, reject) => {
        queue.push({ docs, origin, resolve, reject });
        pumping ??= pump();
      }),
    isAppending: () => pumping !== null,
    /** When an append was last stored, in monotonic ms. */
    lastAt: () => lastAppend,
    /** Resolves when nothing waits. */
    done: async () => await pumping,
  };
}
