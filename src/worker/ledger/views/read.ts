/**
 * The page's reads, from the views alone. Each costs as much as its result, not as much as the
 * ledger's size.
 */
import { byAge } from '../../../shared/protocol/documents/kind.ts';
import type { IDBPIndex, StoreNames } from 'idb';
import type { Stamp } from '../../../shared/domain/stamp.ts';
import type { Doc, ForgetDoc, ForgetUndoDoc, MessageDoc } from '../../../shared/protocol/documents.ts';
import type {
  ChangeLogView,
  ConversationPage,
  HouseholdView,
  LoggedChange,
  WorkerCalls,
  UnreadRow,
  UnreadView,
  WithinPage,
} from '../../../shared/protocol/worker.ts';
import { type Attachment, pieceId, piecesOf } from '../../../shared/domain/attachment.ts';
import { isCovered, isKnown, slotOf } from '../../../shared/protocol/documents/kinds.ts';
import { finalForgets, forgottenAgents, pendingForgets } from '../../../shared/domain/forgetting.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import {
  foldReadMarks,
  isNews,
  readMarkOf,
  readUpTo,
  UNREAD_MOST,
  wholeAt,
} from '../../../shared/domain/read-marks.ts';
import { LEDGER } from '../settings.ts';
import { LOGGED_STORES, type MessageRecord, type ViewsDatabase, type ViewsSchema } from './database.ts';

// Keys that sort newest first. IndexedDB returns many records at once only in ascending order, so
// the indexes hold the complement of each stamp's digits.

/**
 * A key that sorts against time: each digit of the stamp's time and counter is subtracted from 9.
 */
export function newestFirst(stamp: Stamp): string {
  return stamp.slice(0, 22).replace(/\d/g, (digit) => String(9 - Number(digit)));
}

/** The documents about one thing, page by page: the messages of a thread, for example. */
export async function readWithin(
  db: ViewsDatabase,
  { about, after, limit }: Parameters<WorkerCalls['within']>[0],
): Promise<WithinPage> {
  const index = db.transaction('records').objectStore('records').index('about');
  const of = await index.count(about);
  const docs: Doc[] = [];
  if (limit === 0) return { docs, after: null, of };
  let cursor = await index.openCursor(about);
  if (cursor && after !== null && cursor.primaryKey < after) cursor = await cursor.continuePrimaryKey(about, after);
  if (cursor && cursor.primaryKey === after) cursor = await cursor.continue();
  while (cursor && docs.length < limit) {
    docs.push(cursor.value.doc);
    cursor = await cursor.continue();
  }
  return { docs, after: cursor ? (docs.at(-1)?._id ?? null) : null, of };
}

// Reads the bytes of an attachment from its stored pieces.

/** In base64. Null: not all pieces are on this device. */
export async function readAttachment(
  db: ViewsDatabase,
  file: Pick<Attachment, 'attachmentId' | 'bytes'>,
): Promise<string | null> {
  const store = db.transaction('records').objectStore('records');
  const held = await Promise.all(
    Array.from({ length: piecesOf(file) }, (_none, index) => store.get(pieceId(file, index))),
  );
  const pieces = held.flatMap((record) =>
    record && isKnown(record.doc) && record.doc.type === 'attachment' ? [record.doc.data] : [],
  );
  return pieces.length === held.length ? pieces.join('') : null;
}

/** Sorts after every stamp and id. */
export const AFTER_ALL = '\uffff';

export const docsOf = <D>(records: readonly { readonly doc: D }[]): D[] => records.map(({ doc }) => doc);

