/**
 * The demo mind, which answers when no model is connected.
 *
 * It plays the story of the README. An agent hatches, finds a name and writes its soul. It talks,
 * remembers what it is told, sets a reminder and delivers it. It writes to another agent, wakes
 * one, takes another name and goes to sleep. The lead calls the team and reports who has come.
 *
 * The demo does not think, and says so in each soul and most answers. It recognises sentences by
 * word lists and answers from tables, one per language (`english.ts`, `german.ts`). Other sentences
 * are stored as facts, or answered with "a model would know". It sets single reminders at plain
 * times, no routines, and none if any part of the time was not understood. It takes a task of a
 * folder project from ready to review. It uses no other tool.
 * The relay's own texts are English, so they are quoted in English in every language.
 *
 * It is deterministic: the same seed, seat and words give the same answer. `Rehearsal` can make it
 * fail in several ways, for tests and to see how the page shows failures.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorMessage } from '../../../../src/shared/domain/platform/error-message.ts';
import { REHEARSAL_MODEL } from '../../../../src/shared/domain/prices.ts';
import { rehearsalSchema, type Rehearsal } from '../../../../src/shared/protocol/http.ts';
import type { TeamMember } from '../../../../src/shared/protocol/team.ts';
import type { Mind } from '../mind.ts';
import { createAnthropicMind } from '../served.ts';
import { bodySchema, readBody, type Households, type Reading } from './reading.ts';
import { isBirth, replyTo, type ReplyPart } from './replies.ts';

/** One event of a streamed answer, and the wait before it. */
interface Beat {
  readonly afterMs: number;
  readonly event: Readonly<Record<string, unknown>> & { readonly type: string };
}

/** A birth is slower than other answers by this factor, so that it can be read along. */
const BIRTH_PACE = 4;
/** Words per event when the answer need not be watched. */
const WORDS_AT_ONCE = 12;
const CHARACTERS_PER_TOKEN = 4;
const tokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN);

function pieces(text: string, wordMs: number): string[] {
  const all = text.match(/\s*\S+/g) ?? [];
  if (wordMs > 0) return all;
  const grouped: string[] = [];
  for (let i = 0; i < all.length; i += WORDS_AT_ONCE) grouped.push(all.slice(i, i + WORDS_AT_ONCE).join(''));
  return grouped;
}

function* partBeats(part: ReplyPart, index: number, id: string, firstMs: number, wordMs: number): Generator<Beat> {
  const start = (block: object): Beat => ({
    afterMs: firstMs,
    event: { type: 'content_block_start', index, content_block: block },
  });
  const delta = (afterMs: number, change: object): Beat => ({
    afterMs,
    event: { type: 'content_block_delta', index, delta: change },
  });
  if (part.kind === 'words') {
    yield start({ type: 'text', text: '' });
    for (const text of pieces(part.text, wordMs)) yield delta(wordMs, { type: 'text_delta', text });
  } else {
    yield start({ type: 'tool_use', id: `toolu_${id}_${index}`, name: part.name, input: {} });
    yield delta(0, { type: 'input_json_delta', partial_json: JSON.stringify(part.input) });
  }
  yield { afterMs: 0, event: { type: 'content_block_stop', index } };
}

/** An answer as a stream of the Messages API. `inputSize`: characters of the request. */
function* beats(parts: readonly ReplyPart[], id: string, inputSize: number, timing: Rehearsal): Generator<Beat> {
  const usage = {
    input_tokens: tokens(inputSize),
    output_tokens: 1,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
  };
  const message = {
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: REHEARSAL_MODEL },
    ...{ content: [], stop_reason: null, stop_sequence: null, usage },
  };
  yield { afterMs: 0, event: { type: 'message_start', message } };
  for (const [index, part] of parts.entries())
    yield* partBeats(part, index, id, index === 0 ? timing.delayMs : 0, timing.wordMs);
  const size = parts.reduce(
    (sum, part) => sum + (part.kind === 'words' ? part.text : JSON.stringify(part.input)).length,
    0,
  );
  const stop = parts.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn';
  yield {
    afterMs: 0,
    event: {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: tokens(size) },
    },
  };
  yield { afterMs: 0, event: { type: 'message_stop' } };
}

/** Number of events before a stream is cut, if the options ask for that. */
const CUT_AFTER = 3;

/**
 * The loopback server behind the demo mind. It speaks the Messages API, so that the usual client
 * code runs.
 */
interface RehearsalServer {
  readonly baseUrl: string;
  close(): Promise<void>;
}

