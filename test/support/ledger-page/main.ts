/** A tab with a line to the owner, for tests to drive, and with tools that look into the storage past it. */
import { openDB } from 'idb';
import { askPersistence, openOwner, type OwnerClient } from '../../../src/ledger/index.ts';
import { LEDGER, volumeDatabase } from '../../../src/ledger/settings.ts';
import type { Doc } from '../../../src/protocol/documents.ts';
import type { OwnerNews } from '../../../src/protocol/worker.ts';

export interface LedgerPage {
  /** Opens the line; what the owner says is kept in `news`. */
  open(): OwnerClient;
  readonly owner: OwnerClient;
  readonly news: OwnerNews[];
  readonly askPersistence: typeof askPersistence;
  /** Every record of every store of our database, by store. */
  dump(): Promise<Record<string, unknown[]>>;
  /** Makes the journal name views of an older version, as after an update of the app. */
  disownViews(): Promise<void>;
  /** Every document in every volume, by volume, read by Fireproof itself. Nobody may be writing. */
  readVolumes(): Promise<Record<string, { readonly docs: readonly Doc[]; readonly damaged: readonly unknown[] }>>;
  /** Empties every store of a volume, as a browser that lost it would. */
  emptyVolume(name: string): Promise<void>;
}

declare global {
  interface Window {
    roost: LedgerPage;
  }
}

const parameters = new URLSearchParams(location.search);
if (parameters.has('without-shared-worker')) Reflect.deleteProperty(globalThis, 'SharedWorker');

let owner: OwnerClient | null = null;
const news: OwnerNews[] = [];

window.roost = {
  news,
  askPersistence,
  open() {
    owner ??= openOwner();
    owner.subscribe((item) => news.push(item));
    return owner;
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
      import('../../../src/ledger/volumes/fireproof-volume.ts'),
      import('../../../src/ledger/volumes/codec.ts'),
      import('../../../src/ledger/volumes/key.ts'),
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
  async emptyVolume(name) {
    const db = await openDB(volumeDatabase(name));
    for (const store of db.objectStoreNames) await db.clear(store);
    db.close();
  },
};
if (!parameters.has('closed')) window.roost.open();
