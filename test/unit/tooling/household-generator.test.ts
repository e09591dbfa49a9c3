import { describe, expect, it } from 'vitest';
import { parseDocument, type Doc } from '../../../src/shared/protocol/documents.ts';
import { isKnown } from '../../../src/shared/protocol/documents/kinds.ts';
import { AGENTS, generateHousehold } from '../../support/household-generator.ts';

const all = (seed: number, messages = 3_000): Doc[] => [...generateHousehold({ seed, messages })].flat();

describe('A generated household', () => {
  it('is equal for equal seeds, and different for different ones', () => {
    expect(all(1)).toEqual(all(1));
    expect(all(2)).not.toEqual(all(1));
  });

  it('holds documents as the ledger takes them, each once, and as many messages as were asked for', () => {
    const docs = all(3);
    for (const doc of docs) expect(parseDocument(doc)).toEqual(doc);
    expect(new Set(docs.map(({ _id }) => _id)).size).toBe(docs.length);
    expect(docs.filter(({ type }) => type === 'message')).toHaveLength(3_000 + AGENTS.length * 200);
  });

  it('comes in batches, none of which holds much more than it should', () => {
    for (const batch of generateHousehold({ seed: 1, messages: 3_000, batch: 100 }))
      expect(batch.length).toBeLessThanOrEqual(100);
  });

  it('ends in a session with 200 messages for each of the eight', () => {
    const messages = all(4).flatMap((doc) => (isKnown(doc) && doc.type === 'message' ? [doc] : []));
    const last = messages.at(-1)?.sessionId;
    for (const { agentId } of AGENTS)
      expect(messages.filter((doc) => doc.sessionId === last && doc.agentId === agentId)).toHaveLength(200);
  });
});
