/**
 * The ledger's owner, plain Fireproof and a bare IndexedDB transaction in one page, by one clock;
 * all answers in ms.
 */
import { fireproof } from '@fireproof/core';
import { deleteDB, openDB, type IDBPDatabase } from 'idb';
import { rosterOf } from '../../../src/shared/domain/agent.ts';
import { settingsOf } from '../../../src/shared/domain/settings.ts';
import { writeWake } from '../../../src/shared/domain/wake-payload.ts';
import { openDataWorker, type DataWorkerClient } from '../../../src/worker/ledger/index.ts';
import { payloadOf } from '../../../src/page/state/wake-sizes.ts';
import { shareOf } from '../../../src/page/state/wake-context.ts';
import { searchableOf } from '../../../src/worker/search/documents.ts';
import { SEARCH } from '../../../src/worker/search/settings.ts';
import type { Doc } from '../../../src/shared/protocol/documents.ts';
import type { ConversationPage } from '../../../src/shared/protocol/worker.ts';
import { messageDoc } from '../documents.ts';
import { buildPeer, type PeerIndex, type SearchPeer } from './search-peers.ts';

export interface BenchPage {
  /** `count` documents, each in a strict transaction of its own, one after the other. */
  bare(count: number): Promise<number>;
  /** As `bare`, with `size` documents in one record of each transaction. */
  bareTogether(count: number, size: number): Promise<number>;
  /** `count` plain `put`s into a new ledger, one after the other. */
  plain(count: number): Promise<number>;
  /** `count` appends, each awaited. */
  ours(count: number): Promise<number>;
  /** `count` appends of one document, `waiting` of them under way all the time. */
  oursWaiting(count: number, waiting: number): Promise<number>;
  /** Waits until nothing is left to be filed. */
  rest(): Promise<void>;
  /**
   * From asking the owner to the finished [WAKE AGENTS] message of these agents, and its
   * characters.
   */
  wakePayload(
    agentIds: readonly string[],
    cap: number,
  ): Promise<{ readonly ms: number; readonly chars: number; readonly messages: number }>;
  /** Reads everything page by page, as an export does. */
  readAll(limit: number): Promise<{ readonly ms: number; readonly documents: number; readonly chars: number }>;
  /** Throws the search's index away. Before anything else is asked. */
  dropIndex(): Promise<void>;
  /** Opens the owner, and waits until it answers. */
  open(): Promise<void>;
  /**
   * Waits until everything is indexed; `waits`: how long it took meanwhile to answer what takes no
   * time.
   */
  buildIndex(): Promise<{ readonly ms: number; readonly waits: readonly number[] }>;
  /** For so many ms: how long it takes to answer what takes no time. */
  waits(ms: number): Promise<readonly number[]>;
  /** From asking to the first results, each: what is typed one after the other. */
  search(texts: readonly string[]): Promise<{ readonly ms: readonly number[]; readonly found: number }>;
  /** Reads what can be found, for a peer, and answers how many texts that is. */
  readTexts(): Promise<number>;
  /** ms in which a peer takes those texts in, in one piece. It is held until it is dropped. */
  buildPeer(peer: SearchPeer): Promise<number>;
  dropPeer(): void;
  /** As `search`, of that peer. */
  searchPeer(texts: readonly string[]): Promise<{ readonly ms: readonly number[]; readonly found: number }>;
  /** Words of messages that stand so far back in a conversation. */
  wordsFrom(agentId: string, messages: number): Promise<readonly string[]>;
  /** Bytes of the index as they were written. */
  indexBytes(): Promise<number>;
  append(docs: readonly Doc[]): Promise<void>;
}

declare global {
  interface Window {
    bench: BenchPage;
  }
}

let next = 0;
/** Of the length of a short answer. */
const doc = () => messageDoc(next++, { blocks: [{ kind: 'text', text: 'words of some length '.repeat(15) }] });

let held: DataWorkerClient | null = null;
const owner = () => (held ??= openDataWorker());
let bareDb: Promise<IDBPDatabase> | null = null;
let ledgers = 0;
let texts: readonly string[] = [];
let peerIndex: PeerIndex | null = null;

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

