/**
 * A household's sealed entries in the relay's store. Nothing is acknowledged before it is
 * committed.
 */
import type { Entry, EntryKey, EntryStore } from '../../src/shared/protocol/sync/page.ts';
import type { Db } from '../store/index.ts';
import {
  countBytes,
  deleteEntry,
  differing,
  insertEntries,
  overwrite,
  readEntries,
  readRanges,
  type HouseholdRef,
} from './entry-rows.ts';
import { SYNC_LIMITS } from './settings.ts';

/** The household may not keep more here. The message is a sentence for people. */
export class HouseholdFull extends Error {
  override name = 'HouseholdFull';
}

export interface EntryStoreDeps extends HouseholdRef {
  readonly db: Db;
  readonly now: () => number;
  /** Bytes of all entries together. */
  readonly mostBytes: number;
}

const GIGABYTE = 1_000_000_000;
const nameOf = ({ writer, counter }: EntryKey) => `${writer} ${counter}`;
const keyOf = ({ writer, counter }: EntryKey): EntryKey => ({ writer, counter });
const bytesOf = (entries: readonly Entry[]) => entries.reduce((sum, { sealed }) => sum + sealed.length, 0);

/**
 * Each place once: the first that was given, or the last; and those that were given for the same
 * place with other bytes.
 */
function onePerKey(
  entries: readonly Entry[],
  keepLast: boolean,
): { readonly kept: readonly Entry[]; readonly others: readonly EntryKey[] } {
  const kept = new Map<string, Entry>();
  const others: EntryKey[] = [];
  for (const entry of entries) {
    const before = kept.get(nameOf(entry));
    if (before && !keepLast && Buffer.compare(before.sealed, entry.sealed) !== 0) others.push(keyOf(entry));
    if (!before || keepLast) kept.set(nameOf(entry), entry);
  }
  return { kept: [...kept.values()], others };
}

/**
 * Its `put` rejects with `HouseholdFull`, and nothing of it is stored, where it would be too much.
 */
export function createEntryStore({ db, now, mostBytes, relay, household }: EntryStoreDeps): EntryStore {
  const home: HouseholdRef = { relay, household };

  async function grow(trx: Db, more: number): Promise<void> {
    const bytes = await countBytes(trx, home, more);
    if (more > 0 && bytes > mostBytes)
      throw new HouseholdFull(
        `This household has no more room on the relay: it may keep ${mostBytes / GIGABYTE} GB. What is here stays; what is new stays on your devices. The relay’s owner can set --household-gb higher.`,
      );
  }

  return {
    async have() {
      const have = new Map<string, (readonly [number, number])[]>();
      for (const { writer, from, to } of await readRanges(db, home)) {
        const ranges = have.get(writer) ?? [];
        ranges.push([from, to]);
        have.set(writer, ranges);
      }
      return have;
    },
    async put(entries, { replace }) {
      if (entries.length === 0) return { stored: [], conflicts: [], refused: [] };
      const { kept, others } = onePerKey(entries, replace);
      return await db.transaction().execute(async (trx) => {
        const free = new Set((await insertEntries(trx, home, kept, now())).map(nameOf));
        const fresh = kept.filter((entry) => free.has(nameOf(entry)));
        const there = kept.filter((entry) => !free.has(nameOf(entry)));
        const differ = there.length === 0 ? [] : await differing(trx, home, there);
        if (!replace) {
          await grow(trx, bytesOf(fresh));
          return { stored: fresh.map(keyOf), conflicts: [...differ.map(keyOf), ...others], refused: [] };
        }
        const names = new Set(differ.map(nameOf));
        const changed = there.filter((entry) => names.has(nameOf(entry)));
        if (changed.length > 0) await overwrite(trx, home, changed, now());
        await grow(trx, bytesOf(fresh) + bytesOf(changed) - differ.reduce((sum, { bytes }) => sum + bytes, 0));
        return { stored: [...fresh, ...changed].map(keyOf), conflicts: [], refused: [] };
      });
    },
    read: (writer, from, to, { newestFirst, maxBytes }) =>
      readEntries(db, home, { writer, from, to, newestFirst, maxBytes, maxRows: SYNC_LIMITS.readRows }),
    drop: (key, digest) =>
      db.transaction().execute(async (trx) => {
        const bytes = await deleteEntry(trx, home, key, digest);
        if (bytes === null) return false;
        await countBytes(trx, home, -bytes);
        return true;
      }),
  };
}
