/**
 * A model that says what a test tells it, over HTTP: the Messages API with streaming, tools, errors
 * and cuts.
 */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { positionsCalled } from '../../src/shared/domain/wake-payload.ts';
import { createScriptedBatches, type ScriptedBatches } from './scripted-batches.ts';

export type Part =
  /**
   * Sent in pieces of `chunk` UTF-16 code units (default: all at once), so that a pair of
   * surrogates may be torn.
   */
  | { readonly say: string; readonly chunk?: number; readonly everyMs?: number }
  /** `json`: sent instead of the input, as it is. */
  | { readonly call: string; readonly input: unknown; readonly json?: string }
  /** A block of the server's own. */
  | { readonly block: { readonly type: string } & Readonly<Record<string, unknown>> }
  | { readonly think: string; readonly signature: string }
  /** How the answer ends, where it is neither by itself nor for a tool. */
  | { readonly stop: 'max_tokens' | 'refusal' | 'pause_turn' }
  /** An error in mid-stream; nothing follows it. */
  | { readonly error: { readonly type: string; readonly message: string } }
  | { readonly wait: number }
  /** What it says that it took of the prompt; left out: the same always. */
  | { readonly usage: Readonly<Record<string, unknown>> }
  /** Waits for the test. */
  | { readonly until: Promise<unknown> }
  /** The line goes dead here. */
  | { readonly cut: true };

export type Reply =
  | readonly Part[]
  /**
   * `retryAfterMs`: the failure may be tried again, after so long. `headers`: these instead of the
   * word that it must not be.
   */
  | {
      readonly fail: {
        readonly status: number;
        readonly type: string;
        readonly message: string;
        readonly retryAfterMs?: number;
        readonly headers?: Readonly<Record<string, string>>;
      };
    }
  | 'silent';

const textBlock = z.looseObject({ type: z.literal('text'), text: z.string() });
const bodySchema = z.looseObject({
  model: z.string(),
  stream: z.boolean().optional(),
  system: z.union([z.string(), z.array(textBlock)]).optional(),
  tools: z
    .array(
      z.looseObject({ name: z.string(), description: z.string().optional(), defer_loading: z.boolean().optional() }),
    )
    .optional(),
  messages: z.array(
    z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) }),
  ),
});

export interface ScriptedRequest {
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: z.infer<typeof bodySchema>;
  readonly system: string;
  /** As people count; null for the lead. */
  readonly seat: number | null;
  /** Texts of the first user message: what the agent woke to, or was born to. */
  readonly first: string;
  /** Texts of the newest turn, without the relay's own lines, and the results of tools in it. */
  readonly last: string;
  /** The relay's lines of the newest turn: what time it is, who lives here now, who woke it. */
  readonly notes: readonly string[];
  readonly results: readonly string[];
  /** Order of arrival, from 0. */
  readonly order: number;
  /** ms, monotonic. */
  readonly at: number;
  /** How many requests were open when this one had arrived, itself included. */
  readonly open: number;
}

/**
 * The tools that stand before the conversation: Claude reads no others, until it has searched for
 * them.
 */
export const toldIn = ({ body: { tools = [] } }: Pick<ScriptedRequest, 'body'>) =>
  tools.filter(({ defer_loading: waits }) => waits !== true);
/** Names of all tools that can be had: those that are told of, and those that `find_tool` names. */
export const offeredIn = ({ body: { tools = [] } }: Pick<ScriptedRequest, 'body'>): readonly string[] => [
  ...tools.map(({ name }) => name),
  ...(tools
    .find(({ name }) => name === 'find_tool')
    ?.description?.match(/\b[a-z]+(?:_[a-z]+)+\b|\b(?:memory|remember|recall)\b/g) ?? []),
];

export type Script = (request: ScriptedRequest) => Reply | Promise<Reply>;

export interface ScriptedModel {
  readonly url: string;
  readonly requests: readonly ScriptedRequest[];
  readonly batches: ScriptedBatches;
  follow(script: Script): void;
  close(): Promise<void>;
}

