/**
 * The calls between the page and the worker of exports. One worker does one job and is then
 * terminated. That is how a job is cancelled, even while a passphrase is being stretched.
 */
import { z } from 'zod';
import { sentence } from '../../shared/domain/names.ts';
import type { AgentId, SessionId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { type AnswersOf, type FromServer, method, type ToServer, typed } from '../../shared/rpc/method.ts';
import type { Comparison, DocumentPage } from '../../shared/protocol/worker.ts';
import type { ChosenFile, MovedIn, MoveInPreview } from './imports/types.ts';
import type {
  AgentExport,
  ImportOptions,
  ImportPreview,
  ExportProgress,
  ImportSource,
  Exported,
  HouseholdExport,
  Imported,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';

// Why a file cannot be imported, or a job cannot start.

export const EXPORT_ERROR_KINDS = [
  'needs-passphrase',
  'wrong-passphrase',
  'not-an-export',
  'damaged',
  'cut-short',
  'newer-version',
  'too-large',
  'no-worker',
] as const;
type ExportErrorKind = (typeof EXPORT_ERROR_KINDS)[number];

/**
 * `message` is for people and says what to do. The page asks for a passphrase instead of showing
 * that one is missing or wrong. Nothing was written when it is thrown.
 */
export class ExportError extends Error {
  override readonly name = 'ExportError';
  readonly kind: ExportErrorKind;
  constructor(kind: ExportErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export const DAMAGED = sentence`This file is damaged, or its end is missing. Copy it again, or use another copy. Nothing was imported.`;

/**
 * The error of a file that the browser can no longer read: it was moved or changed, or its drive is
 * gone. null: another error.
 */
export function unreadableFile(error: unknown): ExportError | null {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name !== 'NotReadableError' && name !== 'NotFoundError') return null;
  return new ExportError(
    'damaged',
    sentence`The browser can no longer read this file. It was moved or changed, or its drive is gone. Choose it again.`,
    { cause: error },
  );
}

/** Every size and limit of an export. */
export const EXPORT_FORMAT = {
  /** The version of the files written here, and the newest that can be read. */
  version: 1,
  /** Documents per call to the ledger, at most … */
  batchDocuments: 500,
  /** … and approximate characters of them as JSON: what a page can pass on without blocking. */
  batchChars: 128 * 1024,
  /** Documents in the first page, before their length is known. */
  firstPage: 50,
  /** Approximate bytes of a file per write to the sink. */
  chunkBytes: 256 * 1024,
  /** The longest line that is read, in bytes. The ledger accepts far less. */
  lineBytes: 256 * 1024 * 1024,
  /** Nesting depth of one document. */
  depth: 500,
  /** age's default work factor for passphrases: scrypt with N = 2^18. */
  scryptLogN: 18,
  /** Ids of differing documents that a preview lists, at most. */
  namedIds: 100,

  /**
   * One agent's zip or Markdown file: packed bytes, number of files, and bytes of all that is
   * unpacked.
   */
  zipBytes: 256 * 1024 * 1024,
  zipEntries: 20_000,
  unpackedBytes: 512 * 1024 * 1024,
  /** Longest name of a file or folder that is written, in UTF-16 units. */
  fileNameChars: 80,
} as const;

/** Page and worker are of one build and start and end together, so messages need no validation. */
const job = <Request, Result>() => method(z.tuple([typed<Request>()]), typed<Result>());

/** The jobs of a worker. */
export const JOBS = {
  exportHousehold: job<Pick<HouseholdExport, 'passphrase' | 'exportedAt'>, Exported>(),
  openExport: job<
    {
      readonly file: Blob;
      readonly passphrase: string | null;
      readonly here: PreviewPorts['here'];
      readonly now: number;
    },
    { readonly preview: ImportPreview; readonly source: Omit<ImportSource, 'file'> }
  >(),
  importExport: job<
    Pick<ImportOptions, 'withSettings' | 'leaveOut' | 'ticks'> & { readonly source: ImportSource },
    Imported
  >(),
  exportAgent: job<Pick<AgentExport, 'agentId' | 'exportedAt'>, Exported>(),
  readAgent: job<{ readonly file: Blob; readonly name: string }, Omit<ParsedAgent, 'documents'>>(),
  /** What is in exports of other products. */
  readMoveIn: job<{ readonly files: readonly ChosenFile[] }, MoveInPreview>(),
  /** Appends these conversations to an agent's past. */
  moveIn: job<
    { readonly files: readonly ChosenFile[]; readonly agentId: AgentId; readonly sessionIds: readonly SessionId[] },
    MovedIn
  >(),
};
export type Jobs = AnswersOf<typeof JOBS>;

/** What a job asks of the page while it runs. Each answer is awaited before the next call. */
export const PORTS = {
  read: job<{ after: string | null; limit: number; agentId: AgentId | null }, DocumentPage>(),
  /** Transfers the bytes. Resolves when there is room for more. */
  write: job<Uint8Array, null>(),
  compare: job<readonly Doc[], Comparison>(),
  append: job<readonly Doc[], { readonly written: number }>(),
  /** The documents of an agent that was read. */
  take: job<readonly Doc[], null>(),
};
export type Ports = AnswersOf<typeof PORTS>;

export type Tell = (progress: ExportProgress) => void;

/** The pure work behind each job. */
export type Workers = {
  readonly [Name in keyof Jobs]: (
    request: Parameters<Jobs[Name]>[0],
    ports: Ports,
    tell: Tell,
  ) => ReturnType<Jobs[Name]>;
};

export type ExportNews =
  /** Sent first: the worker's script is loaded and runs. */
  { readonly news: 'ready' } | { readonly news: 'progress'; readonly progress: ExportProgress };

/** One channel carries the calls of both sides. */
export type ToWorker = ToServer | FromServer;
export type FromWorker = FromServer<ExportNews> | ToServer;

export const isCall = (message: ToWorker | FromWorker): message is ToServer => 'call' in message || 'ping' in message;

// Names of exported files.

const day = (time: number) => new Date(time).toISOString().slice(0, 10);

/**
 * `roost-household-2026-11-21.jsonl.gz`, with `.age` if it is encrypted with a passphrase. The day
 * is in UTC.
 */
export function householdFileName({
  exportedAt,
  sealed,
}: {
  readonly exportedAt: number;
  readonly sealed: boolean;
}): string {
  return `roost-household-${day(exportedAt)}.jsonl.gz${sealed ? '.age' : ''}`;
}

/** `Lyra.zip` */
export function agentFileName(name: string): string {
  return `${safeFileName(name, 'agent')}.zip`;
}

/** `Conversation with Lyra.md` */
export function conversationFileName(name: string, ending: 'md' | 'zip'): string {
  return `Conversation with ${safeFileName(name, 'agent')}.${ending}`;
}

// Characters that Windows, macOS or a terminal cannot handle: separators, wildcards, controls,
// direction marks, lone surrogates.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[<>:"/\\|?*\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/**
 * Device names, with any extension
 * (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
 */
const RESERVED = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** A name that every file system accepts; `fallback` if nothing of `name` remains. */
export function safeFileName(name: string, fallback: string): string {
  const cleaned = name.normalize('NFC').replace(UNSAFE, '-').replace(/\s+/g, ' ');
  // Cut by characters, so that no surrogate pair is split. Some systems drop or hide leading and
  // trailing dots and blanks.
  const cut = [...cleaned]
    .slice(0, EXPORT_FORMAT.fileNameChars)
    .join('')
    .replace(/^[.\s]+|[.\s]+$/g, '');
  if (!/[^\s.-]/.test(cut)) return fallback;
  return RESERVED.test(cut) ? `_${cut}` : cut;
}
