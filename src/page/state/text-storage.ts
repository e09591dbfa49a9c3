/**
 * What the browser remembers over a reload: drafts, what is on its way, what has not been looked
 * at.
 */
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
    keys: (prefix) => Object.keys(storage).filter((key) => key.startsWith(prefix)),
    onGone(task) {
      const onStorage = ({ key, newValue }: StorageEvent) => {
        if (key !== null && newValue === null) task(key);
      };
      addEventListener('storage', onStorage);
      return () => removeEventListener('storage', onStorage);
    },
  };
}

/** What other tabs write there, of those that one storage is shared by. */
export const hearOtherTabs: Device['hear'] = (key, listener) =>
  addEventListener('storage', (event) => {
    if (event.key === key && event.newValue !== null) listener(event.newValue);
  });
