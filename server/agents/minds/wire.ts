/**
 * Between our words and the Messages API's. The caching marks go on the system prompt (which covers
 * the tools before it), on the first user message (which holds the soul) and on the newest turn.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { isRecord } from '../../../src/shared/domain/platform/is-record.ts';
import { BYTES_PER_TOKEN } from '../../../src/shared/domain/request-cost.ts';
import type { MindBlock, MindMessage, MindRequest, MindTool, ToolSearchBlock } from '../../contracts/mind.ts';
import { STOPPED } from './settings.ts';
import { digestOf, type Unseen } from './sight.ts';
import { searchesIn, toldTools, toolParams } from './tool-params.ts';
import { isThere, webParam } from './web.ts';
import { mapStrings, toWellFormed } from '../../platform/well-formed.ts';

/** How a request is written; a server that cannot read one form is given an easier one. */
export interface Shape {
  /** System as a string, no caching marks: for servers that know only the oldest form. */
  readonly plain: boolean;
  readonly thinking: boolean;
  /** Lone surrogates replaced, because the exact text was refused. */
  readonly wellFormed: boolean;
  /** Deferred tools are sent along, for the model to search by itself. */
  readonly searching: boolean;
  /** Pictures and PDFs that are not sent along. */
  readonly unseen: Unseen;
  /** The provider's own tools for the web are told of. */
  readonly web: boolean;
  /** It is told of no tools, and reads of former calls in words. */
  readonly toolless: boolean;
  /**
   * Most tokens of the answer, where the server takes fewer than the request asks for. Infinity: as
   * asked.
   */
  readonly maxTokens: number;
  /** Of Chat Completions: the limit is called `max_completion_tokens`. */
  readonly completionTokens: boolean;
  /** Of Chat Completions: thoughts are handed back. Some servers want them, others refuse them. */
  readonly thoughts: boolean;
}

const CACHED = { cache_control: { type: 'ephemeral' } } as const;
/** What stays longer stands before what stays for minutes. */
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

/** What a search found, as far as it is there still. */
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

const unseenName = (name: string) => `[${name} itself is not here: you are given its name alone.]`;
const UNSEEN = '[The picture itself is not here: you are given none.]';
const damaged = (name: string) => `[${name} could not be read by your server, and was left out. It may be damaged.]`;
const DAMAGED = '[The picture could not be read by your server, and was left out. It may be damaged.]';

/**
 * What stands in the place of a block that this server is not sent as it is, in words. Null: it is
 * sent as it is. Text is no such block.
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

/** The tools that a server without a search of its own is told of. */
export const plainTools = (tools: readonly MindTool[], { toolless }: Pick<Shape, 'toolless'>): readonly MindTool[] =>
  toolless ? [] : toldTools(tools, false).filter(({ provider }) => !provider);

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
  /** Names of its tools. */
  readonly there: ReadonlySet<string>;
}

function messageParam(message: MindMessage, mark: boolean, written: Written): Anthropic.MessageParam {
  const content = message.blocks
    // Another server, or the same without tools to look for, knows of no search.
    .filter(({ kind }) => kind !== 'tool-search' || written.searching)
    // The same of the web.
    .filter((block) => block.kind !== 'web' || (written.web && isThere(block.block, written.there)))
    // Servers that sign their thoughts refuse one that is not signed.
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
    // Thoughts are not shown, so their text need not travel; the signature carries them through a
    // tool loop.
    ...(shape.thinking ? { thinking: { type: 'adaptive' as const, display: 'omitted' as const } } : {}),
  };
}

/** The most tokens that a server which stops when it is left has written in so many ms. */
export const writtenWithin = (ms: number): number =>
  Math.ceil(((ms + STOPPED.afterStopMs) / 1_000) * STOPPED.tokensPerSecond);

/**
 * The most tokens that a server which stops when it is left can have written when it was left: what
 * came, and what did not come yet. `ms`: since something last came; where it thinks without showing
 * it, since it began.
 */
export function mostWritten(
  { bytes, blocks, ms }: { readonly bytes: number; readonly blocks: number; readonly ms: number },
  maxTokens: number,
): number {
  const came = Math.ceil(bytes / BYTES_PER_TOKEN) + blocks * STOPPED.tokensPerBlock;
  return Math.min(maxTokens, came + writtenWithin(ms));
}
