/**
 * OpenAI's Chat Completions and Responses, and Google's own protocol, by the providers of the AI
 * SDK. The SDK writes the requests and reads the chunks. What it would do by itself beside that is
 * taken from it: errors, limits and time-outs are those of every other mind, and no key or address
 * comes from the environment.
 */
import { z } from 'zod';
import {
  AISDKError,
  type LanguageModelV3,
  type LanguageModelV3CallOptions,
  type LanguageModelV3FunctionTool,
  type LanguageModelV3Prompt,
  type LanguageModelV3StreamPart,
  type SharedV3ProviderMetadata,
} from '@ai-sdk/provider';
import Anthropic from '@anthropic-ai/sdk';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isRecord } from '../../../../src/shared/domain/platform/is-record.ts';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import type { MindBlock, MindMessage, MindRequest, Sealed } from '../../../contracts/mind.ts';
import { mapStrings, toWellFormed } from '../../../platform/json-bounds.ts';
import {
  blockText,
  eventOf,
  eventsOf,
  inBounds,
  plainTools,
  type ReadEvent,
  requestParams,
  type Shape,
  UnreadableAnswer,
  type WireEvent,
} from '../wire.ts';
import { MIND_LIMITS } from '../settings.ts';
import { refusalOf, shortRefusal, streamError } from './refusal.ts';

// What OpenAI's and Google's protocols send, before the SDK reads it. The SDK ends an answer at the
// first field that does not fit its schema, and servers leave fields out, write them as another
// type, or send one whole answer instead of a stream.

const text = z.string().nullish().catch(undefined);
const count = z.int().nonnegative().max(MIND_LIMITS.mostTokens).nullish();
const asJson = z
  .unknown()
  .optional()
  .transform((value) => {
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
const callSchema = z.looseObject({
  index: z.int().nonnegative().nullish().catch(undefined),
  id: text,
  function: z.object({ name: text, arguments: asJson }).catch({ name: undefined, arguments: undefined }),
  extra_content: z
    .object({ google: z.object({ thought_signature: text }).nullish().catch(undefined) })
    .nullish()
    .catch(undefined),
});
const deltaSchema = z.object({
  content: z
    .union([z.string(), z.array(z.looseObject({ type: z.string() }))])
    .nullish()
    .catch(undefined),
  refusal: text,
  reasoning_content: text,
  reasoning: text,
  tool_calls: z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.flatMap((each) => callSchema.safeParse(each).data ?? [])),
});
const choiceSchema = z.object({
  delta: z.unknown().optional(),
  message: z.unknown().optional(),
  finish_reason: text,
});
const chunkSchema = z.object({
  id: text,
  model: text,
  choices: z.array(choiceSchema.catch({ delta: undefined, message: undefined, finish_reason: undefined })).catch([]),
  // A count that is none makes all of them doubtful: the most that the request may have taken is
  // charged then.
  usage: z
    .object({
      prompt_tokens: count,
      completion_tokens: count,
      prompt_tokens_details: z.object({ cached_tokens: count }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: count }).nullish(),
    })
    .nullish()
    .catch(undefined),
});

/** Whether it is how the answer ends: servers leave the line open after it. */
type IsEnd = (chunk: unknown) => boolean;

function createChatChunks(): ReadEvent<object | null> {
  let hasDeltas = false;
  return (value) => {
    const parsed = chunkSchema.safeParse(value);
    if (!parsed.success) return null;
    const [choice] = parsed.data.choices;
    const { delta, message } = choice ?? {};
    hasDeltas ||= isRecord(delta);
    // One that did not stream wrote the whole answer as its message.
    const said = isRecord(delta) ? delta : hasDeltas ? undefined : message;
    const read = deltaSchema.safeParse(said);
    return {
      ...parsed.data,
      choices: choice
        ? [{ delta: read.success ? read.data : null, finish_reason: choice.finish_reason ?? undefined }]
        : [],
    };
  };
}

const isChatEnd: IsEnd = (chunk) =>
  isRecord(chunk) && Array.isArray(chunk['choices']) && isRecord(chunk['choices'][0])
    ? typeof chunk['choices'][0]['finish_reason'] === 'string'
    : false;

