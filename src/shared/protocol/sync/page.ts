/** Messages between tabs and the data worker about synchronisation, pairing and recovery. */
import type { Ranges } from '../../domain/ranges.ts';
import type { DeviceId } from '../../domain/ids.ts';

// Replicated data: sealed entries, each with its position in the log of one writer.

export type { Ranges };

/**
 * 16 random bytes as base64url. A device has one writer per stream, and gets new ones after a
 * restore.
 */
type WriterId = string;

/** `counter` begins at 1, rises by one per entry of its writer, and never repeats. */
export interface EntryKey {
  readonly writer: WriterId;
  readonly counter: number;
}

export interface Entry extends EntryKey {
  /** Ciphertext, see src/worker/sync/SPEC.md. A replica without the key passes it on unchanged. */
  readonly sealed: Uint8Array;
}

/**
 * What a replica has, as ranges of counters: its version vector. It has gaps, because the newest
 * entries are fetched first.
 */
export type Have = ReadonlyMap<WriterId, Ranges>;

// The store of a replica's entries: IndexedDB in a browser, Postgres in the relay, memory in tests.

export interface PutOutcome {
  /** Now durable and not here before. With `replace`, also those whose bytes were replaced. */
  readonly stored: readonly EntryKey[];
  /** Already here with other bytes. The stored bytes stay. */
  readonly conflicts: readonly EntryKey[];
  /**
   * Not authentic (moved, changed, forged), and not stored. Also reported if another entry is
   * stored in that place.
   */
  readonly refused: readonly EntryKey[];
}

export interface EntryStore {
  /** Called when the replica starts. After `put` the replica keeps track itself. */
  have(): Promise<Have>;
  /**
   * Resolves when every new entry that is not refused is durable. Entries that were here with the
   * same bytes are in none of the lists. `replace`: overwrites other bytes in the same place,
   * because something in them was forgotten.
   */
  put(entries: readonly Entry[], options: { readonly replace: boolean }): Promise<PutOutcome>;
  /**
   * Entries of one writer with `from` ≤ counter ≤ `to`, newest first if asked, up to `maxBytes`. At
   * least one if there is any.
   */
  read(
    writer: string,
    from: number,
    to: number,
    options: { readonly newestFirst: boolean; readonly maxBytes: number },
  ): Promise<readonly Entry[]>;
  /**
   * Deletes an entry if its bytes still have this digest (SHA-256, first 16 bytes as hex). Returns
   * whether it did.
   */
  drop(key: EntryKey, digest: string): Promise<boolean>;
}

/** A device of the household. */
export interface DeviceView {
  readonly deviceId: DeviceId;
  readonly name: string;
  /** Whether it is this device. */
  readonly self: boolean;
  /** ms since the epoch. */
  readonly addedAt: number;
  /**
   * `let-in`: by a device that confirms it. `first`: the start of the chain of devices that let
   * this one in. `unsaid`: it joined by the phrase, or no device confirms it.
   */
  readonly came:
    | { readonly kind: 'first' | 'unsaid' }
    | { readonly kind: 'let-in'; readonly by: string; readonly time: number };
  /**
   * Devices that are removed with it unless they are kept: it let them in, or no device confirms
   * who did.
   */
  readonly along: readonly string[];
  /**
   * When the relay last received something from it, in ms since the epoch. Null: unknown at the
   * moment.
   */
  readonly lastSeen: number | null;
  readonly online: boolean;
  /** Whether there is a direct connection to it, without the relay. */
  readonly direct: boolean;
}

/** Progress of this device in joining a household. */
export type Joining =
  /** The offer is shown, and no device has accepted it yet. `until`: ms since the epoch. */
  | { readonly step: 'offering'; readonly offer: string; readonly until: number }
  /** Another device has accepted the offer. The person compares the words on both. */
  | { readonly step: 'comparing'; readonly words: readonly string[]; readonly until: number }
  /** The person confirmed the words here, and not on the other device yet. */
  | { readonly step: 'waiting'; readonly words: readonly string[]; readonly until: number }
  | { readonly step: 'failed'; readonly reason: string };

/**
 * off: the person has turned it off; lost: the relay cannot be reached; locked-out: this browser is
 * not signed in there.
 */
export type RelayLink = 'off' | 'connecting' | 'live' | 'lost' | 'locked-out';

