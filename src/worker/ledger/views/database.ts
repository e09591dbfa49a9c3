/**
 * The views: what the page reads, as a cache of what the volumes and the journal hold, in an
 * IndexedDB database of their own. They are never changed in shape and never emptied:
 * `viewsVersion` changes with their shape and with the kinds of documents, and they are then
 * written anew beside the old ones (../owner/rebuild.ts), which go when the new ones are whole.
 */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPTransaction } from 'idb';
import type { AgentId, SessionId } from '../../../shared/domain/ids.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  MessageDoc,
  MessageReadDoc,
  QueuedMessageDoc,
  SessionDoc,
  SettingDoc,
} from '../../../shared/protocol/documents.ts';
import { kindsMark } from '../../../shared/protocol/documents/kinds.ts';
import type { OpenOptions } from '../journal/database.ts';

/**
 * Goes up with every change of their shape, of what stands in the log of changes, and of what can
 * be the value of a setting: what came before that has no slot.
 */
const SHAPE = 8;
export const viewsVersion = (): string => `${SHAPE}.${kindsMark().toString(36)}`;

/**
 * A document of a view, with the keys that its indexes sort by; a record without a key is not in
 * that index.
 */
interface Viewed<D extends Doc> {
  readonly _id: string;
  readonly doc: D;
}

export interface MessageRecord extends Viewed<MessageDoc> {
  readonly clientId?: string;
  /** [agentId, newest first, _id]; absent where an edit hides the message. */
  readonly place?: readonly [string, string, string];
  /**
   * [agentId, newest first, _id] by when an answer was whole, of those that say so; absent where an
   * edit hides the message.
   */
  readonly whole?: readonly [string, string, string];
  /**
   * [sessionId, agentId, newest first, _id]; absent where an edit hides the message, and where it
   * was said in no session.
   */
  readonly talk?: readonly [string, string, string, string];
  /** [agentId, stamp, _id] where an edit hides the message. */
  readonly hidden?: readonly [string, string, string];
}

/** Of things said more than once only the newest holds, and only that has a slot. */
export interface SlotRecord<D extends Doc> extends Viewed<D> {
  readonly slot?: string;
  /** [newest first, _id] of what stands in the log of what the person changed. */
  readonly changed?: readonly [string, string];
  /** [what would be its slot, newest first, _id] of those, and of what stood there before. */
  readonly past?: readonly [string, string, string];
}

interface SessionRecord extends Viewed<SessionDoc> {
  readonly sessionId: SessionId;
}

interface QueuedRecord extends Viewed<QueuedMessageDoc> {
  readonly clientId: string;
  /** Absent once a relay has taken the message. */
  readonly open?: 1;
}

/** What one agent's part in one session amounts to. */
export interface TalkRecord {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  /** Messages that show. */
  readonly messages: number;
  /** Those that stood before the agent: what waits unread is not among them. */
  readonly said: number;
  /** ms since the epoch: when the newest of it was said or read. */
  readonly time: number;
  /**
   * [agentId, newest first] of the last thing that stood before the agent here; absent where all of
   * it waits unread.
   */
  readonly place?: readonly [string, string];
  /** The same, where it was more than a greeting. */
  readonly full?: readonly [string, string];
  /**
   * The same, where it was nothing but a greeting: exactly one of the two. What a wake passes over
   * is found by key, without reading it.
   */
  readonly quiet?: readonly [string, string];
  /** As `full`, where somebody said something to the agent. */
  readonly addressed?: readonly [string, string];
}

/** All that ever stood before an agent and shows, but for sessions of nothing but a greeting. */
interface TotalRecord {
  readonly agentId: AgentId;
  readonly said: number;
}

interface ReadRecord extends Viewed<MessageReadDoc> {
  /**
   * [sessionId, agentId, newest first, _id] of when it was read; absent where that was in no
   * session.
   */
  readonly talk?: readonly [string, string, string, string];
}

/** An edit: it hides the message it replaces and everything after that, up to itself. */
export interface ReplacementRecord {
  /** The replacing message's. */
  readonly _id: string;
  readonly agentId: AgentId;
  /** messageId */
  readonly replaces: string;
  /** Stamp of the replaced message; null while that has not been seen. */
  readonly from: string | null;
  readonly until: string;
  /** [agentId, until]; an edit whose target has not been seen reaches past every stamp. */
  readonly reach: readonly [string, string];
}

/** How much there is of one kind of document. */
export interface KindRecord {
  readonly type: string;
  readonly documents: number;
  /** As JSON, in UTF-16 units. */
  readonly chars: number;
}

/** How far the views are: everything up to journal row `applied` is in them. */
export interface ViewsState {
  readonly ready: boolean;
  readonly applied: number;
  readonly documents: number;
  /**
   * The greatest stamp of all documents, which tells new documents from known ones; '' where there
   * are none.
   */
  readonly newest: string;
}
export const NO_VIEWS: ViewsState = { ready: false, applied: 0, documents: 0, newest: '' };

