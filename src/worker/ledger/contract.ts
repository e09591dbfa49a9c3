/** What a ledger needs, and what it promises. */
import type { MaybeStorage } from '../../shared/domain/platform/old-browsers.ts';
import type { After } from '../../shared/domain/platform/timers.ts';
import type { Doc, ForgetDoc } from '../../shared/protocol/documents.ts';
import type { OwnerCalls } from '../../shared/protocol/owner-rpc.ts';
import type { OwnerProgress, RebuildReport, StorageProblem, StorageStatus } from '../../shared/protocol/worker.ts';
import type { JournalDatabase, OpenOptions } from './journal/database.ts';
import type { Outgoing } from './journal/journal.ts';
import type { DocumentKey } from './views/copy.ts';
import type { ViewsDatabase } from './views/database.ts';
import type { Found, IdsPage, Place } from './views/found.ts';
import type { LastTalk, TeamCount } from './views/write.ts';
import type { Volume } from './volumes/fireproof-volume.ts';

export interface LedgerDeps extends OpenOptions {
  readonly journal: JournalDatabase;
  /** Whole and ready, with every journal row in them. */
  readonly views: ViewsDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** Names of the IndexedDB databases that exist. */
  readonly databaseNames: () => Promise<readonly string[]>;
  readonly after: After;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward, for spans; left out: `now`. */
  readonly elapsed?: () => number;
  /** Documents that were new, after they are durable. */
  readonly onDocuments: (docs: readonly Doc[]) => void;
  /**
   * What keeps the ledger from writing, or what the person must know; null when all is well again.
   * Told when it changes.
   */
  readonly onProblem: (problem: StorageProblem | null) => void;
  /** Long work; null: it is over. */
  readonly onProgress: (progress: OwnerProgress | null) => void;
  /** What these cover is gone. */
  readonly onForgotten: (forgets: readonly ForgetDoc[]) => void;
  /** Is what is born here to go out to other devices? */
  readonly shares: () => boolean;
  /** Something waits in the outbox. */
  readonly onOutbox: () => void;
  /** Is what was lost being brought back? Left out: never. */
  readonly isReturning?: () => boolean;
  readonly storage?: MaybeStorage;
}

type Answer<Name extends keyof OwnerCalls> = Promise<ReturnType<OwnerCalls[Name]>>;
type Request<Name extends keyof OwnerCalls> = Parameters<OwnerCalls[Name]>[0];

/**
 * Where documents come from. here: born on this device; relay: told by the relay, to every device
 * that listens; elsewhere: from another device, and never sent on as ours.
 */
export type Origin = 'here' | 'relay' | 'elsewhere';

export interface Ledger {
  /**
   * Resolves when the documents are durable, with how many were new. Rejects with a ZodError or
   * TypeError for what is no document, and with a StorageProblemError where it cannot be written;
   * nothing of the call is stored then.
   */
  append(docs: readonly unknown[], origin?: Origin): Promise<{ readonly written: number }>;
  household(): Answer<'household'>;
  conversation(request: Request<'conversation'>): Answer<'conversation'>;
  replaced(request: Request<'replaced'>): Answer<'replaced'>;
  wakings(request: Request<'wakings'>): Answer<'wakings'>;
  changes(request: Request<'changes'>): Answer<'changes'>;
  unread(): Answer<'unread'>;
  wakeMaterial(request: Request<'wakeMaterial'>): Answer<'wakeMaterial'>;
  storage(): Promise<StorageStatus>;
  documents(request: Request<'documents'>): Answer<'documents'>;
  within(request: Request<'within'>): Answer<'within'>;
  changeLog(request: Request<'changeLog'>): Answer<'changeLog'>;
  attachment(file: Request<'attachment'>): Answer<'attachment'>;
  /** Throws a ZodError for what is no document. */
  compare(docs: readonly unknown[]): Answer<'compare'>;
  noteExport(note: Request<'noteExport'>): Answer<'noteExport'>;
  /**
   * Checks every volume, repairs what it can, and writes the views anew, while the old ones are
   * read. A second call waits for the first.
   */
  rebuild(): Promise<RebuildReport>;
  /** What is to go out to other devices, oldest first. */
  outbox(limit: number): Promise<readonly Outgoing[]>;
  /** These have gone into sealed entries. */
  clearOutbox(numbers: readonly number[]): Promise<void>;
  /** Runs between two appends, when all before it can be read. */
  betweenAppends<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Where everything lies, oldest first. */
  keys(): Promise<readonly DocumentKey[]>;
  documentsAt(keys: readonly Pick<DocumentKey, 'store' | 'id'>[]): Promise<readonly Doc[]>;
  /** Ids of documents in order, without reading any. */
  ids(page: IdsPage): Promise<readonly string[]>;
  /** Those of the documents that are to be seen, in the same places; null: not to be seen. */
  found(places: readonly Place[]): Promise<readonly (Found | null)[]>;
  /** Which views are read, and how many documents they hold, by kind. */
  counted(): Promise<{ readonly views: string; readonly kinds: StorageStatus['kinds'] }>;
  lastTalks(): Promise<readonly LastTalk[]>;
  countTalks(talks: readonly Pick<LastTalk, 'agentId' | 'sessionId'>[]): Promise<readonly number[]>;
  /** Who lives here, and how much there is. */
  team(): Promise<TeamCount>;
  /** The cursor of the relay's log; undefined where there is none. */
  readCursor(): Promise<unknown>;
  writeCursor(value: unknown): Promise<void>;
  /** Resolves when everything appended lies in a volume. */
  drain(): Promise<void>;
  /** Finishes what was accepted, drains the journal and closes everything. */
  close(): Promise<void>;
}
