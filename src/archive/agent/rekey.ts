/** New ids for a copy's documents, so that it can live beside the original: the same ones each time. */
import { parseDocument, type Doc } from '../../protocol/documents.ts';

/** Fields that name a document or a message of the agent's own. */
const OWN_IDS = ['messageId', 'replaces', 'clientId'];

export function createRekey(from: string, to: string): (doc: Doc) => Doc {
  // A copy of a copy gets no longer ids than its original had.
  const rekeyed = (id: string) => `${id.endsWith(`~${from}`) ? id.slice(0, -from.length - 1) : id}~${to}`;
  return (doc) => {
    const copy: Record<string, unknown> = { ...doc, _id: rekeyed(doc._id), agentId: to };
    if (doc.type === 'agent-identity') copy['_id'] = `agent-identity:${to}`;
    if (copy['author'] === from) copy['author'] = to;
    for (const field of OWN_IDS) if (typeof copy[field] === 'string') copy[field] = rekeyed(copy[field]);
    return parseDocument(copy);
  };
}
