/** Whose a document is. */
import type { Doc } from '../../protocol/documents.ts';
import { isKnown } from '../../protocol/known.ts';

/**
 * The agent that a document belongs to, and goes and stays with; null: nobody's, as a session, which everybody
 * shares, or a setting. Kinds of a newer app belong to the agent that they name. `forgets`: the agent that each
 * `forget` is about, by its id.
 */
export function belongsTo(doc: Doc, forgets: ReadonlyMap<string, string>): string | null {
  if (isKnown(doc) && doc.type === 'forget') return doc.target.agentId;
  if (isKnown(doc) && doc.type === 'forget-undo') return forgets.get(doc.forgetId) ?? null;
  return typeof doc['agentId'] === 'string' ? doc['agentId'] : null;
}