/** Settings and changes: only those in force. */
export async function readHousehold(db: ViewsDatabase, now: number): Promise<HouseholdView> {
  const tx = db.transaction(['identities', 'changes', 'settings', 'records', 'queued', 'forgets', 'state']);
  const [identities, changes, settings, records, queued, forgets, state] = await Promise.all([
    tx.objectStore('identities').getAll(),
    tx.objectStore('changes').index('slot').getAll(),
    tx.objectStore('settings').index('slot').getAll(),
    tx.objectStore('records').index('slot').getAll(),
    tx.objectStore('queued').index('open').getAll(),
    tx.objectStore('forgets').getAll(),
    tx.objectStore('state').get('state'),
  ]);
  const { asked, undone } = splitForgets(docsOf(forgets));
  const forgetting = pendingForgets(asked, undone, now);
  const final = finalForgets(asked, undone, now);
  return {
    identities: docsOf(identities),
    changes: docsOf(changes),
    settings: docsOf(settings).filter((doc) => readMarkOf(doc) === null),
    records: docsOf(records).filter((doc) => !forgetting.some((forget) => isCovered(doc, forget))),
    queued: docsOf(queued)
      .filter((doc) => !forgetting.some((forget) => isCovered(doc, forget)))
      .sort(byAge),
    forgetting,
    forgotten: forgottenAgents(final),
    forgets: final,
    newest: state?.newest ?? '',
  };
}

/** Separates forget requests from those that undo them. */
export function splitForgets(docs: readonly (ForgetDoc | ForgetUndoDoc)[]): {
  asked: ForgetDoc[];
  undone: ForgetUndoDoc[];
} {
  return {
    asked: docs.flatMap((doc) => (doc.type === 'forget' ? [doc] : [])),
    undone: docs.flatMap((doc) => (doc.type === 'forget-undo' ? [doc] : [])),
  };
}

/**
 * The stamp before which a conversation is hidden, because it is to be forgotten. '' where nothing
 * is.
 */
export function hiddenBefore(
  forgets: readonly { readonly doc: ForgetDoc | ForgetUndoDoc }[],
  agentId: AgentId,
  now: number,
): string {
  const { asked, undone } = splitForgets(docsOf(forgets));
  const stamps = pendingForgets(asked, undone, now).flatMap(({ target, at }) =>
    target.agentId === agentId && target.kind === 'conversation' ? [at] : [],
  );
  return stamps.reduce((latest, at) => (at > latest ? at : latest), '');
}

/** A run has one document for its start and one for its end. */
export const RUN_PHASES = ['start', 'end'] as const;

/** The end of a range of newest-first keys, which excludes hidden messages. */
export const beginning = (hidden: string) => (hidden === '' ? AFTER_ALL : newestFirst(hidden));

/** `before`: where the page ends, as `<newest-first stamp>|<_id>` of its oldest message. */
export async function readConversation(
  db: ViewsDatabase,
  { agentId, before, limit }: { agentId: AgentId; before: string | null; limit: number },
  now: number,
): Promise<ConversationPage> {
  const tx = db.transaction(['messages', 'sessions', 'records', 'reads', 'forgets']);
  const hidden = hiddenBefore(await tx.objectStore('forgets').getAll(), agentId, now);
  const cut = before === null ? -1 : before.indexOf('|');
  const after = cut < 0 || before === null ? [agentId] : [agentId, before.slice(0, cut), before.slice(cut + 1)];
  const end = beginning(hidden);
  // The page is of a conversation that was hidden meanwhile.
  if ((after[1] ?? '') >= end) return { messages: [], sessions: [], runs: [], read: [], before: null };
  const range = IDBKeyRange.bound(after, [agentId, end], true);
  const rows = await tx
    .objectStore('messages')
    .index('place')
    .getAll(range, limit + 1);
  const page = rows.slice(0, limit);
  const oldest = page.at(-1)?.place;
  const messages = docsOf(page).reverse();
  const waited = messages.filter((doc) => doc['waiting'] === true);
  const alone = messages.flatMap(({ sessionId, runId }) => (sessionId === null && runId !== undefined ? [runId] : []));
  const [sessions, runs, reads] = await Promise.all([
    Promise.all(
      [...new Set(messages.flatMap((doc) => doc.sessionId ?? []))].map((id) =>
        tx.objectStore('sessions').index('sessionId').getAll(id),
      ),
    ),
    Promise.all(
      [...new Set(alone)].flatMap((id) =>
        RUN_PHASES.map((phase) => tx.objectStore('records').get(`run:${id}:${phase}`)),
      ),
    ),
    Promise.all(waited.map((doc) => tx.objectStore('reads').get(`message-read:${doc.messageId}`))),
  ]);
  return {
    messages,
    sessions: docsOf(sessions.flat()).sort(byAge),
    runs: runs.flatMap((record) => (record && isKnown(record.doc) && record.doc.type === 'run' ? [record.doc] : [])),
    read: reads.flatMap((record) => (record ? [record.doc.messageId] : [])),
    before: rows.length > limit && oldest ? `${oldest[1]}|${oldest[2]}` : null,
  };
}

