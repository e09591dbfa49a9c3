/**
 * OpenAI's Chat Completions and Responses, and Google's own protocol, by the providers of the AI
 * SDK. The SDK writes the requests and reads the chunks. What it would do by itself beside that is
 * taken from it: errors, limits and time-outs are those of every other mind, and no key or address
 * comes from the environment.
 */
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { AISDKError, type LanguageModelV3 } from '@ai-sdk/provider';
import Anthropic from '@anthropic-ai/sdk';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import { eventsOf, inBounds, UnreadableAnswer } from '../event-reader.ts';
import { MIND_LIMITS } from '../settings.ts';
import type { WireEvent } from '../wire-events.ts';
import type { Shape } from '../wire.ts';
import { createChunks } from './chunks.ts';
import { createPartReader } from './parts.ts';
import { callOptions } from './prompt.ts';
import { refusalOf } from './refusal.ts';
import type { Wire, WireConfig } from './wire.ts';

/**
 * The SDK would otherwise look for a key in the environment. It is taken out of the headers again.
 */
const NO_KEY = 'no-key';
const KEY_HEADERS = ['authorization', 'x-goog-api-key'] as const;
const NAME = 'chat';
/** Errors that stand in one another. */
const MOST_WRAPPED = 8;

type SdkProtocol = Exclude<Protocol, 'messages'>;

/** As the server's: a line that cannot be had is told apart from one that is left. */
function connectionError(error: unknown, late: boolean): Error {
  if (late) return new Anthropic.APIConnectionTimeoutError({ message: 'Request timed out.' });
  const cause = error instanceof Error ? error : new Error(String(error));
  return new Anthropic.APIConnectionError({ message: cause.message, cause });
}

/** What broke an answer off. */
interface Break {
  readonly error: unknown;
}

/**
 * The answer's body as the SDK can read it. Where it breaks off, the body ends and `onBreak` is
 * told why: a stream that fails drops what it holds, and so words that have come already.
 */
function tidied(response: Response, protocol: SdkProtocol, onBreak: (broken: Break) => void): Response {
  const { headers } = response;
  const { read, isEnd } = createChunks(protocol, headers);
  let isTold = false;
  const chunks = eventsOf(response.body, () => (isTold ? MIND_LIMITS.afterToldMs : Infinity), read);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const next = await chunks.next();
          if (next.done) return controller.close();
          if (next.value === null) continue;
          isTold ||= isEnd(next.value);
          return controller.enqueue(encoder.encode(`data: ${JSON.stringify(next.value)}\n\n`));
        }
      } catch (error) {
        onBreak({ error });
        return controller.close();
      }
    },
    async cancel() {
      await chunks.return();
    },
  });
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

function createFetch(
  { key, fetch }: WireConfig,
  protocol: SdkProtocol,
  onHeaders: (headers: Headers) => void,
  onBreak: (broken: Break) => void,
) {
  return async (input: Parameters<typeof fetch>[0], init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers);
    if (key === null) for (const name of KEY_HEADERS) headers.delete(name);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), MIND_LIMITS.requestTimeoutMs);
    const signal = init.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
    try {
      const response = await fetch(input, { ...init, headers, signal });
      onHeaders(response.headers);
      if (!response.ok) throw await refusalOf(response);
      return tidied(response, protocol, onBreak);
    } catch (error) {
      if (error instanceof Anthropic.APIError || init.signal?.aborted) throw error;
      throw connectionError(error, late.signal.aborted);
    } finally {
      clearTimeout(timer);
    }
  };
}

function modelOf(
  protocol: SdkProtocol,
  model: string,
  shape: Shape,
  { key, baseURL }: WireConfig,
  fetch: typeof globalThis.fetch,
): LanguageModelV3 {
  const apiKey = key ?? NO_KEY;
  switch (protocol) {
    case 'chat':
      return createOpenAICompatible({
        name: NAME,
        baseURL,
        apiKey,
        fetch,
        // Servers that know only the oldest form refuse `stream_options`.
        includeUsage: !shape.plain,
        transformRequestBody: ({ max_tokens: most, ...body }) => ({
          ...body,
          [shape.completionTokens ? 'max_completion_tokens' : 'max_tokens']: most as unknown,
        }),
      })(model);
    case 'responses':
      return createOpenAI({ baseURL, apiKey, fetch }).responses(model);
    case 'google':
      return createGoogleGenerativeAI({ baseURL, apiKey, fetch })(model);
    default:
      return protocol satisfies never;
  }
}

const METADATA = {
  // Gemini's signatures, by its OpenAI address.
  chat: { written: NAME, read: 'google' },
  responses: { written: 'openai', read: 'openai' },
  google: { written: 'google', read: 'google' },
} as const;

/**
 * The SDK wraps what broke off its line. What it could not read by itself is an error of its own.
 */
function readable(error: unknown): unknown {
  let inner = error;
  for (let depth = 0; depth < MOST_WRAPPED; depth++) {
    if (inner instanceof Anthropic.APIError || inner instanceof UnreadableAnswer) return inner;
    if (!(inner instanceof Error) || !(inner.cause instanceof Error)) break;
    inner = inner.cause;
  }
  return AISDKError.isInstance(inner) ? new UnreadableAnswer(inner.message) : inner;
}

/** `baseURL`: `/chat/completions`, `/responses` or `/models/…` is put behind it. */
export function createSdkWire(config: WireConfig & { readonly protocol: SdkProtocol }): Wire {
  const { protocol } = config;
  return {
    async send(request, shape, signal) {
      let headers: Headers | undefined;
      let broken: Break | null = null;
      const fetch = createFetch(
        config,
        protocol,
        (given) => (headers = given),
        (why) => (broken = why),
      );
      const model = modelOf(protocol, request.model, shape, config, fetch as typeof globalThis.fetch);
      const options = callOptions({ protocol, request, shape });
      try {
        const { stream } = await model.doStream({
          ...options,
          abortSignal: signal,
          // The household's words are kept by the household alone.
          ...(protocol === 'responses' ? { providerOptions: { openai: { store: false } } } : {}),
        });
        const read = createPartReader({ protocol, model: request.model, metadata: METADATA[protocol] });
        return { headers, events: () => inBounds(events(stream, read, () => broken)) };
      } catch (error) {
        throw readable(error);
      }
    },
  };
}

async function* events(
  stream: Awaited<ReturnType<LanguageModelV3['doStream']>>['stream'],
  read: ReturnType<typeof createPartReader>,
  brokenBy: () => Break | null,
): AsyncGenerator<WireEvent, void, undefined> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw readable(error);
      });
      const broken = brokenBy();
      // What the SDK makes of a body that ends too early is no end of the answer.
      if (broken !== null && (done || value.type === 'finish' || value.type === 'error')) throw readable(broken.error);
      if (done) return;
      yield* read(value);
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
