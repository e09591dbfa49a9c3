/**
 * Pages through all documents of the views, and compares documents from elsewhere with them. Used
 * for copies.
 */
import { appearanceOf } from '../../../shared/domain/choices.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown, kindOf, storeOf } from '../../../shared/protocol/documents/kinds.ts';
import type { Comparison, DocumentPage } from '../../../shared/protocol/worker.ts';
import { isDeepEqual } from '../equal.ts';
import type { ViewsDatabase } from './database.ts';
import { LEDGER } from '../settings.ts';
import { DOCUMENT_STORES } from './write.ts';

/** Sorts after every id. */
const AFTER_ALL = '\uffff';
/** Records that are read at once when looking for those of one agent. */
const STRIDE = 500;

/**
 * Does the document belong to this agent: about it, its appearance, its conversation, or a session
 * that it took part in?
 */
const belongsTo = (doc: Doc, agentId: AgentId, sessions: ReadonlySet<unknown>) =>
  doc['agentId'] === agentId ||
  (isKnown(doc) && doc.type === 'setting' && appearanceOf(doc) === agentId) ||
  (kindOf(doc.type)?.whose === 'everybody' && sessions.has(doc['sessionId']));

/** `after`: `<store>|<_id>` of the last document before this page. */
export async function readDocuments(
  db: ViewsDatabase,
  { after, limit, agentId }: { after: string | null; limit: number; agentId: AgentId | null },
  of: number,
): Promise<DocumentPage> {
  const tx = db.transaction([...DOCUMENT_STORES, 'talks' as const]);
  const sessions = new Set<unknown>(
    agentId === null
      ? []
      : (await tx.objectStore('talks').getAll(IDBKeyRange.bound([agentId], [agentId, AFTER_ALL]))).map(
          ({ sessionId }) => sessionId,
        ),
  );
  const cut = after?.indexOf('|') ?? -1;
  const begun = after === null ? null : after.slice(0, cut);
  const docs: Doc[] = [];
  let last = after;
  for (const name of DOCUMENT_STORES.slice(
    begun === null
      ? 0
      : Math.max(
          0,
          DOCUMENT_STORES.findIndex((store) => store === begun),
        ),
  )) {
    let from = name === begun && after !== null ? after.slice(cut + 1) : '';
    while (docs.length < limit) {
      const range = IDBKeyRange.bound(from, AFTER_ALL, true);
      const most = agentId === null ? limit - docs.length : STRIDE;
      const records = await tx.objectStore(name).getAll(range, most);
      for (const { _id, doc } of records) {
        if (docs.length === limit) break;
        last = `${name}|${_id}`;
        from = _id;
        if (agentId === null || belongsTo(doc, agentId, sessions)) docs.push(doc);
      }
      if (records.length < most) break;
    }
    if (docs.length === limit) return { docs, after: last, of };
  }
  return { docs, after: null, of };
}

/** How many documents have a text, by kind. */
export async function countWith(
  db: ViewsDatabase,
  has: (text: string) => boolean,
): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  let after: string | null = null;
  do {
    const page: DocumentPage = await readDocuments(db, { after, limit: LEDGER.rebuildBatch, agentId: null }, 0);
    for (const doc of page.docs) if (has(JSON.stringify(doc))) counts[doc.type] = (counts[doc.type] ?? 0) + 1;
    ({ after } = page);
  } while (after !== null);
  return counts;
}

/** Writes nothing. `isForgotten`: was this document forgotten here for good? */
export async function compareDocuments(
  db: ViewsDatabase,
  docs: readonly Doc[],
  isForgotten: (doc: Doc) => boolean,
): Promise<Comparison> {
  const taken = docs.filter((doc) => !isForgotten(doc));
  const tx = db.transaction([...DOCUMENT_STORES]);
  const stored = await Promise.all(taken.map((doc) => tx.objectStore(storeOf(doc)).get(doc._id)));
  const fresh: string[] = [];
  const different: string[] = [];
  let same = 0;
  taken.forEach((doc, i) => {
    const here = stored[i]?.doc;
    if (here === undefined) fresh.push(doc._id);
    else if (isDeepEqual(here, doc)) same += 1;
    else different.push(doc._id);
  });
  return { fresh, same, different, forgotten: docs.length - taken.length };
}

/** The place of a document in the views, and when it was written. */
export interface DocumentKey {
  /** A store of the views. */
  readonly store: string;
  readonly id: string;
  readonly at: string;
}

/** The keys of all documents, oldest first. They fit into memory. */
export async function readKeys(db: ViewsDatabase): Promise<readonly DocumentKey[]> {
  const keys: DocumentKey[] = [];
  for (const store of DOCUMENT_STORES) {
    let from = '';
    for (;;) {
      const records = await db.getAll(store, IDBKeyRange.bound(from, AFTER_ALL, true), STRIDE);
      for (const { _id, doc } of records) keys.push({ store, id: _id, at: doc.at });
      from = records.at(-1)?._id ?? AFTER_ALL;
      if (records.length < STRIDE) break;
    }
  }
  return keys.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1));
}

/** The documents at these places, without those that are deleted meanwhile. */
export async function readAt(
  db: ViewsDatabase,
  keys: readonly Pick<DocumentKey, 'store' | 'id'>[],
): Promise<readonly Doc[]> {
  const tx = db.transaction([...DOCUMENT_STORES]);
  const records = await Promise.all(
    keys.map(async ({ store: name, id }) => {
      const store = DOCUMENT_STORES.find((one) => one === name);
      return store && (await tx.objectStore(store).get(id));
    }),
  );
  return records.flatMap((record) => (record ? [record.doc] : []));
}
