/** What the page reads, from views alone: each answer costs what it carries, not what lies behind it. */
import type { ConversationPage, HouseholdView, WakeMaterial } from '../../protocol/worker.ts';
import type { LedgerDatabase, MessageRecord } from './database.ts';
import { textLength } from './message.ts';
import { byAge } from './order.ts';

/** Sorts after every stamp and id. */
const AFTER_ALL = '\uffff';
/** Records read at once while a transcript is filled. */
const STRIDE = 64;

const docsOf = <D>(records: readonly { readonly doc: D }[]): D[] => records.map(({ doc }) => doc);

/** Settings and changes: only those that hold. */
export async function readHousehold(db: LedgerDatabase): Promise<HouseholdView> {
  const tx = db.transaction(['identities', 'changes', 'settings', 'queued']);
  const [identities, changes, settings, queued] = await Promise.all([
    tx.objectStore('identities').getAll(),
    tx.objectStore('changes').index('slot').getAll(),
    tx.objectStore('settings').index('slot').getAll(),
    tx.objectStore('queued').index('open').getAll(),
  ]);
  return {
    identities: docsOf(identities),
    changes: docsOf(changes),
    settings: docsOf(settings),
    queued: docsOf(queued).sort(byAge),
  };
}

/** `before`: where the page ends, as `<newest-first stamp>|<_id>` of its oldest message. */
export async function readConversation(
  db: LedgerDatabase,
  { agentId, before, limit }: { agentId: string; before: string | null; limit: number },
): Promise<ConversationPage> {
  const tx = db.transaction(['messages', 'sessions', 'reads']);
  const cut = before === null ? -1 : before.indexOf('|');
  const after = cut < 0 || before === null ? [agentId] : [agentId, before.slice(0, cut), before.slice(cut + 1)];
  const range = IDBKeyRange.bound(after, [agentId, AFTER_ALL], true);
  const found = await tx.objectStore('messages').index('place').getAll(range, limit + 1);
  const page = found.slice(0, limit);
  const oldest = page.at(-1)?.place;
  const messages = docsOf(page).reverse();
  const waited = messages.filter((doc) => doc['waiting'] === true);
  const [sessions, reads] = await Promise.all([
    Promise.all([...new Set(messages.map((doc) => doc.sessionId))].map((id) => tx.objectStore('sessions').index('sessionId').getAll(id))),
    Promise.all(waited.map((doc) => tx.objectStore('reads').get(`message-read:${doc.messageId}`))),
  ]);
  return {
    messages,
    sessions: docsOf(sessions.flat()).sort(byAge),
    read: reads.flatMap((record) => (record ? [record.doc.messageId] : [])),
    before: found.length > limit && oldest ? `${oldest[1]}|${oldest[2]}` : null,
  };
}

async function materialOf(db: LedgerDatabase, agentId: string, cap: number): Promise<WakeMaterial> {
  const tx = db.transaction(['talks', 'messages']);
  const spoken = IDBKeyRange.bound([agentId], [agentId, AFTER_ALL]);
  const [talk] = await tx.objectStore('talks').index('spoken').getAll(spoken, 1);
  if (!talk) return { agentId, sessionId: null, messages: [], earlier: 0 };
  const { sessionId } = talk;
  const index = tx.objectStore('messages').index('talk');
  const newest: MessageRecord[] = [];
  let size = 0;
  let from: readonly string[] = [sessionId, agentId];
  while (size <= cap) {
    const some = await index.getAll(IDBKeyRange.bound(from, [sessionId, agentId, AFTER_ALL], true), STRIDE);
    for (const record of some) {
      if (size > cap) break;
      newest.push(record);
      size += textLength(record.doc);
    }
    const last = some.at(-1)?.talk;
    if (some.length < STRIDE || !last) break;
    from = last;
  }
  return { agentId, sessionId, messages: docsOf(newest).reverse(), earlier: Math.max(0, talk.messages - newest.length) };
}

/** For each agent the newest messages of the last session in which it said something, until `cap` characters are filled. */
export function readWakeMaterial(
  db: LedgerDatabase,
  { agentIds, cap }: { agentIds: readonly string[]; cap: number },
): Promise<readonly WakeMaterial[]> {
  return Promise.all(agentIds.map((agentId) => materialOf(db, agentId, cap)));
}