function refuse(response: ServerResponse, status: number, type: string, message: string): void {
  // A requested failure must not be retried.
  response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' });
  response.end(JSON.stringify({ type: 'error', error: { type, message } }));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) if (chunk instanceof Buffer) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Counts births per seat, so that a seat that is filled again gets another name. A repeat of the
 * same birth keeps its name.
 */
function createBirthCount() {
  const counts = new Map<number, number>();
  return (reading: Reading): number => {
    const births = counts.get(reading.position) ?? 0;
    const begins = isBirth(reading) && reading.turns.length === 1;
    if (begins) counts.set(reading.position, births + 1);
    return begins ? births : Math.max(0, births - 1);
  };
}

/** Requests must carry `token` as bearer token. It keeps other programs of this machine out. */
async function startRehearsalServer(deps: {
  token: string;
  options: () => Rehearsal;
  households: () => Promise<Households>;
}): Promise<RehearsalServer> {
  const birthOf = createBirthCount();
  let count = 0;

  async function say(
    response: ServerResponse,
    events: Iterable<Beat>,
    cutAfter: number,
    signal: AbortSignal,
  ): Promise<void> {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    let deltas = 0;
    for (const { afterMs, event } of events) {
      if (afterMs > 0) await sleep(afterMs, undefined, { signal });
      if (signal.aborted) return;
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      if (event.type === 'content_block_delta' && ++deltas >= cutAfter) {
        // The words so far must be sent before the connection breaks.
        await sleep(20, undefined, { signal });
        response.destroy();
        return;
      }
    }
    response.end();
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.headers.authorization !== `Bearer ${deps.token}`)
      return refuse(response, 401, 'authentication_error', 'not for you');
    if (request.method !== 'POST' || request.url?.split('?')[0] !== '/v1/messages')
      return refuse(response, 404, 'not_found_error', 'no such call');
    const closed = new AbortController();
    response.on('close', () => closed.abort());
    const parsed = bodySchema.safeParse(JSON.parse(await textOf(request)));
    if (!parsed.success) return refuse(response, 400, 'invalid_request_error', parsed.error.message);
    const options = deps.options();
    const reading = readBody(parsed.data, await deps.households());
    const reply = replyTo(reading, options, birthOf(reading));
    switch (reply.kind) {
      case 'fail':
        return refuse(response, 500, 'api_error', 'the rehearsal was told to fail in this seat');
      case 'silent':
        // Keeps the connection open in silence until the caller gives up.
        return;
      case 'say': {
        const pace = isBirth(reading) ? { ...options, wordMs: options.wordMs * BIRTH_PACE } : options;
        const events = beats(reply.parts, `rehearsal_${++count}`, reading.size, pace);
        return say(response, events, reply.cut ? CUT_AFTER : Infinity, closed.signal);
      }
      default:
        return reply satisfies never;
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      // A client that disconnects in the middle is no error.
      if (error instanceof Error && error.name === 'AbortError') return;
      if (response.headersSent) response.destroy();
      else refuse(response, 400, 'invalid_request_error', errorMessage(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The rehearsal mind has no port');
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}

/** The members that an agent may write to, by household. */
interface Acquaintances {
  all(): Promise<readonly (readonly TeamMember[])[]>;
}

export interface RehearsalMind extends Mind {
  options(): Rehearsal;
  /** Applies from the next request on. */
  setOptions(options: Rehearsal): void;
  /** Sets the members that a command may name. Before this call there are none. */
  meet(directory: Acquaintances): void;
}

/** Starts the loopback server. `close()` stops it. */
export async function createRehearsalMind(initial: Partial<Rehearsal> = {}): Promise<RehearsalMind> {
  let options = rehearsalSchema.parse(initial);
  const token = randomBytes(24).toString('base64url');
  let directory: Acquaintances | null = null;
  const households = async (): Promise<Households> =>
    ((await directory?.all()) ?? []).map((members) => members.filter(({ retired }) => !retired));
  const server = await startRehearsalServer({ token, options: () => options, households });
  const mind = createAnthropicMind({
    key: token,
    baseUrl: server.baseUrl,
    keyHeader: 'bearer',
    thinking: false,
    // The demo knows all tools, and reads none of their definitions.
    searching: 'every',
    kind: 'rehearsal',
    models: { lead: REHEARSAL_MODEL, agent: REHEARSAL_MODEL },
  });
  return {
    // A model that the person chose is for the time when one is connected.
    models: () => mind.models({ lead: '', agent: '' }),
    searches: (model) => mind.searches?.(model) ?? false,
    answer: (request, listener) => mind.answer(request, listener),
    options: () => options,
    setOptions(next) {
      options = next;
    },
    meet(next) {
      directory = next;
    },
    close: () => server.close(),
  };
}
