/**
 * Keeps the mark of the team up to date where it lies outside of IndexedDB: in a file, and by the
 * tabs in localStorage.
 */
import { count, subtract } from '../../../shared/domain/ranges.ts';
import type { Have } from '../../../shared/protocol/sync/page.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { type Files, type Mark, MIRROR, readMark, writeMark } from '../mirror/index.ts';
import { type SyncDatabase, writeMeta } from './entry-store.ts';
import type { Keys } from './keys.ts';

// How many entries of this device the relay does not have yet, as far as is known.

export interface Unacknowledged {
  /**
   * A connection to the relay begins: it may have been put back from a copy, and has to say anew
   * what it has.
   */
  begin(): void;
  /** The relay said what it has; empty where there is none on the line. */
  heard(there: Have): void;
  /** These were sealed here just now. */
  sealed(entries: number): void;
  left(): number;
}

export function createUnacknowledged(here: () => Have): Unacknowledged {
  /** What the relay had when it was last heard; null: not since this page began. */
  let known: Have | null = null;
  let since = 0;
  let awaited = false;
  return {
    begin() {
      awaited = true;
    },
    heard(there) {
      if (there.size === 0) return;
      known = there;
      awaited = false;
    },
    sealed(entries) {
      since += entries;
    },
    left() {
      const have = here();
      // Before it was heard, at least what was sealed since waits for it.
      if (awaited || known === null) return Math.max(since, awaited && have.size > 0 ? 1 : 0);
      let left = 0;
      for (const [writer, ranges] of have) left += count(subtract(ranges, known.get(writer) ?? []));
      return left;
    },
  };
}

// What other devices dated ahead of this one's clock waits, until its time or until the person
// takes it.

export interface Ahead {
  /** Is what is dated then, in ms since the epoch, to wait? */
  isAhead(time: number): boolean;
  /**
   * What is dated up to then, in ms since the epoch, need not wait any more, but for what no clock
   * can be.
   */
  takeUpTo(time: number): Promise<void>;
}

export function createAhead({
  db,
  keys,
  now,
  ...given
}: {
  readonly db: SyncDatabase;
  readonly keys: Pick<Keys, 'membership'>;
  readonly now: () => number;
  /**
   * What is dated up to here, in ms since the epoch, the person has taken, or was written on this
   * device.
   */
  readonly taken: number;
}): Ahead {
  let { taken } = given;
  return {
    // A household of one device hears only what it wrote itself, as it comes back.
    isAhead: (time) => !keys.membership().alone && time > Math.max(now(), taken) + MAX_AHEAD_MS,
    async takeUpTo(time) {
      const most = Math.min(time, now() + MOST_AHEAD_MS);
      if (most <= Math.max(now() + MAX_AHEAD_MS, taken)) return;
      taken = most;
      await writeMeta(db, { aheadTaken: taken });
    },
  };
}

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

interface MarkKeeper {
  /** The mark says something that is no longer so. */
  wake(soon?: boolean): void;
  close(): void;
}

interface MarkKeeperDeps {
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
