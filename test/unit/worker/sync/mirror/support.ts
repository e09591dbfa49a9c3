/** Files in memory, that can fail as a disk does. */
import type { Files } from '../../../../../src/worker/sync/mirror/index.ts';
import type { Entry } from '../../../../../src/shared/protocol/sync/page.ts';
import { base64url } from '../../../../../src/worker/sync/crypto/index.ts';

export interface MemoryFiles extends Files {
  readonly held: Map<string, Uint8Array>;
  /** Every write fails from now on, as where the disk is full. */
  full: boolean;
}

export function memoryFiles(): MemoryFiles {
  const held = new Map<string, Uint8Array>();
  const put = (name: string, bytes: Uint8Array): Promise<void> => {
    if (files.full) return Promise.reject(new DOMException('No room.', 'QuotaExceededError'));
    held.set(name, bytes);
    return Promise.resolve();
  };
  const files: MemoryFiles = {
    held,
    full: false,
    list: () => Promise.resolve([...held].map(([name, { length }]) => ({ name, bytes: length }))),
    read: (name) => Promise.resolve(held.get(name) ?? null),
    write: (name, bytes) => put(name, bytes.slice()),
    append(name, bytes) {
      const before = held.get(name) ?? new Uint8Array();
      const all = new Uint8Array(before.length + bytes.length);
      all.set(before);
      all.set(bytes, before.length);
      return put(name, all);
    },
    remove(name) {
      held.delete(name);
      return Promise.resolve();
    },
  };
  return files;
}

export const WRITER = base64url(new Uint8Array(16).fill(7));
/** An entry with this counter, whose bytes are told by it. */
export const entryOf = (counter: number, size = 300): Entry => ({
  writer: WRITER,
  counter,
  sealed: new Uint8Array(size).map((_byte, i) => (counter * 31 + i) & 0xff),
});