/** The second, sealed copy of everything. */
export interface StoredElsewhere {
  readonly link: RelayLink;
  /** Number of entries on this device that the relay does not have yet. */
  readonly toSend: number;
  /** Whether there are files beside the browser's database. */
  readonly files: boolean;
  /** What is wrong, as a sentence. Null: nothing. */
  readonly trouble: string | null;
}

/** The team that lived here before its storage was lost. */
interface LostTeam {
  readonly human: string | null;
  readonly lead: string | null;
  readonly agents: number;
  readonly documents: number;
}

export type SyncStatus =
  /** No other device, and no phrase. `kept` is null if no team lives here yet. */
  | { readonly kind: 'alone'; readonly joining: Joining | null; readonly kept: StoredElsewhere | null }
  /** The browser lost this page's storage, and it is being restored. */
  | {
      readonly kind: 'returning';
      readonly joining: Joining | null;
      readonly team: LostTeam;
      readonly link: RelayLink;
      /**
       * Progress of reading: first from this device's files, then from the relay. Null: unknown
       * yet.
       */
      readonly progress: { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
      /**
       * Agents whose last session is not complete here yet. They must not be woken on this device.
       */
      readonly arriving: readonly string[];
      /** Every place was searched, and no team was found. */
      readonly missing: boolean;
    }
  /** This device was removed from its household. Its data stays, and nothing new arrives. */
  | { readonly kind: 'removed'; readonly joining: Joining | null }
  | {
      readonly kind: 'shared';
      readonly household: string;
      readonly deviceId: DeviceId;
      readonly link: RelayLink;
      /** Whether there are files beside the browser's database. */
      readonly files: boolean;
      readonly devices: readonly DeviceView[];
      /** Number of entries on this device that the relay does not have yet. */
      readonly toSend: number;
      /**
       * Backlog: entries that have arrived, of the total. Null: nothing is known to be missing
       * except `attachments`.
       */
      readonly backlog: { readonly done: number; readonly of: number } | null;
      /** Entries with bytes of attachments that are still arriving. They come last. */
      readonly attachments: number;
      /**
       * Agents whose last session is not complete here yet. They must not be woken on this device.
       */
      readonly arriving: readonly string[];
      /** Whether a recovery phrase was made, written down and verified. */
      readonly phrase: boolean;
      /** Entries of a newer Roost. They are stored, and opened after an update. */
      readonly newer: number;
      /**
       * Entries that wait because they are dated ahead of this device's clock, up to `latest`, in
       * ms since the epoch. Null: none. `taken`: all of them can be accepted.
       */
      readonly ahead: { readonly entries: number; readonly latest: number; readonly taken: boolean } | null;
      /** Entries that were refused since the page started: changed, moved or forged. */
      readonly refused: number;
      /** What is wrong, as a sentence. Null: nothing. */
      readonly trouble: string | null;
    };

/** Orders to the tab that carries the direct connections to other devices' browsers. */
export type DirectOrder =
  /**
   * Opens a connection. `offer`: this side makes the offer; otherwise a signal with an offer
   * follows.
   */
  | { readonly kind: 'open'; readonly connection: string; readonly offer: boolean }
  | { readonly kind: 'signal'; readonly connection: string; readonly data: string }
  | { readonly kind: 'frame'; readonly connection: string; readonly frame: Uint8Array }
  | { readonly kind: 'close'; readonly connection: string };
/** Reports of a tab about the connections it carries. */
export type DirectReport =
  /** This tab carries connections from now on, and has none yet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'signal'; readonly connection: string; readonly data: string }
  | { readonly kind: 'opened'; readonly connection: string }
  | { readonly kind: 'frame'; readonly connection: string; readonly frame: Uint8Array }
  /** Total bytes of ordered frames that have left this page since the connection was opened. */
  | { readonly kind: 'sent'; readonly connection: string; readonly bytes: number }
  | { readonly kind: 'closed'; readonly connection: string };

/** How complete the last sessions of some agents are on this device. */
export interface CaughtUp {
  /** The agents whose last sessions are not complete here. */
  readonly arriving: readonly string[];
  /** The page has learned what the relay and the other devices have. */
  readonly compared: boolean;
  /** The relay is reachable, and more is on its way from it. */
  readonly fetching: boolean;
}
