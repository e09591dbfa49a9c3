/**
 * Our own IndexedDB database: the journal of what no volume holds yet, the list of volumes, and the views.
 *
 * Views are a cache of what the journal and the volumes hold. `VERSION` goes up with every change of their
 * shape; they are then emptied here and rebuilt by ../owner/rebuild.ts. Journal and volume list are never dropped.
 */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from 'idb';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Doc,
  MessageDoc,
  MessageReadDoc,
  QueuedMessageDoc,
  SessionDoc,
  SettingDoc,
} from '../../protocol/documents.ts';
import { LEDGER } from '../settings.ts';

const VERSION = 1;

/** A document of a view, with the keys that its indexes sort by; a record without a key is not in that index. */
interface Viewed<D extends Doc> {
  readonly _id: string;
  readonly doc: D;
}

export interface MessageRecord extends Viewed<MessageDoc> {
  readonly clientId?: string;
  /** [agentId, newest first, _id]; absent where an edit hides the message. */
  readonly place?: readonly [string, string, string];
  /** [sessionId, agentId, newest first, _id]; absent where an edit hides the message. */
  readonly talk?: readonly [string, string, string, string];
}

/** Of things said more than once only the newest holds, and only that has a slot. */
export interface SlotRecord<D extends Doc> extends Viewed<D> {
  readonly slot?: string;
}

export interface SessionRecord extends Viewed<SessionDoc> {
  readonly sessionId: string;
}

export interface QueuedRecord extends Viewed<QueuedMessageDoc> {
  readonly clientId: string;
  /** Absent once a relay has taken the message. */
  readonly open?: 1;
}

/** What one agent's part in one session amounts to. */
export interface TalkRecord {
  readonly agentId: string;
  readonly sessionId: string;
  /** Messages that show. */
  readonly messages: number;
  /** [agentId, newest first] of the last time the agent itself said something here; absent where it did not. */
  readonly spoken?: readonly [string, string];
}

/** An edit: it hides the message it replaces and everything after that, up to itself. */
export interface ReplacementRecord {
  /** The replacing message's. */
  readonly _id: string;
  readonly agentId: string;
  /** messageId */
  readonly replaces: string;
  /** Stamp of the replaced message; null while that has not been seen. */
  readonly from: string | null;
  readonly until: string;
  /** [agentId, until]; an edit whose target has not been seen reaches past every stamp. */
  readonly reach: readonly [string, string];
}

export interface VolumeRecord {
  readonly name: string;
  readonly number: number;
  readonly documents: number;
  readonly sealed: boolean;
  /** It did not hold what it should when it was looked at; it is kept. */
  readonly damaged: boolean;
}

export interface LedgerSchema extends DBSchema {
  journal: { key: number; value: { readonly seq?: number; readonly doc: Doc } };
  volumes: { key: string; value: VolumeRecord };
  /** `views`: 'stale' | 'ready'. `documents`: how many the ledger holds. `cursor`: of the relay's log. */
  meta: { key: string; value: unknown };
  identities: { key: string; value: Viewed<AgentIdentityDoc> };
  changes: { key: string; value: SlotRecord<AgentChangeDoc>; indexes: { slot: string } };
  settings: { key: string; value: SlotRecord<SettingDoc>; indexes: { slot: string } };
  sessions: { key: string; value: SessionRecord; indexes: { sessionId: string } };
  messages: { key: string; value: MessageRecord; indexes: { place: string[]; talk: string[]; clientId: string } };
  talks: { key: [string, string]; value: TalkRecord; indexes: { spoken: string[] } };
  replacements: { key: string; value: ReplacementRecord; indexes: { reach: string[] } };
  queued: { key: string; value: QueuedRecord; indexes: { open: number; clientId: string } };
  reads: { key: string; value: Viewed<MessageReadDoc> };
  others: { key: string; value: Viewed<Doc> };
}

export type LedgerDatabase = IDBPDatabase<LedgerSchema>;

export const VIEW_STORES = [
  'identities',
  'changes',
  'settings',
  'sessions',
  'messages',
  'talks',
  'replacements',
  'queued',
  'reads',
  'others',
] as const;
const ALL_STORES = ['journal', 'volumes', 'meta', ...VIEW_STORES] as const;
export type WriteTransaction = IDBPTransaction<LedgerSchema, (typeof ALL_STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so that there is never more than one under way: two at once in one
 * database, and a kill, cost the page all of its databases (see ../volumes/gateway.ts). For the same reason
 * nothing is written with the database's shortcuts.
 */
export function writeTransaction(db: LedgerDatabase, durability: 'strict' | 'relaxed'): WriteTransaction {
  return db.transaction([...ALL_STORES], 'readwrite', { durability });
}

export interface OpenOptions {
  /** Another version of the page wants the database: close it. */
  readonly onBlocking: () => void;
  /** The browser closed the database under us. */
  readonly onTerminated: () => void;
}

export function openLedgerDatabase({ onBlocking, onTerminated }: OpenOptions): Promise<LedgerDatabase> {
  return openDB<LedgerSchema>(LEDGER.database, VERSION, {
    upgrade(db, from, _to, tx) {
      if (from === 0) {
        db.createObjectStore('journal', { keyPath: 'seq', autoIncrement: true });
        db.createObjectStore('volumes', { keyPath: 'name' });
        db.createObjectStore('meta');
      }
      for (const name of VIEW_STORES) if (db.objectStoreNames.contains(name)) db.deleteObjectStore(name);
      db.createObjectStore('identities', { keyPath: '_id' });
      db.createObjectStore('changes', { keyPath: '_id' }).createIndex('slot', 'slot');
      db.createObjectStore('settings', { keyPath: '_id' }).createIndex('slot', 'slot');
      db.createObjectStore('sessions', { keyPath: '_id' }).createIndex('sessionId', 'sessionId');
      const messages = db.createObjectStore('messages', { keyPath: '_id' });
      messages.createIndex('place', 'place');
      messages.createIndex('talk', 'talk');
      messages.createIndex('clientId', 'clientId');
      db.createObjectStore('talks', { keyPath: ['agentId', 'sessionId'] }).createIndex('spoken', 'spoken');
      db.createObjectStore('replacements', { keyPath: '_id' }).createIndex('reach', 'reach');
      const queued = db.createObjectStore('queued', { keyPath: '_id' });
      queued.createIndex('open', 'open');
      queued.createIndex('clientId', 'clientId');
      db.createObjectStore('reads', { keyPath: '_id' });
      db.createObjectStore('others', { keyPath: '_id' });
      // The upgrade's own transaction carries it; where it fails, so does opening.
      void tx.objectStore('meta').put('stale', 'views');
    },
    blocking: onBlocking,
    terminated: onTerminated,
  });
}
