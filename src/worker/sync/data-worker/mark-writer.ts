/**
 * Updates the mark of the team outside IndexedDB: in a file, and through the tabs in localStorage.
 *
 * Two related parts are here too: the number of entries that the relay lacks, and the rule for
 * entries with a future date.
 */
import { count, subtract } from '../../../shared/domain/ranges.ts';
import type { Have } from '../../../shared/protocol/sync/page.ts';
import { MAX_AHEAD_MS, MOST_AHEAD_MS } from '../../../shared/domain/stamp.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { type Files, type Mark, MIRROR, readMark, writeMark } from '../mirror/index.ts';
import { type SyncDatabase, writeMeta } from './entry-store.ts';
import type { Keys } from './keys.ts';

// Counts the entries of this device that the relay does not have yet, as far as is known.

export interface Unacknowledged {
  /**
   * A connection to the relay begins. The relay may have been restored from a backup, so it must
   * announce its entries again.
   */
  begin(): void;
  /** The relay announced its entries. Empty where there is no relay on a link. */
  heard(there: Have): void;
  /** This many entries were just sealed here. */
  sealed(entries: number): void;
  left(): number;
}

export function createUnacknowledged(here: () => Have): Unacknowledged {
  /** The relay's entries as last announced. Null: not since this page began. */
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
      // Before the announcement, at least the entries sealed since then wait.
      if (awaited || known === null) return Math.max(since, awaited && have.size > 0 ? 1 : 0);
      let left = 0;
      for (const [writer, ranges] of have) left += count(subtract(ranges, known.get(writer) ?? []));
      return left;
    },
  };
}

// Entries that other devices dated ahead of this clock wait until their time, or until the person
// accepts them.

export interface Ahead {
  /** Must an entry with this date wait? ms since the epoch. */
  isAhead(time: number): boolean;
  /**
   * Entries dated up to this time, in ms since the epoch, no longer wait, except for dates that no
   * clock can have.
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
   * ms since the epoch. The person has accepted dates up to this one, or this device has written
   * them.
   */
  readonly taken: number;
}): Ahead {
  let { taken } = given;
  return {
    // A household of one device only receives its own entries back.
    isAhead: (time) => !keys.membership().alone && time > Math.max(now(), taken) + MAX_AHEAD_MS,
    async takeUpTo(time) {
      const most = Math.min(time, now() + MOST_AHEAD_MS);
      if (most <= Math.max(now() + MAX_AHEAD_MS, taken)) return;
      taken = most;
      await writeMeta(db, { aheadTaken: taken });
    },
  };
}

/** Where the mark is stored. */
export interface MarkStore {
  /** The mark as last written or found. Null: there is none. */
  text(): string | null;
  /** Reads the file. */
  load(): Promise<void>;
  /** Null: no household lives here. */
  put(text: string | null): Promise<void>;
}

/** `tell`: sends the mark to the tabs, which put it into localStorage. */
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
        // The next call tries again.
        held = before;
        throw error;
      }
    },
  };
}

interface MarkWriter {
  /** The mark is out of date. */
  wake(soon?: boolean): void;
  close(): void;
}

interface MarkWriterDeps {
  readonly store: MarkStore;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  /**
   * The current facts. Null while lost data is being restored: the little that is here must not
   * overwrite the mark.
   */
  readonly facts: () => Promise<Omit<Mark, 'writtenAt'> | null>;
  /** Runs between two changes of this device's membership. */
  readonly inTurn: (run: () => Promise<void>) => Promise<void>;
  readonly onCrash: (error: unknown) => void;
}

export function createMarkWriter({ store, timers, now, facts, inTurn, onCrash }: MarkWriterDeps): MarkWriter {
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
        // Lack of space is reported where messages are stored.
        if (error instanceof DOMException && error.name === 'QuotaExceededError') wake(false);
        else onCrash(error);
      });
    });
  }

  return { wake, close: callOff };
}
