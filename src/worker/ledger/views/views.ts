/**
 * Keeps the views up to date just behind the journal. Durable documents wait here for a quiet
 * moment, and then go into the views many at a time. A read waits for the documents that wait.
 */
import { pendingForgets } from '../../../shared/domain/forgetting.ts';
import type { Doc, MessageDoc } from '../../../shared/protocol/documents.ts';
import type { DocumentStore } from '../../../shared/protocol/documents/kind.ts';
import { asOfNow, isCovered, isKnown, storeOf } from '../../../shared/protocol/documents/kinds.ts';
import type { WorkerCalls } from '../../../shared/protocol/worker.ts';
import { createBurst } from '../../../shared/domain/platform/burst.ts';
import { singleFlight } from '../../../shared/domain/platform/single-flight.ts';
import type { After } from '../../../shared/domain/platform/timers.ts';
import { wholeAt } from '../../../shared/domain/read-marks.ts';
import { LEDGER } from '../settings.ts';
import { readState, type ViewsDatabase, viewsTransaction } from './database.ts';
import { hiddenBefore, splitForgets } from './read.ts';
import { DOCUMENT_STORES, holds, unseen, writeViews } from './write.ts';

// What the search reads from the views: which documents there are, and which of the found ones are
// visible.

/** Sorts after every id. */
const AFTER_ALL = '\uffff';

/** The name of the views, and the number of documents by kind. */
export const readCounted = async (db: ViewsDatabase) => ({ views: db.name, kinds: await db.getAll('kinds') });

export interface IdsPage {
  readonly store: DocumentStore;
  /** The prefix of the ids. */
  readonly prefix: string;
  /** The last id before this page. Null: from the first. */
  readonly after: string | null;
  readonly limit: number;
}

/** Ids in order. Reads no document. */
export async function readIds(db: ViewsDatabase, { store, prefix, after, limit }: IdsPage): Promise<readonly string[]> {
  const end = prefix + AFTER_ALL;
  if (after !== null && after >= end) return [];
  return db.getAllKeys(store, IDBKeyRange.bound(after ?? prefix, end, after !== null), limit);
}

export interface Place {
  readonly store: DocumentStore;
  readonly id: string;
}

/**
 * A visible document. `title`: the title of its thread, or the name of its schedule. Null where
 * there is none or it is unknown.
 */
export interface Found {
  readonly doc: Doc;
  readonly title: string | null;
}

/**
 * The visible ones of these documents, in the same places. Null: deleted, hidden by an edit,
 * replaced by a newer one, to be forgotten, or taken by a relay meanwhile.
 */
export async function readFound(
  db: ViewsDatabase,
  places: readonly Place[],
  now: number,
): Promise<readonly (Found | null)[]> {
  const tx = db.transaction([...DOCUMENT_STORES]);
  const { asked, undone } = splitForgets((await tx.objectStore('forgets').getAll()).map(({ doc }) => doc));
  const forgetting = pendingForgets(asked, undone, now);
  const newest = tx.objectStore('records').index('slot');
  const titles = new Map<string, Promise<string | null>>();
  const titleOf = (threadId: string) => {
    const title =
      titles.get(threadId) ??
      newest.get(`thread ${threadId}`).then((record) => {
        const doc = record?.doc;
        return doc && isKnown(doc) && doc.type === 'thread' ? doc.value.title : null;
      });
    titles.set(threadId, title);
    return title;
  };
  const isRewritten = async (agentId: string) =>
    (await tx.objectStore('changes').index('slot').getKey(`agent-change soul:${agentId}`)) !== undefined;
  return Promise.all(
    places.map(async ({ store, id }) => {
      const record = await tx.objectStore(store).get(id);
      if (!record) return null;
      const { doc } = record;
      const isHidden =
        (store === 'messages' && !('place' in record)) ||
        (store === 'queued' && !('open' in record)) ||
        ((store === 'changes' || doc.type === 'thread' || doc.type === 'schedule') &&
          !('slot' in record && record.slot !== undefined));
      // A soul that was rewritten since is not the agent's current one.
      if (doc.type === 'agent-identity' && (await isRewritten(String(doc['agentId'])))) return null;
      if (isHidden || forgetting.some((forget) => isCovered(doc, forget))) return null;
      if (isKnown(doc) && doc.type === 'schedule') return { doc, title: doc.value.schedule.name };
      const threadId = isKnown(doc) && doc.type === 'thread-message' ? doc.value.threadId : null;
      return { doc, title: threadId === null ? null : await titleOf(threadId) };
    }),
  );
}

