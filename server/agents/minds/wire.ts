/**
 * Converts between our messages and the Messages API. Three places get cache marks: the system
 * prompt (which covers the tools before it), the first user message (which holds the soul) and the
 * newest turn.
 */
import { z } from 'zod';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type Anthropic from '@anthropic-ai/sdk';
import { isRecord, parseJson } from '../../../src/shared/domain/platform/json.ts';
import { BYTES_PER_TOKEN } from '../../../src/shared/domain/request-cost.ts';
import type { MindBlock, MindMessage, MindTool, Sealed, ToolSearchBlock } from './messages.ts';
import type { MindRequest } from './requests.ts';
import { createJsonCount, mapStrings, toWellFormed } from '../../platform/json-bounds.ts';
import { createPace, inSteps } from '../../platform/pace.ts';
import { MIND_LIMITS, STOPPED } from './settings.ts';
import { digestOf, type Unseen } from './sight.ts';
import { isThere, searchesIn, describedTools, toolParams, webParam } from './web.ts';

// The events of an answer as the Messages API documents them, parsed leniently. Unknown parts are
// left out, and nothing throws. https://platform.claude.com/docs/en/build-with-claude/streaming

/** The start of a block. `raw`: the server's own form, for blocks that are sent back unchanged. */
export type WireBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly kind: 'redacted-thinking'; readonly data: string }
  /** `id`, `name`: null where the server gave no usable one. */
  | { readonly kind: 'call'; readonly id: string | null; readonly name: string | null; readonly input: unknown }
  | { readonly kind: 'of-server'; readonly raw: Readonly<Record<string, unknown>> }
  | { readonly kind: 'unknown' };

export type WireDelta =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thinking'; readonly thinking: string }
  | { readonly kind: 'signature'; readonly signature: string }
  | { readonly kind: 'input'; readonly json: string }
  /** Must be sent back with the block. */
  | { readonly kind: 'sealed'; readonly sealed: Sealed };

/** `index`: the block of the answer that the event belongs to. Null: the server does not say. */
export type WireEvent =
  | { readonly kind: 'begin'; readonly usage: unknown; readonly content: readonly WireBlock[] }
  | { readonly kind: 'block'; readonly index: number | null; readonly block: WireBlock }
  | { readonly kind: 'delta'; readonly index: number | null; readonly delta: WireDelta }
  | { readonly kind: 'block-end'; readonly index: number | null }
  /** The stop reason and the usage. */
  | { readonly kind: 'end'; readonly reason: string | null; readonly usage: unknown }
  /** Nothing follows. */
  | { readonly kind: 'over' }
  /** A whole answer in one event. */
  | {
      readonly kind: 'whole';
      readonly content: readonly WireBlock[];
      readonly reason: string | null;
      readonly usage: unknown;
    }
  /** `body`: the server's own form. */
  | { readonly kind: 'error'; readonly body: Readonly<Record<string, unknown>> }
  /** A keep-alive, or an unknown event. */
  | { readonly kind: 'other' };

const word = z.string().catch('');
const wordOrNull = z.string().nullable().catch(null);
const indexSchema = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ])
  .nullable()
  .catch(null);
const fieldsSchema = z.record(z.string(), z.unknown()).catch({});

/** Blocks of the server's own actions: tool search and web. */
const OF_SERVER: ReadonlySet<unknown> = new Set([
  'server_tool_use',
  'tool_search_tool_result',
  'web_search_tool_result',
  'web_fetch_tool_result',
]);

/** Text without a type counts as text: some servers leave out the type of a block or a delta. */
function blockOf(value: unknown): WireBlock {
  if (!isRecord(value)) return { kind: 'unknown' };
  const { type } = value;
  if (OF_SERVER.has(type)) return { kind: 'of-server', raw: value };
  if (type === 'tool_use') {
    const { id, name, input } = value;
    return { kind: 'call', id: wordOrNull.parse(id), name: wordOrNull.parse(name), input };
  }
  if (type === 'redacted_thinking') return { kind: 'redacted-thinking', data: word.parse(value['data']) };
  if (type === 'thinking' || (typeof type !== 'string' && typeof value['thinking'] === 'string'))
    return { kind: 'thinking', thinking: word.parse(value['thinking']), signature: word.parse(value['signature']) };
  if (type === 'text' || (typeof type !== 'string' && typeof value['text'] === 'string'))
    return { kind: 'text', text: word.parse(value['text']) };
  return { kind: 'unknown' };
}

