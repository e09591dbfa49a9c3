/**
 * Exports and imports: the household in one file, or one agent as a zip of plain files. Packing and
 * unpacking run in a worker of their own. Documents are read and written through functions that the
 * caller passes in.
 */
import { sentence } from '../../shared/domain/names.ts';
import { type Doc, parseDocument } from '../../shared/protocol/documents.ts';
import { createCalls } from '../../shared/rpc/client.ts';
import { proxyOf } from '../../shared/rpc/method.ts';
import { createRpcServer } from '../../shared/rpc/server.ts';
import type { AgentId, SessionId } from '../../shared/domain/ids.ts';
import { deeperThan } from '../../shared/domain/deeper-than.ts';
import {
  EXPORT_FORMAT,
  EXPORT_ERROR_KINDS,
  ExportError,
  type FromWorker,
  isCall,
  JOBS,
  type Jobs,
  PORTS,
  type Ports,
  type ToWorker,
  DAMAGED,
} from './methods.ts';
import type { ChosenFile, MovedIn, MoveInPreview } from './imports/types.ts';
import { partsTicked, withParts } from './household/fields.ts';
import type {
  AgentExport,
  ImportOptions,
  ExportWork,
  Exported,
  HouseholdExport,
  Imported,
  OpenedExport,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';
export { adopt, aheadOf } from './agent/adopt.ts';
export { createConsent, isConsented, type Consents } from './household/consent.ts';
export { fieldsOf, pathOf, withFields } from '../../shared/protocol/records.ts';
export {
  agentFileName,
  conversationFileName,
  householdFileName,
  safeFileName,
  ExportError,
  EXPORT_FORMAT,
} from './methods.ts';
export type { ChosenFile, ConversationSummary, MovedIn, MoveInPreview } from './imports/types.ts';
export type {
  AgentWarning,
  ImportChange,
  ImportConflict,
  ImportOptions,
  ExportedAgent,
  ImportPreview,
  ExportProgress,
  Exported,
  Imported,
  OpenedExport,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';

// The page's side. It starts a worker for each job and lends it the caller's functions.

export type ExportWorker = Pick<Worker, 'addEventListener' | 'postMessage' | 'terminate'>;

/**
 * Every call can be aborted and then rejects with the signal's reason. Errors of the caller's
 * functions are passed through. A file that cannot be imported rejects with an `ExportError`; its
 * kind is `no-worker` where the worker's script cannot be loaded.
 */
export interface Exports {
  /**
   * Preloads the worker's script while the relay is reachable, so that the browser has it later.
   * Never rejects: a failure is reported on use.
   */
  warm(): Promise<void>;
  /**
   * Writes everything into one file. Resolves when the sink is closed. The caller then records the
   * export.
   */
  exportHousehold(options: HouseholdExport): Promise<Exported>;
  /** Reads the whole file, validates it, and reports what an import would do. Writes nothing. */
  openExport(file: Blob, passphrase: string | null, options: PreviewPorts & ExportWork): Promise<OpenedExport>;
  /** Appends the file's documents. It may be repeated: after an abort, appended documents stay. */
  importExport(opened: OpenedExport, options: ImportOptions): Promise<Imported>;
  /**
   * Writes all documents of one agent into a zip of plain files. Resolves when the sink is closed.
   */
  exportAgent(options: AgentExport): Promise<Exported>;
  /**
   * Reads one agent from such a zip, from a zip that contains a SOUL.md, or from a Markdown file.
   * Writes nothing.
   */
  readAgentZip(file: Blob, options?: ExportWork): Promise<ParsedAgent>;
  /** Reads exports of other products, and reports everything in them. Writes nothing. */
  readMoveIn(files: readonly ChosenFile[], options?: ExportWork): Promise<MoveInPreview>;
  /**
   * Appends conversations of such exports to an agent's past. It may be repeated: what is there
   * already stays as it is.
   */
  moveIn(
    request: {
      readonly files: readonly ChosenFile[];
      readonly agentId: AgentId;
      readonly sessionIds: readonly SessionId[];
    },
    options: ExportWork & Pick<ImportOptions, 'append'> & Pick<PreviewPorts, 'compare'>,
  ): Promise<MovedIn>;
}

const NO_WORKER = sentence`The part of Roost that packs and unpacks files could not be fetched. Start the relay, reload the page, and try again; nothing was changed.`;

/** An error as the worker threw it. */
function asThrown(error: unknown): unknown {
  const kind = EXPORT_ERROR_KINDS.find((known) => error instanceof Error && 'kind' in error && error.kind === known);
  return error instanceof Error && kind !== undefined ? new ExportError(kind, error.message) : error;
}

const unasked = () => Promise.reject(new Error('A piece of work asked the page for what it was not given.'));
const NOTHING: Ports = { read: unasked, write: unasked, compare: unasked, append: unasked, take: unasked };

/** One worker per job, terminated with it. */
function runJob<Result>(
  worker: ExportWorker,
  ports: Partial<Ports>,
  { signal, onProgress }: ExportWork,
  job: (jobs: Jobs) => Promise<Result>,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    let isReady = false;
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal?.removeEventListener('abort', abort);
      worker.terminate();
      settle();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const abort = () => fail(signal?.reason);
    const send = (message: ToWorker) => {
      if (!isOver) worker.postMessage(message);
    };

    let lastCallId = 0;
    const calls = createCalls<typeof JOBS>({ newId: () => String(++lastCallId), send });
    const server = createRpcServer<typeof PORTS>({ methods: PORTS, answers: { ...NOTHING, ...ports }, onError: fail });
    const asking = server.connect(send);
    worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (isOver) return;
      if (isCall(data)) asking.take(data);
      else if ('reply' in data) calls.take(data);
      else if ('news' in data && data.news === 'ready') isReady = true;
      else if ('news' in data) onProgress?.(data.progress);
    });
    worker.addEventListener('error', (event: ErrorEvent) =>
      fail(
        isReady
          ? new Error(sentence`Packing or unpacking failed: ${event.message}. Reload the page and try again.`)
          : new ExportError('no-worker', NO_WORKER),
      ),
    );
    signal?.addEventListener('abort', abort);
    job(proxyOf<typeof JOBS>(JOBS, calls.call)).then(
      (result) => end(() => resolve(result)),
      (error: unknown) => fail(asThrown(error)),
    );
  });
}

