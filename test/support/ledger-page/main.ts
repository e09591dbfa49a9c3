/**
 * A tab with a connection to the owner, for tests to drive, and with tools that look into the
 * storage past it.
 */
import { openDB } from 'idb';
import { askPersistence, openDataWorker, type DataWorkerClient } from '../../../src/worker/ledger/index.ts';
import { LEDGER, volumeDatabase } from '../../../src/worker/ledger/settings.ts';
import type { Doc } from '../../../src/shared/protocol/documents.ts';
import { SEARCH } from '../../../src/worker/search/settings.ts';
import type { WorkerNews } from '../../../src/shared/protocol/worker.ts';
import { generateHousehold, type HouseholdPlan } from '../household-generator.ts';

export interface LedgerPage {
  /** Opens the line; what the owner says is kept in `news`. */
  open(): DataWorkerClient;
  readonly owner: DataWorkerClient;
  readonly news: WorkerNews[];
  readonly askPersistence: typeof askPersistence;
  /** Every record of every store of our database, by store. */
  dump(): Promise<Record<string, unknown[]>>;
  /** Makes the journal name views of an older version, as after an update of the app. */
  disownViews(): Promise<void>;
  /** Every document in every volume, by volume, read by Fireproof itself. Nobody may be writing. */
  readVolumes(): Promise<Record<string, { readonly docs: readonly Doc[]; readonly damaged: readonly unknown[] }>>;
  /** Takes the views back to before a message was written into them, as a power cut may. */
  rewindViews(messageId: string): Promise<void>;
  /**
   * Turns over a byte in the middle of every block of a volume that is encrypted data, as a failing
   * disk would.
   */
  damageVolume(name: string): Promise<void>;
  /** Removes a store from the journal's database. */
  dropJournalStore(name: string): Promise<void>;
  /**
   * Lets nobody open the journal's database until the function that it answers with is called by
   * `letOpen`.
   */
  holdJournal(): Promise<void>;
  letOpen(): Promise<void>;
  /**
   * Everything that lies in this page's databases, as text: records as they are, and the volumes as
   * Fireproof reads them.
   */
  everything(): Promise<string>;
  /** All parts of the search’s index, as text. */
  searchIndex(): Promise<string>;
  /** Empties every store of a volume, as a browser that lost it would. */
  emptyVolume(name: string): Promise<void>;
  /** Of how many CARs a volume consists. Nobody may be writing. */
  carsOf(name: string): Promise<number>;
  /**
   * Makes a household and appends it, batch by batch, as one tab would. Answers with how many
   * documents it has.
   */
  load(plan: HouseholdPlan): Promise<number>;
}

declare global {
  interface Window {
    roost: LedgerPage;
  }
}

const parameters = new URLSearchParams(location.search);
if (parameters.has('without-locks')) Object.defineProperty(navigator, 'locks', { value: undefined });
if (parameters.has('without-shared-worker')) Reflect.deleteProperty(globalThis, 'SharedWorker');

let held = false;
let owner: DataWorkerClient | null = null;
const news: WorkerNews[] = [];

