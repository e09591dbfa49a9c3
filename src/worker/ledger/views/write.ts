/**
 * Writes documents into views, inside the caller's transaction. Each document counts once, however
 * often it comes. The result does not depend on the order of documents.
 */
import { type IDBPTransaction, unwrap } from 'idb';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import { isAddressed, isActivity } from '../../../shared/domain/talk.ts';
import type {
  Doc,
  MessageDoc,
  MessageReadDoc,
  MessageWithdrawnDoc,
  QueuedMessageDoc,
} from '../../../shared/protocol/documents.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { settingsOf } from '../../../shared/domain/settings.ts';
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
import type {
  KindRecord,
  MessageRecord,
  ReplacementRecord,
  SlotRecord,
  TalkRecord,
  VIEW_STORES,
  ViewsDatabase,
  ViewsSchema,
  ViewsTransaction,
} from './database.ts';
import { newestFirst } from './read.ts';

// Facts about a message. Pure.

/** Did the message wait in an inbox? It then stands where its agent read it. */
export const isWaiting = (doc: MessageDoc): boolean => doc['waiting'] === true;

/** An empty summary of a session. */
const emptyTalk = (agentId: AgentId, sessionId: SessionId): TalkRecord => ({
  agentId,
  sessionId,
  messages: 0,
  said: 0,
  time: 0,
});

/** How many messages of a session count as said. A greeting alone does not count. */
const saidIn = (talk: TalkRecord | undefined): number => (talk?.full ? talk.said : 0);

/**
 * Adds a message to the summary of an agent's part in a session. The result does not depend on the
 * order.
 */
function withMessage(talk: TalkRecord, doc: MessageDoc): TalkRecord {
  const counted = { ...talk, messages: talk.messages + 1 };
  return isWaiting(doc) ? counted : grown(counted, doc, isAddressed(doc), isActivity(doc));
}

/** As `withMessage`, for a message that waited and was read in this session. */
const withRead = (talk: TalkRecord, doc: MessageReadDoc): TalkRecord => grown(talk, doc, true, false);

function grown(
  talk: TalkRecord,
  { at, time }: { readonly at: string; readonly time: number },
  addressed: boolean,
  deed: boolean,
): TalkRecord {
  const age = newestFirst(at);
  const isNewest = !talk.place || age <= talk.place[1];
  const place = [talk.agentId, isNewest ? age : (talk.place?.[1] ?? age)] as const;
  return {
    agentId: talk.agentId,
    sessionId: talk.sessionId,
    messages: talk.messages,
    said: talk.said + 1,
    time: Math.max(talk.time, time),
    place,
    ...(talk.full || addressed || deed ? { full: place } : { quiet: place }),
    ...(talk.addressed || addressed ? { addressed: place } : {}),
  };
}

// Edit-and-resend: a message that replaces another hides that one and all later ones of the same
// conversation, up to itself. Documents may arrive in any order. An edit whose target has not
// arrived waits for it. A late message inside a hidden stretch is hidden too.

/** Sorts after every stamp. */
const NEVER = '~';
/** Sorts after every stamp and every NEVER. */
const AFTER_ALL = '\uffff';

/** Edits that could hide a message of this agent with this stamp, or that wait for their target. */
function replacementsReaching(tx: ViewsTransaction, agentId: AgentId, at: string): Promise<ReplacementRecord[]> {
  return tx
    .objectStore('replacements')
    .index('reach')
    .getAll(IDBKeyRange.bound([agentId, at], [agentId, AFTER_ALL], true));
}

/**
 * Hides the messages from `from` (inclusive) until `until` (exclusive), and recounts their
 * sessions.
 */
async function hideStretch(tx: ViewsTransaction, agentId: AgentId, from: string, until: string) {
  const messages = tx.objectStore('messages');
  // The index sorts newest first. The stretch lies between the complements of `until` and `from`.
  const stretch = IDBKeyRange.bound([agentId, newestFirst(until)], [agentId, newestFirst(from), AFTER_ALL]);
  const shown = await messages.index('place').getAll(stretch);
  const hidden = shown.filter(({ doc }) => doc.at >= from && doc.at < until);
  for (const { _id, doc, clientId } of hidden)
    await messages.put({
      _id,
      doc,
      hidden: [agentId, doc.at, _id],
      ...(clientId === undefined ? {} : { clientId }),
    });
  for (const sessionId of new Set(hidden.map(({ doc }) => doc.sessionId)))
    if (sessionId !== null) await recount(tx, agentId, sessionId);
}

