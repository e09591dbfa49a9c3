/**
 * The provider's own web search and page reading. The provider's servers run it in the middle of an
 * answer, not the relay. Results are sent back unchanged as long as the tool is offered, and are
 * shown as text.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { MindBlock, MindMessage, MindTool, WebBlock } from './messages.ts';
import type { MindListener, MindRequest } from './requests.ts';
import { WEB_LIMITS } from './settings.ts';

export const isWebBlock = (block: Anthropic.ContentBlock): block is WebBlock =>
  block.type === 'web_search_tool_result' ||
  block.type === 'web_fetch_tool_result' ||
  (block.type === 'server_tool_use' && (block.name === 'web_search' || block.name === 'web_fetch'));

/** The tool of this list that a block belongs to. */
const toolOf = (block: WebBlock): string =>
  block.type === 'server_tool_use' ? block.name : block.type === 'web_search_tool_result' ? 'web_search' : 'web_fetch';

/** Whether the block may be sent back: the model still has the tool. */
export const isThere = (block: WebBlock, there: ReadonlySet<string>): boolean => there.has(toolOf(block));

function webToolParam(tool: NonNullable<MindTool['provider']>): Anthropic.ToolUnion {
  switch (tool) {
    case 'web_search':
      return { type: 'web_search_20250305', name: tool, max_uses: WEB_LIMITS.searches };
    case 'web_fetch':
      return {
        type: 'web_fetch_20250910',
        name: tool,
        max_uses: WEB_LIMITS.fetches,
        max_content_tokens: WEB_LIMITS.fetchTokens,
      };
    default:
      return tool satisfies never;
  }
}

export function webParam(
  block: WebBlock,
):
  | Anthropic.ServerToolUseBlockParam
  | Anthropic.WebSearchToolResultBlockParam
  | Anthropic.WebFetchToolResultBlockParam {
  if (block.type === 'server_tool_use') {
    const { type, id, name, input } = block;
    return { type, id, name, input };
  }
  if (block.type === 'web_search_tool_result') {
    const { type, tool_use_id, content } = block;
    return { type, tool_use_id, content };
  }
  const { type, tool_use_id, content } = block;
  return { type, tool_use_id, content };
}

/**
 * Whether a server refuses a request because of these tools. An account may have them switched off.
 */
export const refusesWeb = (said: string): boolean => /web[ _]search|web[ _]fetch/i.test(said);

/** The result as text for the person, and whether it failed. */
function resultText(block: Exclude<WebBlock, { type: 'server_tool_use' }>): readonly [string, boolean] {
  if (block.type === 'web_search_tool_result') {
    const { content } = block;
    if (!Array.isArray(content)) return [`The search failed: ${content.error_code}.`, true];
    if (content.length === 0) return ['Nothing was found.', false];
    return [content.map(({ title, url }) => `${title}\n${url}`).join('\n\n'), false];
  }
  const { content } = block;
  if (content.type === 'web_fetch_tool_result_error')
    return [`The page could not be read: ${content.error_code}.`, true];
  const { source, title } = content.content;
  const text = source.type === 'text' ? cutMiddle(source.data, WEB_LIMITS.shownChars) : '(a PDF)';
  return [[content.url, title ?? '', text].filter((part) => part !== '').join('\n'), false];
}

/**
 * Reports these calls of one request as they arrive. `before`: the conversation. After an answer
 * that paused, it holds the call whose result arrives now. A call without a result stays open, and
 * the listener ends it.
 */
