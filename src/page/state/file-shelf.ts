/**
 * Bytes of files attached to drafts, or sent but stored nowhere else yet. They survive the page, on
 * this device only. Each call opens the database anew, so that no tab blocks another. Loaded with
 * the first file.
 */
import type { TextStorage } from './ports.ts';
import { NAMES_FILES } from './outbox/index.ts';

const DATABASE = 'roost-drafts';
const STORE = 'files';
/** ms after which an unreferenced file is deleted. A younger one may be on its way into a draft. */
const UNNAMED_FOR = 24 * 3_600_000;

interface Row {
  /** In base64. */
  readonly data: string;
  /** ms since the epoch */
  readonly at: number;
}
const isRow = (value: unknown): value is Row =>
  typeof value === 'object' && value !== null && 'data' in value && typeof value.data === 'string' && 'at' in value;

const answerOf = <Value>(request: IDBRequest<Value>): Promise<Value> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The store of drafts could not be asked.'));
  });

async function within<Value>(
  mode: IDBTransactionMode,
  task: (store: IDBObjectStore) => Promise<Value>,
): Promise<Value> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const db = await answerOf(opening);
  try {
    const transaction = db.transaction(STORE, mode);
    const over = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () => reject(transaction.error ?? new Error('The store of drafts is full.'));
    });
    const [value] = await Promise.all([task(transaction.objectStore(STORE)), over]);
    return value;
  } finally {
    db.close();
  }
}

/** Deletes files that no draft and no unsent message references. */
async function sweep(browser: TextStorage): Promise<void> {
  const texts = NAMES_FILES.flatMap((prefix) => browser.keys(prefix)).map((key) => browser.read(key) ?? '');
  await within('readwrite', async (store) => {
    for (const id of await answerOf(store.getAllKeys())) {
      if (texts.some((text) => text.includes(String(id)))) continue;
      const row: unknown = await answerOf(store.get(id));
      if (!isRow(row) || Date.now() - row.at > UNNAMED_FOR) store.delete(id);
    }
  });
}
let swept = false;

/** False: storage is full or unavailable. `browser` holds the names that reference the files. */
export async function putFile(id: string, data: string, browser: TextStorage): Promise<boolean> {
  try {
    await within('readwrite', (store) => answerOf(store.put({ data, at: Date.now() } satisfies Row, id)));
    if (!swept) {
      swept = true;
      await sweep(browser);
    }
    return true;
  } catch {
    return false;
  }
}

/** null: not found. */
export async function readFile(id: string): Promise<string | null> {
  try {
    const row = await within('readonly', (store) => answerOf<unknown>(store.get(id)));
    return isRow(row) ? row.data : null;
  } catch {
    return null;
  }
}

export async function removeFiles(ids: readonly string[]): Promise<void> {
  try {
    await within('readwrite', (store) => Promise.all(ids.map((id) => answerOf(store.delete(id)))));
  } catch {
    // A later sweep deletes unreferenced files.
  }
}