function deltaOf(value: unknown): WireDelta | null {
  const { text, thinking, signature, partial_json: json } = fieldsSchema.parse(value);
  if (typeof text === 'string') return { kind: 'text', text };
  if (typeof thinking === 'string') return { kind: 'thinking', thinking };
  if (typeof signature === 'string') return { kind: 'signature', signature };
  if (typeof json === 'string') return { kind: 'input', json };
  return isRecord(json) ? { kind: 'input', json: JSON.stringify(json) } : null;
}

/** A whole answer may be one string. */
const wireBlocks = (value: unknown): readonly WireBlock[] =>
  typeof value === 'string' ? [{ kind: 'text', text: value }] : Array.isArray(value) ? value.map(blockOf) : [];

const OTHER: WireEvent = { kind: 'other' };

/**
 * `named`: the event type that the stream gives outside the data. The type in the data takes
 * precedence.
 */
export function eventOf(data: unknown, named: string | undefined): WireEvent {
  if (!isRecord(data)) return OTHER;
  const type = typeof data['type'] === 'string' ? data['type'] : named;
  const index = indexSchema.parse(data['index'] ?? null);
  switch (type) {
    case 'message_start': {
      const message = fieldsSchema.parse(data['message']);
      return { kind: 'begin', usage: message['usage'], content: wireBlocks(message['content']) };
    }
    case 'content_block_start':
      return { kind: 'block', index, block: blockOf(data['content_block']) };
    case 'content_block_delta': {
      const delta = deltaOf(data['delta']);
      return delta ? { kind: 'delta', index, delta } : OTHER;
    }
    case 'content_block_stop':
      return { kind: 'block-end', index };
    case 'message_delta':
      return {
        kind: 'end',
        reason: wordOrNull.parse(fieldsSchema.parse(data['delta'])['stop_reason']),
        usage: data['usage'],
      };
    case 'message_stop':
      return { kind: 'over' };
    case 'error':
      return { kind: 'error', body: data };
    case 'ping':
      return OTHER;
    default: {
      const { content, error, role } = data;
      if (type === 'message' || (type === undefined && role === 'assistant'))
        if (typeof content === 'string' || Array.isArray(content))
          return {
            kind: 'whole',
            content: wireBlocks(content),
            reason: wordOrNull.parse(data['stop_reason']),
            usage: data['usage'],
          };
      // Servers that translate between two protocols pass on the other one's errors.
      return isRecord(error) || typeof error === 'string' ? { kind: 'error', body: data } : OTHER;
    }
  }
}

// Reads the events of one answer from its body: a stream of server-sent events in any notation, or
// one JSON text. The first character decides which, because headers are wrong too often. Data is
// counted before it is parsed, and read in steps, so that no server can block the relay.

/** The server sent unreadable data, or far too much. Its content is unknown. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/**
 * Parses one event of a protocol. `named`: the event's name, where the server gave one. May throw
 * to end the answer.
 */
export type ReadEvent<Event> = (value: unknown, named: string | undefined) => Event;

/** The mark after an answer of Chat Completions. It is passed on as a string. */
export const DONE = '[DONE]';

/**
 * Parses an event whose data is not JSON. Servers write their own marks between events, such as
 * `[DONE]`. A truncated object is not such a mark.
 */
function eventsIn<Event>({ data, event: named }: EventSourceMessage, eventOf: ReadEvent<Event>): Event[] {
  const text = data.trim();
  if (text === '') return [];
  if (text === DONE) return [eventOf(DONE, named)];
  if (createJsonCount(MIND_LIMITS.json).take(Buffer.from(text)) !== null)
    throw new UnreadableAnswer('an event of the stream holds too much');
  const value = parseJson(text);
  if (value !== undefined) return [eventOf(value, named)];
  // Some servers write no blank line between two events.
  const lines = text.split('\n', MIND_LIMITS.eventLines + 1).map((line) => parseJson(line));
  if (lines.length > MIND_LIMITS.eventLines) throw new UnreadableAnswer('an event of the stream has too many lines');
  if (lines.length > 1 && lines.every((line) => line !== undefined))
    return lines.map((line) => eventOf(line, undefined));
  if (named === 'error') return [eventOf({ type: 'error', error: { message: text } }, named)];
  if (text.startsWith('{')) throw new UnreadableAnswer('an event of the stream is torn');
  return [];
}

