/**
 * An index over documents that are held in memory: its real parts, read and written as they lie in
 * the browser's database.
 */
import { DamagedIndexError, unsealed } from '../../src/worker/search/segment.ts';
import { createSearch, type Search, type SearchDeps } from '../../src/worker/search/search.ts';
import type { IndexStore, Manifest } from '../../src/worker/search/store.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { kindOf, storeOf } from '../../src/shared/protocol/documents/kinds.ts';
import { SEARCH } from '../../src/worker/search/settings.ts';

export interface MemoryIndex extends IndexStore {
  readonly parts: Map<string, Uint8Array>;
  bytes(): number;
}

const nameOf = (key: readonly (string | number)[]) => key.join(' ');

/** `onWrite` is called before every write, and may throw. */
export function createMemoryIndex(onWrite: () => void = () => undefined): MemoryIndex {
  const parts = new Map<string, Uint8Array>();
  let manifest: Manifest = { version: SEARCH.version, segments: [], next: 1, views: null };
  return {
    parts,
    bytes: () => [...parts.values()].reduce((sum, part) => sum + part.length, 0),
    manifest: () => Promise.resolve(manifest),
    read: (keys) =>
      Promise.resolve().then(() =>
        keys.map((key) => {
          const part = parts.get(nameOf(key));
          if (!part) throw new DamagedIndexError('missing');
          return unsealed(part, true);
        }),
      ),
    async put(more) {
      onWrite();
      for (const { key, bytes } of more) parts.set(nameOf(key), bytes);
    },
    async commit(next, more = []) {
      onWrite();
      for (const { key, bytes } of more) parts.set(nameOf(key), bytes);
      const kept = new Set(next.segments.map(({ id }) => String(id)));
      for (const name of parts.keys()) if (!kept.has(name.split(' ')[0] ?? '')) parts.delete(name);
      manifest = structuredClone(next);
    },
    close: () => undefined,
  };
}

export interface MemoryLedger {
  readonly docs: Map<string, Doc>;
  /** Documents that may not be seen. */
  readonly hidden: Set<string>;
  readonly ledger: SearchDeps['ledger'];
  /** As if the views had been written anew. */
  renew(): void;
}

export function createMemoryLedger(initial: Iterable<Doc> = []): MemoryLedger {
  const docs = new Map<string, Doc>();
  for (const doc of initial) docs.set(doc._id, doc);
  const hidden = new Set<string>();
  let views = 1;
  const sorted = () => [...docs.keys()].sort();
  let keys: readonly string[] = [];
  let keysOf = -1;
  return {
    docs,
    hidden,
    renew() {
      views += 1;
      keysOf = -1;
    },
    ledger: {
      async ids({ store, prefix, after, limit }) {
        if (keysOf !== docs.size) keys = sorted();
        keysOf = docs.size;
        const found: string[] = [];
        for (const id of keys) {
          if ((after !== null && id <= after) || !id.startsWith(prefix)) continue;
          const doc = docs.get(id);
          if (doc && storeOf(doc) === store) found.push(id);
          if (found.length === limit) break;
        }
        return found;
      },
      documentsAt: (places) => Promise.resolve(places.flatMap(({ id }) => docs.get(id) ?? [])),
      found: (places) =>
        Promise.resolve(
          places.map(({ id }) => {
            const doc = docs.get(id);
            return doc && !hidden.has(id) ? { doc, title: null } : null;
          }),
        ),
      async counted() {
        const kinds = new Map<string, number>();
        for (const { type } of docs.values()) if (kindOf(type)) kinds.set(type, (kinds.get(type) ?? 0) + 1);
        return { views: `views-${views}`, kinds: [...kinds].map(([type, documents]) => ({ type, documents })) };
      },
    },
  };
}

/** A search over these, that works at once. */
export function searchOver(
  { ledger }: Pick<MemoryLedger, 'ledger'>,
  openStore: () => IndexStore,
  more: Partial<SearchDeps> = {},
): Search {
  return createSearch({
    isTalking: () => false,
    ledger,
    openStore: () => Promise.resolve(openStore()),
    dropStore: () => Promise.resolve(),
    room: () => Promise.resolve(null),
    after(ms, run) {
      const later: unknown = setTimeout(run, ms);
      // No test waits for what is tried again in a minute.
      if (
        ms > 0 &&
        typeof later === 'object' &&
        later !== null &&
        'unref' in later &&
        typeof later.unref === 'function'
      )
        later.unref();
      return () => clearTimeout(later as Parameters<typeof clearTimeout>[0]);
    },
    now: Date.now,
    elapsed: () => performance.now(),
    ...more,
  });
}
