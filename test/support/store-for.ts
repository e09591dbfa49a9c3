import { afterAll, beforeAll } from 'vitest';
import type { Store } from '../../server/store/index.ts';
import { createStorePlace, type StoreKind, type StorePlace } from './stores.ts';

/**
 * A store for the tests of a file, or of a `describe`: open from before the first to after the
 * last.
 */
export function storeFor(kind?: StoreKind): () => Store {
  let place: StorePlace | null = null;
  let store: Store | null = null;
  beforeAll(async () => {
    place = await createStorePlace(kind);
    store = await place.open();
  });
  afterAll(async () => {
    await store?.close();
    await place?.remove();
  });
  return () => {
    if (store === null) throw new Error('The store is open while tests run, and not before.');
    return store;
  };
}
