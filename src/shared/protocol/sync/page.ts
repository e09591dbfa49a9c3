/**
 * What tabs and the ledger's owner say to each other about synchronisation, pairing and recovery.
 */
import type { Ranges } from '../../domain/ranges.ts';
import type { DeviceId } from '../../domain/ids.ts';

// What replicates: sealed entries, each with its place in the log of one writer.

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
  /** Ciphertext, see src/worker/sync/SPEC.md. Whoever has no key hands it on as it is. */
  readonly sealed: Uint8Array;
}

/**
 * What a replica has, as ranges of counters: its version vector, with the gaps that fetching the
 * newest first leaves.
 */
export type Have = ReadonlyMap<WriterId, Ranges>;

// Where a replica keeps its entries: IndexedDB in a browser, Postgres in the relay, memory in
// tests.

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

/** A device of the household. */
export interface DeviceView {
  readonly deviceId: DeviceId;
  readonly name: string;
  /** Is it this one? */
  readonly self: boolean;
  /** ms since the epoch. */
  readonly addedAt: number;
  /**
   * `let-in`: by a device that says so itself. `first`: there was none before it, of those by which
   * this one came. `unsaid`: by the phrase, or nobody says it.
   */
  readonly came:
    | { readonly kind: 'first' | 'unsaid' }
    | { readonly kind: 'let-in'; readonly by: string; readonly time: number };
  /**
   * Devices that are removed with it unless they are kept: it let them in, or nobody says who did.
   */
  readonly along: readonly string[];
  /** When the relay heard of it last, ms since the epoch; null: not known now. */
  readonly lastSeen: number | null;
  readonly online: boolean;
  /** Is there a direct connection to it, without the relay? */
  readonly direct: boolean;
}

/** Where this device stands on its way into a household. */
export type Joining =
  /** The offer is shown; nobody has taken it yet. `until`: ms since the epoch. */
  | { readonly step: 'offering'; readonly offer: string; readonly until: number }
  /** Another device has taken the offer: the person compares the words on both. */
  | { readonly step: 'comparing'; readonly words: readonly string[]; readonly until: number }
  /** The person said here that the words are the same; the other device has not said so yet. */
  | { readonly step: 'waiting'; readonly words: readonly string[]; readonly until: number }
  | { readonly step: 'failed'; readonly reason: string };

/**
 * off: the person wants none; lost: the relay cannot be reached; locked-out: this browser is not
 * signed in there.
 */
export type RelayLink = 'off' | 'connecting' | 'live' | 'lost' | 'locked-out';

/** Where everything is kept a second time, sealed. */
export interface KeptElsewhere {
  readonly link: RelayLink;
  /** Entries on this device that the relay does not have yet. */
  readonly toSend: number;
  /** Are there files beside the browser's database? */
  readonly files: boolean;
  /** What is wrong, as a sentence; null: nothing. */
  readonly trouble: string | null;
}

/** Who lived here, where their storage was lost. */
interface LostTeam {
  readonly human: string | null;
  readonly lead: string | null;
  readonly agents: number;
  readonly documents: number;
}

export type SyncStatus =
  /** No other device, and no phrase. `kept`: null where nobody lives here yet. */
  | { readonly kind: 'alone'; readonly joining: Joining | null; readonly kept: KeptElsewhere | null }
  /** The browser lost what it stored for this page, and it is being brought back. */
  | {
      readonly kind: 'returning';
      readonly joining: Joining | null;
      readonly team: LostTeam;
      readonly link: RelayLink;
      /**
       * Of what is read now: from this device's files, then from the relay; null: not known yet.
       */
      readonly progress: { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
      /**
       * Agents whose last session is not whole here yet: they are not to be woken on this device.
       */
      readonly arriving: readonly string[];
      /** It was looked for in every place, and nobody was found. */
      readonly missing: boolean;
    }
  /** This device was removed from its household: what is here stays here, and nothing new comes. */
  | { readonly kind: 'removed'; readonly joining: Joining | null }
  | {
      readonly kind: 'shared';
      readonly household: string;
      readonly deviceId: DeviceId;
      readonly link: RelayLink;
      /** Are there files beside the browser's database? */
      readonly files: boolean;
      readonly devices: readonly DeviceView[];
      /** Entries on this device that the relay does not have yet. */
      readonly toSend: number;
      /**
       * Fetching a backlog: entries that are here, of so many; null: nothing known is missing but
       * `attachments`.
       */
      readonly backlog: { readonly done: number; readonly of: number } | null;
      /**
       * Entries with bytes of pictures and files that are still on their way here: they come last.
       */
      readonly attachments: number;
      /**
       * Agents whose last session is not whole here yet: they are not to be woken on this device.
       */
      readonly arriving: readonly string[];
      /** Was a recovery phrase made, written down and tried? */
      readonly phrase: boolean;
      /** Entries written by a newer Roost: kept, and opened after an update. */
      readonly newer: number;
      /**
       * Entries that wait because they are dated ahead of this device's clock, up to `latest`, ms
       * since the epoch; null: none. `taken`: all of them can be taken.
       */
      readonly ahead: { readonly entries: number; readonly latest: number; readonly taken: boolean } | null;
      /** Entries that were refused since the page's start: changed, moved or forged by somebody. */
      readonly refused: number;
      /** What is wrong, as a sentence; null: nothing. */
      readonly trouble: string | null;
    };

/** Named by the tab that carries direct connections, from here to another device's browser. */
export type DirectOrder =
  /** Open a connection. `offer`: ours to begin; otherwise a signal with an offer follows. */
  | { readonly kind: 'open'; readonly connection: string; readonly offer: boolean }
  | { readonly kind: 'signal'; readonly connection: string; readonly data: string }
  | { readonly kind: 'frame'; readonly connection: string; readonly frame: Uint8Array }
  | { readonly kind: 'close'; readonly connection: string };
/** What a tab tells of the connections it carries. */
export type DirectReport =
  /** This tab carries from now on: it has none yet. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'signal'; readonly connection: string; readonly data: string }
  | { readonly kind: 'opened'; readonly connection: string }
  | { readonly kind: 'frame'; readonly connection: string; readonly frame: Uint8Array }
  /**
   * So many bytes of the frames that were ordered have left this page since the connection was
   * opened.
   */
  | { readonly kind: 'sent'; readonly connection: string; readonly bytes: number }
  | { readonly kind: 'closed'; readonly connection: string };
