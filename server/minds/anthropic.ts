/** A mind behind the Messages API: Anthropic's own, or any server that speaks it. */
import Anthropic from '@anthropic-ai/sdk';
import type { MindInfo } from '../../src/protocol/events.ts';
import { realTimers, type Timers } from '../../src/domain/platform/timers.ts';
import { createKeyFilter } from '../key-filter.ts';
import { CountlessMessages } from './countless.ts';
import { createLeaving } from './leave.ts';
import type { Mind, MindAnswer, MindBlock, MindListener, MindRequest } from './mind.ts';
import { mayHaveArrived, problemOf, retryAfterOf } from './problems.ts';
import { createRequestQueue, type Sending, type Turn } from './request-queue.ts';
import { DEFAULT_MODELS, MAX_REQUESTS, MIND_LIMITS, OFFICIAL_API, QUEUE_LIMITS, type QueueLimits } from './settings.ts';
import { createShapes } from './shapes.ts';
import { mapStrings } from './well-formed.ts';
import { createWebCalls, isWebBlock } from './web.ts';
import {
  blockOf,
  bytesOf,
  charactersOf,
  dearnessOf,
  mostWritten,
  nothingSeen,
  requestParams,
  stopReasonOf,
  untoldOf,
  usageOf,
  type Shape,
} from './wire.ts';

/** How the key travels; every local server we know of understands `both`. */
type KeyHeader = 'bearer' | 'x-api-key' | 'both';

export interface AnthropicMindConfig {
  readonly key: string | null;
  /** Without `/v1`; null is Anthropic's own. */
  readonly baseUrl: string | null;
  /** Default: `bearer` for Anthropic's own (what its SDK sends), `both` for any other server. */
  readonly keyHeader?: KeyHeader;
  /** Default: on for Claude models at Anthropic's own, off for any other server. */
  readonly thinking?: boolean;
  /** The same of searching for tools that wait. */
  readonly searching?: boolean;
  /** The same of the provider's own search and reading of the web. */
  readonly web?: boolean;
  readonly models?: { readonly lead: string; readonly agent: string };
  readonly kind?: MindInfo['kind'];
  /** The server writes no further, and charges nothing more, once a request is stopped. Default: Anthropic's own does; of any other it is not known. */
  readonly stopsWhenLeft?: boolean;
  /** Most requests at once. */
  readonly maxRequests?: number;
  readonly queue?: Partial<QueueLimits>;
  readonly timers?: Timers;
  /** Where key and address are set. Default: the relay's environment. */
  readonly setOn?: 'page';
  /** Default: the runtime's. */
  readonly fetch?: typeof globalThis.fetch;
}

interface Attempt {
  readonly answer: MindAnswer;
  /** Set where the request as such was refused before anything was said. */
  readonly refused: { readonly status: number; readonly said: string } | null;
  /** What went wrong before a word was said; null where nothing did, something was, or it may not be sent again. */
  readonly unsaid: unknown;
}

/** The SDK would otherwise look for credentials in the environment and on disk and send those. */
const NO_KEY = 'no-key';

function createClient(config: AnthropicMindConfig, baseURL: string, official: boolean): Anthropic {
  const header = config.keyHeader ?? (official ? 'bearer' : 'both');
  return new Anthropic({
    apiKey: config.key ?? NO_KEY,
    authToken: null,
    baseURL,
    defaultHeaders: {
      ...(config.key !== null && header !== 'bearer' ? { 'x-api-key': config.key } : {}),
      ...(config.key === null || header === 'x-api-key' ? { authorization: null } : {}),
    },
    ...(config.fetch ? { fetch: config.fetch } : {}),
    // What may be sent again, and when, is the line’s to know.
    maxRetries: 0,
    timeout: MIND_LIMITS.requestTimeoutMs,
    // Its log lines may hold request bodies; what matters comes back as an error.
    logLevel: 'off',
    openTelemetry: false,
  });
}

const refusalIn = (error: unknown): Attempt['refused'] =>
  error instanceof Anthropic.APIError ? { status: error.status ?? 0, said: error.message } : null;

/** What a failure means for the line: only where nothing was said yet, and the server does not say that it is final. */
function sendingOf(answer: MindAnswer, unsaid: unknown): Sending<MindAnswer> {
  const done: Sending<MindAnswer> = { kind: 'done', value: answer, answered: answer.ok };
  if (answer.ok || unsaid === null) return done;
  const headers = unsaid instanceof Anthropic.APIError ? unsaid.headers : undefined;
  if (headers?.get('x-should-retry') === 'false') return done;
  const { kind } = answer.error;
  if (kind === 'rate-limited' || kind === 'overloaded')
    return { kind: 'busy', value: answer, retryAfterMs: retryAfterOf(headers) };
  const broken =
    kind === 'unreachable' ||
    (unsaid instanceof Anthropic.APIError &&
      (unsaid.status === 408 || unsaid.status === 409 || (unsaid.status ?? 0) >= 500));
  return broken ? { kind: 'broken', value: answer } : done;
}

