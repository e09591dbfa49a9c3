/** Types that the parts of synchronisation share. */

/**
 * A stream is a log of its own, so the data that the page needs first can be fetched first. Without
 * a key, streams cannot be told apart.
 */
export type Stream = 'people' | 'talk' | 'attachments';

/** Secrets of the household. Only its devices have them. */
export interface HouseholdKeys {
  /** 16 random bytes as base64url. */
  readonly household: string;
  /** Ascending. The last key seals, and all of them open. */
  readonly keyring: readonly EpochKey[];
}
export interface EpochKey {
  readonly epoch: number;
  /** 32 random bytes. */
  readonly key: Uint8Array;
}

/** Returns this many random bytes, as from `crypto.getRandomValues`. */
export type RandomBytes = (length: number) => Uint8Array;

export interface KeyOfEntry {
  readonly writer: string;
  readonly counter: number;
}

export type Opened =
  | { readonly ok: true; readonly payload: Uint8Array }
  /**
   * `newer-version`: sealed by a newer Roost. `unknown-epoch`: sealed with a key that has not
   * arrived yet. Both are stored. `forged`: the seal does not match.
   */
  | { readonly ok: false; readonly reason: 'newer-version' | 'unknown-epoch' | 'forged' };
