/**
 * Edit-and-resend: a message that replaces another hides that one and everything after it in the
 * same conversation, up to itself. Documents may come in any order, so an edit whose target has not
 * been seen waits for it, and a message that comes late into a stretch that is is hidden already is
 * hidden too.
 */
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type { MessageDoc, MessageWithdrawnDoc } from '../../../shared/protocol/documents.ts';
import type { MessageRecord, ReplacementRecord, ViewsTransaction } from './database.ts';
import { emptyTalk, saidIn, withMessage, withRead } from './message.ts';
import { newestFirst } from './order.ts';

/** Sorts after every stamp. */
const NEVER = '~';
/** Sorts after every stamp and every NEVER. */
const AFTER_ALL = '\uffff';

/** Edits that could hide a message of this agent with this stamp, or that wait for their target. */
export function replacementsReaching(tx: ViewsTransaction, agentId: AgentId, at: string): Promise<ReplacementRecord[]> {
  return tx
    .objectStore('replacements')
    .index('reach')
    .getAll(IDBKeyRange.bound([agentId, at], [agentId, AFTER_ALL], true));
}

/**
 * Takes the messages from `from` (inclusive) until `until` (exclusive) out of the conversation, and
 * recounts what they were in.
 */
async function hideStretch(tx: ViewsTransaction, agentId: AgentId, from: string, until: string) {
  const messages = tx.objectStore('messages');
  // Newest first: what is older than `until` and not older than `from` lies between their
  // complements.
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

/** So much more of what stood before an agent shows, or less. */
export async function addSaid(tx: ViewsTransaction, agentId: AgentId, more: number) {
  const totals = tx.objectStore('totals');
  if (more !== 0) await totals.put({ agentId, said: ((await totals.get(agentId))?.said ?? 0) + more });
}

/**
 * The edit that this message is; its target may be among the stored messages, or not have been seen
 * yet.
 */
export async function addReplacement(tx: ViewsTransaction, doc: MessageDoc, replaces: string) {
  const { _id, agentId, at: until } = doc;
  const target: MessageRecord | undefined = await tx.objectStore('messages').get(`message:${replaces}`);
  // Only its own conversation: one that names a message of another would come out by the order of
  // arrival.
  const from = target?.doc.agentId === agentId ? target.doc.at : null;
  const reach = [agentId, from === null ? NEVER : until] as const;
  await tx.objectStore('replacements').put({ _id, agentId, replaces, from, until, reach });
  if (from !== null) await hideStretch(tx, agentId, from, until);
}

/** Sorts right after a stamp, before all that are longer. */
const RIGHT_AFTER = '!';

/** A single message was taken back: no other has its stamp. */
export async function addWithdrawal(tx: ViewsTransaction, { _id, agentId }: MessageWithdrawnDoc, of: string) {
  const until = `${of}${RIGHT_AFTER}`;
  await tx.objectStore('replacements').put({ _id, agentId, replaces: '', from: of, until, reach: [agentId, until] });
  await hideStretch(tx, agentId, of, until);
}

/** A message has come into a conversation that has edits reaching past it: hides what they hide. */
export async function applyReplacements(tx: ViewsTransaction, doc: MessageDoc, reaching: readonly ReplacementRecord[]) {
  for (const edit of reaching) {
    const isTarget = edit.from === null && edit.replaces === doc.messageId;
    const from = isTarget ? doc.at : edit.from;
    if (isTarget) await tx.objectStore('replacements').put({ ...edit, from, reach: [edit.agentId, edit.until] });
    if (from !== null && from <= doc.at) await hideStretch(tx, edit.agentId, from, edit.until);
  }
}
