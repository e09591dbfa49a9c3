/** The worker's side of the line: does one job, and asks the page for what the job needs. */
import { readAgent } from './agent/read.ts';
import { writeAgent } from './agent/write.ts';
import { importHousehold } from './household/import.ts';
import { openHousehold } from './household/open.ts';
import { writeHousehold } from './household/write.ts';
import type { FromWorker, JobName, PortName, Ports, ToWorker, Workers } from './line.ts';
import { ArchiveError } from './problem.ts';

const WORKERS: Workers = {
  'export-household': writeHousehold,
  'open-archive': openHousehold,
  'import-archive': importHousehold,
  'export-agent': writeAgent,
  'read-agent': readAgent,
};

export interface ServedLine {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<ToWorker>) => void): void;
}

/** Serves one line: a worker's own scope, or a port. */
export function serveArchive(line: ServedLine): void {
  const waiting = new Map<number, (value: unknown) => void>();
  let asked = 0;
  const ask = (port: PortName, value: unknown, transfer: Transferable[] = []) =>
    new Promise<unknown>((resolve) => {
      asked += 1;
      waiting.set(asked, resolve);
      line.postMessage({ says: 'ask', ask: asked, port, value }, transfer);
    });
  // Page and worker are built together from one Ports: an answer is of its port's type. A port that fails
  // ends the worker, so there are no other answers.
  const ports: Ports = {
    read: (request) => ask('read', request) as ReturnType<Ports['read']>,
    write: (chunk) =>
      ask('write', chunk, chunk.buffer instanceof ArrayBuffer ? [chunk.buffer] : []) as ReturnType<Ports['write']>,
    compare: (docs) => ask('compare', docs) as ReturnType<Ports['compare']>,
    append: (docs) => ask('append', docs) as ReturnType<Ports['append']>,
    take: (docs) => ask('take', docs) as ReturnType<Ports['take']>,
  };

  async function work<Name extends JobName>(job: Name, request: unknown): Promise<FromWorker> {
    try {
      // … and from one Jobs.
      const value = await WORKERS[job](request as Parameters<Workers[Name]>[0], ports, (progress) =>
        line.postMessage({ says: 'progress', progress }, []),
      );
      return { says: 'done', value };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      return { says: 'failed', kind: error instanceof ArchiveError ? error.kind : null, message };
    }
  }

  line.addEventListener('message', ({ data }) => {
    if ('job' in data) void work(data.job, data.request).then((last) => line.postMessage(last, []));
    else {
      waiting.get(data.answer)?.(data.value);
      waiting.delete(data.answer);
    }
  });
  line.postMessage({ says: 'ready' }, []);
}
