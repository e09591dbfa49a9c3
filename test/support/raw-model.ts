/** A model server that writes raw bytes: whatever a test has it answer, however wrong that is. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request, as far as tests look at it. */
export interface RawRequest {
  readonly order: number;
  readonly model: string;
  readonly system: string;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools: readonly string[];
  readonly text: string;
}

/**
 * `chunks` are written one after the other. `cut`: the line goes dead after them. `open`: the line
 * stays open.
 */
export interface RawAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly (string | Uint8Array)[];
  readonly then?: 'end' | 'cut' | 'open';
}

export interface RawModel {
  readonly url: string;
  readonly requests: readonly RawRequest[];
  follow(script: (request: RawRequest) => RawAnswer): void;
  close(): Promise<void>;
}

export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/**
 * Events as the Messages API writes them:
 * https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export const written = (events: readonly StreamEvent[]): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

export const begins = (more: object = {}): StreamEvent => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'raw',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 1 },
    ...more,
  },
});
export const opens = (index: number, block: object): StreamEvent => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
export const adds = (index: number, delta: object): StreamEvent => ({ type: 'content_block_delta', index, delta });
export const stops = (index: number): StreamEvent => ({ type: 'content_block_stop', index });
export const ends = (reason: string | null = 'end_turn', usage: unknown = { output_tokens: 5 }): StreamEvent => ({
  type: 'message_delta',
  delta: { stop_reason: reason, stop_sequence: null },
  usage,
});
export const OVER: StreamEvent = { type: 'message_stop' };

/** A whole block. */
export const says = (index: number, text: string): StreamEvent[] => [
  opens(index, { type: 'text', text: '' }),
  adds(index, { type: 'text_delta', text }),
  stops(index),
];
export const calls = (index: number, id: unknown, name: unknown, json: string): StreamEvent[] => [
  opens(index, { type: 'tool_use', ...(id === undefined ? {} : { id }), name, input: {} }),
  adds(index, { type: 'input_json_delta', partial_json: json }),
  stops(index),
];
/** A whole answer of these blocks. */
export const answers = (blocks: readonly StreamEvent[], reason = 'end_turn'): RawAnswer => ({
  chunks: [written([begins(), ...blocks, ends(reason), OVER])],
});

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : Array.isArray(value)
      ? value.map((each: { readonly text?: string }) => each.text ?? '').join('\n')
      : '';

export async function startRawModel(first: (request: RawRequest) => RawAnswer): Promise<RawModel> {
  let script = first;
  const requests: RawRequest[] = [];
  async function answer(response: ServerResponse, { status = 200, type, headers, chunks, then = 'end' }: RawAnswer) {
    response.writeHead(status, { 'content-type': type ?? 'text/event-stream', ...headers });
    for (const chunk of chunks) {
      response.write(chunk);
      // Each chunk is read by itself, as far as that can be brought about.
      if (chunks.length > 1) await new Promise((resolve) => setImmediate(resolve));
    }
    if (then === 'end') response.end();
    else if (then === 'cut') setTimeout(() => response.destroy(), 20);
    else response.flushHeaders();
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('error', () => undefined);
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      if (request.method !== 'POST') return void response.writeHead(404).end();
      const body = JSON.parse(text) as {
        readonly model: string;
        readonly system?: unknown;
        readonly messages: RawRequest['messages'];
        readonly tools?: readonly { readonly name: string }[];
      };
      const seen: RawRequest = {
        order: requests.length,
        model: body.model,
        system: textOf(body.system),
        messages: body.messages,
        tools: (body.tools ?? []).map(({ name }) => name),
        text,
      };
      requests.push(seen);
      void answer(response, script(seen));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    follow(next) {
      script = next;
    },
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
