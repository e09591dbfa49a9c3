/** What a model is told of its tools: ours, those that wait, and its provider's own. */
import type Anthropic from '@anthropic-ai/sdk';
import type { MindRequest, MindTool } from './mind.ts';
import { webToolParam } from './web.ts';

/** Whether a server that refuses a request does so for its search. */
export const refusesSearch = (said: string): boolean => /tool_search|tool_reference|defer_loading/i.test(said);

/** Whether there is anything to be searched for. */
export const searchesIn = ({ tools }: MindRequest) => tools.some(({ finds }) => finds);
export const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' } as const;

export function toolParams(
  tools: readonly MindTool[],
  { searching, web }: { readonly searching: boolean; readonly web: boolean },
): Anthropic.ToolUnion[] {
  return tools.flatMap((tool): Anthropic.ToolUnion[] => {
    if (tool.provider) return web ? [webToolParam(tool.provider)] : [];
    if (searching && tool.finds) return [SEARCH];
    if (!searching && tool.waits === 'unseen') return [];
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
        ...(searching && tool.waits ? { defer_loading: true } : {}),
      },
    ];
  });
}
