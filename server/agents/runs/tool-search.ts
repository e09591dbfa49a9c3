/**
 * Chooses the tools that a mind is offered from the start. Every definition costs tokens with every
 * request, and small models have no room for many. So a mind gets a core of few tools. The core
 * does not change within a conversation, because a changed list would invalidate the model's cache.
 * All other tools are deferred. A model with tool search finds them itself, others use `find_tool`.
 * Tools that were found stay for the rest of the conversation.
 */
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { ATTACHED_PREFIX } from '../../../src/shared/domain/toolsets.ts';
import type { ToolOutcome } from '../../contracts/index.ts';
import { toolError, toolDone } from '../../contracts/define-tool.ts';
import type { MindTool } from '../minds/index.ts';
import type { RunLimits } from './settings.ts';

const FIND_TOOL = 'find_tool';

/** The core, most needed first. If there is less room, the last ones are deferred. */
const CORE = [
  'spawn_team',
  'remember',
  'recall',
  'message_agent',
  'message_human',
  'read_file',
  'write_file',
  'write_soul',
  'wake_agent',
  'wake_later',
  'list_files',
] as const;

export interface ToolSearch {
  /** The tools of the next request. Deferred ones are marked. */
  offered(all: readonly MindTool[]): readonly MindTool[];
  /**
   * A turn begins with these words and needs the tools in `names`. Tools that either names become
   * available. Before the first request they join the core; later they count as found.
   */
  begin(all: readonly MindTool[], words: readonly string[], names: readonly string[]): void;
  /** The mind called this tool, so it counts as found. */
  called(name: string): void;
  /** The outcome of `find_tool`; null: the name is another tool's. Never rejects. */
  find(name: string, all: readonly MindTool[], input: unknown): ToolOutcome | null;
}

const isAttached = ({ name }: MindTool) => name.startsWith(ATTACHED_PREFIX);
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Whether the text names the tool. A name that is an ordinary word does not count. */
const names = (text: string, name: string): boolean =>
  name.includes('_') && text.includes(name) && new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text);

/** Weight of a word in a tool's name, relative to its description. */
const NAME_COUNTS = 3;

interface Words {
  readonly tool: MindTool;
  readonly name: readonly string[];
  readonly rest: ReadonlySet<string>;
}

function wordsOfTool(tool: MindTool): Words {
  const { name, description, properties } = tool;
  return {
    tool,
    name: wordsOf((isAttached(tool) ? name.slice(ATTACHED_PREFIX.length) : name).replaceAll('_', ' ')),
    rest: new Set(wordsOf(`${description} ${Object.keys(properties).join(' ')}`)),
  };
}

/** Tools with less than this part of the best score share only common words with the query. */
const LEAST_FIT = 1 / 4;

/**
 * The tools that match the query, best first. A word counts more the fewer tools have it. A word
 * that all of them have counts nothing.
 */
function searched(tools: readonly MindTool[], query: string): MindTool[] {
  const all = tools.map(wordsOfTool);
  const score = new Map(tools.map((tool) => [tool, names(query, tool.name) ? Infinity : 0]));
  for (const word of new Set(wordsOf(query.replaceAll('_', ' ')))) {
    const isNamed = ({ name }: Words) =>
      name.some((each) => each === word || (word.length > 3 && each.startsWith(word)));
    const hits = all.filter((each) => isNamed(each) || each.rest.has(word));
    const rare = all.length === 1 ? 1 : Math.log(all.length / hits.length);
    for (const hit of hits) score.set(hit.tool, (score.get(hit.tool) ?? 0) + rare * (isNamed(hit) ? NAME_COUNTS : 1));
  }
  const most = Math.max(0, ...[...score.values()].filter(Number.isFinite));
  return [...score]
    .filter(([, sum]) => sum > 0 && sum >= most * LEAST_FIT)
    .sort(([, one], [, other]) => (one === other ? 0 : other - one))
    .map(([tool]) => tool);
}

