/**
 * What the search reads from the views: which documents there are, and which of the found ones are
 * visible.
 */
import { pendingForgets } from '../../../shared/domain/forgetting.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { DocumentStore } from '../../../shared/protocol/documents/kind.ts';
import { isCovered, isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { ViewsDatabase } from './database.ts';
import { splitForgets } from './read.ts';
import { DOCUMENT_STORES } from './write.ts';

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
    const known =
      titles.get(threadId) ??
      newest.get(`thread ${threadId}`).then((record) => {
        const doc = record?.doc;
        return doc && isKnown(doc) && doc.type === 'thread' ? doc.value.title : null;
      });
    titles.set(threadId, known);
    return known;
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
