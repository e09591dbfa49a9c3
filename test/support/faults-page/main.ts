/** Fireproof as it comes, and our volumes, side by side in one page. */
import { fireproof } from '@fireproof/core';
import { getKeyBag } from '@fireproof/core-keybag';
import { ensureSuperThis } from '@fireproof/core-runtime';
import { openDB } from 'idb';
import { openVolume } from '../../../src/worker/ledger/volumes/fireproof-volume.ts';
import { ensureKey } from '../../../src/worker/ledger/volumes/key.ts';

export interface FaultDoc {
  readonly _id: string;
  readonly text: string;
}

export interface FaultsPage {
  /** Plain Fireproof: `put` one by one. */
  put(name: string, ids: readonly string[]): Promise<void>;
  /** Plain Fireproof: all in one commit, each with this many random characters. */
  bulk(name: string, ids: readonly string[], chars: number): Promise<void>;
  /** Plain Fireproof: the ids it can give back after a reload, or why it can give none. */
  read(name: string): Promise<readonly string[] | string>;
  /**
   * Plain Fireproof's key bag: gives the named key this material, as an application would at every
   * start.
   */
  giveKey(name: string): Promise<void>;
  /** The ids that plain Fireproof gives back of a ledger encrypted with a named key. */
  putKeyed(name: string, ids: readonly string[]): Promise<void>;
  readKeyed(name: string): Promise<readonly string[] | string>;
  /**
   * Plain Fireproof: `put` one by one. Answers with the bytes that each of them gave IndexedDB to
   * store.
   */
  bytesOfEachPut(name: string, ids: readonly string[]): Promise<readonly number[]>;
  /**
   * Plain Fireproof: opens the ledger and reads one document. Answers with the bytes that came out
   * of IndexedDB for it.
   */
  bytesToReadOne(name: string, id: string): Promise<number>;
  /**
   * Plain Fireproof: puts all of them at once, and closes without waiting for the answers. Answers
   * with how many were answered.
   */
  putAndClose(name: string, ids: readonly string[]): Promise<number>;
  /** Plain Fireproof: loses the head, as a store that does not write atomically does. */
  loseHead(name: string): Promise<void>;
  /**
   * Plain Fireproof: queries, writes one document, and queries again. Answers with how many
   * documents were indexed for each query.
   */
  indexedByQueries(name: string, ids: readonly string[]): Promise<readonly number[]>;
  /**
   * Plain Fireproof: two writes at once. What `changes` since one of them says, what is there, and
   * whether the clock that `changes` gave is still what it was.
   */
  changesAcrossMerge(name: string): Promise<{
    readonly heads: number;
    readonly changes: readonly string[];
    readonly all: readonly string[] | string;
    readonly clockKept: boolean;
  }>;
  /**
   * Bare IndexedDB: writes into two stores of one database without end, two transactions at a time,
   * or one. Resolves when it is under way.
   */
  writeWithoutEnd(atOnce: 'two' | 'one'): Promise<void>;
  /**
   * Bare IndexedDB: how many records that has left; rejects where the database cannot be opened.
   */
  leftOfWriting(): Promise<number>;
  ours: {
    put(name: string, ids: readonly string[]): Promise<void>;
    bulk(name: string, ids: readonly string[], chars: number): Promise<void>;
    read(name: string): Promise<readonly string[]>;
    /**
     * Gives the key its material again, another one, as a start that has forgotten that it did
     * would.
     */
    giveKeyAgain(): Promise<void>;
    /**
     * Opens the volume and reads all of it. Answers with the bytes that came out of IndexedDB for
     * it.
     */
    bytesToRead(name: string): Promise<number>;
    /** Asks for compaction as Fireproof itself would. Answers with how many CARs are left. */
    compactWithoutLock(name: string): Promise<string>;
  };
}

declare global {
  interface Window {
    faults: FaultsPage;
  }
}

const randomText = (chars: number) => {
  const bytes = new Uint8Array(chars / 2);
  for (let at = 0; at < bytes.length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
};
const KEY = '@shared@';
const ENDLESS = 'endless';
const ENDLESS_STORES = ['one', 'two'] as const;
const keyed = { storeUrls: { base: `indexeddb://keyed?storekey=${KEY}` } };
const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));

async function idsIn(db: ReturnType<typeof fireproof>): Promise<readonly string[] | string> {
  try {
    return (await db.allDocs<FaultDoc>()).rows.map(({ key }) => key);
  } catch (error) {
    return reason(error);
  }
}

/** Bytes that pass between this page and IndexedDB. */
const traffic = { written: 0, read: 0 };
const bytesIn = (value: unknown) => (ArrayBuffer.isView(value) ? value.byteLength : 0);
const { put, get } = IDBObjectStore.prototype;
IDBObjectStore.prototype.put = function (value: unknown, ...key) {
  traffic.written += bytesIn(value);
  return put.call(this, value, ...key);
};
IDBObjectStore.prototype.get = function (query) {
  const request = get.call(this, query);
  request.addEventListener('success', () => {
    traffic.read += bytesIn(request.result);
  });
  return request;
};

/** Fireproof writes on for a moment after a put has been answered. */
async function still(): Promise<void> {
  for (let before = -1; before !== traffic.written;) {
    before = traffic.written;
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
  }
}

