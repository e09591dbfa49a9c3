/** What edits have put out of sight: it stays in the ledger, and can be read where it stood. */
import type { MessageDoc } from '../../protocol/documents.ts';
import type { OwnerCalls } from '../../protocol/owner-rpc.ts';
import type { ViewsDatabase } from './database.ts';
import { hiddenBefore } from './read.ts';

/**
 * The message that an edit took the place of, and all that came after it until then, in order: earlier versions within it too.
 * Empty where the message replaced none, or where that was never seen here.
 */
export async function readReplaced(
  db: ViewsDatabase,
  { agentId, messageId, limit }: Parameters<OwnerCalls['replaced']>[0],
  now: number,
): Promise<readonly MessageDoc[]> {
  const tx = db.transaction(['messages', 'replacements', 'forgets']);
  const [messages, replacements] = [tx.objectStore('messages'), tx.objectStore('replacements')];
  const out = hiddenBefore(await tx.objectStore('forgets').getAll(), agentId, now);
  const edit = await replacements.get(`message:${messageId}`);
  if (!edit || edit.from === null || edit.agentId !== agentId) return [];
  // An edit of an edit: what that one replaced stood before it.
  let { from, replaces } = edit;
  for (;;) {
    const before = await replacements.get(`message:${replaces}`);
    if (!before || before.from === null || before.from >= from) break;
    ({ from, replaces } = before as { from: string; replaces: string });
  }
  const stretch = IDBKeyRange.bound([agentId, from], [agentId, edit.until], false, true);
  const hidden = await messages.index('hidden').getAll(stretch, limit);
  return hidden.flatMap(({ doc }) => (doc.at >= out ? [doc] : []));
}
