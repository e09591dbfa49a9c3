/**
 * The interface of a replica: what it needs and what it does. It is the same in the relay and in a
 * browser.
 */
import type { Entry, EntryKey, EntryStore, Have } from '../protocol/sync/page.ts';
import type { ReplicationSettings } from './settings.ts';

/**
 * A connection to another replica. It may lose, repeat and reorder frames. It must not change them
 * unnoticed for long.
 */
export interface Link {
  /**
   * `relay`: this link leads to the relay. `device`: it leads to a device, from the relay or
   * directly between two devices.
   */
  readonly kind: 'relay' | 'device';
  /** Shown in messages to people. */
  readonly name: string;
  /** Sends a frame. May drop it. */
  send(frame: Uint8Array): void;
  /** Bytes that were handed over and are not sent yet. */
  buffered(): number;
  /**
   * The replica closes the link, because frames are unreadable or exceed a limit. `gone` need not
   * follow.
   */
  close(reason: string): void;
}

export interface LinkEnd {
  /** A frame arrived. Never throws: bad bytes close the link. */
  take(frame: Uint8Array): void;
  /** The link broke. */
  gone(): void;
  /** There is room again after `buffered` had risen. Call it whenever `buffered` falls. */
  drained(): void;
}

/** How many entries are known to be missing, and how many of them have arrived since. */
export interface Backlog {
  readonly done: number;
  readonly of: number;
  /**
   * Missing entries of background writers (`REPLICATION.background`). They are counted nowhere
   * else.
   */
  readonly background: number;
  readonly byPriority: ReadonlyMap<number, { readonly missing: number }>;
}

export interface ReplicaDeps {
  readonly store: EntryStore;
  /** Runs `run` once after this many ms. The returned function cancels it. */
  readonly timers: { after(ms: number, run: () => void): () => void };
  /**
   * The priority class of a writer. Lower classes are fetched and served first. Within a class the
   * newest entries of each writer come first. Nobody waits for classes from
   * `REPLICATION.background` on.
   */
  priority(writer: string): number;
  /**
   * Set in the relay: it sends each device's new entries to all others at once, instead of only
   * announcing them. Left out in a device: devices ask each other for what they lack.
   */
  readonly forwards?: boolean;
  /**
   * Is it a writer of this device? The replica compares the bytes of these with peers, and reports
   * them to `onAhead`.
   */
  own?(writer: string): boolean;
  /**
   * Did this device leave this writer, because peers had different entries of it? The replica then
   * compares the whole writer on each link, at about 27 bytes an entry.
   */
  left?(writer: string): boolean;
  /** Received entries that are durable now, and were new or had different bytes before. */
  onStored?(keys: readonly EntryKey[]): void;
  /** Called on each change. Null: nothing is known to be missing. */
  onBacklog?(backlog: Backlog | null): void;
  /**
   * A peer has other bytes at a place that is filled here. `theirs` are the peer's bytes, checked
   * by the store. The entry here stays. All conflicts of a writer of this device are reported in
   * one go, the lowest first, when all are known.
   */
  onConflict?(key: EntryKey, theirs: Uint8Array): void;
  /**
   * A peer has entries of a writer of this device that are not here: this device was restored from
   * an older copy.
   */
  onAhead?(writer: string): void;
  /** The store refused these. */
  onRefused?(keys: readonly EntryKey[]): void;
  /** A peer connected, left, or changed what it says it has. `peerHas` has a new result. */
  onPeers?(): void;
  /**
   * The store failed. Null: it works again. Meanwhile the replica acknowledges nothing and tries
   * again.
   */
  onTrouble?(error: unknown): void;
  readonly settings?: Partial<ReplicationSettings>;
}

export interface Replica {
  /**
   * Resolves when the store's contents are known. It never rejects: a store that fails is tried
   * again.
   */
  readonly ready: Promise<void>;
  connect(link: Link): LinkEnd;
  /**
   * Pushes entries that were just written here and are durable. With `replace` they overwrite the
   * entries in these places everywhere. The replica pushes them to relays until a relay
   * acknowledges them, as long as the replica lives.
   */
  wrote(entries: readonly Entry[], options?: { readonly replace?: boolean }): void;
  /**
   * Another writer uses the store too. Reads its contents again and announces them to the peers.
   */
  reread(): Promise<void>;
  /** The entries that are here. */
  have(): Have;
  /**
   * Does a relay on a live link have exactly the entries of this writer that are here, and did the
   * compared places agree? For writers of this device.
   */
  agrees(writer: string): boolean;
  /** The union of what the peers on live links say they have. With `kind`, of these links only. */
  peerHas(kind?: Link['kind']): Have;
  /** Stops asking and sending. Resolves when no work of the replica runs in the store. */
  close(): Promise<void>;
}