const opened = async (name: string, lockHeld = true) => {
  await ensureKey(null);
  return openVolume({ name, lockHeld: () => lockHeld });
};

window.faults = {
  async put(name, ids) {
    const db = fireproof(name);
    for (const _id of ids) await db.put<FaultDoc>({ _id, text: _id });
  },
  async bulk(name, ids, chars) {
    await fireproof(name).bulk<FaultDoc>(ids.map((_id) => ({ _id, text: randomText(chars) })));
  },
  read: (name) => idsIn(fireproof(name)),
  async giveKey() {
    const bag = await getKeyBag(ensureSuperThis());
    await bag.getNamedKey(KEY, false, crypto.getRandomValues(new Uint8Array(32)));
  },
  async putKeyed(name, ids) {
    await fireproof(name, keyed).bulk<FaultDoc>(ids.map((_id) => ({ _id, text: _id })));
  },
  readKeyed: (name) => idsIn(fireproof(name, keyed)),
  async bytesOfEachPut(name, ids) {
    const db = fireproof(name);
    const bytes: number[] = [];
    for (const _id of ids) {
      const before = traffic.written;
      await db.put<FaultDoc>({ _id, text: _id });
      await still();
      bytes.push(traffic.written - before);
    }
    return bytes;
  },
  async bytesToReadOne(name, id) {
    const before = traffic.read;
    await fireproof(name).get(id);
    return traffic.read - before;
  },
  async putAndClose(name, ids) {
    const db = fireproof(name);
    await db.ready();
    let answered = 0;
    for (const _id of ids)
      db.put<FaultDoc>({ _id, text: _id }).then(
        () => (answered += 1),
        () => undefined,
      );
    // Where the queue is never drained it never closes.
    await Promise.race([db.close(), new Promise((resolve) => setTimeout(resolve, 2_000))]).catch(() => undefined);
    return answered;
  },
  async loseHead(name) {
    const found = (await indexedDB.databases()).find((each) => each.name?.includes(name) === true)?.name;
    if (found === undefined) throw new Error(`There is no ${name}.`);
    const db = await openDB(found);
    await db.clear('meta');
    db.close();
  },
  async indexedByQueries(name, ids) {
    const db = fireproof(name);
    await db.bulk<FaultDoc>(ids.map((_id) => ({ _id, text: _id })));
    const counts: number[] = [];
    let indexed = 0;
    const query = async () => {
      indexed = 0;
      await db.query<FaultDoc>((doc) => {
        indexed += 1;
        return doc.text;
      });
      counts.push(indexed);
    };
    await query();
    await db.put<FaultDoc>({ _id: 'one-more', text: 'one more' });
    await query();
    return counts;
  },
  async changesAcrossMerge(name) {
    const db = fireproof(name);
    await db.put<FaultDoc>({ _id: 'first', text: 'first' });
    const { clock } = await db.changes();
    const kept = clock.map(String).join();
    await Promise.all(['one', 'two', 'three', 'four', 'five'].map((_id) => db.put<FaultDoc>({ _id, text: _id })));
    const clockKept = clock.map(String).join() === kept;
    const heads = [...db.ledger.crdt.clock.head];
    const { rows } = await db.changes<FaultDoc>(heads.slice(0, 1));
    return { heads: heads.length, changes: rows.map(({ key }) => key), all: await idsIn(db), clockKept };
  },
  async writeWithoutEnd(atOnce) {
    const db = await openDB(ENDLESS, 1, {
      upgrade(fresh) {
        for (const store of ENDLESS_STORES) fresh.createObjectStore(store);
      },
    });
    const text = randomText(20_000);
    let written = 0;
    const write = async (store: string) => {
      const tx = db.transaction(atOnce === 'two' ? [store] : [...ENDLESS_STORES], 'readwrite');
      await Promise.all([tx.objectStore(store).put(text, written++), tx.done]);
    };
    for (const store of ENDLESS_STORES)
      void (async () => {
        for (;;) await write(store);
      })();
    while (written < 100) await new Promise<void>((resolve) => setTimeout(resolve, 10));
  },
  async leftOfWriting() {
    const db = await openDB(ENDLESS, 1);
    const counts = await Promise.all([...db.objectStoreNames].map((store) => db.count(store)));
    db.close();
    return counts.reduce((sum, count) => sum + count, 0);
  },
  ours: {
    async put(name, ids) {
      const volume = await opened(name);
      for (const _id of ids) await volume.write([{ _id, text: _id }]);
      await volume.compact();
      await volume.close();
    },
    async bulk(name, ids, chars) {
      const volume = await opened(name);
      await volume.write(ids.map((_id) => ({ _id, text: randomText(chars) })));
      await volume.close();
    },
    async read(name) {
      const volume = await opened(name);
      const ids = (await volume.read()).map(({ _id }) => _id);
      await volume.close();
      return ids;
    },
    giveKeyAgain: () => ensureKey(crypto.getRandomValues(new Uint8Array(32))),
    async bytesToRead(name) {
      const before = traffic.read;
      const volume = await opened(name);
      await volume.read();
      await volume.close();
      return traffic.read - before;
    },
    async compactWithoutLock(name) {
      const volume = await opened(name, false);
      try {
        await volume.compact();
        return 'it compacted';
      } catch (error) {
        return reason(error);
      } finally {
        await volume.close();
      }
    },
  },
};