/** Ids of all agents with a visible message, including a greeting. Reads one key for each agent. */
async function whoHasMessages(
  place: Pick<IDBPIndex<ViewsSchema, StoreNames<ViewsSchema>[], 'messages', 'place'>, 'openKeyCursor'>,
): Promise<readonly string[]> {
  const agents: string[] = [];
  for (let range: IDBKeyRange | null = null; ;) {
    const cursor: { readonly key: readonly string[] } | null = await place.openKeyCursor(range);
    const agentId = cursor?.key[0];
    if (agentId === undefined) return agents;
    agents.push(agentId);
    range = IDBKeyRange.lowerBound([agentId, AFTER_ALL], true);
  }
}

const later = (a: string | null, b: string): string => (a === null || b > a ? b : a);

/**
 * The answer that had begun by this stamp and was complete after it. Null: there is none. An agent
 * writes one answer after the other, so it is the first one completed after the stamp.
 */
async function answerAcross(
  whole: Pick<IDBPIndex<ViewsSchema, StoreNames<ViewsSchema>[], 'messages', 'whole'>, 'openCursor'>,
  agentId: AgentId,
  stamp: string,
): Promise<MessageRecord | null> {
  const range = IDBKeyRange.bound([agentId], [agentId, newestFirst(stamp)], false, true);
  const first = (await whole.openCursor(range, 'prev'))?.value;
  return first && first.doc.at <= stamp ? first : null;
}

/** The unread messages of every conversation, and how far the person has read in threads. */
export async function readUnread(db: ViewsDatabase, now: number): Promise<UnreadView> {
  const tx = db.transaction(['settings', 'messages', 'forgets', 'state']);
  const [settings, agents, forgets, state] = await Promise.all([
    tx.objectStore('settings').index('slot').getAll(),
    whoHasMessages(tx.objectStore('messages').index('place')),
    tx.objectStore('forgets').getAll(),
    tx.objectStore('state').get('state'),
  ]);
  const marks = foldReadMarks(docsOf(settings));
  const { asked, undone } = splitForgets(docsOf(forgets));
  const forgetting = pendingForgets(asked, undone, now);
  const newSince = async (agentId: AgentId, upTo: string | null): Promise<UnreadRow> => {
    if (upTo === null) return { agentId, upTo, unread: 0, newest: null };
    const end = [agentId, newestFirst(upTo), AFTER_ALL];
    const index = tx.objectStore('messages').index('place');
    const isNew = ({ doc }: MessageRecord) =>
      wholeAt(doc) > upTo && isNews(doc) && !forgetting.some((forget) => isCovered(doc, forget));
    const news: MessageRecord[] = [];
    for (let after: readonly string[] = [agentId]; ;) {
      const part: MessageRecord[] = await index.getAll(IDBKeyRange.bound(after, end, true), LEDGER.unreadStride);
      news.push(...part.filter((record) => record.doc.at > upTo && isNew(record)));
      const last = part.at(-1)?.place;
      if (part.length < LEDGER.unreadStride || !last || news.length >= UNREAD_MOST) break;
      after = last;
    }
    const across = await answerAcross(tx.objectStore('messages').index('whole'), agentId, upTo);
    if (across && isNew(across)) news.push(across);
    return {
      agentId,
      upTo,
      unread: Math.min(news.length, UNREAD_MOST),
      newest: news.reduce<string | null>((last, { doc }) => later(last, wholeAt(doc)), null),
    };
  };
  const conversations = await Promise.all(agents.map((agentId) => newSince(agentId, readUpTo(marks, agentId))));
  return { since: marks.since, conversations, threads: marks.byThread, newest: state?.newest ?? '' };
}

