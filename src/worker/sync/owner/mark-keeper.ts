/**
 * Keeps the mark of the team up to date where it lies outside of IndexedDB: in a file, and by the
 * tabs in localStorage.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { MIRROR, readMark, writeMark, type Files, type Mark } from '../mirror/index.ts';

/** Where it lies. */
export interface MarkStore {
  /** As it was written last, or found; null: there is none. */
  text(): string | null;
  /** Looks what the file says. */
  load(): Promise<void>;
  /** null: nobody lives here. */
  put(text: string | null): Promise<void>;
}

/** `tell`: the tabs put it into localStorage. */
export function createMarkStore(files: Files | null, tell: (text: string | null) => void): MarkStore {
  let held: string | null = null;
  return {
    text: () => held,
    async load() {
      const bytes = await files?.read(MIRROR.markFile).catch(() => null);
      held = bytes ? new TextDecoder().decode(bytes) : null;
    },
    async put(text) {
      if (text === held) return;
      const before = held;
      held = text;
      tell(text);
      try {
        if (text === null) await files?.remove(MIRROR.markFile);
        else await files?.write(MIRROR.markFile, new TextEncoder().encode(text));
      } catch (error) {
        // It is tried again by who asks again.
        held = before;
        throw error;
      }
    },
  };
}

export interface MarkKeeper {
  /** The mark says something that is no longer so. */
  wake(soon?: boolean): void;
  close(): void;
}

export interface MarkKeeperDeps {
  readonly store: MarkStore;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  /**
   * What is so now; null: what is being brought back is not to be written over by the little that
   * is here.
   */
  readonly facts: () => Promise<Omit<Mark, 'writtenAt'> | null>;
  /** Between two changes of what this device is part of. */
  readonly inTurn: (run: () => Promise<void>) => Promise<void>;
  readonly onCrash: (error: unknown) => void;
}

export function createMarkKeeper({ store, timers, now, facts, inTurn, onCrash }: MarkKeeperDeps): MarkKeeper {
  let cancel: (() => void) | null = null;

  function callOff() {
    cancel?.();
    cancel = null;
  }

  async function write() {
    callOff();
    const so = await facts();
    if (!so) return;
    const before = readMark(store.text());
    if (before && writeMark({ ...so, writtenAt: before.writtenAt }) === store.text()) return;
    await store.put(writeMark({ ...so, writtenAt: now() }));
  }

  function wake(soon = true) {
    if (soon) callOff();
    cancel ??= timers.after(soon ? 0 : MIRROR.markEvery, () => {
      cancel = null;
      inTurn(write).catch((error: unknown) => {
        // That there is no room is said where words are kept.
        if (error instanceof DOMException && error.name === 'QuotaExceededError') wake(false);
        else onCrash(error);
      });
    });
  }

  return { wake, close: callOff };
}
