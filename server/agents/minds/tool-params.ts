/**
 * The tools that a request lists: Roost's own, deferred ones among them, and those of the model's
 * provider.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { MindRequest, MindTool } from '../../contracts/mind.ts';
import { webToolParam } from './web.ts';

/** Whether a server that refuses a request does so for its search. */
export const refusesSearch = (said: string): boolean => /tool_search|tool_reference|defer_loading/i.test(said);

export const SEARCH = { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' } as const;

/** Deferred also for a model that searches by itself. */
const isDeferred = ({ waits, roomy }: MindTool) => waits !== undefined && !roomy;

/** Whether a model that searches by itself has anything to search for. */
export const searchesIn = ({ tools }: Pick<MindRequest, 'tools'>) => tools.some(isDeferred);

/**
 * The tools that stand before a conversation. `searching`: the model searches for the others by
 * itself.
 */
export function toldTools(tools: readonly MindTool[], searching: boolean): readonly MindTool[] {
  if (!searching) return tools.filter(({ waits }) => waits !== 'unseen');
  const searches = searchesIn({ tools });
  return tools.filter((tool) => (tool.finds ? searches : !isDeferred(tool)));
}

export function toolParams(
  tools: readonly MindTool[],
  { searching, web }: { readonly searching: boolean; readonly web: boolean },
): Anthropic.ToolUnion[] {
  const told = new Set(toldTools(tools, searching));
  return tools.flatMap((tool): Anthropic.ToolUnion[] => {
    if (tool.provider) return web ? [webToolParam(tool.provider)] : [];
    if (searching && tool.finds) return told.has(tool) ? [SEARCH] : [];
    if (!searching && !told.has(tool)) return [];
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
        ...(told.has(tool) ? {} : { defer_loading: true }),
      },
    ];
  });
}
