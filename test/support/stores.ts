/** Both kinds of store, so that a test can say `describe.each(STORES)`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../server/store/index.ts';
import { createDatabase } from './postgres.ts';
import { copyStoreTemplate } from './store-template.ts';

export const STORES = ['pglite', 'postgres'] as const;
export type StoreKind = (typeof STORES)[number];

/**
 * The store of a relay that is started for tests about something else. Starting on a database of
 * the run's server takes half the processor that the embedded engine does; tests of the store, of
 * homes and of kills, and the story, name the embedded one, and so does what runs inside the test's
 * own process, where it makes no difference. `ROOST_TEST_STORE=pglite`: that one everywhere.
 */
export const usualStore = (): StoreKind =>
  process.env['TEST_POSTGRES_URL'] === undefined || process.env['ROOST_TEST_STORE'] === 'pglite'
    ? 'pglite'
    : 'postgres';

/** A place for one store; it can be opened again and again, by other processes too. */
export interface StorePlace {
  readonly folder: string;
  readonly databaseUrl: string | null;
  open(): Promise<Store>;
  remove(): Promise<void>;
}

/** `fresh`: nothing is there yet. Otherwise it begins as a copy of an empty store. */
export async function createStorePlace(kind: StoreKind = 'pglite', { fresh = false } = {}): Promise<StorePlace> {
  const home = await mkdtemp(join(tmpdir(), 'roost-store-'));
  const database = kind === 'postgres' ? await createDatabase({ fresh }) : null;
  const options = { folder: join(home, 'store'), databaseUrl: database?.url ?? null };
  if (kind === 'pglite' && !fresh) await copyStoreTemplate(options.folder);
  return {
    ...options,
    open: () => openStore(options),
    async remove() {
      await database?.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
