/**
 * A relay of a few lines for tests: an event log over real HTTP that can be cut, silenced and
 * replaced.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { RoostEvent, Snapshot, StoredEvent } from '../../src/shared/protocol/events.ts';
import { ackSchema, postMessageSchema, type PostMessage, type Problem } from '../../src/shared/protocol/http.ts';
import { type SearchAnswered, searchAnsweredSchema } from '../../src/shared/protocol/search.ts';
import { applyEvent, NO_SESSION } from '../../src/shared/protocol/live.ts';

export interface SseRelay {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Adds to the log and sends to whoever listens. */
  emit(...events: RoostEvent[]): void;
  /** Sends text as it is to whoever listens. */
  raw(text: string): void;
  /** A device has proven whose home this is. */
  proven(household: string): void;
  /** Ends every connection without a word. */
  cut(): void;
  /** Another log, empty: the relay's home was replaced. */
  replaceLog(id: string): void;
  /** Forgets all but the first `count` events: the store was put back from a copy. */
  putBack(count: number): void;
  /** Answers every new connection with this status; null: as it should. */
  refuse(status: number | null): void;
  /** Every event is sent twice. */
  stutter(on: boolean): void;
  /** Messages are refused with this problem; null: they are taken. */
  refuseMessages(problem: Problem | null): void;
  readonly acks: number[];
  readonly posted: PostMessage[];
  /** Answers to what agents look for. */
  readonly searched: { readonly path: string; readonly answer: SearchAnswered }[];
  /** `?after` and `?log` of every connection. */
  readonly cursors: { readonly after: string | null; readonly log: string | null }[];
}

const frame = (event: string, data: unknown, id?: number) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += z.instanceof(Buffer).parse(chunk).toString('utf8');
  return JSON.parse(text);
}

export function createSseRelay(logId = 'log-1'): SseRelay {
  let log: StoredEvent[] = [];
  let id = logId;
  let refused: number | null = null;
  let twice = false;
  let household: string | null = null;
  const hello = () => frame('hello', { log: id, version: 'test', household });
  const listeners = new Set<ServerResponse>();
  let refusal: Problem | null = null;
  const acks: number[] = [];
  const posted: PostMessage[] = [];
  const searched: { path: string; answer: SearchAnswered }[] = [];
  const cursors: { after: string | null; log: string | null }[] = [];
  const head = () => log.at(-1)?.id ?? 0;
  const snapshot = (): Snapshot => ({ ...log.reduce(applyEvent, NO_SESSION), upTo: head() });
  const write = (response: ServerResponse, stored: StoredEvent) => {
    for (let n = twice ? 2 : 1; n > 0; n--) response.write(frame(stored.event.kind, stored.event, stored.id));
  };

  function stream(url: URL, response: ServerResponse) {
    const after = Number(url.searchParams.get('after'));
    const of = url.searchParams.get('log');
    cursors.push({ after: url.searchParams.get('after'), log: of });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(hello());
    const from = (of === null || of === id) && after <= head() ? after : 0;
    for (const stored of log) if (stored.id > from) write(response, stored);
    response.write(frame('snapshot', snapshot()));
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
  }

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (refused !== null) response.writeHead(refused).end();
    else if (url.pathname === '/api/events') stream(url, response);
    else if (url.pathname === '/api/events/ack') {
      acks.push(ackSchema.parse(await bodyOf(request)).upTo);
      response.writeHead(204).end();
    } else if (url.pathname === '/api/messages' && refusal !== null) {
      response.writeHead(refusal.status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(refusal));
    } else if (url.pathname === '/api/messages') {
      posted.push(postMessageSchema.parse(await bodyOf(request)));
      response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ eventId: head() + 1 }));
    } else if (url.pathname.startsWith('/api/searches/')) {
      searched.push({ path: url.pathname, answer: searchAnsweredSchema.parse(await bodyOf(request)) });
      response.writeHead(204).end();
    } else response.writeHead(404).end();
  }

  return {
    handle: (request, response) => {
      handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    },
    proven(whose) {
      household = whose;
      for (const response of listeners) response.write(hello());
    },
    emit(...events) {
      for (const event of events) {
        const stored = { id: head() + 1, event };
        log = [...log, stored];
        for (const response of listeners) write(response, stored);
      }
    },
    raw(text) {
      for (const response of listeners) response.write(text);
    },
    cut() {
      for (const response of listeners) response.destroy();
    },
    replaceLog(next) {
      id = next;
      log = [];
    },
    putBack(count) {
      log = log.slice(0, count);
    },
    refuse(status) {
      refused = status;
    },
    stutter(on) {
      twice = on;
    },
    refuseMessages(problem) {
      refusal = problem;
    },
    acks,
    posted,
    searched,
    cursors,
  };
}

export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on a port of its own on the loopback. */
export async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Listening> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
