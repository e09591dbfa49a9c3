/**
 * What the page and the archive's worker say to each other. One worker does one job and is ended after it:
 * that is how work is called off, in the middle of stretching a passphrase too.
 */
import type { Doc } from '../protocol/documents.ts';
import type { Comparison, DocumentPage } from '../protocol/worker.ts';
import type { ArchiveErrorKind } from './problem.ts';
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

/** What a worker can be asked to do, with what it answers. */
export interface Jobs {
  'export-household': { request: Pick<HouseholdExport, 'passphrase' | 'exportedAt'>; result: Exported };
  'open-archive': {
    request: {
      readonly file: Blob;
      readonly passphrase: string | null;
      readonly here: PreviewPorts['here'];
      readonly now: number;
    };
    result: { readonly preview: ArchivePreview; readonly source: Omit<ArchiveSource, 'file'> };
  };
  'import-archive': {
    request: Pick<ArchiveImport, 'withSettings' | 'leaveOut' | 'ticks'> & { readonly source: ArchiveSource };
    result: Imported;
  };
  'export-agent': { request: Pick<AgentExport, 'agentId' | 'exportedAt'>; result: Exported };
  'read-agent': { request: { readonly file: Blob; readonly name: string }; result: Omit<ParsedAgent, 'documents'> };
}
export type JobName = keyof Jobs;

/** What a job asks of the page while it works. Each answer is awaited before the next is asked. */
export interface Ports {
  read(request: { after: string | null; limit: number; agentId: string | null }): Promise<DocumentPage>;
  /** Takes the bytes over. Answers when there is room for more. */
  write(chunk: Uint8Array): Promise<null>;
  compare(docs: readonly Doc[]): Promise<Comparison>;
  append(docs: readonly Doc[]): Promise<{ readonly written: number }>;
  /** The documents of an agent that was read. */
  take(docs: readonly Doc[]): Promise<null>;
}
export type PortName = keyof Ports;

export type Tell = (progress: ArchiveProgress) => void;

/** The pure work behind each job. */
export type Workers = {
  readonly [Name in JobName]: (
    request: Jobs[Name]['request'],
    ports: Ports,
    tell: Tell,
  ) => Promise<Jobs[Name]['result']>;
};

export type ToWorker =
  { readonly job: JobName; readonly request: unknown } | { readonly answer: number; readonly value: unknown };

export type FromWorker =
  /** First of all: the worker's file has come and runs. */
  | { readonly says: 'ready' }
  | { readonly says: 'ask'; readonly ask: number; readonly port: PortName; readonly value: unknown }
  | { readonly says: 'progress'; readonly progress: ArchiveProgress }
  | { readonly says: 'done'; readonly value: unknown }
  /** `kind` null: an error that nobody foresaw. */
  | { readonly says: 'failed'; readonly kind: ArchiveErrorKind | null; readonly message: string };
