/**
 * What the page and the archive's worker ask of each other. One worker does one job and is ended
 * after it: that is how work is called off, in the middle of stretching a passphrase too.
 */
import { z } from 'zod';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { method, typed, type AnswersOf, type FromServer, type ToServer } from '../../shared/rpc/method.ts';
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
