/**
 * Where a replica keeps its entries: IndexedDB in a browser, Postgres in the relay, memory in
 * tests.
 */
import type { Entry, EntryKey, Have } from './entries.ts';

export interface PutOutcome {
  /**
   * Durable now, and were not here before; with `replace` also those that were here with other
   * bytes.
   */
  readonly stored: readonly EntryKey[];
  /** Here already with other bytes. What is here stays. */
  readonly conflicts: readonly EntryKey[];
  /**
   * Cannot be what they say they are (moved, changed, forged): not stored. Also where something
   * else lies in the place.
   */
  readonly refused: readonly EntryKey[];
}

export interface EntryStore {
  /** Asked when the replica begins, and after `put` no more: the replica keeps account itself. */
  have(): Promise<Have>;
  /**
   * Resolves when everything that is neither here nor refused is durable. Those that were here with
   * the same bytes are in none of the lists. `replace`: bytes of the same place are overwritten
   * (something in it was forgotten).
   */
  put(entries: readonly Entry[], options: { readonly replace: boolean }): Promise<PutOutcome>;
  /**
   * Entries of one writer with `from` ≤ counter ≤ `to`, newest first where asked, until `maxBytes`
   * are reached; at least one where there is any.
   */
  read(
    writer: string,
    from: number,
    to: number,
    options: { readonly newestFirst: boolean; readonly maxBytes: number },
  ): Promise<readonly Entry[]>;
  /**
   * Lets go of an entry, if it still has these bytes' digest (SHA-256, first 16 bytes as hex).
   * Answers whether it did.
   */
  drop(key: EntryKey, digest: string): Promise<boolean>;
}
