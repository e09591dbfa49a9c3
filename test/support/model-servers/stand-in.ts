/**
 * Model servers as they really are: which paths they have, in which words they refuse, what they
 * leave out. Only what the model says is scripted. `kinds.ts` has one for each server, with the
 * source that it follows.
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

export type Dialect = 'messages' | 'chat' | 'responses' | 'google';

export interface Kind {
  /** By path, as it stands behind the origin; Google's have the model in them, written `*` here. */
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

/**
 * Of a conversation in any of the protocols: what the model is, what is new to it, and what it can
 * call.
 */
type Read = Pick<Asked, 'system' | 'last' | 'results' | 'tools'>;

const afterAnswer = (all: readonly Fields[], isAnswer: (each: Fields) => boolean) =>
  all.slice(all.findLastIndex(isAnswer) + 1);
const textsIn = (all: readonly Fields[], role: string) =>
  all
    .filter((each) => each['role'] === role)
    .map(({ content }) => textOf(content))
    .join('\n');
const namesOf = (tools: unknown): string[] =>
  listOf(tools).flatMap((tool) =>
    // Codex gives the tools of an MCP server as a namespace.
    tool['type'] === 'namespace'
      ? namesOf(tool['tools']).map((name) => `${String(tool['name'])}${name}`)
      : [String(tool['name'] ?? fieldsOf(tool['function'])['name'])],
  );

const READERS: Readonly<Record<Dialect, (body: Fields) => Read>> = {
  messages(body) {
    const newest = afterAnswer(listOf(body['messages']), ({ role }) => role === 'assistant');
    const results = newest.flatMap(({ content }) =>
      listOf(content)
        .filter(({ type }) => type === 'tool_result')
        .map((part) => textOf(part['content'])),
    );
    return { system: textOf(body['system']), last: textsIn(newest, 'user'), results, tools: namesOf(body['tools']) };
  },
  chat(body) {
    const all = listOf(body['messages']);
    const newest = afterAnswer(all, ({ role }) => role === 'assistant');
    const results = newest.filter(({ role }) => role === 'tool').map(({ content }) => textOf(content));
    return { system: textsIn(all, 'system'), last: textsIn(newest, 'user'), results, tools: namesOf(body['tools']) };
  },
  responses(body) {
    const all = listOf(body['input']);
    const own = ['function_call', 'reasoning', 'custom_tool_call'];
    const newest = afterAnswer(all, ({ role, type }) => role === 'assistant' || own.includes(String(type)));
    const results = newest
      .filter(({ type }) => type === 'function_call_output' || type === 'custom_tool_call_output')
      .map(({ output }) => textOf(output));
    const given = [textOf(body['instructions']), textsIn(all, 'system'), textsIn(all, 'developer')];
    const system = given.filter((text) => text !== '').join('\n');
    return { system, last: textsIn(newest, 'user'), results, tools: namesOf(body['tools']) };
  },
  google(body) {
    const newest = afterAnswer(listOf(body['contents']), ({ role }) => role === 'model');
    const parts = newest.flatMap((each) => listOf(each['parts']));
    const results = parts.flatMap(({ functionResponse }) =>
      functionResponse ? [JSON.stringify(functionResponse)] : [],
    );
    return {
      system: textOf(fieldsOf(body['systemInstruction'])['parts']),
      last: textOf(parts),
      results,
      tools: listOf(body['tools']).flatMap((tool) => namesOf(tool['functionDeclarations'])),
    };
  },
};

const keyIn = ({ headers }: IncomingMessage): string | null => {
  const given = headers['authorization']?.replace(/^Bearer /, '') ?? headers['x-api-key'] ?? headers['x-goog-api-key'];
  return typeof given === 'string' ? given : null;
};

function readBody(path: string, request: IncomingMessage, text: string, dialect: Dialect): Asked {
  const body = fieldsOf(JSON.parse(text));
  const { system, messages, tools, input, instructions, contents, systemInstruction } = body;
  const most =
    body['max_tokens'] ??
    body['max_completion_tokens'] ??
    body['max_output_tokens'] ??
    fieldsOf(body['generationConfig'])['maxOutputTokens'];
  return {
    path,
    key: keyIn(request),
    model: String(body['model'] ?? /\/models\/([^:]+):/.exec(path)?.[1]),
    ...READERS[dialect](body),
    maxTokens: Number(most ?? Infinity),
    tokens: Math.ceil(
      JSON.stringify([system, messages, tools, input, instructions, contents, systemInstruction]).length / 4,
    ),
    body,
    text,
  };
}

/** Clients take two answers of one id for one. */
const someId = () => Math.random().toString(36).slice(2);
const pieces = (words: string) => words.match(/.{1,12}/gsu) ?? [];

