/** The page's side: starts a worker for each piece of work and lends it the functions that it was given. */
import type { Doc } from '../protocol/documents.ts';
import type { FromWorker, JobName, Jobs, PortName, Ports, ToWorker } from './line.ts';
import { ArchiveError } from './problem.ts';
import type {
  AgentExport,
  ArchiveImport,
  ArchiveWork,
  Exported,
  HouseholdExport,
  Imported,
  OpenedArchive,
  ParsedAgent,
  PreviewPorts,
} from './types.ts';

export type ArchiveWorker = Pick<Worker, 'addEventListener' | 'postMessage' | 'terminate'>;

/**
 * Every call may be aborted, and then rejects with the signal's reason. What a function that was passed in
 * rejects with, the call rejects with. `ArchiveError` where a file cannot be taken, or with kind `no-worker`
 * where the worker's file cannot be fetched.
 */
export interface Archive {
  /**
   * Fetches the worker's file while there is a relay to give it, so that the browser has it later. Never
   * rejects: what is missing is said when it is needed.
   */
  warm(): Promise<void>;
  /** Writes everything into one file. Resolves when the sink is closed. Afterwards the caller notes the export. */
  exportHousehold(options: HouseholdExport): Promise<Exported>;
  /** Reads the whole file, checks it, and says what importing it would do. Writes nothing. */
  openArchive(file: Blob, passphrase: string | null, options: PreviewPorts & ArchiveWork): Promise<OpenedArchive>;
  /** Appends what the file holds. Harmless when repeated, and can be: after an abort, what was appended stays. */
  importArchive(opened: OpenedArchive, options: ArchiveImport): Promise<Imported>;
  /** Writes all that belongs to one agent into a zip with a folder of plain files. Resolves when the sink is closed. */
  exportAgent(options: AgentExport): Promise<Exported>;
  /** Reads one agent from such a zip, from a zip that holds a SOUL.md, or from a Markdown file. Writes nothing. */
  readAgentZip(file: Blob, options?: ArchiveWork): Promise<ParsedAgent>;
}

const NO_WORKER =
  'The part of Roost that packs and unpacks files could not be fetched. Start the relay, reload the page, and try again; nothing was changed.';

export function createArchive({ spawn }: { readonly spawn: () => ArchiveWorker }): Archive {
  function start(): ArchiveWorker {
    try {
      return spawn();
    } catch (error) {
      throw new ArchiveError('no-worker', NO_WORKER, { cause: error });
    }
  }

  function run<Name extends JobName>(
    job: Name,
    request: Jobs[Name]['request'],
    ports: Partial<Ports>,
    work: ArchiveWork,
  ): Promise<Jobs[Name]['result']> {
    const { signal, onProgress } = work;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const worker = start();
      let isReady = false;
      let isOver = false;
      const end = (settle: () => void) => {
        if (isOver) return;
        isOver = true;
        signal?.removeEventListener('abort', abort);
        worker.terminate();
        settle();
      };
      const abort = () => end(() => reject(signal?.reason));
      const send = (message: ToWorker) => worker.postMessage(message);

      function take(message: FromWorker) {
        if (isOver) return;
        switch (message.says) {
          case 'ready':
            isReady = true;
            break;
          case 'ask': {
            const { ask, port, value } = message;
            const answers = ports[port];
            // Page and worker are built together from one Ports: the value is what this port takes.
            const answered: Promise<unknown> = answers
              ? (answers as (value: unknown) => Promise<unknown>)(value)
              : Promise.reject(unasked(port));
            answered.then(
              (answer) => {
                if (!isOver) send({ answer: ask, value: answer });
              },
              (error: unknown) => end(() => reject(error)),
            );
            break;
          }
          case 'progress':
            onProgress?.(message.progress);
            break;
          case 'done':
            // … and from one Jobs: what is answered to `job` is of its type.
            end(() => resolve(message.value as Jobs[Name]['result']));
            break;
          case 'failed': {
            const { kind, message: text } = message;
            end(() => reject(kind === null ? new Error(text) : new ArchiveError(kind, text)));
            break;
          }
          default:
            message satisfies never;
        }
      }

      worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => take(data));
      worker.addEventListener('error', (event: ErrorEvent) =>
        end(() =>
          reject(
            isReady
              ? new Error(`Packing or unpacking failed: ${event.message}. Reload the page and try again.`)
              : new ArchiveError('no-worker', NO_WORKER),
          ),
        ),
      );
      signal?.addEventListener('abort', abort);
      send({ job, request });
    });
  }

  return {
    warm: () =>
      new Promise((resolve) => {
        let worker: ArchiveWorker | null = null;
        const end = () => {
          worker?.terminate();
          resolve();
        };
        try {
          worker = start();
        } catch (error) {
          if (!(error instanceof ArchiveError)) throw error;
          end();
          return;
        }
        worker.addEventListener('message', end);
        worker.addEventListener('error', end);
      }),
    exportHousehold: ({ read, sink, passphrase, exportedAt, ...work }) =>
      intoSink(sink, (write) => run('export-household', { passphrase, exportedAt }, { read, write }, work)),
    async openArchive(file, passphrase, { compare, here, now, ...work }) {
      const { identities, changes, settings } = here;
      const request = { file, passphrase, here: { identities, changes, settings }, now };
      const { preview, source } = await run('open-archive', request, { compare }, work);
      return { preview, source: { ...source, file } };
    },
    importArchive: ({ source }, { append, withSettings, leaveOut, ticks, ...work }) =>
      run('import-archive', { source, withSettings, leaveOut, ticks }, { append }, work),
    exportAgent: ({ agentId, read, sink, exportedAt, ...work }) =>
      intoSink(sink, (write) => run('export-agent', { agentId, exportedAt }, { read, write }, work)),
    async readAgentZip(file, work = {}) {
      const documents: Doc[] = [];
      const take = (docs: readonly Doc[]) => {
        for (const doc of docs) documents.push(doc);
        return Promise.resolve(null);
      };
      const parsed = await run('read-agent', { file, name: file instanceof File ? file.name : '' }, { take }, work);
      return { ...parsed, documents };
    },
  };
}

const unasked = (port: PortName) => new Error(`Nothing was passed in to answer ${port}.`);

/** The sink is closed after good work and aborted after bad, so that no half file passes for a whole one. */
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
    // A sink that failed by itself is aborted already, and says so again.
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}
