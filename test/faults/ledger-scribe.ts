/** Writes numbered documents through an owner, and remembers which of them were acknowledged. */
import type { Page } from 'playwright-core';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { messageDoc } from '../support/documents.ts';
import { ownerOf } from '../support/ledger-harness.ts';
import type { Story } from './ledger-checks.ts';

const AGENTS = ['a1', 'a2', 'a3'];
/** Share of documents whose text is so long that it is stored in parts. */
const LONG = 0.01;
/** Share of documents that edit an earlier one. */
const EDITS = 0.03;
/** Share of calls that bring several documents. */
const SEVERAL = 0.1;

export interface Scribe {
  readonly story: Story;
  /** One call of the next documents. Resolves when it was acknowledged. */
  write(tab: Page): Promise<void>;
}

export function createScribe(random: () => number): Scribe {
  const written = new Map<string, Doc>();
  const acknowledged = new Set<string>();
  let next = 0;
  function nextDoc(): Doc {
    const text =
      random() < LONG ? 'x\ud800'.repeat(100_000) : `words ${'of some length '.repeat(Math.floor(random() * 60))}`;
    const agentId = AGENTS[Math.floor(random() * AGENTS.length)] ?? 'a1';
    const replaces = random() < EDITS ? `m${Math.max(0, next - 1 - Math.floor(random() * 10))}` : null;
    const doc = messageDoc(next++, { agentId, replaces, blocks: [{ kind: 'text', text }] });
    written.set(doc._id, doc);
    return doc;
  }
  return {
    story: { written, acknowledged, agentIds: AGENTS },
    async write(tab) {
      const docs = Array.from({ length: random() < SEVERAL ? 2 + Math.floor(random() * 4) : 1 }, nextDoc);
      await ownerOf(tab).call('append', docs);
      for (const { _id } of docs) acknowledged.add(_id);
    },
  };
}