export function createAnthropicMind(config: AnthropicMindConfig): Mind {
  const baseURL = config.baseUrl ?? OFFICIAL_API;
  const { host } = new URL(baseURL);
  const official = host === new URL(OFFICIAL_API).host;
  const messages = new CountlessMessages(createClient(config, baseURL, official));
  const queue = createRequestQueue({
    limits: { ...QUEUE_LIMITS, ...config.queue },
    max: config.maxRequests ?? MAX_REQUESTS,
    timers: config.timers ?? realTimers,
    now: () => performance.now(),
  });
  const stopsWhenLeft = config.stopsWhenLeft ?? official;
  const filter = createKeyFilter(config.key);
  const defaults = config.models ?? DEFAULT_MODELS;
  const shapes = createShapes({
    official,
    thinking: config.thinking ?? official,
    searching: config.searching ?? official,
    web: config.web ?? official,
  });

  /** A server that echoes what it was sent does not tell the household the key. */
  const clean = <Value>(value: Value): Value =>
    config.key === null ? value : (mapStrings(value, filter.words) as Value);

  async function attempt(
    request: MindRequest,
    shape: Shape,
    { onText, onLost, onTool, signal }: MindListener,
    turn: Turn,
  ): Promise<Attempt> {
    const done: MindBlock[] = [];
    let words = filter.pieces();
    const flush = () => {
      const rest = words.rest();
      words = filter.pieces();
      if (rest !== '') onText(rest);
    };
    const seen = nothingSeen();
    const webCall = createWebCalls(request.messages, onTool, clean);
    const begunAt = seen.at;
    const leaving = createLeaving(signal);
    const stream = messages.stream(requestParams(request, shape), { signal: leaving.signal });
    stream.on('streamEvent', (event, snapshot) => {
      turn.begun();
      seen.at = performance.now();
      if (event.type === 'message_stop') turn.ended();
      seen.message = snapshot;
      if (event.type === 'message_delta') {
        seen.whole = true;
        seen.outputTold = typeof event.usage.output_tokens === 'number';
      }
      if (event.type === 'content_block_start') {
        seen.blockOpen = true;
        seen.blocks += 1;
      }
      if (event.type === 'content_block_delta') {
        seen.characters += charactersOf(event.delta);
        seen.bytes += bytesOf(event.delta);
      }
      if (event.type !== 'content_block_stop') return;
      flush();
      seen.blockOpen = false;
      const last = snapshot.content.at(-1);
      const block = last && blockOf(last, true);
      if (block) done.push(clean(block));
      if (block?.kind === 'web') webCall(block.block);
    });
    stream.on('text', (text) => {
      const passed = words.take(text);
      if (passed !== '') onText(passed);
    });
    try {
      const final = await stream.finalMessage();
      return {
        answer: {
          ok: true,
          blocks: done,
          stop: stopReasonOf(final),
          usage: clean(usageOf(final, request.model)),
          ...untoldOf(final, seen),
          ...dearnessOf(final),
        },
        refused: null,
        unsaid: null,
      };
    } catch (error) {
      flush();
      const { message } = seen;
      const last = seen.blockOpen ? message?.content.at(-1) : undefined;
      const broken = last && blockOf(last, false);
      if (broken) done.push(clean(broken));
      // Whether its provider had begun it, or was about to, nobody tells any more.
      if (last && isWebBlock(last) && last.type === 'server_tool_use') webCall(last);
      const cause = signal.aborted ? new Anthropic.APIUserAbortError() : error;
      const problem = clean(
        problemOf(cause, { model: request.model, host, key: config.key, setOn: config.setOn, began: message !== null }),
      );
      // Only where our leaving is what ended it: a line that died by itself did so unheard, whatever came after it.
      const left = leaving.signal.aborted && error instanceof Anthropic.APIUserAbortError;
      const refused = problem.kind === 'refused-request' ? refusalIn(error) : null;
      const answer: Extract<MindAnswer, { ok: false }> = {
        ok: false,
        error: problem,
        blocks: done,
        usage: message && clean(usageOf(message, request.model)),
        ...(message ? { ...untoldOf(message, seen), ...dearnessOf(message) } : {}),
        whole: seen.whole,
        outputMost:
          left && stopsWhenLeft
            ? mostWritten({ ...seen, ms: performance.now() - (shape.thinking ? begunAt : seen.at) }, request.maxTokens)
            : null,
      };
      const unsaid = seen.characters === 0 && done.length === 0 ? error : null;
      // What has begun and is sent again is two requests.
      const lost =
        message === null
          ? answer.outputMost === null && mayHaveArrived(error)
          : sendingOf(answer, unsaid).kind !== 'done';
      const final = lost && (await onLost?.()) === false;
      return { answer: lost ? { ...answer, usage: null } : answer, refused, unsaid: final ? null : unsaid };
    } finally {
      leaving.done();
    }
  }

  /** Once, in the easiest way that this server was found to need. */
  async function send(request: MindRequest, listener: MindListener, turn: Turn): Promise<Sending<MindAnswer>> {
    const { model } = request;
    let shape = shapes.first(model);
    for (;;) {
      const { answer, refused, unsaid } = await attempt(request, shape, listener, turn);
      const next = refused && shapes.easier(shape, refused, request);
      if (!next) {
        if (answer.ok) shapes.answered(model, shape);
        return sendingOf(answer, unsaid);
      }
      shape = next;
    }
  }

  return {
    web: shapes.web,
    models: (chosen) => ({
      kind: config.kind ?? 'anthropic',
      leadModel: chosen.lead || defaults.lead,
      agentModel: chosen.agent || defaults.agent,
    }),
    async answer(request, listener) {
      const { priority } = request;
      const { signal } = listener;
      const answer = await queue.run({ priority, signal, onState: listener.onState?.bind(listener) }, (turn) =>
        send(request, listener, turn),
      );
      return (
        answer ?? {
          ok: false,
          error: { kind: 'aborted', message: 'Stopped.' },
          blocks: [],
          usage: null,
          whole: false,
          outputMost: null,
        }
      );
    },
    close: () => Promise.resolve(),
  };
}