/** Feeds the parser. Events before something unreadable are returned first. */
function createEvents<Event>(eventOf: ReadEvent<Event>) {
  let pending: Event[] = [];
  const parser = createParser({
    maxBufferSize: MIND_LIMITS.eventCharacters,
    onEvent: (message) => void pending.push(...eventsIn(message, eventOf)),
    onError(error) {
      if (error.type === 'max-buffer-size-exceeded') throw new UnreadableAnswer('an event of the stream is too long');
    },
  });
  return function* read(text: string): Generator<Event, void, undefined> {
    let failure: unknown = null;
    try {
      parser.feed(text);
    } catch (error) {
      failure = error;
    }
    const events = pending;
    pending = [];
    yield* events;
    if (failure !== null) throw failure;
  };
}

const charactersOf = (event: WireEvent): number => {
  if (event.kind === 'block' && event.block.kind === 'text') return event.block.text.length;
  if (event.kind === 'block' && event.block.kind === 'thinking') return event.block.thinking.length;
  if (event.kind !== 'delta') return 0;
  const { delta } = event;
  return delta.kind === 'text' ? delta.text.length : delta.kind === 'thinking' ? delta.thinking.length : 0;
};

/** Counts the text of an answer. Throws where it is too long. */
function createWordCount(): (event: WireEvent) => void {
  let characters = 0;
  return (event) => {
    characters += charactersOf(event);
    if (characters > MIND_LIMITS.wordCharacters) throw new UnreadableAnswer('the answer has too many words');
  };
}

/** Splits text into pieces: some servers send a whole answer in one event. */
function* inPieces(event: WireEvent): Generator<WireEvent, void, undefined> {
  if (event.kind !== 'delta' || event.delta.kind !== 'text') return yield event;
  const { text } = event.delta;
  for (let from = 0; from === 0 || from < text.length; from += MIND_LIMITS.stepCharacters)
    yield { ...event, delta: { kind: 'text', text: text.slice(from, from + MIND_LIMITS.stepCharacters) } };
}

/**
 * `patience` is called before each read and returns the ms to wait for the next data. After that
 * the stream counts as ended. Rejects with the connection's failure, or with `UnreadableAnswer`. A
 * caller may leave the loop early. The rest is then read for a moment so that the connection can be
 * reused, and after that the connection is closed.
 */
export async function* eventsOf<Event>(
  body: ReadableStream<Uint8Array> | null,
  patience: () => number,
  eventOf: ReadEvent<Event>,
): AsyncGenerator<Event, void, undefined> {
  if (!body) return;
  const [mine, rest] = withEnd(body, patience);
  const decoder = new TextDecoder();
  const events = createEvents(eventOf);
  const json = createJsonCount(MIND_LIMITS.json);
  let whole: string | null = null;
  let begun = false;
  let bytes = 0;
  try {
    for await (const chunk of inSteps(mine, MIND_LIMITS.stepBytes)) {
      bytes += chunk.byteLength;
      if (bytes > MIND_LIMITS.answerBytes) throw new UnreadableAnswer('the answer is too long');
      let text = decoder.decode(chunk, { stream: true });
      if (!begun) {
        text = text.trimStart();
        if (text === '') continue;
        begun = true;
        if (text.startsWith('{')) whole = '';
      }
      if (whole === null) {
        yield* events(text);
        continue;
      }
      whole += text;
      if (whole.length > MIND_LIMITS.eventCharacters || json.take(chunk) !== null)
        throw new UnreadableAnswer('the answer holds too much');
    }
    const last = decoder.decode();
    // The last event may lack its final blank line.
    if (whole === null) yield* events(`${last}\n\n`);
    else yield* eventsIn({ id: undefined, event: undefined, data: whole + last }, eventOf);
  } finally {
    rest();
  }
}

/** The chunks of a body, and a way to stop reading them. */
function withEnd(
  body: ReadableStream<Uint8Array>,
  patience: () => number,
): readonly [AsyncIterable<Uint8Array>, () => void] {
  const reader = body.getReader();
  let isOver = false;
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const ms = patience();
      const giveUp = ms === Infinity ? null : setTimeout(() => void reader.cancel().catch(() => undefined), ms);
      const { done, value } = await reader
        .read()
        .catch((error: unknown) => {
          isOver = true;
          throw error;
        })
        .finally(() => giveUp && clearTimeout(giveUp));
      isOver ||= done;
      if (done) return;
      yield value;
    }
  }
  async function drain(): Promise<void> {
    while (!(await reader.read()).done);
  }
  return [
    chunks(),
    () => {
      if (isOver) return;
      const close = setTimeout(() => void reader.cancel().catch(() => undefined), MIND_LIMITS.afterEndMs);
      void drain()
        .catch(() => undefined)
        .finally(() => clearTimeout(close));
    },
  ];
}

