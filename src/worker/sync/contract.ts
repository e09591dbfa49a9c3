/** What the parts of synchronisation promise each other. */

/**
 * A stream is a log of its own, so that what the page needs first can be fetched first; nobody
 * without a key can tell them apart.
 */
export type Stream = 'people' | 'talk' | 'attachments';

/** Secrets of the household, on its devices only. */
export interface HouseholdKeys {
  /** 16 random bytes as base64url. */
  readonly household: string;
  /** Ascending; the last one seals, all of them open. */
  readonly keyring: readonly EpochKey[];
}
export interface EpochKey {
  readonly epoch: number;
  /** 32 random bytes. */
  readonly key: Uint8Array;
}

/** Fills with random bytes, as `crypto.getRandomValues` does. */
export type RandomBytes = (length: number) => Uint8Array;

export interface KeyOfEntry {
  readonly writer: string;
  readonly counter: number;
}

export type Opened =
  | { readonly ok: true; readonly payload: Uint8Array }
  /**
   * newer-version: sealed by a newer Roost; unknown-epoch: with a key that has not come yet. Both
   * are kept. forged: not what it says it is.
   */
  | { readonly ok: false; readonly reason: 'newer-version' | 'unknown-epoch' | 'forged' };
