/**
 * Documents into views, inside a transaction of the caller's. Every document is taken once,
 * whatever the order and however often it comes; the views come out the same for every order.
 */
import { unwrap } from 'idb';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type {
  Doc,
  MessageDoc,
  MessageReadDoc,
  MessageWithdrawnDoc,
  QueuedMessageDoc,
} from '../../../shared/protocol/documents.ts';
import {
  aboutOf,
  changedBy,
  isKnown,
  queuedWithdrawnId,
  slotOf,
  storeOf,
  wins,
} from '../../../shared/protocol/documents/kinds.ts';
import type { DocumentStore } from '../../../shared/protocol/documents/kind.ts';
import type { KindRecord, MessageRecord, SlotRecord, TalkRecord, ViewsTransaction } from './database.ts';
import { addReplacement, addSaid, addWithdrawal, applyReplacements, replacementsReaching } from './hide.ts';
import { emptyTalk, saidIn, withMessage, withRead } from './message.ts';
import { newestFirst } from './order.ts';
import { holds, putAll } from './requests.ts';

export const DOCUMENT_STORES: readonly DocumentStore[] = [
  'identities',
  'changes',
  'settings',
  'sessions',
  'messages',
  'queued',
  'reads',
  'forgets',
  'records',
];

/** Those of the documents that no view holds, each once. */
export async function unseen(tx: ViewsTransaction, docs: readonly Doc[]): Promise<readonly Doc[]> {
  const distinct = [...new Map(docs.map((doc) => [doc._id, doc])).values()];
  const held = await holds(
    tx,
    distinct.map((doc) => ({ store: storeOf(doc), id: doc._id })),
  );
  return distinct.filter((_doc, i) => !held[i]);
}

/**
 * Puts documents that no view holds into the views, and counts them. Answers how long they are as
 * JSON, in characters.
 */
export async function writeViews(tx: ViewsTransaction, fresh: readonly Doc[]): Promise<number> {
  const counted = countKinds(tx, fresh);
  const messages: MessageDoc[] = [];
  for (const doc of fresh) {
    if (!isKnown(doc)) await writeOne(tx, doc);
    else if (doc.type === 'message') messages.push(doc);
    else if (doc.type === 'queued-message') await writeQueued(tx, doc);
    else if (doc.type === 'message-read') await writeRead(tx, doc);
    else if (doc.type === 'message-withdrawn') await writeWithdrawn(tx, doc);
    else await writeOne(tx, doc);
  }
  if (messages.length > 0) await writeMessages(tx, messages);
  return counted;
}

async function countKinds(tx: ViewsTransaction, fresh: readonly Doc[]): Promise<number> {
  const store = tx.objectStore('kinds');
  const added = new Map<string, KindRecord>();
  for (const doc of fresh) {
    const held = added.get(doc.type) ?? { type: doc.type, documents: 0, chars: 0 };
    added.set(doc.type, {
      type: doc.type,
      documents: held.documents + 1,
      chars: held.chars + JSON.stringify(doc).length,
    });
  }
  await Promise.all(
    [...added.values()].map(async ({ type, documents, chars }) => {
      const held = await store.get(type);
      await store.put({ type, documents: (held?.documents ?? 0) + documents, chars: (held?.chars ?? 0) + chars });
    }),
  );
  return [...added.values()].reduce((sum, { chars }) => sum + chars, 0);
}

/** Of the document and the one that held its slot until now, the one that wins gets the slot. */
async function writeOne(tx: ViewsTransaction, doc: Doc) {
  // One way for every store: which records stand in it, its kind says.
  const store: IDBObjectStore = unwrap(tx).objectStore(storeOf(doc));
  const keys = {
    ...(doc.type === 'session' ? { sessionId: doc['sessionId'] } : {}),
    ...(store.name === 'records' ? { about: aboutOf(doc) ?? undefined } : {}),
  };
  const slot = slotOf(doc);
  const by = slot === null ? null : changedBy(doc);
  const age = newestFirst(doc.at);
  const logged = {
    ...(by === null ? {} : { past: [slot, age, doc._id] }),
    ...(by === 'person' ? { changed: [age, doc._id] } : {}),
  };
  const held = slot === null ? undefined : await heldIn(store.index('slot'), slot);
  const isHolding = slot !== null && (!held || wins(doc, held.doc));
  if (isHolding && held) store.put({ ...held, slot: undefined });
  store.put({ _id: doc._id, doc, ...keys, ...logged, ...(isHolding ? { slot } : {}) });
}

/** The record that holds a slot. */
const heldIn = (index: IDBIndex, slot: string): Promise<SlotRecord<Doc> | undefined> =>
  new Promise((resolve, reject) => {
    const request: IDBRequest<SlotRecord<Doc> | undefined> = index.get(slot);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('A view could not be asked.'));
  });

