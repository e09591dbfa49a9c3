/**
 * What the page reads, from views alone: each answer costs what it carries, not what lies behind
 * it.
 */
import type { IDBPIndex, StoreNames } from 'idb';
import { finalForgets, forgottenAgents, pendingForgets } from '../../../shared/domain/forgetting.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import {
  foldReadMarks,
  isNews,
  readMarkOf,
  readUpTo,
  UNREAD_MOST,
  wholeAt,
} from '../../../shared/domain/read-marks.ts';
import type { ForgetDoc, ForgetUndoDoc } from '../../../shared/protocol/documents.ts';
import { isCovered, isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { ConversationPage, HouseholdView, UnreadRow, UnreadView } from '../../../shared/protocol/worker.ts';
import { LEDGER } from '../settings.ts';
import type { MessageRecord, ViewsDatabase, ViewsSchema } from './database.ts';
import { byAge, newestFirst } from './order.ts';

/** Sorts after every stamp and id. */
export const AFTER_ALL = '\uffff';

export const docsOf = <D>(records: readonly { readonly doc: D }[]): D[] => records.map(({ doc }) => doc);

/** Settings and changes: only those that hold. */
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
  return {
    identities: docsOf(identities),
    changes: docsOf(changes),
    settings: docsOf(settings).filter((doc) => readMarkOf(doc) === null),
    records: docsOf(records).filter((doc) => !forgetting.some((forget) => isCovered(doc, forget))),
    queued: docsOf(queued)
      .filter((doc) => !forgetting.some((forget) => isCovered(doc, forget)))
      .sort(byAge),
    forgetting,
    forgotten: forgottenAgents(finalForgets(asked, undone, now)),
    newest: state?.newest ?? '',
  };
}

/** The askings to forget, and what took some of them back. */
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
 * The stamp before which a conversation is out of sight, because it is to be forgotten; '' where it
 * is not.
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

/** A run has a document of its beginning and one of its end. */
export const RUN_PHASES = ['start', 'end'] as const;

/** The end of a range of newest-first keys that stops short of what is hidden. */
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
  // A page of a conversation that was hidden meanwhile.
  if ((after[1] ?? '') >= end) return { messages: [], sessions: [], runs: [], read: [], before: null };
  const range = IDBKeyRange.bound(after, [agentId, end], true);
  const found = await tx
    .objectStore('messages')
    .index('place')
    .getAll(range, limit + 1);
  const page = found.slice(0, limit);
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
    before: found.length > limit && oldest ? `${oldest[1]}|${oldest[2]}` : null,
  };
}

/** Ids of all in whose conversation something shows, a greeting too: a look at one key each. */
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
 * The answer that had begun by this stamp and was whole after it; null: there is none. Of those
 * that were whole after it, it is the one that was so first: an agent says one answer after the
 * other.
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

/**
 * What is new to the person, in every conversation there is, and how far they have read in threads.
 */
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