const isResponsesEnd: IsEnd = (chunk) =>
  isRecord(chunk) && (chunk['type'] === 'response.completed' || chunk['type'] === 'response.incomplete');

const isGoogleEnd: IsEnd = (chunk) =>
  isRecord(chunk) && Array.isArray(chunk['candidates']) && isRecord(chunk['candidates'][0])
    ? typeof chunk['candidates'][0]['finishReason'] === 'string'
    : false;

/**
 * Reads one chunk; throws the error that a server reports in its stream. Null: nothing of it can be
 * read.
 */
function createChunks(
  protocol: Exclude<Protocol, 'messages'>,
  headers: Headers,
): { readonly read: ReadEvent<object | null>; readonly isEnd: IsEnd } {
  const whole: ReadEvent<object | null> = (value, named) => {
    if (!isRecord(value)) return null;
    return typeof value['type'] === 'string' || named === undefined ? value : { ...value, type: named };
  };
  const read = protocol === 'chat' ? createChatChunks() : whole;
  return {
    isEnd: { chat: isChatEnd, responses: isResponsesEnd, google: isGoogleEnd }[protocol],
    read(value, named) {
      if (isRecord(value)) {
        const { error, type, object, response } = value;
        if (isRecord(error) || typeof error === 'string') throw streamError(value, headers);
        if (type === 'error' || object === 'error') throw streamError(value, headers);
        if (type === 'response.failed') throw streamError(response, headers);
      } else if (Array.isArray(value) && isRecord(value[0]) && isRecord(value[0]['error']))
        throw streamError(value, headers);
      return read(value, named);
    },
  };
}

// The stream of the AI SDK as the events that all protocols share.

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/** The words of the Messages API for it, which the assembly reads. */
function reasonOf({ finishReason }: Finish): string {
  switch (finishReason.unified) {
    case 'length':
      return 'max_tokens';
    case 'content-filter':
      return 'refusal';
    case 'tool-calls':
      return 'tool_use';
    case 'stop':
    case 'other':
    case 'error':
      return 'end_turn';
    default:
      return finishReason.unified satisfies never;
  }
}

const usageOf = ({ usage: { inputTokens, outputTokens } }: Finish) => ({
  input_tokens: inputTokens.noCache ?? inputTokens.total,
  output_tokens: outputTokens.total,
  cache_read_input_tokens: inputTokens.cacheRead,
  cache_creation_input_tokens: inputTokens.cacheWrite,
});

interface PartsDeps {
  readonly protocol: Protocol;
  readonly model: string;
  /** Name of the provider in the metadata that this SDK writes, and the one that it reads. */
  readonly metadata: { readonly written: string; readonly read: string };
}

function createPartReader({ protocol, model, metadata }: PartsDeps) {
  const indexes = new Map<string, number>();
  let next = 0;
  const opened = (id: string) => {
    indexes.set(id, next);
    return next++;
  };
  const at = (id: string) => indexes.get(id) ?? null;

  function sealedOf(given: SharedV3ProviderMetadata | undefined): Sealed | null {
    const data = given?.[metadata.written];
    return data === undefined || Object.keys(data).length === 0
      ? null
      : { protocol, model, data: { [metadata.read]: data } };
  }
  const seal = (index: number | null, given: SharedV3ProviderMetadata | undefined): WireEvent[] => {
    const sealed = sealedOf(given);
    return sealed ? [{ kind: 'delta', index, delta: { kind: 'sealed', sealed } }] : [];
  };

  return function read(part: LanguageModelV3StreamPart): readonly WireEvent[] {
    switch (part.type) {
      case 'response-metadata':
        return [{ kind: 'begin', usage: undefined, content: [] }];
      case 'text-start':
        return [{ kind: 'block', index: opened(part.id), block: { kind: 'text', text: '' } }];
      case 'text-delta':
        return [{ kind: 'delta', index: at(part.id), delta: { kind: 'text', text: part.delta } }];
      case 'reasoning-start': {
        const index = opened(part.id);
        return [
          { kind: 'block', index, block: { kind: 'thinking', thinking: '', signature: '' } },
          ...seal(index, part.providerMetadata),
        ];
      }
      case 'reasoning-delta':
        return [{ kind: 'delta', index: at(part.id), delta: { kind: 'thinking', thinking: part.delta } }];
      case 'text-end':
        return [{ kind: 'block-end', index: at(part.id) }];
      case 'reasoning-end':
        return [...seal(at(part.id), part.providerMetadata), { kind: 'block-end', index: at(part.id) }];
      case 'tool-input-start':
        return [
          {
            kind: 'block',
            index: opened(`call ${part.id}`),
            block: { kind: 'call', id: part.id, name: part.toolName, input: undefined },
          },
        ];
      case 'tool-input-delta':
        return [{ kind: 'delta', index: at(`call ${part.id}`), delta: { kind: 'input', json: part.delta } }];
      case 'tool-call': {
        const open = at(`call ${part.toolCallId}`);
        const index = open ?? opened(`call ${part.toolCallId}`);
        const block = { kind: 'call', id: part.toolCallId, name: part.toolName, input: part.input } as const;
        return [
          ...(open === null ? [{ kind: 'block', index, block } as const] : []),
          ...seal(index, part.providerMetadata),
          { kind: 'block-end', index },
        ];
      }
      case 'error':
        throw new UnreadableAnswer(part.error instanceof Error ? part.error.message : 'an event cannot be read');
      case 'finish':
        return part.finishReason.unified === 'error'
          ? []
          : [{ kind: 'end', reason: reasonOf(part), usage: usageOf(part) }, { kind: 'over' }];
      case 'stream-start':
      case 'raw':
      case 'tool-input-end':
      case 'tool-result':
      case 'tool-approval-request':
      case 'file':
      case 'source':
        return [];
      default:
        return part satisfies never;
    }
  };
}

