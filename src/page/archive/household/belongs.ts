/** Whose a document is. */
import { lookOf } from '../../../shared/domain/choices.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';

/** Is this how somebody looks? It is a setting, and goes where they go. */
export const isLook = (doc: Doc): boolean => isKnown(doc) && doc.type === 'setting' && lookOf(doc) !== null;

/**
 * The agent that a document belongs to, and goes and stays with; null: nobody's, as a session,
 * which everybody shares, or a setting that is not an agent's look. Kinds of a newer app belong to
 * the agent that they name. `forgets`: the agent that each `forget` is about, by its id.
 */
export function belongsTo(doc: Doc, forgets: ReadonlyMap<string, string>): string | null {
  if (isKnown(doc) && doc.type === 'forget') return doc.target.agentId;
  if (isKnown(doc) && doc.type === 'forget-undo') return forgets.get(doc.forgetId) ?? null;
  if (isKnown(doc) && doc.type === 'setting') return lookOf(doc);
  return typeof doc['agentId'] === 'string' ? doc['agentId'] : null;
}