type LoggedIndexes = { slot: string; changed: string[]; past: string[] };
/** Stores in which the log of what the person changed is read. */
export const LOGGED_STORES = ['changes', 'settings', 'records'] as const;

export interface ViewsSchema extends DBSchema {
  /** One record, `state`. */
  state: { key: string; value: ViewsState };
  kinds: { key: string; value: KindRecord };
  identities: { key: string; value: Viewed<AgentIdentityDoc> };
  changes: { key: string; value: SlotRecord<AgentChangeDoc>; indexes: LoggedIndexes };
  settings: { key: string; value: SlotRecord<SettingDoc>; indexes: LoggedIndexes };
  sessions: { key: string; value: SessionRecord; indexes: { sessionId: SessionId } };
  messages: {
    key: string;
    value: MessageRecord;
    indexes: { place: string[]; whole: string[]; talk: string[]; hidden: string[]; clientId: string };
  };
  talks: {
    key: [string, string];
    value: TalkRecord;
    indexes: { place: string[]; full: string[]; quiet: string[]; addressed: string[] };
  };
  totals: { key: string; value: TotalRecord };
  replacements: { key: string; value: ReplacementRecord; indexes: { reach: string[] } };
  queued: { key: string; value: QueuedRecord; indexes: { open: number; clientId: string } };
  reads: { key: string; value: ReadRecord; indexes: { talk: string[] } };
  forgets: { key: string; value: Viewed<ForgetDoc | ForgetUndoDoc> };
  /**
   * Every other kind, and what this app does not know. `about`: the thing that it says something
   * about.
   */
  records: {
    key: string;
    value: SlotRecord<Doc> & { readonly about?: string };
    indexes: LoggedIndexes & { about: string };
  };
}

export type ViewsDatabase = IDBPDatabase<ViewsSchema>;

export const VIEW_STORES = [
  'identities',
  'changes',
  'settings',
  'sessions',
  'messages',
  'talks',
  'totals',
  'replacements',
  'queued',
  'reads',
  'forgets',
  'records',
  'kinds',
  'state',
] as const;
export type ViewsTransaction = IDBPTransaction<ViewsSchema, (typeof VIEW_STORES)[number][], 'readwrite'>;

/**
 * Every write opens every store, so that there is never more than one under way, as in the
 * journal's database. What is lost in a power cut comes again from the journal: `state.applied`
 * says from where.
 */
export function viewsTransaction(db: ViewsDatabase): ViewsTransaction {
  return db.transaction([...VIEW_STORES], 'readwrite', { durability: 'relaxed' });
}

/** How far the views of this database are. */
export const readState = async (db: ViewsDatabase): Promise<ViewsState> => (await db.get('state', 'state')) ?? NO_VIEWS;

/** Opens a database of views. One that lacks a store is of no use: `isWhole` tells. */
export function openViewsDatabase(name: string, { onBlocking, onTerminated }: OpenOptions): Promise<ViewsDatabase> {
  return openDB<ViewsSchema>(name, 1, {
    upgrade(db, _from, _to, tx) {
      db.createObjectStore('identities', { keyPath: '_id' });
      db.createObjectStore('sessions', { keyPath: '_id' }).createIndex('sessionId', 'sessionId');
      const messages = db.createObjectStore('messages', { keyPath: '_id' });
      messages.createIndex('place', 'place');
      messages.createIndex('whole', 'whole');
      messages.createIndex('talk', 'talk');
      messages.createIndex('hidden', 'hidden');
      messages.createIndex('clientId', 'clientId');
      const talks = db.createObjectStore('talks', { keyPath: ['agentId', 'sessionId'] });
      talks.createIndex('place', 'place');
      talks.createIndex('full', 'full');
      talks.createIndex('quiet', 'quiet');
      talks.createIndex('addressed', 'addressed');
      db.createObjectStore('totals', { keyPath: 'agentId' });
      db.createObjectStore('replacements', { keyPath: '_id' }).createIndex('reach', 'reach');
      const queued = db.createObjectStore('queued', { keyPath: '_id' });
      queued.createIndex('open', 'open');
      queued.createIndex('clientId', 'clientId');
      db.createObjectStore('reads', { keyPath: '_id' }).createIndex('talk', 'talk');
      db.createObjectStore('forgets', { keyPath: '_id' });
      for (const name of LOGGED_STORES) {
        const logged = db.createObjectStore(name, { keyPath: '_id' });
        for (const index of ['slot', 'changed', 'past'] as const) logged.createIndex(index, index);
      }
      tx.objectStore('records').createIndex('about', 'about');
      db.createObjectStore('kinds', { keyPath: 'type' });
      db.createObjectStore('state');
    },
    blocking: onBlocking,
    terminated: onTerminated,
  });
}

export const isWhole = (db: ViewsDatabase): boolean => VIEW_STORES.every((name) => db.objectStoreNames.contains(name));