async function recount(tx: ViewsTransaction, agentId: AgentId, sessionId: SessionId) {
  const range = IDBKeyRange.bound([sessionId, agentId], [sessionId, agentId, AFTER_ALL]);
  const talks = tx.objectStore('talks');
  const [shown, read, held] = await Promise.all([
    tx.objectStore('messages').index('talk').getAll(range),
    tx.objectStore('reads').index('talk').getAll(range),
    talks.get([agentId, sessionId]),
  ]);
  const none = emptyTalk(agentId, sessionId);
  const talk = read.reduce(
    (sum, { doc }) => withRead(sum, doc),
    shown.reduce((sum, { doc }) => withMessage(sum, doc), none),
  );
  await talks.put(talk);
  await addSaid(tx, agentId, saidIn(talk) - saidIn(held));
}

/** Changes the number of visible messages that were put before an agent. */
async function addSaid(tx: ViewsTransaction, agentId: AgentId, more: number) {
  const totals = tx.objectStore('totals');
  if (more !== 0) await totals.put({ agentId, said: ((await totals.get(agentId))?.said ?? 0) + more });
}

/** Records the edit that this message is. Its target may be stored, or not have arrived yet. */
async function addReplacement(tx: ViewsTransaction, doc: MessageDoc, replaces: string) {
  const { _id, agentId, at: until } = doc;
  const target: MessageRecord | undefined = await tx.objectStore('messages').get(`message:${replaces}`);
  // An edit applies only to its own conversation. Otherwise the result would depend on the order of
  // arrival.
  const from = target?.doc.agentId === agentId ? target.doc.at : null;
  const reach = [agentId, from === null ? NEVER : until] as const;
  await tx.objectStore('replacements').put({ _id, agentId, replaces, from, until, reach });
  if (from !== null) await hideStretch(tx, agentId, from, until);
}

/** Sorts right after a stamp, before all longer keys. */
const RIGHT_AFTER = '!';

/** The person withdrew a single message. No other message has its stamp. */
async function addWithdrawal(tx: ViewsTransaction, { _id, agentId }: MessageWithdrawnDoc, of: string) {
  const until = `${of}${RIGHT_AFTER}`;
  await tx.objectStore('replacements').put({ _id, agentId, replaces: '', from: of, until, reach: [agentId, until] });
  await hideStretch(tx, agentId, of, until);
}

/** Hides a new message where edits reach past it. */
async function applyReplacements(tx: ViewsTransaction, doc: MessageDoc, reaching: readonly ReplacementRecord[]) {
  for (const edit of reaching) {
    const isTarget = edit.from === null && edit.replaces === doc.messageId;
    const from = isTarget ? doc.at : edit.from;
    if (isTarget) await tx.objectStore('replacements').put({ ...edit, from, reach: [edit.agentId, edit.until] });
    if (from !== null && from <= doc.at) await hideStretch(tx, edit.agentId, from, edit.until);
  }
}

// Sends many requests in one transaction without a promise for each. At thousands of documents a
// second, promises cost as much as the requests. A failed request aborts the transaction and
// rejects its `done`.

type StoreName = (typeof VIEW_STORES)[number];

/** Puts records in order. Later requests of the transaction see them. */
function putAll<Name extends StoreName>(
  tx: ViewsTransaction,
  name: Name,
  records: Iterable<ViewsSchema[Name]['value']>,
): void {
  const store = unwrap(tx).objectStore(name);
  for (const record of records) store.put(record);
}

/** For each id, whether its store holds it. */
export function holds(
  tx: ViewsTransaction | IDBPTransaction<ViewsSchema, StoreName[]>,
  keys: readonly { readonly store: StoreName; readonly id: string }[],
): Promise<boolean[]> {
  if (keys.length === 0) return Promise.resolve([]);
  const raw: IDBTransaction = unwrap(tx);
  return new Promise((resolve, reject) => {
    const areHeld: boolean[] = [];
    let open = keys.length;
    keys.forEach(({ store, id }, i) => {
      const request = raw.objectStore(store).getKey(id);
      request.onsuccess = () => {
        areHeld[i] = request.result !== undefined;
        open -= 1;
        if (open === 0) resolve(areHeld);
      };
      request.onerror = () => reject(request.error ?? new Error('A view could not be asked.'));
    });
  });
}