// Reads what edits have hidden. It stays in the ledger.

/**
 * The message that an edit replaced, and all later ones up to the edit, in order. Includes earlier
 * versions within. Empty where the message replaced none, or where the replaced one never arrived.
 */
export async function readReplaced(
  db: ViewsDatabase,
  { agentId, messageId, limit }: Parameters<WorkerCalls['replaced']>[0],
  now: number,
): Promise<readonly MessageDoc[]> {
  const tx = db.transaction(['messages', 'replacements', 'forgets']);
  const [messages, replacements] = [tx.objectStore('messages'), tx.objectStore('replacements')];
  const out = hiddenBefore(await tx.objectStore('forgets').getAll(), agentId, now);
  const edit = await replacements.get(`message:${messageId}`);
  if (!edit || edit.from === null || edit.agentId !== agentId) return [];
  let { from } = edit;
  // An edit of an edit: the message that the earlier edit replaced stood before it.
  let before = await replacements.get(`message:${edit.replaces}`);
  while (before?.from && before.from < from) {
    ({ from } = before);
    before = await replacements.get(`message:${before.replaces}`);
  }
  const first = from > out ? from : out;
  if (first >= edit.until) return [];
  const stretch = IDBKeyRange.bound([agentId, first], [agentId, edit.until], false, true);
  return (await messages.index('hidden').getAll(stretch, limit)).map(({ doc }) => doc);
}

/** Documents of one journal row. */
interface Batch {
  readonly seq: number;
  readonly docs: readonly Doc[];
}

interface ViewsDeps {
  readonly db: ViewsDatabase;
  readonly after: After;
  /** Does an append wait? The views give way to it. */
  readonly isAppending: () => boolean;
  /**
   * The views now hold everything up to journal row `upTo`, with this many more documents and
   * characters.
   */
  readonly onApplied: (applied: { readonly upTo: number; readonly docs: number; readonly chars: number }) => void;
  /** Null: the last write succeeded. Failed documents wait and are tried again with the next. */
  readonly onOutcome: (error: unknown) => void;
}

export interface Views {
  add(batch: Batch): void;
  /**
   * The database, once everything added so far is in it. Rejects with the error that prevents that.
   */
  upToDate(): Promise<ViewsDatabase>;
  /** The database, as up to date as possible. It can be read even where nothing can be written. */
  readable(): Promise<ViewsDatabase>;
  /** Those of the documents that are in no view and do not wait for one. */
  unknown(docs: readonly Doc[]): Promise<readonly Doc[]>;
  /** Documents that wait. */
  waiting(): number;
  /** Documents in the views or waiting. */
  documents(): number;
  /** Switches to another database that holds everything this one does. */
  swap(db: ViewsDatabase): Promise<void>;
  close(): void;
}

const lastOf = (doc: Doc) => (isKnown(doc) && doc.type === 'message' ? wholeAt(doc) : doc.at);
const greatest = (newest: string, docs: readonly Doc[]) =>
  docs.map(lastOf).reduce((held, at) => (at > held ? at : held), newest);

/**
 * Writes batches into the views in one transaction. Resolves with the number of new documents and
 * their approximate length.
 */
