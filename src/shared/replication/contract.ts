/** What a replica needs, and what it does: the same in the relay and in a browser. */
import type { Entry, EntryKey, EntryStore, Have } from '../protocol/sync/page.ts';
import type { ReplicationSettings } from './settings.ts';

/**
 * A line to another replica. It may lose, repeat and reorder frames, but never change them
 * unnoticed for long.
 */
export interface Link {
  /** To the relay, or to a device (from the relay, and directly between two). */
  readonly kind: 'relay' | 'device';
  /** For messages to people. */
  readonly name: string;
  /** Hands a frame on; may drop it. */
  send(frame: Uint8Array): void;
  /** Bytes handed over that are not on their way yet. */
  buffered(): number;
  /**
   * The replica gives the line up: what came over it cannot be read, or is without measure. `gone`
   * need not follow.
   */
  close(reason: string): void;
}

export interface LinkEnd {
  /** A frame came. Never throws: bad bytes close the link. */
  take(frame: Uint8Array): void;
  /** The line broke. */
  gone(): void;
  /** There is room again after `buffered` had risen. To be called whenever it falls. */
  drained(): void;
}

/** What is known to be missing, and how far it has come since something was. */
export interface Backlog {
  readonly done: number;
  readonly of: number;
  /** Missing of what is fetched last (`REPLICATION.background`), which is counted nowhere else. */
  readonly background: number;
  readonly byPriority: ReadonlyMap<number, { readonly missing: number }>;
}

export interface ReplicaDeps {
  readonly store: EntryStore;
  /** Runs once after so many ms; what it answers with calls it off. */
  readonly timers: { after(ms: number, run: () => void): () => void };
  /**
   * The class of a writer: the lower is fetched, and handed to who asks, earlier. Within a class
   * the newest of each writer first. From `REPLICATION.background` on: what nobody waits for.
   */
  priority(writer: string): number;
  /**
   * The relay: what came from one device is handed to all others at once, rather than only
   * announced. A device leaves it out: between devices what is lacking is asked for.
   */
  readonly forwards?: boolean;
  /**
   * Is it a writer of this device? Others are asked whether they hold the same bytes of it, and
   * `onAhead` is told.
   */
  own?(writer: string): boolean;
  /**
   * Is it one of those that this device left, because others had other entries of it? Then it is
   * compared whole on each link: some 27 bytes an entry.
   */
  left?(writer: string): boolean;
  /** Entries that came and are durable now, and were not here before or had other bytes. */
  onStored?(keys: readonly EntryKey[]): void;
  /** Called when it changes; null: nothing known is missing. */
  onBacklog?(backlog: Backlog | null): void;
  /**
   * A peer has other bytes at a place that is taken here. `theirs` are the peer’s, looked at by the
   * store; here everything stays as it is. All of a writer of this device are told in one go, the
   * lowest first, when all are known.
   */
  onConflict?(key: EntryKey, theirs: Uint8Array): void;
  /**
   * A peer has entries of a writer of this device that are not here: this device was restored from
   * an older copy.
   */
  onAhead?(writer: string): void;
  /** The store refused these. */
  onRefused?(keys: readonly EntryKey[]): void;
  /** What peers say they have has changed, or a peer came or went: `peerHas` answers anew. */
  onPeers?(): void;
  /**
   * The store failed; null: it works again. Nothing is acknowledged meanwhile, and it is tried
   * again.
   */
  onTrouble?(error: unknown): void;
  readonly settings?: Partial<ReplicationSettings>;
}

export interface Replica {
  /**
   * Resolves when what the store holds is known. A store that fails is tried again, so it never
   * rejects.
   */
  readonly ready: Promise<void>;
  connect(link: Link): LinkEnd;
  /**
   * Entries that were written here just now and are durable: pushed. `replace`: they overwrite what
   * was in these places everywhere, and are pushed to relays until they are acknowledged, as long
   * as this replica lives.
   */
  wrote(entries: readonly Entry[], options?: { readonly replace?: boolean }): void;
  /** Somebody else writes to the store too: looks at what it holds now, and tells the peers. */
  reread(): Promise<void>;
  /** What is here. */
  have(): Have;
  /**
   * Has a relay on a live link said that it holds of this writer of this device just what is here,
   * and did the places that were compared agree?
   */
  agrees(writer: string): boolean;
  /** What the peers on live links have said they have, together; of one kind where asked. */
  peerHas(kind?: Link['kind']): Have;
  /** Asks nothing more and hands nothing on; resolves when nothing of it runs in the store. */
  close(): Promise<void>;
}
