/** How far this browser has read in each thread. A thread it never showed is unread from its first message. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Device } from '../ports.ts';

/** The place of the last message that was seen, by thread. */
export type SeenPlaces = ReadonlyMap<string, number>;

export interface Seen {
  readonly store: StoreApi<SeenPlaces>;
  /** Everything up to this place is on the screen, or was. */
  mark(threadId: string, place: number): void;
  /** Other tabs of this browser may have shown more since. */
  reread(): void;
  /** Keeps only these: the others are gone. */
  keepOnly(threadIds: ReadonlySet<string>): void;
}

const KEY = 'roost-threads-seen';

/** A line for each thread; what is no place is passed over. */
function kept(text: string | null): Map<string, number> {
  const rows = (text ?? '').split('\n').map((line) => line.split('\t'));
  return new Map(rows.flatMap(([threadId = '', place = '']) => (/^[1-9]\d{0,8}$/.test(place) ? [[threadId, Number(place)] as const] : [])));
}

export function createSeen(memory: Device['browser']): Seen {
  const store = createStore<SeenPlaces>()(() => kept(memory.read(KEY)));

  /** What this tab and what others know, each the further. */
  function together(): Map<string, number> {
    const all = kept(memory.read(KEY));
    for (const [threadId, place] of store.getState()) all.set(threadId, Math.max(place, all.get(threadId) ?? 0));
    return all;
  }
  function keep(places: Map<string, number>) {
    store.setState(places, true);
    // Without room it is only remembered as long as the page is open.
    memory.write(KEY, [...places].map((row) => row.join('\t')).join('\n'));
  }

  return {
    store,
    mark(threadId, place) {
      if (place > (store.getState().get(threadId) ?? 0)) keep(together().set(threadId, place));
    },
    reread: () => store.setState(together(), true),
    keepOnly(threadIds) {
      const all = together();
      const before = all.size;
      for (const threadId of all.keys()) if (!threadIds.has(threadId)) all.delete(threadId);
      if (all.size < before) keep(all);
    },
  };
}
