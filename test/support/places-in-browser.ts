/** Looks for words in everything that a browser stores for a page. */
import type { Page } from 'playwright-core';

/** Databases with their stores, files and caches of the page's origin that have the words. */
export const placesInBrowser = (page: Page, words: string): Promise<readonly string[]> =>
  page.evaluate(async (wanted) => {
    const found: string[] = [];
    const latin = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);
    const wide = (text: string) => [...text].map((char) => `${char}\0`).join('');
    const has = (text: string) => text.includes(wanted) || text.includes(wide(wanted));
    function hasIn(value: unknown): boolean {
      if (typeof value === 'string') return has(value);
      if (value instanceof ArrayBuffer) return has(latin(new Uint8Array(value)));
      if (ArrayBuffer.isView(value))
        return has(latin(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)));
      if (value instanceof Map || value instanceof Set) return hasIn([...value]);
      return (
        typeof value === 'object' &&
        value !== null &&
        Object.entries(value).some(([name, each]) => has(name) || hasIn(each))
      );
    }
    const result = <Value>(request: IDBRequest<Value>) =>
      new Promise<Value>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error ?? new Error('The database cannot be read.'));
      });
    for (const { name = '' } of await indexedDB.databases()) {
      const database = await result(indexedDB.open(name));
      for (const store of database.objectStoreNames) {
        const rows = database.transaction(store).objectStore(store);
        const [keys, values] = await Promise.all([result(rows.getAllKeys()), result(rows.getAll())]);
        if (hasIn(keys) || hasIn(values)) found.push(`${name}/${store}`);
      }
      database.close();
    }
    /** Null: the file was deleted meanwhile. */
    async function contentOf(handle: FileSystemFileHandle): Promise<ArrayBuffer | null> {
      try {
        return await (await handle.getFile()).arrayBuffer();
      } catch (error) {
        if (error instanceof DOMException && error.name === 'NotFoundError') return null;
        throw error;
      }
    }
    async function inFolder(directory: FileSystemDirectoryHandle, path: string): Promise<void> {
      for await (const [name, handle] of directory.entries())
        if (handle instanceof FileSystemDirectoryHandle) await inFolder(handle, `${path}/${name}`);
        else if (hasIn(await contentOf(handle as FileSystemFileHandle))) found.push(`${path}/${name}`);
    }
    await inFolder(await navigator.storage.getDirectory(), 'files');
    for (const name of await caches.keys()) {
      const cache = await caches.open(name);
      for (const answer of await cache.matchAll()) if (has(await answer.text())) found.push(`cache ${name}`);
    }
    if (hasIn({ ...localStorage }) || hasIn({ ...sessionStorage })) found.push('storage');
    return found;
  }, words);