// What a protocol is to a mind: it sends one request, and reads the answer into the events that all
// protocols share.

export interface SentRequest {
  /** Of the answer. An error in mid-stream is reported with them. */
  readonly headers: Headers | undefined;
  /**
   * Reads the answer. `patience`: asked before each read, ms to wait for what comes next. After
   * that the answer counts as ended. Rejects with what broke it off.
   */
  events(patience: () => number): AsyncGenerator<WireEvent, void, undefined>;
}

export interface Wire {
  /**
   * Rejects with an error of the Messages API's SDK, which all protocols use: refused, out of
   * reach, or aborted.
   */
  send(request: MindRequest, shape: Shape, signal: AbortSignal): Promise<SentRequest>;
}

interface WireConfig {
  readonly key: string | null;
  /** What the protocol's path is put behind. */
  readonly baseURL: string;
  readonly fetch: typeof globalThis.fetch;
}

// The Messages API, by Anthropic's SDK.

/** How the key travels; every local server we know of understands `both`. */
export type KeyHeader = 'bearer' | 'x-api-key' | 'both';

/** `baseURL`: without `/v1`. */
export function createMessagesWire({
  key,
  baseURL,
  keyHeader,
  fetch,
}: WireConfig & { readonly keyHeader: KeyHeader }): Wire {
  const { messages } = new Anthropic({
    apiKey: key ?? NO_KEY,
    authToken: null,
    baseURL,
    defaultHeaders: {
      ...(key !== null && keyHeader !== 'bearer' ? { 'x-api-key': key } : {}),
      ...(key === null || keyHeader === 'x-api-key' ? { authorization: null } : {}),
    },
    // The SDK reads a refusal to its end, however long that is and takes.
    fetch: async (input, init) => shortRefusal(await fetch(input, init)),
    // What may be sent again, and when, is the queue's to know.
    maxRetries: 0,
    timeout: MIND_LIMITS.requestTimeoutMs,
    // Its log lines may hold request bodies; what matters comes back as an error.
    logLevel: 'off',
    openTelemetry: false,
  });
  return {
    async send(request, shape, signal) {
      const { body, headers } = await messages.create(requestParams(request, shape), { signal }).asResponse();
      return { headers, events: (patience) => inBounds(eventsOf(body, patience, eventOf)) };
    },
  };
}

// Our words as the AI SDK writes them for OpenAI's and Google's protocols.

type UserPart = Extract<LanguageModelV3Prompt[number], { role: 'user' }>['content'][number];
type AssistantPart = Extract<LanguageModelV3Prompt[number], { role: 'assistant' }>['content'][number];
type ToolPart = Extract<LanguageModelV3Prompt[number], { role: 'tool' }>['content'][number];