export function createExports({ spawn }: { readonly spawn: () => ExportWorker }): Exports {
  function start(): ExportWorker {
    try {
      return spawn();
    } catch (error) {
      throw new ExportError('no-worker', NO_WORKER, { cause: error });
    }
  }
  const run = async <Result>(
    ports: Partial<Ports>,
    work: ExportWork,
    job: (jobs: Jobs) => Promise<Result>,
  ): Promise<Result> => {
    work.signal?.throwIfAborted();
    return runJob(start(), ports, work, job);
  };

  return {
    warm: () =>
      new Promise((resolve) => {
        let worker: ExportWorker | null = null;
        const end = () => {
          worker?.terminate();
          resolve();
        };
        try {
          worker = start();
        } catch (error) {
          if (!(error instanceof ExportError)) throw error;
          end();
          return;
        }
        worker.addEventListener('message', end);
        worker.addEventListener('error', end);
      }),
    exportHousehold: ({ read, sink, passphrase, exportedAt, ...work }) =>
      intoSink(sink, (write) => run({ read, write }, work, (jobs) => jobs.exportHousehold({ passphrase, exportedAt }))),
    async openExport(file, passphrase, { compare, here, now, ...work }) {
      const { identities, changes, settings, records } = here;
      const request = { file, passphrase, here: { identities, changes, settings, records }, now };
      const { preview, source } = await run({ compare }, work, (jobs) => jobs.openExport(request));
      return { preview, source: { ...source, file } };
    },
    async importExport({ source, preview }, { append, records, stamp, withSettings, leaveOut, ticks, ...work }) {
      const imported = await run({ append }, work, (jobs) =>
        jobs.importExport({ source, withSettings, leaveOut, ticks }),
      );
      const parts = partsTicked(preview.changes, new Set(ticks), new Set(leaveOut));
      if (parts.length === 0) return imported;
      const { written } = await append(withParts(parts, await records(), stamp));
      return {
        documents: imported.documents + parts.length,
        written: imported.written + written,
        leftOut: imported.leftOut - parts.length,
      };
    },
    exportAgent: ({ agentId, read, sink, exportedAt, ...work }) =>
      intoSink(sink, (write) => run({ read, write }, work, (jobs) => jobs.exportAgent({ agentId, exportedAt }))),
    async readAgentZip(file, work = {}) {
      const documents: Doc[] = [];
      const take = (docs: readonly Doc[]) => {
        for (const doc of docs) documents.push(doc);
        return Promise.resolve(null);
      };
      const request = { file, name: file instanceof File ? file.name : '' };
      const parsed = await run({ take }, work, (jobs) => jobs.readAgent(request));
      return { ...parsed, documents };
    },
    readMoveIn: (files, work = {}) => run({}, work, (jobs) => jobs.readMoveIn({ files })),
    moveIn: (request, { append, compare, ...work }) => run({ append, compare }, work, (jobs) => jobs.moveIn(request)),
  };
}

/**
 * Closes the sink on success and aborts it on failure, so that no partial file passes for a
 * complete one.
 */
async function intoSink(
  sink: WritableStream<Uint8Array>,
  work: (write: Ports['write']) => Promise<Exported>,
): Promise<Exported> {
  const writer = sink.getWriter();
  try {
    const result = await work(async (chunk) => {
      await writer.write(chunk);
      return null;
    });
    await writer.close();
    return result;
  } catch (error) {
    // A sink that failed by itself is aborted already, and rejects again.
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}

/** Starts the worker from a script of its own. */
export function spawnExportWorker(): ExportWorker {
  return new Worker(new URL('./export-worker.ts', import.meta.url), { type: 'module', name: 'roost-exports' });
}

/**
 * Throws if `value` is not a document. Throws an `ExportError` if it is nested too deeply to be
 * passed on: the engine would fail there with an error of its own. It leaves the value as written.
 * The parser's result would be equal, with its fields in another order.
 */
export function assertDocument(value: unknown): asserts value is Doc {
  if (deeperThan(value, EXPORT_FORMAT.depth)) throw new ExportError('damaged', DAMAGED);
  parseDocument(value);
}
