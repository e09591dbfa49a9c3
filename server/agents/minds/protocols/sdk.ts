/**
 * OpenAI's Chat Completions and Responses, and Google's own protocol, through the providers of the
 * AI SDK. The SDK writes the requests and parses the chunks. Errors, limits and time-outs are
 * replaced by those of the other minds. No key or address comes from the environment.
 */
import Anthropic from '@anthropic-ai/sdk';
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
import { chunksOf } from '../../../../src/shared/domain/platform/old-browsers.ts';
import { isRecord, parseJson } from '../../../../src/shared/domain/platform/json.ts';
import type { Protocol } from '../../../../src/shared/protocol/models.ts';
import type { MindBlock, MindMessage, Sealed } from '../messages.ts';
import type { MindRequest } from '../requests.ts';
import { mapStrings, toWellFormed } from '../../../platform/json-bounds.ts';
import { LOST_CALL } from '../assembly.ts';
import { MIND_LIMITS } from '../settings.ts';
import {
  blockText,
  DONE,
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

// Reads a server's error responses within limits, and converts them to one form for all protocols.

/**
 * Returns the same response. The body of an error is cut to a limit, and read within the request's
 * time.
 */
async function shortRefusal(response: Response): Promise<Response> {
  if (response.ok || !response.body) return response;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunksOf(response.body)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MIND_LIMITS.refusalBytes) break;
  }
  const { status, statusText, headers } = response;
  return new Response(Buffer.concat(chunks).subarray(0, MIND_LIMITS.refusalBytes), { status, statusText, headers });
}

/**
 * The message in an error body, as servers write it: `{error: {message}}` (OpenAI), `[{error:
 * {message}}]` (Gemini), `{message}` (older vLLM), `{detail}` (FastAPI), `{error: "…"}` (LM Studio,
 * Ollama). Null: it holds none.
 */
function wordsIn(body: unknown): string | null {
  if (typeof body === 'string') return body;
  if (Array.isArray(body)) return body.length > 0 ? wordsIn(body[0]) : null;
  if (!isRecord(body)) return null;
  const { error, message, detail, metadata } = body;
  // A router passes on the message of the server behind it.
  const raw = isRecord(metadata) && typeof metadata['raw'] === 'string' ? ` ${metadata['raw']}` : '';
  for (const each of [error, message, detail]) {
    const found = each === undefined || each === null ? null : wordsIn(each);
    if (found !== null) return `${found}${raw}`;
  }
  return detail === undefined ? null : JSON.stringify(detail);
}

/** The error in the form of the Messages API. `message` keeps the server's full text. */
function errorBodyOf(body: unknown): object {
  const said = wordsIn(body);
  const inner = Array.isArray(body) ? (body as readonly unknown[])[0] : body;
  const error = isRecord(inner) && isRecord(inner['error']) ? inner['error'] : {};
  const type = [error['type'], error['status'], error['code']].find((each) => typeof each === 'string');
  return { type: 'error', error: { ...error, type, message: said ?? '' } };
}

/** For a response that is not ok. */
async function refusalOf(response: Response): Promise<Error> {
  const { status, headers } = response;
  const text = await (await shortRefusal(response)).text();
  const body = parseJson(text);
  return Anthropic.APIError.generate(status, body === undefined ? undefined : errorBodyOf(body), text, headers);
}

/**
 * For an error that a server reports in a stream. A status inside it is not the status of the
 * response.
 */
const streamError = (body: unknown, headers: Headers): Error =>
  new Anthropic.APIError(undefined, errorBodyOf(body), undefined, headers, undefined);

// Chunks of OpenAI's and Google's protocols, normalised before the SDK parses them. The SDK ends an
// answer at the first field that does not fit its schema. Servers omit fields, write them as
// another type, or send one whole answer instead of a stream.

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
  // One invalid count makes all of them doubtful. The most that the request may have used is then
  // charged.
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

/** Whether a chunk ends the answer. Servers leave the connection open after it. */
type IsEnd = (chunk: unknown) => boolean;

