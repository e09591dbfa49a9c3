/**
 * What the page and the archive's worker ask of each other. One worker does one job and is ended
 * after it: that is how work is called off, in the middle of stretching a passphrase too.
 */
import { z } from 'zod';
import { sentence } from '../../shared/domain/sentence.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { type AnswersOf, type FromServer, method, type ToServer, typed } from '../../shared/rpc/method.ts';
import type { Comparison, DocumentPage } from '../../shared/protocol/worker.ts';
import type {
  AgentExport,
  ArchiveImport,
  ArchivePreview,
  ArchiveProgress,
  ArchiveSource,
  Exported,
  HouseholdExport,
  Imported,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';

// Why a file cannot be taken, or work on it cannot begin.

export const ARCHIVE_ERROR_KINDS = [
  'needs-passphrase',
  'wrong-passphrase',
  'not-an-archive',
  'damaged',
  'cut-short',
  'newer-version',
  'too-large',
  'no-worker',
] as const;
type ArchiveErrorKind = (typeof ARCHIVE_ERROR_KINDS)[number];

/** `message` is for people, and says what to do. Nothing has been written when it is thrown. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly kind: ArchiveErrorKind;
  constructor(kind: ArchiveErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export const CUT_SHORT = sentence`This file is not whole: its end is missing or damaged. Copy it from where it came once more, or use another copy. Nothing was imported.`;
export const DAMAGED = sentence`This file is damaged. Copy it from where it came once more, or use another copy. Nothing was imported.`;

/**
 * The error of a file that the browser cannot read any more: it was moved, changed, or its drive is
 * gone. null: another error.
 */
export function unreadableFile(error: unknown): ArchiveError | null {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name !== 'NotReadableError' && name !== 'NotFoundError') return null;
  return new ArchiveError(
    'damaged',
    sentence`The browser cannot read this file any more: it was moved, changed, or its drive is gone. Choose it once more.`,
    { cause: error },
  );
}

/** Every size and bound of the archive. */
export const ARCHIVE = {
  /** The version of the files written here, and the newest that can be read. */
  version: 1,
  /** Documents in one call to the ledger, at most … */
  batchDocuments: 500,
  /** … and characters of them as JSON, about: what a page can hand on without being felt. */
  batchChars: 128 * 1024,
  /** Documents in the first page that is asked for, before it is known how long they are. */
  firstPage: 50,
  /** Bytes of a file that are handed to the sink at a time, about. */
  chunkBytes: 256 * 1024,
  /** The longest line that is read, in bytes; what the ledger takes is far shorter. */
  lineBytes: 256 * 1024 * 1024,
  /** Levels of one document: lists and objects in each other. */
  depth: 500,
  /** age's default work factor for passphrases: scrypt with N = 2^18. */
  scryptLogN: 18,
  /** Ids of differing documents that a preview names, at most. */
  namedIds: 100,

  /**
   * One agent's zip, or Markdown file: bytes as it comes, files in it, and bytes of all that is
   * unpacked.
   */
  zipBytes: 256 * 1024 * 1024,
  zipEntries: 20_000,
  unpackedBytes: 512 * 1024 * 1024,
  /** Longest name of a file or folder that is written, in UTF-16 units. */
  fileNameChars: 80,
} as const;

/** Page and worker are of one build, and start and end together: types hold on the way. */
const job = <Request, Result>() => method(z.tuple([typed<Request>()]), typed<Result>());

/** What a worker can be asked to do. */
export const JOBS = {
  exportHousehold: job<Pick<HouseholdExport, 'passphrase' | 'exportedAt'>, Exported>(),
  openArchive: job<
    {
      readonly file: Blob;
      readonly passphrase: string | null;
      readonly here: PreviewPorts['here'];
      readonly now: number;
    },
    { readonly preview: ArchivePreview; readonly source: Omit<ArchiveSource, 'file'> }
  >(),
  importArchive: job<
    Pick<ArchiveImport, 'withSettings' | 'leaveOut' | 'ticks'> & { readonly source: ArchiveSource },
    Imported
  >(),
  exportAgent: job<Pick<AgentExport, 'agentId' | 'exportedAt'>, Exported>(),
  readAgent: job<{ readonly file: Blob; readonly name: string }, Omit<ParsedAgent, 'documents'>>(),
};
export type Jobs = AnswersOf<typeof JOBS>;

/** What a job asks of the page while it works. Each answer is awaited before the next is asked. */
export const PORTS = {
  read: job<{ after: string | null; limit: number; agentId: AgentId | null }, DocumentPage>(),
  /** Takes the bytes over. Answers when there is room for more. */
  write: job<Uint8Array, null>(),
  compare: job<readonly Doc[], Comparison>(),
  append: job<readonly Doc[], { readonly written: number }>(),
  /** The documents of an agent that was read. */
  take: job<readonly Doc[], null>(),
};
export type Ports = AnswersOf<typeof PORTS>;

export type Tell = (progress: ArchiveProgress) => void;

/** The pure work behind each job. */
export type Workers = {
  readonly [Name in keyof Jobs]: (
    request: Parameters<Jobs[Name]>[0],
    ports: Ports,
    tell: Tell,
  ) => ReturnType<Jobs[Name]>;
};

export type ArchiveNews =
  /** First of all: the worker's file has come and runs. */
  { readonly news: 'ready' } | { readonly news: 'progress'; readonly progress: ArchiveProgress };

/** One line carries the calls of both. */
export type ToWorker = ToServer | FromServer;
export type FromWorker = FromServer<ArchiveNews> | ToServer;

export const isCall = (message: ToWorker | FromWorker): message is ToServer => 'call' in message || 'ping' in message;