// The summary of each agent's last conversation. Another device compares it with its own to see
// whether it has all of it.

/**
 * The last session in which something was addressed to an agent. Where nothing ever was, the
 * agent's last session.
 */
export interface LastTalk {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  /** Its visible messages. */
  readonly messages: number;
}

/** Of every agent that ever was in a session. */
export async function readLastTalks(db: ViewsDatabase): Promise<readonly LastTalk[]> {
  const store = db.transaction('talks').objectStore('talks');
  const last = new Map<string, LastTalk>();
  for (const name of ['place', 'addressed'] as const) {
    // The indexes sort by agent, then newest first. The first record of each agent is the result.
    for (let cursor = await store.index(name).openCursor(); cursor;) {
      const { agentId, sessionId, messages } = cursor.value;
      last.set(agentId, { agentId, sessionId, messages });
      cursor = await cursor.continue([agentId, AFTER_ALL]);
    }
  }
  return [...last.values()];
}

/** The number of messages of these conversations that are here, in the same order. */
export async function countTalks(
  db: ViewsDatabase,
  talks: readonly Pick<LastTalk, 'agentId' | 'sessionId'>[],
): Promise<readonly number[]> {
  const store = db.transaction('talks').objectStore('talks');
  return Promise.all(
    talks.map(async ({ agentId, sessionId }) => (await store.get([agentId, sessionId]))?.messages ?? 0),
  );
}

// A short description of the household, by which a person recognises a lost one.

export interface TeamCount {
  /** What the agents call the person. Null: not known yet. */
  readonly human: string | null;
  /** Null: no agent has been created yet. */
  readonly lead: string | null;
  readonly agents: number;
  readonly documents: number;
}

export async function readTeam(db: ViewsDatabase, documents: number): Promise<TeamCount> {
  const tx = db.transaction(['identities', 'settings']);
  const [identities, settings] = await Promise.all([
    tx.objectStore('identities').getAll(),
    tx.objectStore('settings').index('slot').getAll(),
  ]);
  const { humanName, leadName } = settingsOf(settings.map(({ doc }) => ({ ...doc, id: doc._id })));
  const ids = new Set(identities.map(({ doc }) => doc.agentId));
  const led = ids.delete(LEAD_ID);
  return { human: humanName === '' ? null : humanName, lead: led ? leadName : null, agents: ids.size, documents };
}

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
  const areHeld = await holds(
    tx,
    distinct.map((doc) => ({ store: storeOf(doc), id: doc._id })),
  );
  return distinct.filter((_doc, i) => !areHeld[i]);
}

/**
 * Puts documents that no view holds into the views, and counts them. Resolves with their length as
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
    const count = added.get(doc.type) ?? { type: doc.type, documents: 0, chars: 0 };
    added.set(doc.type, {
      type: doc.type,
      documents: count.documents + 1,
      chars: count.chars + JSON.stringify(doc).length,
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

/** Writes a document. Of it and the current holder of its slot, the winner gets the slot. */
async function writeOne(tx: ViewsTransaction, doc: Doc) {
  // One code path for every store. The kind of the document determines which keys its records have.
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

/** A message that waited counts for the session in which it was put before its agent. */
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
 * Applies a withdrawal. A queued message is no longer sent. A message that a relay had taken is
 * hidden, and only that one.
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

/** Writes many messages with as few waits as possible. Every streamed answer ends here. */
async function writeMessages(tx: ViewsTransaction, docs: readonly MessageDoc[]) {
  const talks = tx.objectStore('talks');
  const queued = tx.objectStore('queued');

  const agents = new Map<string, string>();
  const parts = new Map<string, { agentId: AgentId; sessionId: SessionId }>();
  for (const { agentId, sessionId, at } of docs) {
    const earliest = agents.get(agentId);
    if (earliest === undefined || at < earliest) agents.set(agentId, at);
    // A message without a session belongs to no agent's part in one.
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