/** The events of an answer in any protocol. Text is counted, and arrives in steps. */
export async function* inBounds(events: AsyncIterable<WireEvent>): AsyncGenerator<WireEvent, void, undefined> {
  const pace = createPace();
  const count = createWordCount();
  for await (const event of events) {
    count(event);
    for (const piece of inPieces(event)) {
      await pace();
      yield piece;
    }
  }
}

/** The form of a request. A server that cannot read one form gets a simpler one. */
export interface Shape {
  /**
   * The system prompt is a string without cache marks, for servers that know only the oldest form.
   */
  readonly plain: boolean;
  readonly thinking: boolean;
  /** Lone surrogates are replaced, because the exact text was refused. */
  readonly wellFormed: boolean;
  /** Deferred tools are sent, for the model to search by itself. */
  readonly searching: boolean;
  /** Pictures and PDFs that are not sent. */
  readonly unseen: Unseen;
  /** The provider's own web tools are listed. */
  readonly web: boolean;
  /** No tools are listed, and earlier calls are written as text. */
  readonly toolless: boolean;
  /**
   * Most tokens of the answer, where the server accepts fewer than requested. Infinity: as
   * requested.
   */
  readonly maxTokens: number;
  /** For Chat Completions: the limit is called `max_completion_tokens`. */
  readonly completionTokens: boolean;
  /** For Chat Completions: thoughts are sent back. Some servers need them, others refuse them. */
  readonly thoughts: boolean;
}

const CACHED = { cache_control: { type: 'ephemeral' } } as const;
/** Marks with a longer lifetime must precede those that last minutes. */
const CACHED_AN_HOUR = { cache_control: { type: 'ephemeral', ttl: '1h' } } as const;
type Content =
  | Anthropic.TextBlockParam
  | Anthropic.ImageBlockParam
  | Anthropic.DocumentBlockParam
  | Anthropic.ToolUseBlockParam
  | Anthropic.ToolResultBlockParam
  | Anthropic.ThinkingBlockParam
  | Anthropic.RedactedThinkingBlockParam
  | Anthropic.ServerToolUseBlockParam
  | Anthropic.ToolSearchToolResultBlockParam
  | Anthropic.WebSearchToolResultBlockParam
  | Anthropic.WebFetchToolResultBlockParam;

/** The tool search and its results, limited to tools that still exist. */
function searchParam(block: ToolSearchBlock, there: ReadonlySet<string>): Content {
  if (block.type === 'server_tool_use') {
    const { type, id, name, input } = block;
    return { type, id, name, input };
  }
  const { type, tool_use_id, content } = block;
  if (content.type !== 'tool_search_tool_search_result') return { type, tool_use_id, content };
  const references = content.tool_references.filter(({ tool_name }) => there.has(tool_name));
  return { type, tool_use_id, content: { type: content.type, tool_references: references } };
}

const unseenName = (name: string) => `[The file ${name} is not included. You only have its name.]`;
const UNSEEN = '[The picture is not included.]';
const damaged = (name: string) => `[${name} could not be read by your server, and was left out. It may be damaged.]`;
const DAMAGED = '[The picture could not be read by your server, and was left out. It may be damaged.]';

/**
 * Text that replaces a block which this server cannot receive. Null: the block is sent as it is. A
 * text block always is.
 */
export function blockText(
  block: MindBlock,
  { unseen, toolless }: Pick<Shape, 'unseen' | 'toolless'>,
  text: (raw: string) => string,
): string | null {
  switch (block.kind) {
    case 'picture':
    case 'document':
      if (unseen.all) return unseenName(text(block.name));
      return isOut(block, unseen) ? damaged(text(block.name)) : null;
    case 'tool-use':
      return toolless ? `[Called ${block.name} with ${text(JSON.stringify(block.input))}]` : null;
    case 'tool-result':
      if (toolless) return `[It answered: ${text(block.text)}]`;
      if (!block.picture) return null;
      if (unseen.all) return UNSEEN;
      return isOut(block, unseen) ? DAMAGED : null;
    default:
      return null;
  }
}

/** The tools for a server without a tool search of its own. */
export const plainTools = (tools: readonly MindTool[], { toolless }: Pick<Shape, 'toolless'>): readonly MindTool[] =>
  toolless ? [] : describedTools(tools, false).filter(({ provider }) => !provider);

function resultContent(
  block: Extract<MindBlock, { kind: 'tool-result' }>,
  { text, unseen }: Written,
): NonNullable<Anthropic.ToolResultBlockParam['content']> {
  const { text: said, picture } = block;
  if (!picture) return text(said);
  if (unseen.all) return `${text(said)}\n${UNSEEN}`;
  if (isOut(block, unseen)) return `${text(said)}\n${DAMAGED}`;
  return [
    { type: 'text', text: text(said) },
    { type: 'image', source: { type: 'base64', media_type: picture.type, data: picture.data } },
  ];
}

