/** The interface of synchronisation: what it needs of the data worker, and what it does. */
import { createEvents, type Events } from '../../../shared/domain/platform/events.ts';
import type { CaughtUp, DirectOrder, DirectReport, Entry, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import type { RandomBytes } from '../contract.ts';
import type { Direct } from '../direct/index.ts';
import type { Files, SealedLog } from '../mirror/index.ts';
import type { SyncDatabase } from './entry-store.ts';
import type { KeyRotation, Keys } from './keys.ts';
import type { Members } from './members.ts';
import type { LedgerPort, OpenSocket, SyncRelay } from './ports.ts';

// Events that the parts of a device send upwards. Each part depends only on lower parts. Higher
// parts listen.

// A type, because an interface has no index signature.
type DeviceTold = {
  /** The members of the household or its keys have changed. */
  members: [];
  /** Entries were stored, so documents may be new. */
  stored: [];
  /** Other replicas, or what they have, have changed. */
  peers: [];
  /** The number of missing entries has changed. */
  backlog: [];
  /** The state of the connection to the relay has changed. */
  link: [];
  /** A peer has entries of this writer of ours that this device never wrote. */
  ahead: [writer: string];
  /** A peer has other bytes in this place. */
  conflict: [theirs: Entry];
};
export type DeviceEvents = Events<DeviceTold>;
export const createDeviceEvents = (): DeviceEvents => createEvents<DeviceTold>();

/** Events about the device as a whole, for the module that opened it. */
type SharedTold = {
  /** The status may have changed. */
  changed: [];
  /** Keys, devices or this device's membership have changed. */
  mark: [];
  /** The lost data is restored, or every place was searched for it. */
  returned: [];
  /** Files had entries that the database lacked. */
  found: [];
  /** This device was removed from its household. */
  removed: [];
  /** This device has joined a household. */
  entered: [];
  /** A write into the files failed some time ago. They lack entries. */
  lacking: [];
};
export type SharedEvents = Events<SharedTold>;
export const createSharedEvents = (): SharedEvents => createEvents<SharedTold>();

export interface SharedDeps {
  readonly db: SyncDatabase;
  readonly ledger: LedgerPort;
  readonly relay: SyncRelay;
  readonly openSocket: OpenSocket;
  readonly timers: Timers;
  readonly backoff: (failures: number) => number;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms that only move forward, for spans. Left out: `now`. */
  readonly elapsed?: () => number;
  readonly random: RandomBytes;
  /**
   * The second copy of entries in files. Null: this browser has no files that a worker can write.
   */
  readonly log: SealedLog | null;
  readonly order: (order: DirectOrder) => void;
  /** Does the relay accept this browser's sign-in, as far as is known? */
  readonly isLetIn: () => boolean;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** Receives the events. */
  readonly events: SharedEvents;
}

export interface Shared {
  readonly keys: Keys;
  readonly members: Members;
  readonly keyRotation: KeyRotation;
  status(): Extract<SyncStatus, { kind: 'shared' }>;
  /** Progress of restoring. Null: not known yet. */
  progress(): Extract<SyncStatus, { kind: 'returning' }>['progress'];
  /** Writes what the files lack. */
  refill(): void;
  /**
   * The person accepts entries that wait because of a future date, except for dates that no clock
   * can have.
   */
  takeAhead(): Promise<void>;
  /** Turns storing entries at the relay on or off. */
  keepAtRelay(on: boolean): Promise<void>;
  /** The ledger's outbox has rows. */
  wake(): void;
  /** New documents in the ledger, from any device. */
  hearDocuments(docs: readonly Doc[]): void;
  /** The ledger has deleted what these cover. Deletes it from the entries too. */
  forget(): Promise<void>;
  /** How many entries have a text in their documents. */
  countWith(has: (text: string) => boolean): Promise<number>;
  /** Sends this device's record, with this name. */
  introduce(name: string): Promise<void>;
  /** Seals everything that waits and sends the last conversations, before another device joins. */
  flush(): Promise<void>;
  /** Resolves when the last sessions of these agents are here, or after `patience` ms. */
  caughtUp(agentIds: readonly AgentId[], patience: number): Promise<CaughtUp>;
  readonly direct: Direct;
  report(report: DirectReport): void;
  reconnect(): void;
  /** This browser has another sign-in at the relay. Reconnects. */
  restart(): void;
  close(): Promise<void>;
}

export interface SyncDeps extends Omit<SharedDeps, 'events' | 'order' | 'log'> {
  /** Files outside IndexedDB. Null: this browser has none that this worker can write. */
  readonly files: Files | null;
  /** Does new data go into entries from now on? */
  readonly sealing: (on: boolean) => void;
  /** Is lost data being restored, as far as it was found? Called repeatedly. */
  readonly returning: (on: boolean) => void;
  /** The household of this device. Null: none. Called repeatedly. */
  readonly belongs: (household: string | null) => void;
  /** The name of this device until its person chooses another. */
  readonly deviceName: string;
  readonly tell: (
    news:
      | { readonly news: 'sync'; readonly status: SyncStatus }
      | { readonly news: 'returned' }
      | { readonly news: 'mark'; readonly text: string | null }
      | { readonly news: 'direct'; readonly order: DirectOrder },
  ) => void;
  /** An error in this code. */
  readonly onCrash: (error: unknown) => void;
}

export interface Sync {
  readonly answers: SyncAnswers;
  wake(): void;
  /** Resolves when nothing waits to be written into files. */
  flush(): Promise<void>;
  hearDocuments(docs: readonly Doc[]): void;
  forget(): void;
  /** How many entries have a text in their documents. */
  countWith(has: (text: string) => boolean): Promise<number>;
  reconnect(): void;
  /** This browser has another sign-in at the relay. Reconnects. */
  restart(): void;
  close(): Promise<void>;
}