const rankOf = ({ name }: MindTool) => CORE.findIndex((each) => each === name);

/** The core of these tools. `most`: tools that are offered at once, `find_tool` included. */
function coreOf(own: readonly MindTool[], hasMore: boolean, most: number): ReadonlySet<MindTool> {
  if (!hasMore && own.length <= most) return new Set(own);
  const providers = own.filter(({ provider }) => provider);
  const ranked = own.filter((tool) => rankOf(tool) >= 0).sort((one, other) => rankOf(one) - rankOf(other));
  return new Set([...providers, ...ranked].slice(0, Math.max(providers.length, most - 1)));
}

/**
 * The `find_tool` definition. It lists deferred tools by name, and gives the number of those from
 * MCP servers, which may be many.
 */
function finderOf(waiting: readonly MindTool[]): MindTool {
  const attached = waiting.filter(isAttached).length;
  const own = waiting.filter((tool) => !isAttached(tool)).map(({ name }) => name);
  const there = [
    ...(own.length > 0 ? [`There are ${own.join(', ')}.`] : []),
    ...(attached > 0 ? [`The human has connected MCP servers with ${attached} more.`] : []),
  ];
  return {
    name: FIND_TOOL,
    description: `Looks for more tools, which you can call from your next turn on. ${there.join(' ')}`,
    properties: { query: { type: 'string', description: 'what it should do, or its name', maxLength: 200 } },
    required: ['query'],
    finds: true,
  };
}

export function createToolSearch(
  limits: Pick<RunLimits, 'toolsAtOnce' | 'toolsWithoutSearch' | 'attachedAtOnce' | 'toolsFound'>,
): ToolSearch {
  const atHand = new Set<string>();
  const found = new Set<string>();
  let hasBegun = false;

  function offered(all: readonly MindTool[]): readonly MindTool[] {
    const hasMany = all.filter(isAttached).length > limits.attachedAtOnce;
    const own = all.filter((tool) => !isAttached(tool));
    const [core, small] = [limits.toolsAtOnce, limits.toolsWithoutSearch].map((most) => coreOf(own, hasMany, most));
    const marked = all.map((tool): MindTool => {
      if (atHand.has(tool.name) || small?.has(tool) || (isAttached(tool) && !hasMany)) return tool;
      const waits = found.has(tool.name) ? 'found' : 'unseen';
      return core?.has(tool) ? { ...tool, waits, roomy: true } : { ...tool, waits };
    });
    const waiting = marked.filter(({ waits }) => waits);
    return waiting.length === 0 ? marked : [finderOf(waiting), ...marked];
  }

  return {
    offered,
    begin(all, words, asked) {
      const into = hasBegun ? found : atHand;
      hasBegun = true;
      for (const { name } of all) if (asked.includes(name) || words.some((text) => names(text, name))) into.add(name);
    },
    called: (name) => void found.add(name),
    find(called, all, input) {
      const waiting = offered(all).filter(({ waits }) => waits);
      if (called !== FIND_TOOL || waiting.length === 0) return null;
      const query = typeof input === 'object' && input !== null && 'query' in input ? input.query : null;
      if (typeof query !== 'string' || query.trim() === '')
        return toolError(`${FIND_TOOL} could not be read. query: must be words.`);
      const fitting = searched(waiting, query);
      const best = fitting.slice(0, limits.toolsFound);
      if (best.length === 0) return toolError('No tool fits these words. Try others.');
      for (const { name } of best) found.add(name);
      return toolDone(
        [
          'You can call these now:',
          ...best.map(({ name, description }) => `- ${name}: ${beginningOfText(description, 300)}`),
          ...(fitting.length > best.length
            ? [`${fitting.length - best.length} more fit these words less well. Say it in other words to find them.`]
            : []),
        ].join('\n'),
      );
    },
  };
}