/** What was said that this request would cover. */
export async function readCovered(
  db: ViewsDatabase,
  forget: Parameters<WorkerCalls['covered']>[0],
): Promise<ReturnType<WorkerCalls['covered']>> {
  const agentIds = new Set<AgentId>();
  const summaries: { agentId: AgentId; time: number; text: string }[] = [];
  let messages = 0;
  for await (const docs of allMessages(db))
    for (const doc of docs) {
      if (!isCovered(doc, forget)) continue;
      messages += 1;
      agentIds.add(doc.agentId);
      if (doc.compaction) summaries.push({ agentId: doc.agentId, time: doc.time, text: textOf(doc.blocks) });
    }
  return { messages, agentIds: [...agentIds], summaries };
}

/** Every message, in batches. */
async function* allMessages(db: ViewsDatabase): AsyncGenerator<readonly MessageDoc[]> {
  for (let last = ''; ;) {
    const batch = await db.getAll('messages', IDBKeyRange.lowerBound(last, true), LEDGER.rebuildBatch);
    yield docsOf(batch);
    last = batch.at(-1)?.doc._id ?? last;
    if (batch.length < LEDGER.rebuildBatch) return;
  }
}

/** A summary has what was said before it in its session or run. */
export async function readMentioning(
  db: ViewsDatabase,
  { what, text }: Parameters<WorkerCalls['mentioning']>[0],
): Promise<ReturnType<WorkerCalls['mentioning']>> {
  const plain = JSON.stringify(text.toLowerCase()).slice(1, -1);
  const isMeant = ({ blocks }: MessageDoc) =>
    what === 'tool'
      ? blocks.some((block) => block.kind === 'tool' && block.name === text)
      : JSON.stringify(blocks).toLowerCase().includes(plain);
  const ids: string[] = [];
  const summaries: MessageDoc[] = [];
  /** When it was mentioned first, by conversation. */
  const first = new Map<string, Stamp>();
  const placeOf = ({ agentId, sessionId, runId }: MessageDoc) => `${agentId} ${sessionId ?? runId ?? ''}`;
  for await (const docs of allMessages(db))
    for (const doc of docs) {
      if (doc.compaction) summaries.push(doc);
      else if (isMeant(doc)) {
        ids.push(doc._id);
        const before = first.get(placeOf(doc));
        if (before === undefined || doc.at < before) first.set(placeOf(doc), doc.at);
      }
    }
  const meant = summaries.filter((doc) => isMeant(doc) || (first.get(placeOf(doc)) ?? AFTER_ALL) < doc.at);
  return {
    ids: [...ids, ...meant.map(({ _id }) => _id)],
    messages: ids.length,
    agentIds: [],
    summaries: meant.map(({ agentId, time, blocks }) => ({ agentId, time, text: textOf(blocks) })),
  };
}

// The log of the person's changes, newest first. Each entry has the value before it and the value
// now in force.

/** At most `limit` entries. Leaves out changes of agents that are being forgotten. */
export async function readChangeLog(db: ViewsDatabase, limit: number, now: number): Promise<ChangeLogView> {
  const stores = [...LOGGED_STORES, 'forgets'] as const;
  const tx = db.transaction(stores);
  const [forgets, ...found] = await Promise.all([
    tx.objectStore('forgets').getAll(),
    ...LOGGED_STORES.map(async (name) => {
      const records = await tx
        .objectStore(name)
        .index('changed')
        .getAll(null, limit + 1);
      return records.map(({ doc }) => ({ name, doc, age: `${newestFirst(doc.at)} ${doc._id}` }));
    }),
  ]);
  const { asked, undone } = splitForgets(forgets.map(({ doc }) => doc));
  const forgetting = pendingForgets(asked, undone, now);
  const newest = found.flat().sort((a, b) => (a.age < b.age ? -1 : 1));
  const shown = newest.slice(0, limit).filter(({ doc }) => !forgetting.some((forget) => isCovered(doc, forget)));
  const changes = await Promise.all(
    shown.map(async ({ name, doc }): Promise<LoggedChange> => {
      const slot = slotOf(doc) ?? '';
      const past = tx.objectStore(name).index('past');
      const [before, holds] = await Promise.all([
        past.get(IDBKeyRange.bound([slot, newestFirst(doc.at), doc._id], [slot, AFTER_ALL], true)),
        tx.objectStore(name).index('slot').get(slot),
      ]);
      return { doc, before: before?.doc ?? null, holds: holds?.doc ?? doc };
    }),
  );
  return { changes, more: newest.length > limit };
}
