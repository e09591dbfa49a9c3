/** The interface of the ledger: what it needs and what it promises. */
import type { MaybeStorage } from '../../shared/domain/platform/old-browsers.ts';
import type { After } from '../../shared/domain/platform/timers.ts';
import type { Doc, ForgetDoc } from '../../shared/protocol/documents.ts';
import type {
  WorkerCalls,
  WorkerProgress,
  RebuildReport,
  SentenceHere,
  StorageProblem,
  StorageStatus,
} from '../../shared/protocol/worker.ts';
import type { JournalDatabase, OpenOptions } from './journal/database.ts';
import type { Outgoing } from './journal/journal.ts';
import type { DocumentKey } from './views/copy.ts';
import type { ViewsDatabase } from './views/database.ts';
import type { Found, IdsPage, Place } from './views/views.ts';
import type { LastTalk, TeamCount } from './views/write.ts';
import type { Volume } from './volumes/fireproof-volume.ts';

export interface LedgerDeps extends OpenOptions {
  readonly journal: JournalDatabase;
  /** Complete views that hold every row of the journal. */
  readonly views: ViewsDatabase;
  readonly openVolume: (name: string) => Promise<Volume>;
  /** Names of the IndexedDB databases that exist. */
  readonly databaseNames: () => Promise<readonly string[]>;
  readonly after: After;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms that only move forward, for spans. Left out: `now`. */
  readonly elapsed?: () => number;
  /** Called with new documents once they are durable. */
  readonly onDocuments: (docs: readonly Doc[]) => void;
  /**
   * Why the ledger cannot write, or what the person must know. Null when all is well again. Called
   * on each change.
   */
  readonly onProblem: (problem: StorageProblem | null) => void;
  /** Progress of long work. Null: it is over. */
  readonly onProgress: (progress: WorkerProgress | null) => void;
  /** Called when the contents that these cover are deleted. */
  readonly onForgotten: (forgets: readonly ForgetDoc[]) => void;
  /** Are documents of this device to go to other devices? */
  readonly shares: () => boolean;
  /** The outbox has new rows. */
  readonly onOutbox: () => void;
  /** Are lost documents being restored? Left out: never. */
  readonly isReturning?: () => boolean;
  readonly storage?: MaybeStorage;
}

type Answer<Name extends keyof WorkerCalls> = Promise<ReturnType<WorkerCalls[Name]>>;
type Request<Name extends keyof WorkerCalls> = Parameters<WorkerCalls[Name]>[0];

/**
 * The source of documents. `here`: written on this device. `relay`: sent by the relay to every
 * device that listens. `elsewhere`: from another device, and never sent on as ours.
 */
export type Origin = 'here' | 'relay' | 'elsewhere';

export interface Ledger {
  /**
   * Resolves with the number of new documents once they are durable. Rejects with a ZodError or
   * TypeError for an invalid document, and with a StorageProblemError where they cannot be written.
   * A rejected call stores nothing.
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
  mentioning(request: Request<'mentioning'>): Answer<'mentioning'>;
  covered(request: Request<'covered'>): Answer<'covered'>;
  changeLog(request: Request<'changeLog'>): Answer<'changeLog'>;
  attachment(file: Request<'attachment'>): Answer<'attachment'>;
  /** Throws a ZodError for an invalid document. */
  compare(docs: readonly unknown[]): Answer<'compare'>;
  noteExport(note: Request<'noteExport'>): Answer<'noteExport'>;
  /**
   * Checks every volume, repairs what it can, and writes new views while the old ones are read. A
   * second call waits for the first.
   */
  rebuild(): Promise<RebuildReport>;
  /** Rows that wait to be sent to other devices, oldest first. */
  outbox(limit: number): Promise<readonly Outgoing[]>;
  /** Removes rows that are now in sealed entries. */
  clearOutbox(numbers: readonly number[]): Promise<void>;
  /** How many documents have a text: by kind in the views, and in the volumes. */
  findText(has: (text: string) => boolean): Promise<Pick<SentenceHere, 'documents' | 'volumes'>>;
  /** Requests to forget that are final. */
  forgets(): readonly ForgetDoc[];
  /** Runs between two appends, after everything appended before can be read. */
  betweenAppends<Result>(run: () => Promise<Result>): Promise<Result>;
  /** The places of all documents, oldest first. */
  keys(): Promise<readonly DocumentKey[]>;
  documentsAt(keys: readonly Pick<DocumentKey, 'store' | 'id'>[]): Promise<readonly Doc[]>;
  /** Document ids in order. Reads no document. */
  ids(page: IdsPage): Promise<readonly string[]>;
  /** The visible ones of these documents, in the same places. Null: not visible. */
  found(places: readonly Place[]): Promise<readonly (Found | null)[]>;
  /** The name of the views that are read, and the number of documents by kind. */
  counted(): Promise<{ readonly views: string; readonly kinds: StorageStatus['kinds'] }>;
  lastTalks(): Promise<readonly LastTalk[]>;
  countTalks(talks: readonly Pick<LastTalk, 'agentId' | 'sessionId'>[]): Promise<readonly number[]>;
  /** The household's members, and how many documents there are. */
  team(): Promise<TeamCount>;
  /** The cursor in the relay's log. Undefined where there is none. */
  readCursor(): Promise<unknown>;
  writeCursor(value: unknown): Promise<void>;
  /** Resolves when everything appended is in a volume. */
  drain(): Promise<void>;
  /** Finishes accepted writes, drains the journal and closes everything. */
  close(): Promise<void>;
}