interface PromptDeps {
  readonly protocol: Protocol;
  readonly request: MindRequest;
  readonly shape: Shape;
}

const toText = (text: string) => ({ type: 'text', text }) as const;

function createWriter({ protocol, request, shape }: PromptDeps) {
  const text = shape.wellFormed ? toWellFormed : (raw: string) => raw;
  const names = new Map<string, string>();

  /** Signatures hold for the model that wrote them. */
  const options = (sealed: Sealed | undefined) =>
    sealed?.protocol === protocol && sealed.model === request.model ? { providerOptions: sealed.data } : {};

  /** What a message or a result shows; null: nothing. */
  function fileOf(block: MindBlock): UserPart | null {
    if (block.kind === 'picture' || (block.kind === 'tool-result' && block.picture)) {
      const { picture } = block;
      return picture ? { type: 'file', mediaType: picture.type, data: picture.data } : null;
    }
    return block.kind === 'document'
      ? { type: 'file', mediaType: 'application/pdf', data: block.data, filename: text(block.name) }
      : null;
  }

  function userParts(blocks: readonly MindBlock[]): UserPart[] {
    return blocks.flatMap((block): UserPart[] => {
      const instead = blockText(block, shape, text);
      if (instead !== null) return [toText(instead)];
      const file = fileOf(block);
      if (block.kind === 'text') return [toText(text(block.text))];
      // Results stand in a message of their own, which holds no pictures.
      if (block.kind === 'tool-result')
        return file ? [toText(`What ${names.get(block.toolUseId) ?? 'the tool'} showed:`), file] : [];
      return file ? [file] : [];
    });
  }

  function resultParts(blocks: readonly MindBlock[]): ToolPart[] {
    return blocks.flatMap((block): ToolPart[] => {
      if (block.kind !== 'tool-result' || shape.toolless) return [];
      const value = text(block.text);
      return [
        {
          type: 'tool-result',
          toolCallId: block.toolUseId,
          toolName: names.get(block.toolUseId) ?? 'tool',
          output: block.isError ? { type: 'error-text', value } : { type: 'text', value },
        },
      ];
    });
  }

  function assistantParts(blocks: readonly MindBlock[]): AssistantPart[] {
    return blocks.flatMap((block): AssistantPart[] => {
      switch (block.kind) {
        case 'text':
          return [toText(text(block.text))];
        case 'thinking': {
          const kept = options(block.sealed);
          return shape.thoughts || 'providerOptions' in kept
            ? [{ type: 'reasoning', text: text(block.thinking), ...kept }]
            : [];
        }
        case 'tool-use':
          names.set(block.toolUseId, block.name);
          if (shape.toolless) return [toText(blockText(block, shape, text) ?? '')];
          return [
            {
              type: 'tool-call',
              toolCallId: block.toolUseId,
              toolName: block.name,
              input: mapStrings(block.input, text),
              ...options(block.sealed),
            },
          ];
        default:
          return [];
      }
    });
  }

  return function messagesOf({ role, blocks }: MindMessage): LanguageModelV3Prompt {
    if (role === 'assistant') {
      const content = assistantParts(blocks);
      return content.length > 0 ? [{ role, content }] : [];
    }
    const results = resultParts(blocks);
    const content = userParts(blocks);
    return [
      ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
      ...(content.length > 0 ? [{ role, content }] : []),
    ];
  };
}

function toolsOf(request: MindRequest, shape: Shape): LanguageModelV3FunctionTool[] {
  return plainTools(request.tools, shape).map(({ name, description, properties, required, definitions }) => ({
    type: 'function',
    name,
    description,
    inputSchema: {
      type: 'object',
      properties: properties as never,
      required: [...required],
      ...(definitions ? { $defs: definitions as never } : {}),
    },
  }));
}

function callOptions(deps: PromptDeps): LanguageModelV3CallOptions {
  const { request, shape } = deps;
  const tools = toolsOf(request, shape);
  return {
    prompt: [
      { role: 'system', content: shape.wellFormed ? toWellFormed(request.system) : request.system },
      ...request.messages.flatMap(createWriter(deps)),
    ],
    maxOutputTokens: Math.min(request.maxTokens, shape.maxTokens),
    ...(tools.length > 0 ? { tools } : {}),
  };
}

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
