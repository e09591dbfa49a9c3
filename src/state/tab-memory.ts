/** What one tab remembers over a reload: drafts, and what has not been looked at. */
import type { Device } from './ports.ts';

/** Over the browser's session storage. A full storage is an answer, anything else an error. */
export function createTabMemory(storage: Storage): Device['tab'] {
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