/** https://platform.claude.com/docs/en/build-with-claude/streaming */
function writeMessages(response: ServerResponse, { model }: Asked, read: number, { think, say, call }: Reply): void {
  const send = (type: string, more: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  const message = { id: `msg_${someId()}`, type: 'message', role: 'assistant', model, content: [], stop_reason: null };
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
    block({ type: 'tool_use', id: `call_${someId()}`, name: call.name, input: {} }, [
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
  const chatId = `chatcmpl-${someId()}`;
  const send = (choices: readonly object[], more: object = {}) =>
    response.write(
      `data: ${JSON.stringify(change({ id: chatId, object: 'chat.completion.chunk', created: 1, model, choices, ...more }))}\n\n`,
    );
  const delta = (said: object) => send([{ index: 0, delta: said, finish_reason: null }]);
  delta({ role: 'assistant', content: '' });
  for (const reasoning_content of pieces(think ?? '')) delta({ reasoning_content });
  for (const content of pieces(say ?? '')) delta({ content });
  if (call) {
    const id = `call_${someId()}`;
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

/** https://platform.openai.com/docs/api-reference/responses-streaming */
function writeResponses(response: ServerResponse, { model }: Asked, read: number, { think, say, call }: Reply): void {
  const id = someId();
  let sequence_number = 0;
  const send = (type: string, more: object) =>
    response.write(
      `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence_number++, ...more })}\n\n`,
    );
  const head = { id: `resp_${id}`, object: 'response', created_at: 1, model, status: 'in_progress', output: [] };
  send('response.created', { response: head });
  const output: object[] = [];
  const item = (begun: object, done: object, deltas: readonly (readonly [type: string, more: object])[]) => {
    const output_index = output.length;
    send('response.output_item.added', { output_index, item: begun });
    for (const [type, more] of deltas) send(type, { output_index, ...more });
    send('response.output_item.done', { output_index, item: done });
    output.push(done);
  };
  // A reasoning model seals its thoughts, and wants them back with its calls.
  const thought = { id: `rs_${id}`, type: 'reasoning', summary: think ? [{ type: 'summary_text', text: think }] : [] };
  item({ ...thought, encrypted_content: '' }, { ...thought, encrypted_content: SEALED }, []);
  if (say) {
    const item_id = `msg_${id}`;
    const message = { id: item_id, type: 'message', role: 'assistant', status: 'completed' };
    item(
      { ...message, status: 'in_progress', content: [] },
      { ...message, content: [{ type: 'output_text', text: say, annotations: [] }] },
      pieces(say).map((delta) => ['response.output_text.delta', { item_id, content_index: 0, delta }] as const),
    );
  }
  if (call) {
    const given = { id: `fc_${id}`, type: 'function_call', call_id: `call_${id}`, ...calledName(call.name) };
    const written = JSON.stringify(call.input);
    item({ ...given, arguments: '', status: 'in_progress' }, { ...given, arguments: written, status: 'completed' }, [
      ['response.function_call_arguments.delta', { item_id: given.id, delta: written }],
    ]);
  }
  const usage = {
    input_tokens: read,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: read + 20,
  };
  send('response.completed', { response: { ...head, status: 'completed', output, usage } });
  response.end();
}
/** What a provider seals, and has to be given back. */
export const SEALED = 'c2VhbGVk';
/** A tool of a namespace is called by both names. */
function calledName(name: string): object {
  const [, namespace, own] = /^(mcp__.+__)(.+)$/.exec(name) ?? [];
  return namespace === undefined ? { name } : { name: own, namespace };
}

/** https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
function writeGoogle(
  response: ServerResponse,
  { model, path }: Asked,
  read: number,
  { think, say, call }: Reply,
): void {
  const usageMetadata = {
    promptTokenCount: read,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: read + 20,
  };
  const answer = (parts: readonly object[], more: object = {}) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
    modelVersion: model,
    usageMetadata,
  });
  if (path.endsWith(':generateContent')) {
    response.end(JSON.stringify(answer([{ text: say ?? '' }], { finishReason: 'STOP' })));
    return;
  }
  const send = (parts: readonly object[], more: object = {}) =>
    response.write(`data: ${JSON.stringify(answer(parts, more))}\r\n\r\n`);
  const parts: object[] = [
    ...pieces(think ?? '').map((text) => ({ text, thought: true })),
    ...pieces(say ?? '').map((text) => ({ text })),
    ...(call ? [{ functionCall: { name: call.name, args: call.input }, thoughtSignature: SEALED }] : []),
  ];
  for (const [at, part] of parts.entries()) send([part], at === parts.length - 1 ? { finishReason: 'STOP' } : {});
  response.end();
}

function refuse(response: ServerResponse, { status, body, headers }: Refusal): void {
  const isText = typeof body === 'string';
  response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
  response.end(isText ? body : JSON.stringify(body));
}

/** `port`: 0: any that is free. Rejects where something listens at it. */
export async function startStandIn(kind: Kind, first: Model, port = 0): Promise<StandIn> {
  let model = first;
  const asked: Asked[] = [];
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    const isLocked = kind.key !== undefined && keyIn(request) !== kind.key;
    if (request.method === 'GET' && path === kind.list.path) {
      if (isLocked && !kind.list.open && kind.noKey) return refuse(response, kind.noKey);
      return refuse(response, { status: 200, body: kind.list.body });
    }
    const dialect = kind.paths[path] ?? kind.paths[path.replace(/\/models\/[^:]+:/, '/models/*:')];
    const text = await readText(request);
    if (request.method !== 'POST' || dialect === undefined)
      return refuse(response, kind.unknownPath(request.method ?? '', path));
    if (isLocked && kind.noKey) return refuse(response, kind.noKey);
    const seen = readBody(path, request, text, dialect);
    asked.push(seen);
    const refusal = kind.refuse?.(seen, dialect) ?? null;
    if (refusal) return refuse(response, refusal);
    const read = kind.reads?.(seen.tokens) ?? seen.tokens;
    const isWhole = path.endsWith(':generateContent');
    response.writeHead(200, { 'content-type': isWhole ? 'application/json' : 'text/event-stream' });
    if (kind.comments) response.write(kind.comments);
    const reply = model(seen);
    switch (dialect) {
      case 'messages':
        return writeMessages(response, seen, read, reply);
      case 'chat':
        return writeChat(response, seen, read, reply, kind.chunk ?? ((chunk) => chunk));
      case 'responses':
        return writeResponses(response, seen, read, reply);
      case 'google':
        return writeGoogle(response, seen, read, reply);
      default:
        return dialect satisfies never;
    }
  }
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    follow(next) {
      model = next;
    },
    close: () => new Promise((resolve) => (server.close(() => resolve()), server.closeAllConnections())),
  };
}
