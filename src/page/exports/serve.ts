/** The worker's side: does one job, and asks the page for what it needs. */
import { createCalls } from '../../shared/rpc/client.ts';
import { proxyOf } from '../../shared/rpc/method.ts';
import { createRpcServer } from '../../shared/rpc/server.ts';
import { readAgent, writeAgent } from './agent/agent-zip.ts';
import { importHousehold, openHousehold } from './household/read.ts';
import { moveIn, readMoveIn } from './imports/jobs.ts';
import { writeHousehold } from './household/write.ts';
import { isCall, JOBS, PORTS, type ExportNews, type FromWorker, type Tell, type ToWorker } from './methods.ts';

export interface ServedLine {
  postMessage(message: FromWorker, transfer: Transferable[]): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<ToWorker>) => void): void;
}

/** Bytes are transferred, not copied. */
const bytesIn = (args: readonly unknown[]): Transferable[] =>
  args.flatMap((arg) => (arg instanceof Uint8Array && arg.buffer instanceof ArrayBuffer ? [arg.buffer] : []));

/** Serves one channel: a worker's own scope, or a port. */
export function serveExports(line: ServedLine): void {
  let lastCallId = 0;
  const calls = createCalls<typeof PORTS>({
    newId: () => String(++lastCallId),
    send: (message) => line.postMessage(message, bytesIn(message.args)),
  });
  const ports = proxyOf(PORTS, calls.call);
  const tell: Tell = (progress) => server.notify({ news: 'progress', progress });
  const server = createRpcServer<typeof JOBS, ExportNews>({
    methods: JOBS,
    answers: {
      exportHousehold: (request) => writeHousehold(request, ports, tell),
      openExport: (request) => openHousehold(request, ports, tell),
      importExport: (request) => importHousehold(request, ports, tell),
      exportAgent: (request) => writeAgent(request, ports, tell),
      readAgent: (request) => readAgent(request, ports, tell),
      readMoveIn: (request) => readMoveIn(request, ports, tell),
      moveIn: (request) => moveIn(request, ports, tell),
    },
    welcome: () => ({ news: 'ready' }),
    // The page receives the error and reports it to the person.
    onError: () => undefined,
  });
  const page = server.connect((message) => line.postMessage(message, []));
  line.addEventListener('message', ({ data }) => {
    if (isCall(data)) page.take(data);
    else if ('reply' in data) calls.take(data);
  });
}