function createChatChunks(): ReadEvent<object | null> {
  let hasDeltas = false;
  let hasChoices = false;
  let hasReason = false;
  return (value) => {
    // Some servers write no reason. `[DONE]` says that the answer is complete.
    if (value === DONE && hasChoices && !hasReason) return { choices: [{ delta: null, finish_reason: 'stop' }] };
    const parsed = chunkSchema.safeParse(value);
    if (!parsed.success) return null;
    const [choice] = parsed.data.choices;
    const { delta, message } = choice ?? {};
    hasDeltas ||= isRecord(delta);
    // A server that did not stream wrote the whole answer as its message.
    const said = isRecord(delta) ? delta : hasDeltas ? undefined : message;
    const read = deltaSchema.safeParse(said);
    const reason = choice?.finish_reason ?? (said !== undefined && said === message ? 'stop' : undefined);
    hasChoices ||= choice !== undefined;
    hasReason ||= reason !== undefined;
    return {
      ...parsed.data,
      choices: choice ? [{ delta: read.success ? read.data : null, finish_reason: reason }] : [],
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
 * Parses one chunk. Throws an error that the server reports in its stream. Null: the chunk is
 * unreadable.
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

// Converts the AI SDK's stream to the events that all protocols share.

type Finish = Extract<LanguageModelV3StreamPart, { type: 'finish' }>;

/**
 * Reasons that the SDK has no word for, by their names at Gemini. Its address for OpenAI's clients
 * writes them as `function_call_filter: MALFORMED_FUNCTION_CALL`.
 * https://ai.google.dev/api/generate-content#FinishReason
 */
const LOST = /MALFORMED_|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|MISSING_THOUGHT_SIGNATURE/i;
const REFUSED = /SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED|SPII|CONTENT_FILTER/i;

/** The stop reason in the terms of the Messages API, which the assembly reads. */
function reasonOf({ finishReason }: Finish): string {
  const { raw = 'end_turn' } = finishReason;
  switch (finishReason.unified) {
    case 'length':
      return 'max_tokens';
    case 'content-filter':
      return 'refusal';
    case 'tool-calls':
      return 'tool_use';
    case 'stop':
      return 'end_turn';
    case 'other':
    case 'error':
      return LOST.test(raw) ? LOST_CALL : REFUSED.test(raw) ? 'refusal' : raw;
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
  /**
   * The provider's name in the metadata that this SDK writes, and in the metadata that it reads.
   */
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
        // The answer broke off. Gemini writes a reason of its own.
        return part.finishReason.unified === 'error' && part.finishReason.raw === undefined
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

// A protocol, as a mind uses it: it sends one request, and parses the answer into the events that
// all protocols share.

export interface SentRequest {
  /** Headers of the answer. An error in mid-stream is reported with them. */
  readonly headers: Headers | undefined;
  /**
   * Reads the answer. `patience` is called before each read and returns the ms to wait for the next
   * data. After that the answer counts as ended. Rejects with the cause if the answer breaks off.
   */
  events(patience: () => number): AsyncGenerator<WireEvent, void, undefined>;
}

export interface Wire {
  /**
   * Rejects with an error of the Messages API's SDK, which all protocols use: refused, unreachable,
   * or aborted.
   */
  send(request: MindRequest, shape: Shape, signal: AbortSignal): Promise<SentRequest>;
}

interface WireConfig {
  readonly key: string | null;
  /** The protocol's path is appended to it. */
  readonly baseURL: string;
  readonly fetch: typeof globalThis.fetch;
}

// The Messages API, through Anthropic's SDK.

/** The header that carries the key. Every local server we know of understands `both`. */
export type KeyHeader = 'bearer' | 'x-api-key' | 'both';

/** `baseURL`: without `/v1`. */
export type MessagesConfig = WireConfig & { readonly keyHeader: KeyHeader };

/** The Messages API through its SDK. */
export const createMessagesClient = ({ key, baseURL, keyHeader, fetch }: MessagesConfig): Anthropic['messages'] =>
  new Anthropic({
    apiKey: key ?? NO_KEY,
    authToken: null,
    baseURL,
    defaultHeaders: {
      ...(key !== null && keyHeader !== 'bearer' ? { 'x-api-key': key } : {}),
      ...(key === null || keyHeader === 'x-api-key' ? { authorization: null } : {}),
    },
    // The SDK would read an error body to its end, however long that takes.
    fetch: async (input, init) => shortRefusal(await fetch(input, init)),
    // The queue decides what is sent again, and when.
    maxRetries: 0,
    timeout: MIND_LIMITS.requestTimeoutMs,
    // Its log lines may hold request bodies. Everything important comes back as an error.
    logLevel: 'off',
    openTelemetry: false,
  }).messages;

export function createMessagesWire(config: MessagesConfig): Wire {
  const messages = createMessagesClient(config);
  return {
    async send(request, shape, signal) {
      const { body, headers } = await messages.create(requestParams(request, shape), { signal }).asResponse();
      return { headers, events: (patience) => inBounds(eventsOf(body, patience, eventOf)) };
    },
  };
}

// Converts our messages to the AI SDK's form, for OpenAI's and Google's protocols.

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

  /** Signatures are valid only for the model that wrote them. */
  const options = (sealed: Sealed | undefined) =>
    sealed?.protocol === protocol && sealed.model === request.model ? { providerOptions: sealed.data } : {};

  /** The picture or file in a block. Null: it has none. */
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
      // Tool results have a message of their own, which holds no pictures.
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
 * Without a key the SDK would look for one in the environment. This placeholder is removed from the
 * headers again.
 */
const NO_KEY = 'no-key';
const KEY_HEADERS = ['authorization', 'x-goog-api-key'] as const;
const NAME = 'chat';
/** Most levels of nested errors. */
const MOST_WRAPPED = 8;

type SdkProtocol = Exclude<Protocol, 'messages'>;

/** In the Messages SDK's form: an unreachable server differs from a broken connection. */
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
 * The answer's body in a form that the SDK can parse. If it breaks off, the body ends normally and
 * `onBreak` receives the cause. A failing stream would drop buffered text that has already arrived.
 */
function tidied(response: Response, protocol: SdkProtocol, onBreak: (broken: Break) => void): Response {
  const { headers } = response;
  const { read, isEnd } = createChunks(protocol, headers);
  let hasEnded = false;
  const chunks = eventsOf(response.body, () => (hasEnded ? MIND_LIMITS.afterCompleteMs : Infinity), read);
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        for (;;) {
          const next = await chunks.next();
          if (next.done) return controller.close();
          if (next.value === null) continue;
          hasEnded ||= isEnd(next.value);
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

/**
 * A model’s name as Google’s protocol has it in the path: one segment, whatever characters it has.
 * Google itself writes `models/…` before a name, and tuned models have a collection of their own.
 * The SDK adds `models/` where there is no slash.
 */
function googlePath(model: string): string {
  const [, collection, name = model] = /^(models|tunedModels)\/(.+)$/s.exec(model) ?? [];
  return `${collection === 'tunedModels' ? 'tunedModels/' : ''}${encodeURIComponent(name)}`;
}

/** Loads the protocol's provider, of which most relays use none. */
async function modelOf(
  protocol: SdkProtocol,
  model: string,
  shape: Shape,
  { key, baseURL }: WireConfig,
  fetch: typeof globalThis.fetch,
): Promise<LanguageModelV3> {
  const apiKey = key ?? NO_KEY;
  switch (protocol) {
    case 'chat': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
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
    }
    case 'responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      return createOpenAI({ baseURL, apiKey, fetch }).responses(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey, fetch })(googlePath(model));
    }
    default:
      return protocol satisfies never;
  }
}

const METADATA = {
  // Gemini's signatures, at its OpenAI-compatible address.
  chat: { written: NAME, read: 'google' },
  responses: { written: 'openai', read: 'openai' },
  google: { written: 'google', read: 'google' },
} as const;

/**
 * Unwraps the SDK's error for a broken connection. A chunk that the SDK cannot parse has an error
 * of its own.
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

/** `baseURL`: `/chat/completions`, `/responses` or `/models/…` is appended to it. */
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
      const model = await modelOf(protocol, request.model, shape, config, fetch as typeof globalThis.fetch);
      const options = callOptions({ protocol, request, shape });
      try {
        const { stream } = await model.doStream({
          ...options,
          abortSignal: signal,
          // The provider stores no messages: the household does.
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
      // The SDK reports an end for a body that ends too early. That is not the end of the answer.
      if (broken !== null && (done || value.type === 'finish' || value.type === 'error')) throw readable(broken.error);
      if (done) return;
      yield* read(value);
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
