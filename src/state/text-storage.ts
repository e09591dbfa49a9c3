/** What the browser remembers over a reload: drafts, what has not been looked at, how far a thread was read. */
import type { Device, TextStorage } from './ports.ts';

/** Over one of the browser's storages. A full storage is an answer, anything else an error. */
export function createTextStorage(storage: Storage): TextStorage {
  return {
    read: (key) => storage.getItem(key),
    write(key, text) {
      try {
        if (text === '') storage.removeItem(key);
        else storage.setItem(key, text);
        return true;
      } catch (error) {
        if (error instanceof DOMException) return false;
        throw error;
      }
    },
  };
}

/** What other tabs write there, of those that one storage is shared by. */
export const hearOtherTabs: Device['hear'] = (key, listener) =>
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue !== null) listener(event.newValue);
  });