/** What waited counts for the session in which it was put before its agent. */
async function writeRead(tx: ViewsTransaction, doc: MessageReadDoc) {
  const { _id, agentId, sessionId } = doc;
  if (sessionId === null) {
    await tx.objectStore('reads').put({ _id, doc });
    return;
  }
  const talks = tx.objectStore('talks');
  await tx.objectStore('reads').put({ _id, doc, talk: [sessionId, agentId, newestFirst(doc.at), _id] });
  const held = await talks.get([agentId, sessionId]);
  const talk = withRead(held ?? emptyTalk(agentId, sessionId), doc);
  await talks.put(talk);
  await addSaid(tx, agentId, saidIn(talk) - saidIn(held));
}

/**
 * What was taken back while it was queued goes out no more; what a relay had taken is out of sight,
 * it alone.
 */
async function writeWithdrawn(tx: ViewsTransaction, doc: MessageWithdrawnDoc) {
  await writeOne(tx, doc);
  const queued = tx.objectStore('queued');
  for (const { _id, doc: held, clientId } of await queued.index('clientId').getAll(doc.clientId))
    await queued.put({ _id, doc: held, clientId });
  if (doc.of !== undefined) await addWithdrawal(tx, doc, doc.of);
}

async function writeQueued(tx: ViewsTransaction, doc: QueuedMessageDoc) {
  const { _id, clientId } = doc;
  const [message, withdrawn] = await Promise.all([
    tx.objectStore('messages').index('clientId').getKey(clientId),
    tx.objectStore('records').getKey(queuedWithdrawnId(clientId)),
  ]);
  const taken = message ?? withdrawn;
  await tx.objectStore('queued').put({ _id, doc, clientId, ...(taken === undefined ? { open: 1 } : {}) });
}

/** Many at once, with as few waits as there can be: this is what every streamed answer ends in. */
async function writeMessages(tx: ViewsTransaction, docs: readonly MessageDoc[]) {
  const talks = tx.objectStore('talks');
  const queued = tx.objectStore('queued');

  const agents = new Map<string, string>();
  const parts = new Map<string, { agentId: AgentId; sessionId: SessionId }>();
  for (const { agentId, sessionId, at } of docs) {
    const earliest = agents.get(agentId);
    if (earliest === undefined || at < earliest) agents.set(agentId, at);
    // What was said in no session is nobody's conversation of one.
    if (sessionId !== null) parts.set(JSON.stringify([agentId, sessionId]), { agentId, sessionId });
  }
  const [held, reaching, waiting] = await Promise.all([
    Promise.all([...parts.values()].map(({ agentId, sessionId }) => talks.get([agentId, sessionId]))),
    Promise.all([...agents].map(([agentId, at]) => replacementsReaching(tx, agentId, at))),
    Promise.all(docs.flatMap(({ clientId }) => (clientId === null ? [] : [queued.index('clientId').getAll(clientId)]))),
  ]);

  const records: MessageRecord[] = [];
  const counted = new Map<string, TalkRecord>();
  [...parts].forEach(([key, part], i) => counted.set(key, held[i] ?? emptyTalk(part.agentId, part.sessionId)));
  for (const doc of docs) {
    const { _id, agentId, sessionId, clientId, completedAt } = doc;
    const age = newestFirst(doc.at);
    records.push({
      _id,
      doc,
      place: [agentId, age, _id],
      ...(completedAt === undefined ? {} : { whole: [agentId, newestFirst(completedAt), _id] }),
      ...(sessionId === null ? {} : { talk: [sessionId, agentId, age, _id] }),
      ...(clientId === null ? {} : { clientId }),
    });
    if (sessionId === null) continue;
    const key = JSON.stringify([agentId, sessionId]);
    counted.set(key, withMessage(counted.get(key) ?? emptyTalk(agentId, sessionId), doc));
  }
  putAll(tx, 'messages', records);
  putAll(tx, 'talks', counted.values());
  putAll(
    tx,
    'queued',
    waiting.flat().map(({ _id, doc, clientId }) => ({ _id, doc, clientId })),
  );

  const added = new Map<string, number>();
  [...counted.values()].forEach((talk, i) =>
    added.set(talk.agentId, (added.get(talk.agentId) ?? 0) + saidIn(talk) - saidIn(held[i])),
  );
  for (const [agentId, more] of added) await addSaid(tx, agentId, more);

  for (const doc of docs) if (doc.replaces !== null) await addReplacement(tx, doc, doc.replaces);
  const edits = reaching.flat();
  if (edits.length > 0)
    for (const doc of docs)
      await applyReplacements(
        tx,
        doc,
        edits.filter((edit) => edit.agentId === doc.agentId),
      );
}