export async function applyBatches(
  db: ViewsDatabase,
  batches: readonly Batch[],
): Promise<{ readonly fresh: number; readonly chars: number }> {
  const tx = viewsTransaction(db);
  const write = async () => {
    const state = await tx.objectStore('state').get('state');
    // The journal may hold documents as an earlier version of the app wrote them.
    const docs: readonly Doc[] = batches.flatMap((batch) => batch.docs.map(asOfNow));
    const fresh = await unseen(tx, docs);
    const chars = await writeViews(tx, fresh);
    await tx.objectStore('state').put(
      {
        ready: state?.ready ?? false,
        applied: Math.max(state?.applied ?? 0, ...batches.map(({ seq }) => seq)),
        documents: (state?.documents ?? 0) + fresh.length,
        newest: greatest(state?.newest ?? '', fresh),
      },
      'state',
    );
    return { fresh: fresh.length, chars };
  };
  const [written, done] = await Promise.allSettled([write(), tx.done]);
  // The transaction's error names the cause, such as a full disk. The requests' errors only say
  // that they were aborted.
  if (done.status === 'rejected') throw done.reason;
  if (written.status === 'rejected') throw written.reason;
  return written.value;
}

export async function createViews(deps: ViewsDeps): Promise<Views> {
  let { db } = deps;
  let pending: Batch[] = [];
  let waiting = 0;
  const ids = new Set<string>();
  let { documents } = await readState(db);
  let closed = false;
  const burst = createBurst({
    after: deps.after,
    quietMs: LEDGER.viewsQuiet,
    mostMs: LEDGER.viewsMost,
    isBusy: deps.isAppending,
    run: () => startUnasked(),
  });

  /** The oldest batches that fit one transaction. */
  function nextBatches(): Batch[] {
    const taken: Batch[] = [];
    let size = 0;
    for (const batch of pending) {
      if (taken.length > 0 && size + batch.docs.length > LEDGER.viewsBatch) break;
      size += batch.docs.length;
      taken.push(batch);
    }
    return taken;
  }

  const work = singleFlight(async () => {
    while (pending.length > 0) {
      const batches = nextBatches();
      const size = batches.reduce((sum, { docs }) => sum + docs.length, 0);
      const { fresh, chars } = await applyBatches(db, batches);
      documents += fresh - size;
      pending = pending.slice(batches.length);
      waiting -= size;
      for (const { docs } of batches) for (const { _id } of docs) ids.delete(_id);
      deps.onApplied({ upTo: batches.at(-1)?.seq ?? 0, docs: size, chars });
    }
    deps.onOutcome(null);
  });

  function start(): Promise<void> {
    burst.clear();
    return work();
  }

  function startUnasked() {
    start().catch((error: unknown) => {
      deps.onOutcome(error);
      if (!closed) burst.within(LEDGER.commitRetry);
    });
  }

  const upToDate = async () => {
    while (pending.length > 0) await start();
    return db;
  };

  return {
    add(batch) {
      pending.push(batch);
      waiting += batch.docs.length;
      documents += batch.docs.length;
      for (const { _id } of batch.docs) ids.add(_id);
      if (closed) return;
      if (waiting >= LEDGER.viewsWait) {
        startUnasked();
        return;
      }
      burst.add();
    },
    upToDate,
    async readable() {
      try {
        return await upToDate();
      } catch (error) {
        deps.onOutcome(error);
        return db;
      }
    },
    async unknown(docs) {
      if (docs.length === 0) return docs;
      const waits = docs.map(({ _id }) => ids.has(_id));
      const areHeld = await holds(
        db.transaction([...new Set(docs.map(storeOf))], 'readonly'),
        docs.map((doc) => ({ store: storeOf(doc), id: doc._id })),
      );
      return docs.filter((_doc, i) => !areHeld[i] && !waits[i]);
    },
    waiting: () => waiting,
    documents: () => documents,
    async swap(next) {
      await upToDate();
      const old = db;
      db = next;
      documents = (await readState(db)).documents + waiting;
      old.close();
    },
    close() {
      closed = true;
      burst.clear();
      db.close();
    },
  };
}
