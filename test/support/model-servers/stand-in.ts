/**
 * Model servers as they really are: which paths they have, in which words they refuse, what they leave out. Only what the
 * model says is scripted. `kinds.ts` has one for each server, with the source that it follows.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';

/** One request in words that all protocols share. */
export interface Asked {
  readonly path: string;
  readonly key: string | null;
  readonly model: string;
  readonly system: string;
  /** Texts of the newest turn, and what tools answered in it. */
  readonly last: string;
  readonly results: readonly string[];
  readonly tools: readonly string[];
  readonly maxTokens: number;
  /** Tokens of all that was sent, as this server counts: four characters each. */
  readonly tokens: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface Reply {
  readonly think?: string;
  readonly say?: string;
  readonly call?: { readonly name: string; readonly input: unknown };
}
export type Model = (asked: Asked) => Reply;

/** `headers`: beside the type of the content. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Dialect = 'messages' | 'chat';

export interface Kind {
  /** By path, as it stands behind the origin. */
  readonly paths: Readonly<Record<string, Dialect>>;
  readonly list: { readonly path: string; readonly body: unknown; readonly open?: boolean };
  /** Left out: it asks for none. */
  readonly key?: string;
  readonly noKey?: Refusal;
  readonly unknownPath: (method: string, path: string) => Refusal;
  /** Why it refuses this request; null: it does not. */
  refuse?(asked: Asked, dialect: Dialect): Refusal | null;
  /** Tokens that it reads of so many. */
  readonly reads?: (tokens: number) => number;
  /** Changes what it writes of a chunk. */
  readonly chunk?: (chunk: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Lines before the first event. */
  readonly comments?: string;
}

export interface StandIn {
  readonly origin: string;
  readonly asked: readonly Asked[];
  follow(model: Model): void;
  close(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n');
}

function readBody(path: string, request: IncomingMessage, text: string, dialect: Dialect): Asked {
  const body = fieldsOf(JSON.parse(text));
  const messages = listOf(body['messages']);
  const header = request.headers['authorization']?.replace(/^Bearer /, '') ?? request.headers['x-api-key'];
  const newest = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  const results =
    dialect === 'chat'
      ? newest.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content))
      : newest.flatMap(({ content }) =>
          listOf(content)
            .filter(({ type }) => type === 'tool_result')
            .map((part) => textOf(part['content'])),
        );
  const system =
    dialect === 'chat'
      ? messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content))
      : [textOf(body['system'])];
  return {
    path,
    key: typeof header === 'string' ? header : null,
    model: String(body['model']),
    system: system.join('\n'),
    last: newest
      .filter(({ role }) => role === 'user')
      .map(({ content }) => textOf(content))
      .join('\n'),
    results,
    tools: listOf(body['tools']).map((tool) => String(tool['name'] ?? fieldsOf(tool['function'])['name'])),
    maxTokens: Number(body['max_tokens'] ?? body['max_completion_tokens'] ?? Infinity),
    tokens: Math.ceil(JSON.stringify([body['system'], body['messages'], body['tools']]).length / 4),
    body,
    text,
  };
}

const pieces = (words: string) => words.match(/.{1,12}/gsu) ?? [];

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
function writeMessages(response: ServerResponse, { model }: Asked, read: number, { think, say, call }: Reply): void {
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null };
  send('message_start', { message: { ...message, usage: { input_tokens: read, output_tokens: 0 } } });
  let index = 0;
  const block = (content_block: object, deltas: readonly object[]) => {
    send('content_block_start', { index, content_block });
    for (const delta of deltas) send('content_block_delta', { index, delta });
    send('content_block_stop', { index });
    index += 1;
  };
  // No server but Anthropic's own signs a thought.
  if (think)
    block(
      { type: 'thinking', thinking: '' },
      pieces(think).map((thinking) => ({ type: 'thinking_delta', thinking })),
    );
  if (say)
    block(
      { type: 'text', text: '' },
      pieces(say).map((text) => ({ type: 'text_delta', text })),
    );
  if (call)
    block({ type: 'tool_use', id: `call_${Math.random().toString(36).slice(2)}`, name: call.name, input: {} }, [
      { type: 'input_json_delta', partial_json: JSON.stringify(call.input) },
    ]);
  send('message_delta', {
    delta: { stop_reason: call ? 'tool_use' : 'end_turn' },
    usage: { input_tokens: read, output_tokens: 20 },
  });
  send('message_stop', {});
  response.end();
}

/** https://platform.openai.com/docs/api-reference/chat-streaming */
function writeChat(
  response: ServerResponse,
  { model, body }: Asked,
  read: number,
  { think, say, call }: Reply,
  change: NonNullable<Kind['chunk']>,
): void {
  const send = (choices: readonly object[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify(change({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model, choices, ...more }))}\n\n`,
    );
  const delta = (said: object) => send([{ index: 0, delta: said, finish_reason: null }]);
  delta({ role: 'assistant', content: '' });
  for (const reasoning_content of pieces(think ?? '')) delta({ reasoning_content });
  for (const content of pieces(say ?? '')) delta({ content });
  if (call) {
    const id = `call_${Math.random().toString(36).slice(2)}`;
    const [first, ...rest] = pieces(JSON.stringify(call.input));
    delta({ tool_calls: [{ index: 0, id, type: 'function', function: { name: call.name, arguments: first } }] });
    for (const piece of rest) delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
  }
  send([{ index: 0, delta: {}, finish_reason: call ? 'tool_calls' : 'stop' }]);
  const usage = { prompt_tokens: read, completion_tokens: 20, total_tokens: read + 20 };
  if (fieldsOf(body['stream_options'])['include_usage'] === true) send([], { usage });
  response.write('data: [DONE]\n\n');
  response.end();
}

function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

export async function startStandIn(kind: Kind, first: Model): Promise<StandIn> {
  let model = first;
  const asked: Asked[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const header = request.headers['authorization']?.replace(/^Bearer /, '') ?? request.headers['x-api-key'];
    const isLocked = kind.key !== undefined && header !== kind.key;
    if (request.method === 'GET' && path === kind.list.path) {
      if (isLocked && !kind.list.open && kind.noKey) return refuse(response, kind.noKey);
      return refuse(response, { status: 200, body: kind.list.body });
    }
    const dialect = kind.paths[path];
    const text = await readText(request);
    if (request.method !== 'POST' || dialect === undefined)
      return refuse(response, kind.unknownPath(request.method ?? '', path));
    if (isLocked && kind.noKey) return refuse(response, kind.noKey);
    const seen = readBody(path, request, text, dialect);
    asked.push(seen);
    const refusal = kind.refuse?.(seen, dialect) ?? null;
    if (refusal) return refuse(response, refusal);
    const read = kind.reads?.(seen.tokens) ?? seen.tokens;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (kind.comments) response.write(kind.comments);
    if (dialect === 'messages') writeMessages(response, seen, read, model(seen));
    else writeChat(response, seen, read, model(seen), kind.chunk ?? ((chunk) => chunk));
  }
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    follow(next) {
      model = next;
    },
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