type Content = z.infer<typeof bodySchema>['messages'][number]['content'];
const blocksOf = (content: Content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);
const textsOf = (content: Content) =>
  blocksOf(content).flatMap((block) =>
    block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : [],
  );
const resultsOf = (content: Content) =>
  blocksOf(content).flatMap((block) =>
    block.type === 'tool_result'
      ? [typeof block['content'] === 'string' ? block['content'] : JSON.stringify(block['content'])]
      : [],
  );

const isNote = (text: string) =>
  /^\[(?:It is |With you live now: |You are awake: |Until now a demo )[^\n]*\]$/.test(text);

function pieces(text: string, chunk: number | undefined): string[] {
  if (chunk === undefined) return [text];
  return Array.from({ length: Math.ceil(text.length / chunk) }, (_none, i) => text.slice(i * chunk, (i + 1) * chunk));
}

const START_USAGE = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 };
const OUTPUT_TOKENS = 20;

/** The same as a whole, for whoever did not ask for a stream. */
async function whole(response: ServerResponse, model: string, parts: readonly Part[], order: number): Promise<void> {
  const content: object[] = [];
  for (const part of parts) {
    if ('wait' in part) await sleep(part.wait);
    else if ('until' in part) await part.until;
    else if ('say' in part) content.push({ type: 'text', text: part.say });
    else if ('call' in part)
      content.push({ type: 'tool_use', id: `toolu_${order}_${content.length}`, name: part.call, input: part.input });
  }
  const usage = { ...START_USAGE, output_tokens: OUTPUT_TOKENS };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(
    JSON.stringify({
      id: `msg_${order}`,
      type: 'message',
      role: 'assistant',
      model,
      content,
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage,
    }),
  );
}

