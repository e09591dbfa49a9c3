/** The kinds of store, so that a test can say `describe.each(STORES)`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store } from '../../server/store/index.ts';
import { createDatabase } from './postgres.ts';

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreKind = (typeof STORES)[number];

/**
 * The store for tests about something else. `ROOST_TEST_STORE=postgres` gives them a database each
 * on the run's server.
 */
export const usualStore = (): StoreKind =>
  process.env['TEST_POSTGRES_URL'] !== undefined && process.env['ROOST_TEST_STORE'] === 'postgres'
    ? 'postgres'
    : 'sqlite';

/**
 * For tests that would find the same on either store: `ROOST_TEST_STORE=both` gives them both, as
 * `npm run verify -- --all` does, and a plain run gives them the usual one. Tests of rows, claims,
 * races, kills and homes take `STORES`.
 */
export const USUAL_STORES: readonly StoreKind[] = process.env['ROOST_TEST_STORE'] === 'both' ? STORES : [usualStore()];

/** A place for one store; it can be opened again and again, by other processes too. */
export interface StorePlace {
  readonly folder: string;
  readonly databaseUrl: string | null;
  open(): Promise<Store>;
  remove(): Promise<void>;
}

/** `fresh`: a database has no tables yet. */
export async function createStorePlace(kind: StoreKind = usualStore(), { fresh = false } = {}): Promise<StorePlace> {
  const home = await mkdtemp(join(tmpdir(), 'roost-store-'));
  const database = kind === 'postgres' ? await createDatabase({ fresh }) : null;
  const options = { folder: join(home, 'store'), databaseUrl: database?.url ?? null };
  return {
    ...options,
    open: () => openStore(options),
    async remove() {
      await database?.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
