/** What edits have put out of sight: it stays in the ledger, and can be read where it stood. */
import type { MessageDoc } from '../../../shared/protocol/documents.ts';
import type { OwnerCalls } from '../../../shared/protocol/owner-rpc.ts';
import type { ViewsDatabase } from './database.ts';
import { hiddenBefore } from './read.ts';

/**
 * The message that an edit took the place of, and all that came after it until then, in order:
 * earlier versions within it too. Empty where the message replaced none, or where that was never
 * seen here.
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
  let { from } = edit;
  // An edit of an edit: what that one replaced stood before it.
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