async function stream(response: ServerResponse, model: string, parts: readonly Part[], order: number): Promise<void> {
  const send = (event: { type: string } & Record<string, unknown>) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  send({
    type: 'message_start',
    message: {
      id: `msg_${order}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        ...START_USAGE,
        ...Object.assign({}, ...parts.flatMap((part) => ('usage' in part ? [part.usage] : []))),
      },
    },
  });
  let index = 0;
  for (const part of parts) {
    if ('wait' in part) await sleep(part.wait);
    else if ('until' in part) await part.until;
    else if ('cut' in part) {
      // What was said is on its way before the line goes dead.
      await sleep(20);
      response.destroy();
      return;
    } else if ('say' in part) {
      send({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } });
      for (const text of pieces(part.say, part.chunk)) {
        if (response.destroyed) return;
        send({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } });
        if (part.everyMs !== undefined) await sleep(part.everyMs);
      }
      send({ type: 'content_block_stop', index: index++ });
    } else if ('block' in part) {
      send({ type: 'content_block_start', index, content_block: part.block });
      send({ type: 'content_block_stop', index: index++ });
    } else if ('think' in part) {
      send({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } });
      send({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: part.think } });
      send({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: part.signature } });
      send({ type: 'content_block_stop', index: index++ });
    } else if ('error' in part) {
      response.end(`event: error\ndata: ${JSON.stringify({ type: 'error', error: part.error })}\n\n`);
      return;
    } else if ('call' in part) {
      send({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `toolu_${order}_${index}`, name: part.call, input: {} },
      });
      send({
        type: 'content_block_delta',
        index,
        delta: { type: 'input_json_delta', partial_json: part.json ?? JSON.stringify(part.input) },
      });
      send({ type: 'content_block_stop', index: index++ });
    }
  }
  const told = parts.flatMap((part) => ('stop' in part ? [part.stop] : []))[0];
  const stop = told ?? (parts.some((part) => 'call' in part) ? 'tool_use' : 'end_turn');
  send({
    type: 'message_delta',
    delta: { stop_reason: stop, stop_sequence: null },
    usage: { output_tokens: OUTPUT_TOKENS },
  });
  send({ type: 'message_stop' });
  response.end();
}

/** Seats (as people count) that a call to the team in this text names. */
export function seatsCalled(text: string): number[] {
  const positions = positionsCalled(text);
  if (positions.length === 0) throw new Error(`not a call to the team: ${text}`);
  return positions.map((position) => position + 1);
}

/**
 * What a well-behaved team says: the lead calls and greets, eggs choose `names[seat]` with
 * `souls[seat]`, agents greet and echo.
 */
export function teamScript({
  souls = {},
  names = {},
  greeting = (seat) => `Good morning from seat ${seat}.`,
}: {
  souls?: Readonly<Record<number, string>>;
  names?: Readonly<Record<number, string>>;
  greeting?: (seat: number) => string;
} = {}): Script {
  return ({ seat, last, results, body }) => {
    if (seat === null) {
      if (/^\[(WAKE|SUMMON) AGENTS\]/.test(last)) return [{ call: 'spawn_team', input: { seats: seatsCalled(last) } }];
      return [{ say: results.length > 0 ? 'Welcome, all of you.' : `The lead heard: ${last}` }];
    }
    if (results.length > 0) return [{ say: 'That is me.' }];
    if (last.startsWith('You are new.'))
      return [
        { say: souls[seat] ?? `I am somebody in seat ${seat}.` },
        { call: 'choose_name', input: { name: names[seat] ?? `Name${seat}` } },
      ];
    return [{ say: body.messages.length === 1 ? greeting(seat) : `Seat ${seat} heard: ${last}` }];
  };
}

export async function startScriptedModel(first: Script): Promise<ScriptedModel> {
  let script = first;
  let open = 0;
  const requests: ScriptedRequest[] = [];
  const batches = createScriptedBatches();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (batches.handle(request, response, Buffer.concat(chunks).toString('utf8'))) return;
      if (request.method === 'GET') {
        response.writeHead(200, { 'content-type': 'application/json' });
        const one = /^\/v1\/models\/([^/?]+)$/.exec(request.url ?? '')?.[1];
        const model = (id: string) => ({
          type: 'model',
          id,
          display_name: 'Scripted',
          created_at: '2026-11-21T00:00:00Z',
        });
        response.end(
          JSON.stringify(
            one === undefined
              ? { data: [model('scripted')], has_more: false, first_id: 'scripted', last_id: 'scripted' }
              : model(decodeURIComponent(one)),
          ),
        );
        return;
      }
      const parsed = bodySchema.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8')));
      if (!parsed.success) {
        const error = { type: 'invalid_request_error', message: z.prettifyError(parsed.error) };
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ type: 'error', error }));
        return;
      }
      const body = parsed.data;
      open += 1;
      response.on('close', () => (open -= 1));
      const system =
        typeof body.system === 'string' ? body.system : (body.system ?? []).map((block) => block.text).join('\n');
      const newest = body.messages.at(-1)?.content ?? '';
      const seat = /you sit in seat (\d)/.exec(system)?.[1];
      const seen: ScriptedRequest = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        system,
        seat: seat === undefined ? null : Number(seat),
        first: textsOf(body.messages[0]?.content ?? '').join('\n'),
        last: textsOf(newest)
          .filter((text) => !isNote(text))
          .join('\n'),
        notes: textsOf(newest).filter(isNote),
        results: resultsOf(newest),
        order: requests.length,
        at: performance.now(),
        open,
      };
      requests.push(seen);
      void Promise.resolve(script(seen)).then((reply) => {
        if (reply === 'silent') return undefined;
        if ('fail' in reply) {
          const { status, type, message, retryAfterMs, headers } = reply.fail;
          const retry =
            headers ??
            (retryAfterMs === undefined ? { 'x-should-retry': 'false' } : { 'retry-after-ms': String(retryAfterMs) });
          response.writeHead(status, { 'content-type': 'application/json', ...retry });
          response.end(JSON.stringify({ type: 'error', error: { type, message } }));
          return undefined;
        }
        if (seen.path.includes('/count_tokens')) {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ input_tokens: 42 }));
          return undefined;
        }
        return (body.stream === true ? stream : whole)(response, body.model, reply, seen.order);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The scripted model has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    batches,
    follow(next) {
      script = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