export function createWebCalls(
  before: readonly MindMessage[],
  onTool: MindListener['onTool'],
  clean: <Value>(value: Value) => Value,
): (block: WebBlock) => void {
  const open = new Map<string, (result: string, isError: boolean) => void>();
  const begin = ({ id, name, input }: Extract<WebBlock, { type: 'server_tool_use' }>) => {
    const told = onTool?.({ toolUseId: id, name, input: clean(input) });
    if (told) open.set(id, told);
  };
  return (block) => {
    if (block.type === 'server_tool_use') return begin(block);
    const { tool_use_id: id } = block;
    if (!open.has(id))
      for (const { blocks } of before)
        for (const each of blocks)
          if (each.kind === 'web' && each.block.type === 'server_tool_use' && each.block.id === id) begin(each.block);
    open.get(id)?.(...clean(resultText(block)));
    open.delete(id);
  };
}

/** Removes calls without results and results without calls. Neither may be sent back. */
export function withWholeWeb(blocks: readonly MindBlock[]): readonly MindBlock[] {
  const uses = new Set<string>();
  const results = new Set<string>();
  for (const block of blocks) {
    if (block.kind !== 'web') continue;
    if (block.block.type === 'server_tool_use') uses.add(block.block.id);
    else results.add(block.block.tool_use_id);
  }
  return blocks.filter((block) => {
    if (block.kind !== 'web') return true;
    return block.block.type === 'server_tool_use' ? results.has(block.block.id) : uses.has(block.block.tool_use_id);
  });
}

// The tools of a request: Roost's own, including deferred ones, and those of the model's provider.

/** Whether a server refuses a request because of the tool search. */
export const refusesSearch = (said: string): boolean => /tool_search|tool_reference|defer_loading/i.test(said);

export const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' } as const;

/** Deferred also for a model that searches by itself. */
const isDeferred = ({ waits, roomy }: MindTool) => waits !== undefined && !roomy;

/** Whether a model that searches by itself has anything to search for. */
export const searchesIn = ({ tools }: Pick<MindRequest, 'tools'>) => tools.some(isDeferred);

/**
 * The tools listed before a conversation. `searching`: the model searches for the others by itself.
 */
export function describedTools(tools: readonly MindTool[], searching: boolean): readonly MindTool[] {
  if (!searching) return tools.filter(({ waits }) => waits !== 'unseen');
  const searches = searchesIn({ tools });
  return tools.filter((tool) => (tool.finds ? searches : !isDeferred(tool)));
}

interface ToolsSize {
  readonly characters: number;
  readonly bytes: number;
}

/** Sizes by definition. A definition does not change, and each request has dozens of them. */
const sizes = new WeakMap<object, ToolsSize>();

function sizeOfTool(tool: object): ToolsSize {
  const before = sizes.get(tool);
  if (before) return before;
  const json = JSON.stringify(tool);
  const size = { characters: json.length, bytes: Buffer.byteLength(json) };
  sizes.set(tool, size);
  return size;
}

/** The size of a list of definitions as JSON. */
export function sizeOfTools(tools: readonly object[]): ToolsSize {
  // Brackets, and commas between the definitions.
  const around = 2 + Math.max(0, tools.length - 1);
  return tools
    .map(sizeOfTool)
    .reduce((sum, { characters, bytes }) => ({ characters: sum.characters + characters, bytes: sum.bytes + bytes }), {
      characters: around,
      bytes: around,
    });
}

export function toolParams(
  tools: readonly MindTool[],
  { searching, web }: { readonly searching: boolean; readonly web: boolean },
): Anthropic.ToolUnion[] {
  const describedNames = new Set(describedTools(tools, searching));
  return tools.flatMap((tool): Anthropic.ToolUnion[] => {
    if (tool.provider) return web ? [webToolParam(tool.provider)] : [];
    if (searching && tool.finds) return describedNames.has(tool) ? [SEARCH] : [];
    if (!searching && !describedNames.has(tool)) return [];
    return [
      {
        name: tool.name,
        description: tool.description,
        input_schema: {
          type: 'object' as const,
          properties: tool.properties,
          required: [...tool.required],
          ...(tool.definitions ? { $defs: tool.definitions } : {}),
        },
        ...(describedNames.has(tool) ? {} : { defer_loading: true }),
      },
    ];
  });
}
