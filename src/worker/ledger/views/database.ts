/**
 * The IndexedDB database of the views: a cache, for the page, of what the volumes and the journal
 * hold.
 *
 * Views are never migrated and never emptied. When their schema or the kinds of documents change,
 * `viewsVersion` changes too. New views are then written beside the old ones (../upkeep.ts), which
 * are deleted when the new ones are complete.
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
 * Bump this when the schema of a view, the contents of the change log, or the possible values of a
 * setting change. Older views are rebuilt.
 */
const SHAPE = 8;
export const viewsVersion = (): string => `${SHAPE}.${kindsMark().toString(36)}`;

/**
 * A document in a view, with the keys that its indexes sort by. A record without a key is not in
 * that index.
 */
interface Viewed<D extends Doc> {
  readonly _id: string;
  readonly doc: D;
}

export interface MessageRecord extends Viewed<MessageDoc> {
  readonly clientId?: string;
  /** [agentId, newest first, _id]. Absent where an edit hides the message. */
  readonly place?: readonly [string, string, string];
  /**
   * [agentId, newest first, _id] by the time an answer was complete. Absent where that time is
   * unknown, and where an edit hides the message.
   */
  readonly whole?: readonly [string, string, string];
  /**
   * [sessionId, agentId, newest first, _id]. Absent where an edit hides the message, and where the
   * message belongs to no session.
   */
  readonly talk?: readonly [string, string, string, string];
  /** [agentId, stamp, _id] where an edit hides the message. */
  readonly hidden?: readonly [string, string, string];
}

/** Of values that are set more than once, only the newest is in force. Only that one has a slot. */
export interface SlotRecord<D extends Doc> extends Viewed<D> {
  readonly slot?: string;
  /** [newest first, _id] for records in the log of the person's changes. */
  readonly changed?: readonly [string, string];
  /**
   * [the slot it would have, newest first, _id] for records in the change log and their earlier
   * values.
   */
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

/** Summary of one agent's part in one session. */
export interface TalkRecord {
  readonly agentId: AgentId;
  readonly sessionId: SessionId;
  /** Visible messages. */
  readonly messages: number;
  /** Messages that were put before the agent. Unread messages in the inbox are not counted. */
  readonly said: number;
  /** ms since the epoch: when the newest message was written or read. */
  readonly time: number;
  /**
   * [agentId, newest first] of the last message that was put before the agent here. Absent where
   * all of them wait unread.
   */
  readonly place?: readonly [string, string];
  /** The same, if the session had more than a greeting. */
  readonly full?: readonly [string, string];
  /**
   * The same, if the session had only a greeting. Exactly one of the two is set. So greetings are
   * skipped by key, without being read.
   */
  readonly quiet?: readonly [string, string];
  /** As `full`, if something in the session was addressed to the agent. */
  readonly addressed?: readonly [string, string];
}

/**
 * The number of visible messages that were ever put before an agent, without sessions of a greeting
 * alone.
 */
interface TotalRecord {
  readonly agentId: AgentId;
  readonly said: number;
}

interface ReadRecord extends Viewed<MessageReadDoc> {
  /**
   * [sessionId, agentId, newest first, _id] of when it was read. Absent where that was in no
   * session.
   */
  readonly talk?: readonly [string, string, string, string];
}

/** An edit. It hides the message that it replaces and all later ones up to the edit itself. */
export interface ReplacementRecord {
  /** The replacing message's. */
  readonly _id: string;
  readonly agentId: AgentId;
  /** messageId */
  readonly replaces: string;
  /** Stamp of the replaced message. Null while that message has not arrived. */
  readonly from: string | null;
  readonly until: string;
  /** [agentId, until]. An edit whose target has not arrived reaches past every stamp. */
  readonly reach: readonly [string, string];
}

/** The number and size of documents of one kind. */
export interface KindRecord {
  readonly type: string;
  readonly documents: number;
  /** Size as JSON, in UTF-16 units. */
  readonly chars: number;
}

/** The state of the views: they hold everything up to journal row `applied`. */
export interface ViewsState {
  readonly ready: boolean;
  readonly applied: number;
  readonly documents: number;
  /**
   * The greatest stamp of all documents. It tells new documents from known ones. '' where there are
   * none.
   */
  readonly newest: string;
}
export const NO_VIEWS: ViewsState = { ready: false, applied: 0, documents: 0, newest: '' };

type LoggedIndexes = { slot: string; changed: string[]; past: string[] };
/** Stores that the log of the person's changes is read from. */
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
   * Every other kind, and kinds that this version does not know. `about`: the thing that the
   * document is about.
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
 * Every write opens every store, so only one write runs at a time, as in the journal's database.
 * What a power cut loses comes again from the journal. `state.applied` says from which row.
 */
export function viewsTransaction(db: ViewsDatabase): ViewsTransaction {
  return db.transaction([...VIEW_STORES], 'readwrite', { durability: 'relaxed' });
}

/** The state of the views in this database. */
export const readState = async (db: ViewsDatabase): Promise<ViewsState> => (await db.get('state', 'state')) ?? NO_VIEWS;

/**
 * Opens a database of views. `isWhole` tells whether a store is missing. Such views are not usable.
 */
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