const isOut = (block: MindBlock, { out }: Unseen) => out.size > 0 && out.has(digestOf(block) ?? '');

function contentOf(block: MindBlock, written: Written): Content {
  const { text, there } = written;
  if (block.kind !== 'tool-result' || written.toolless) {
    const instead = blockText(block, written, text);
    if (instead !== null) return { type: 'text', text: instead };
  }
  switch (block.kind) {
    case 'tool-search':
      return searchParam(block.block, there);
    case 'web':
      return webParam(block.block);
    case 'text':
      return { type: 'text', text: text(block.text) };
    case 'picture': {
      const { type, data } = block.picture;
      return { type: 'image', source: { type: 'base64', media_type: type, data } };
    }
    case 'document':
      return {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: block.data },
        title: text(block.name),
      };
    case 'thinking':
      return { type: 'thinking', thinking: block.thinking, signature: block.signature };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: block.data };
    case 'tool-use': {
      const input = mapStrings(block.input, text);
      return { type: 'tool_use', id: block.toolUseId, name: block.name, input: isRecord(input) ? input : {} };
    }
    case 'tool-result':
      return {
        type: 'tool_result',
        tool_use_id: block.toolUseId,
        content: resultContent(block, written),
        is_error: block.isError,
      };
    default:
      return block satisfies never;
  }
}

const cached = (content: Content): Content =>
  content.type === 'thinking' || content.type === 'redacted_thinking' ? content : { ...content, ...CACHED };

/** How the blocks of one request are written. */
interface Written {
  readonly text: (raw: string) => string;
  readonly searching: boolean;
  readonly unseen: Unseen;
  readonly toolless: boolean;
  readonly web: boolean;
  /** Names of the request's tools. */
  readonly there: ReadonlySet<string>;
}

function messageParam(message: MindMessage, mark: boolean, written: Written): Anthropic.MessageParam {
  const content = message.blocks
    // Another server, or the same one without tools to search, accepts no search blocks.
    .filter(({ kind }) => kind !== 'tool-search' || written.searching)
    // The same rule for web blocks.
    .filter((block) => block.kind !== 'web' || (written.web && isThere(block.block, written.there)))
    // Servers that sign thoughts refuse an unsigned one.
    .filter((block) => block.kind !== 'thinking' || block.signature !== '')
    .map((block) => contentOf(block, written));
  const last = content.pop();
  if (last) content.push(mark ? cached(last) : last);
  return { role: message.role, content };
}

export function requestParams(request: MindRequest, shape: Shape): Anthropic.MessageCreateParamsStreaming {
  const text = shape.wellFormed ? toWellFormed : (raw: string) => raw;
  const searching = shape.searching && searchesIn(request);
  const { unseen, web, toolless } = shape;
  const tools = toolless ? [] : toolParams(request.tools, shape);
  const written = { text, searching, unseen, toolless, web, there: new Set(request.tools.map(({ name }) => name)) };
  const newest = request.messages.length - 1;
  const system = text(request.system);
  return {
    stream: true,
    model: request.model,
    max_tokens: Math.min(request.maxTokens, shape.maxTokens),
    system: shape.plain
      ? system
      : [{ type: 'text', text: system, ...(request.cachesForAnHour ? CACHED_AN_HOUR : CACHED) }],
    messages: request.messages.map((message, i) =>
      messageParam(message, !shape.plain && (i === 0 || i === newest), written),
    ),
    ...(tools.length > 0 ? { tools } : {}),
    ...(shape.thinking ? { thinking: { type: 'adaptive' as const, display: 'summarized' as const } } : {}),
  };
}

/** The most tokens that a server which stops on a disconnect has written in so many ms. */
export const writtenWithin = (ms: number): number =>
  Math.ceil(((ms + STOPPED.afterStopMs) / 1_000) * STOPPED.tokensPerSecond);

/**
 * The most tokens that a server which stops on a disconnect can have written by then: what arrived,
 * and what is still in transit. `ms`: since data last arrived. Where the model thinks without
 * showing it, since it began.
 */
export function mostWritten(
  { bytes, blocks, ms }: { readonly bytes: number; readonly blocks: number; readonly ms: number },
  maxTokens: number,
): number {
  const came = Math.ceil(bytes / BYTES_PER_TOKEN) + blocks * STOPPED.tokensPerBlock;
  return Math.min(maxTokens, came + writtenWithin(ms));
}