const bareStore = () =>
  (bareDb ??= openDB('bench-bare', 1, {
    upgrade: (fresh) => void fresh.createObjectStore('rows', { keyPath: '_id' }),
  }));

window.bench = {
  async bare(count) {
    const db = await bareStore();
    return timed(async () => {
      for (let n = 0; n < count; n++) {
        const tx = db.transaction('rows', 'readwrite', { durability: 'strict' });
        await Promise.all([tx.store.put(doc()), tx.done]);
      }
    });
  },
  async bareTogether(count, size) {
    const db = await bareStore();
    return timed(async () => {
      for (let n = 0; n < count; n += size) {
        const docs = Array.from({ length: size }, doc);
        const tx = db.transaction('rows', 'readwrite', { durability: 'strict' });
        await Promise.all([tx.store.put({ _id: `together ${next}`, docs }), tx.done]);
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
  dropIndex: () => deleteDB(SEARCH.database),
  async open() {
    await owner().call('household');
  },
  waits(ms) {
    const end = performance.now() + ms;
    return waitsUntil(() => performance.now() > end);
  },
  async buildIndex() {
    let over = false;
    let waits: readonly number[] = [];
    const asking = async () => {
      waits = await waitsUntil(() => over);
    };
    const ms = await timed(async () => {
      const asked = asking();
      while ((await owner().call('search', { text: 'ka', limit: 1 })).state.kind !== 'ready')
        await new Promise<void>((resolve) => setTimeout(resolve, 500));
      over = true;
      await asked;
    });
    return { ms, waits };
  },
  search: (asked) => askEach(asked, async (text) => (await owner().call('search', { text, limit: FOUND })).hits.length),
  async readTexts() {
    const read: string[] = [];
    for (let after: string | null = null, more = true; more; more = after !== null) {
      const page: Awaited<ReturnType<typeof readPage>> = await readPage(after, 1_000);
      for (const one of page.docs) read.push(searchableOf(one)?.text ?? '');
      after = page.after;
    }
    texts = read.filter((text) => text !== '');
    return texts.length;
  },
  dropPeer() {
    peerIndex = null;
  },
  buildPeer(peer) {
    return timed(async () => {
      peerIndex = buildPeer(peer, texts);
    });
  },
  searchPeer: (asked) => askEach(asked, async (text) => peerIndex?.search(text, FOUND) ?? 0),
  async wordsFrom(agentId, messages) {
    let before: string | null = null;
    let words: readonly string[] = [];
    for (let read = 0; read < messages;) {
      const page: ConversationPage = await owner().call('conversation', { agentId, before, limit: 1_000 });
      words = page.messages.flatMap(({ blocks: [block] }) => (block?.kind === 'text' ? [block.text] : []));
      read += page.messages.length;
      before = page.before;
      if (before === null) break;
    }
    return words;
  },
  async indexBytes() {
    const db = await openDB(SEARCH.database);
    let bytes = 0;
    for (let cursor = await db.transaction('parts').store.openCursor(); cursor; cursor = await cursor.continue())
      bytes += (cursor.value as Uint8Array).length;
    db.close();
    return bytes;
  },
  async append(docs) {
    await owner().call('append', docs);
  },
};

/** Results that are asked for, as the palette does. */
const FOUND = 20;

/** One after the other. */
async function askEach(asked: readonly string[], find: (text: string) => Promise<number>) {
  const ms: number[] = [];
  let found = 0;
  for (const text of asked)
    ms.push(
      await timed(async () => {
        if ((await find(text)) > 0) found += 1;
      }),
    );
  return { ms, found };
}

async function waitsUntil(isOver: () => boolean): Promise<readonly number[]> {
  const waits: number[] = [];
  while (!isOver()) {
    waits.push(await timed(() => owner().call('takePageKey', { key: null })));
    await new Promise<void>((resolve) => setTimeout(resolve, 5));
  }
  return waits;
}

const readPage = (after: string | null, limit: number) => owner().call('documents', { after, limit, agentId: null });
