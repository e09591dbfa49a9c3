/** What a request of a mind may come to, before it is sent. */
import { UNSAID_TERMS, type RequestSize } from '../../../src/shared/domain/request-cost.ts';
import type { MindBlock, MindRequest, MindTool } from '../../contracts/mind.ts';
import { WEB_LIMITS } from './settings.ts';
import { SEARCH, toldTools } from './tool-params.ts';

/** Bytes that one block, message or tool takes on the way beside what is in it. */
const AROUND = 64;

/**
 * Names of the tools that a model's own search found: their definitions are read where they were
 * found.
 */
function foundIn(block: MindBlock): readonly string[] {
  if (block.kind !== 'tool-search' || block.block.type !== 'tool_search_tool_result') return [];
  const { content } = block.block;
  return content.type === 'tool_search_tool_search_result'
    ? content.tool_references.map(({ tool_name }) => tool_name)
    : [];
}

function readTools({ tools, messages }: Pick<MindRequest, 'tools' | 'messages'>, searching: boolean) {
  const told = toldTools(tools, searching);
  if (!searching) return told;
  const found = new Set(messages.flatMap(({ blocks }) => blocks.flatMap(foundIn)));
  return [
    ...told.map((tool): MindTool | typeof SEARCH => (tool.finds ? SEARCH : tool)),
    ...tools.filter((tool) => found.has(tool.name) && !told.includes(tool)),
  ];
}

/**
 * `searching`: its model searches by itself for deferred tools. `wire.ts` marks what may be kept in
 * the model's cache, for minutes or for an hour.
 */
export function sizeOfRequest(
  {
    model,
    system,
    messages,
    tools,
    maxTokens,
    cachesForAnHour = false,
  }: Pick<MindRequest, 'model' | 'system' | 'messages' | 'tools' | 'maxTokens' | 'cachesForAnHour'>,
  searching: boolean,
): RequestSize {
  let bytes = Buffer.byteLength(system) + Buffer.byteLength(JSON.stringify(readTools({ tools, messages }, searching)));
  let pictures = 0;
  const own = tools.flatMap(({ provider }) => provider ?? []);
  // What its provider looks up by itself is read too.
  let openEnded = own.length > 0;
  for (const { blocks } of messages)
    for (const block of blocks) {
      if (block.kind === 'document') {
        // One of a few bytes may have hundreds of pages, each of which is read as a picture too.
        openEnded = true;
        continue;
      }
      const { picture = null, ...rest } =
        block.kind === 'tool-result' || block.kind === 'picture' ? block : { ...block, picture: null };
      if (picture) pictures += 1;
      bytes += AROUND + Object.values(rest).reduce<number>((sum, value) => sum + lengthOf(value), 0);
    }
  return {
    model,
    bytes,
    pictures,
    openEnded,
    searches: own.includes('web_search') ? WEB_LIMITS.searches : 0,
    maxOutputTokens: maxTokens,
    cached: cachesForAnHour ? 'hour' : 'minutes',
    terms: UNSAID_TERMS,
  };
}

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'object' && value !== null ? Buffer.byteLength(JSON.stringify(value)) : AROUND;
}
