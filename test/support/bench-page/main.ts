/** The ledger's owner, plain Fireproof and a bare IndexedDB transaction in one page, by one clock; all answers in ms. */
import { fireproof } from '@fireproof/core';
import { openDB, type IDBPDatabase } from 'idb';
import { rosterOf } from '../../../src/domain/agent.ts';
import { settingsOf } from '../../../src/domain/settings.ts';
import { writeWake } from '../../../src/domain/wake-payload.ts';
import { openOwner, type OwnerClient } from '../../../src/ledger/index.ts';
import { payloadOf, shareOf } from '../../../src/state/wake-material.ts';
import { messageDoc } from '../documents.ts';

export interface BenchPage {
  /** `count` documents, each in a strict transaction of its own, one after the other. */
  bare(count: number): Promise<number>;
  /** `count` plain `put`s into a new ledger, one after the other. */
  plain(count: number): Promise<number>;
  /** `count` appends, each awaited. */
  ours(count: number): Promise<number>;
  /** `count` appends of one document, `waiting` of them under way all the time. */
  oursWaiting(count: number, waiting: number): Promise<number>;
  /** Waits until nothing is left to be filed. */
  rest(): Promise<void>;
  /** From asking the owner to the finished [WAKE AGENTS] message of these agents, and its characters. */
  wakePayload(
    agentIds: readonly string[],
    cap: number,
  ): Promise<{ readonly ms: number; readonly chars: number; readonly messages: number }>;
  /** Reads everything page by page, as an export does. */
  readAll(limit: number): Promise<{ readonly ms: number; readonly documents: number; readonly chars: number }>;
}

declare global {
  interface Window {
    bench: BenchPage;
  }
}

let next = 0;
/** Of the length of a short answer. */
const doc = () => messageDoc(next++, { blocks: [{ kind: 'text', text: 'words of some length '.repeat(15) }] });

let held: OwnerClient | null = null;
const owner = () => (held ??= openOwner());
let bareDb: Promise<IDBPDatabase> | null = null;
let ledgers = 0;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

window.bench = {
  async bare(count) {
    const db = await (bareDb ??= openDB('bench-bare', 1, {
      upgrade: (fresh) => void fresh.createObjectStore('rows', { keyPath: '_id' }),
    }));
    return timed(async () => {
      for (let n = 0; n < count; n++) {
        const tx = db.transaction('rows', 'readwrite', { durability: 'strict' });
        await Promise.all([tx.store.put(doc()), tx.done]);
      }
    });
  },
  async plain(count) {
    const db = fireproof(`bench-${ledgers++}`);
    await db.ready();
    return timed(async () => {
      for (let n = 0; n < count; n++) await db.put({ ...doc() });
    });
  },
  async ours(count) {
    await owner().call('household');
    return timed(async () => {
      for (let n = 0; n < count; n++) await owner().call('append', [doc()]);
    });
  },
  async oursWaiting(count, waiting) {
    await owner().call('household');
    let left = count;
    return timed(() =>
      Promise.all(
        Array.from({ length: waiting }, async () => {
          while (left-- > 0) await owner().call('append', [doc()]);
        }),
      ),
    );
  },
  async rest() {
    while ((await owner().call('storage')).journalRows > 0)
      await new Promise<void>((resolve) => setTimeout(resolve, 50));
  },
  async wakePayload(agentIds, cap) {
    const { identities, changes, settings } = await owner().call('household');
    const roster = rosterOf(
      identities.map((one) => ({ ...one, id: one._id })),
      changes.map((one) => ({ ...one, id: one._id })),
    );
    const values = settingsOf(settings.map(({ _id, key, value, at }) => ({ id: _id, key, value, at })));
    const began = performance.now();
    const material = await owner().call('wakeMaterial', { agentIds, cap });
    const shares = material.flatMap((one) => {
      const agent = roster.byId.get(one.agentId);
      return agent ? [shareOf(agent, one, roster, { ...values, transcriptCap: cap })] : [];
    });
    const text = writeWake(shares.flatMap((share) => payloadOf(share) ?? []));
    return {
      ms: performance.now() - began,
      chars: text.length,
      messages: material.reduce(
        (sum, { sessions }) =>
          sum + sessions.reduce((of, session) => of + (session.kind === 'talk' ? session.messages.length : 0), 0),
        0,
      ),
    };
  },
  async readAll(limit) {
    let documents = 0;
    let chars = 0;
    const ms = await timed(async () => {
      for (let after: string | null = null, more = true; more; more = after !== null) {
        const page: Awaited<ReturnType<typeof readPage>> = await readPage(after, limit);
        documents += page.docs.length;
        for (const one of page.docs) chars += JSON.stringify(one).length;
        after = page.after;
      }
    });
    return { ms, documents, chars };
  },
};

const readPage = (after: string | null, limit: number) => owner().call('documents', { after, limit, agentId: null });
