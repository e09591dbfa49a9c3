/** What synchronisation needs of the ledger's owner, and what it does for it. */
import { createEvents, type Events } from '../../../shared/domain/platform/events.ts';
import type { DirectOrder, DirectReport, Entry, SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Doc, ForgetDoc } from '../../../shared/protocol/documents.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import type { RandomBytes } from '../contract.ts';
import type { Direct } from '../direct/index.ts';
import type { Files, SealedLog } from '../mirror/index.ts';
import type { SyncDatabase } from './entry-store.ts';
import type { KeyRotation, Keys } from './keys.ts';
import type { Members } from './members.ts';
import type { LedgerPort, OpenSocket, SyncRelay } from './ports.ts';

// What the parts of a device within its household tell upwards. Each takes only lower parts;
// whoever stands above listens.

// A type: an interface has no index signature.
type DeviceTold = {
  /** Who is of the household, or which keys there are, has changed. */
  members: [];
  /** Entries were stored: documents may have come. */
  stored: [];
  /** What other replicas have, or who of them is there, has changed. */
  peers: [];
  /** Something is known to be missing, or nothing more. */
  backlog: [];
  /** The connection to the relay is another one, or none. */
  link: [];
  /** Somebody has entries of this writer of ours that we never wrote. */
  ahead: [writer: string];
  /** Somebody has other bytes in this place. */
  conflict: [theirs: Entry];
};
export type DeviceEvents = Events<DeviceTold>;
export const createDeviceEvents = (): DeviceEvents => createEvents<DeviceTold>();

/** What happens to the device as a whole, for whoever opened it. */
type SharedTold = {
  /** The status may have changed. */
  changed: [];
  /** Keys, devices or this device's part have changed. */
  mark: [];
  /** What was lost is here again, or was looked for in every place. */
  returned: [];
  /** Files had what the database did not. */
  found: [];
  /** This device was removed from its household. */
  removed: [];
  /** It is one of a household's devices now that it was not of before. */
  entered: [];
  /** A write into the files failed a while ago: they lack something. */
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
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  readonly random: RandomBytes;
  /** Entries once more, in files; null: this browser has none that a worker can write. */
  readonly log: SealedLog | null;
  readonly order: (order: DirectOrder) => void;
  /** Is this browser let in at the relay, as far as is known? */
  readonly isLetIn: () => boolean;
  /** Something failed, and is tried again. */
  readonly onTrouble: (error: unknown) => void;
  /** Whoever opened it hears of it. */
  readonly events: SharedEvents;
}

export interface Shared {
  readonly keys: Keys;
  readonly members: Members;
  readonly keyRotation: KeyRotation;
  status(): Extract<SyncStatus, { kind: 'shared' }>;
  /** How far bringing back is; null: nothing is known of it yet. */
  progress(): Extract<SyncStatus, { kind: 'returning' }>['progress'];
  /** Files lack something: it is written again. */
  refill(): void;
  /** The person takes what waits because it is dated ahead, but for what no clock can be. */
  takeAhead(): Promise<void>;
  /** The person wants entries handed to the relay, or no more. */
  keepAtRelay(on: boolean): Promise<void>;
  /** Something waits in the ledger's outbox. */
  wake(): void;
  /** Documents that were new in the ledger, whoever wrote them. */
  hearDocuments(docs: readonly Doc[]): void;
  /** What these cover is gone from the ledger: it goes from the entries too. */
  forget(forgets: readonly ForgetDoc[]): Promise<void>;
  /** This device's record, under this name. */
  introduce(name: string): Promise<void>;
  /**
   * Everything that waits is sealed, and the last conversations are told: before a device joins.
   */
  flush(): Promise<void>;
  /**
   * Resolves when the last sessions of these agents are here, or after `patience` ms; those that
   * are not. What others have is waited to be known up to `comparePatience` ms more; `compared`: it
   * is.
   */
  caughtUp(
    agentIds: readonly AgentId[],
    times: { readonly patience: number; readonly comparePatience: number },
  ): Promise<{ readonly arriving: readonly string[]; readonly compared: boolean }>;
  readonly direct: Direct;
  report(report: DirectReport): void;
  reconnect(): void;
  /** This browser has another sign-in at the relay: the connection to it begins anew. */
  restart(): void;
  close(): Promise<void>;
}

export interface SyncDeps extends Omit<SharedDeps, 'events' | 'order' | 'log'> {
  /** Beside IndexedDB; null: this browser has none that this worker can write. */
  readonly files: Files | null;
  /** Does what is written here go into entries, from now on? */
  readonly sealing: (on: boolean) => void;
  /** Is what was lost being brought back, as far as it was found? Told again and again. */
  readonly returning: (on: boolean) => void;
  /** This device is one of this household; null: of none. Told again and again. */
  readonly belongs: (household: string | null) => void;
  /** What this device is called until its person says otherwise. */
  readonly deviceName: string;
  readonly tell: (
    news:
      | { readonly news: 'sync'; readonly status: SyncStatus }
      | { readonly news: 'returned' }
      | { readonly news: 'mark'; readonly text: string | null }
      | { readonly news: 'direct'; readonly order: DirectOrder },
  ) => void;
  /** A failure of ours. */
  readonly onCrash: (error: unknown) => void;
}

export interface Sync {
  readonly answers: SyncAnswers;
  wake(): void;
  /** Resolves when nothing waits to be written into files. */
  flush(): Promise<void>;
  hearDocuments(docs: readonly Doc[]): void;
  forget(forgets: readonly ForgetDoc[]): void;
  reconnect(): void;
  /** This browser has another sign-in at the relay: the connection to it begins anew. */
  restart(): void;
  close(): Promise<void>;
}