window.roost = {
  news,
  askPersistence,
  open() {
    const opened = (owner ??= openDataWorker());
    opened.subscribe((item) => {
      news.push(item);
      // No relay has given this page a key: a worker that is not told so waits for one before it
      // calls.
      if (item.news === 'welcome') opened.call('takePageKey', { key: null }).catch(() => undefined);
    });
    return opened;
  },
  get owner() {
    if (!owner) throw new Error('The line is not open.');
    return owner;
  },
  async dump() {
    const dumped: Record<string, unknown[]> = {};
    const journal = await openDB(LEDGER.journalDatabase);
    const views = (await journal.get('meta', 'views')) as { readonly name: string } | undefined;
    for (const db of [journal, ...(views ? [await openDB(views.name)] : [])]) {
      for (const store of db.objectStoreNames) dumped[store] = await db.getAll(store);
      db.close();
    }
    return dumped;
  },
  async disownViews() {
    const db = await openDB(LEDGER.journalDatabase);
    await db.put('meta', { version: 0, name: 'roost-views-0-1' }, 'views');
    db.close();
  },
  async readVolumes() {
    const [{ openVolume }, { decodeDocuments }, { ensureKey }] = await Promise.all([
      import('../../../src/worker/ledger/volumes/fireproof-volume.ts'),
      import('../../../src/worker/ledger/volumes/codec.ts'),
      import('../../../src/worker/ledger/volumes/key.ts'),
    ]);
    await ensureKey(null);
    const { volumes = [] } = await this.dump();
    const found: Record<string, { docs: readonly Doc[]; damaged: readonly unknown[] }> = {};
    for (const record of volumes) {
      const name = (record as { readonly name: string }).name;
      const volume = await openVolume({ name, lockHeld: () => false });
      found[name] = decodeDocuments(await volume.read());
      await volume.close();
    }
    return found;
  },
  async rewindViews(messageId) {
    const journal = await openDB(LEDGER.journalDatabase);
    const { name } = (await journal.get('meta', 'views')) as { readonly name: string };
    journal.close();
    const views = await openDB(name);
    await views.delete('messages', `message:${messageId}`);
    const state = (await views.get('state', 'state')) as { readonly applied: number; readonly documents: number };
    await views.put('state', { ...state, applied: state.applied - 1, documents: state.documents - 1 }, 'state');
    views.close();
  },
  async damageVolume(name) {
    const db = await openDB(volumeDatabase(name));
    for (const store of db.objectStoreNames) {
      for (const key of await db.getAllKeys(store)) {
        const bytes: unknown = await db.get(store, key);
        if (!String(key).startsWith('car/') || !(bytes instanceof Uint8Array)) continue;
        const broken = bytes.slice();
        const middle = Math.floor(broken.length / 2);
        broken[middle] = (broken[middle] ?? 0) ^ 0xff;
        await db.put(store, broken, key);
      }
    }
    db.close();
  },
  async dropJournalStore(name) {
    const { version } = await openDB(LEDGER.journalDatabase).then((db) => {
      db.close();
      return db;
    });
    (await openDB(LEDGER.journalDatabase, version + 1, { upgrade: (db) => db.deleteObjectStore(name) })).close();
  },
  async holdJournal() {
    const { version } = await openDB(LEDGER.journalDatabase).then((db) => {
      db.close();
      return db;
    });
    await new Promise<void>((begun) => {
      const request = indexedDB.open(LEDGER.journalDatabase, version + 1);
      request.onupgradeneeded = () => {
        begun();
        const { transaction } = request;
        held = true;
        // A transaction that always asks for more does not end.
        const ask = () => {
          if (held && transaction) transaction.objectStore('meta').count().onsuccess = ask;
          else transaction?.abort();
        };
        ask();
      };
    });
  },
  letOpen() {
    held = false;
    return Promise.resolve();
  },
  async searchIndex() {
    const db = await openDB(SEARCH.database);
    const parts = db.objectStoreNames.contains('parts') ? ((await db.getAll('parts')) as Uint8Array[]) : [];
    db.close();
    return parts.map((part) => new TextDecoder('latin1').decode(part)).join('');
  },
  async everything() {
    const found: unknown[] = [];
    for (const { name = '' } of await indexedDB.databases()) {
      const db = await openDB(name);
      for (const store of db.objectStoreNames) {
        for (const value of (await db.getAll(store)) as unknown[])
          found.push(value instanceof Uint8Array ? new TextDecoder('latin1').decode(value) : value);
      }
      db.close();
    }
    return JSON.stringify([found, await this.readVolumes()]);
  },
  async emptyVolume(name) {
    const db = await openDB(volumeDatabase(name));
    for (const store of db.objectStoreNames) await db.clear(store);
    db.close();
  },
  async carsOf(name) {
    const [{ openVolume }, { ensureKey }] = await Promise.all([
      import('../../../src/worker/ledger/volumes/fireproof-volume.ts'),
      import('../../../src/worker/ledger/volumes/key.ts'),
    ]);
    await ensureKey(null);
    const volume = await openVolume({ name, lockHeld: () => false });
    const cars = volume.cars();
    await volume.close();
    return cars;
  },
  async load(plan) {
    let documents = 0;
    for (const docs of generateHousehold(plan)) {
      documents += (await this.owner.call('append', docs)).written;
      // All of it comes back as news: this page need not hold the household.
      news.length = 0;
    }
    return documents;
  },
};
if (!parameters.has('closed')) window.roost.open();
