/** What replicates: sealed entries, each with its place in the log of one writer. */
import type { Ranges } from '../../domain/ranges.ts';

export type { Ranges };

/**
 * 16 random bytes as base64url. A device writes under one writer for each stream, and under new
 * ones when it was restored.
 */
type WriterId = string;

/** `counter` begins at 1, rises by one per entry of its writer and never repeats. */
export interface EntryKey {
  readonly writer: WriterId;
  readonly counter: number;
}

export interface Entry extends EntryKey {
  /** Ciphertext, see src/worker/sync/README.md. Whoever has no key hands it on as it is. */
  readonly sealed: Uint8Array;
}

/**
 * What a replica has, as ranges of counters: its version vector, with the gaps that fetching the
 * newest first leaves.
 */
export type Have = ReadonlyMap<WriterId, Ranges>;
