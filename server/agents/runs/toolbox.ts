/**
 * The toolbox of one agent at work: the tools of its run, and the team's tools that it may use at
 * the moment.
 */
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { isRecord } from '../../../src/shared/domain/platform/json.ts';
import { MCP_PREFIX, type Toolset, toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { toolDone, toolError } from '../../tools/define-tool.ts';
import { type MindTool, describedTools } from '../minds/index.ts';
import type { RunLimits } from './settings.ts';
import type { RunContext } from './context.ts';
import type { Permits } from './permits.ts';
import { allowedTools, mindToolOf, runTeamTool } from './team-tools.ts';

// Chooses the tools that a mind is offered from the start. Every definition costs tokens with every
// request, and small models have no room for many. So a mind gets a core of few tools. The core
// does not change within a conversation, because a changed list would invalidate the model's cache.
// All other tools are deferred. A model with tool search finds them itself, others use `find_tool`.
// Tools that were found stay for the rest of the conversation.

const FIND_TOOL = 'find_tool';

/** The core, most needed first. If there is less room, the last ones are deferred. */
const CORE = [
  'spawn_team',
  'message_agent',
  'message_human',
  'read_file',
  'write_file',
  'write_soul',
  'remember',
  'recall',
  'wake_agent',
  'wake_later',
  'list_files',
] as const;

interface ToolSearch {
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

const isMcpTool = ({ name }: MindTool) => name.startsWith(MCP_PREFIX);
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
    name: wordsOf((isMcpTool(tool) ? name.slice(MCP_PREFIX.length) : name).replaceAll('_', ' ')),
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
  const score = new Map(tools.map((tool) => [tool, query === tool.name || names(query, tool.name) ? Infinity : 0]));
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
  const mcpTools = waiting.filter(isMcpTool).length;
  const own = waiting.filter((tool) => !isMcpTool(tool)).map(({ name }) => name);
  const there = [
    ...(own.length > 0 ? [`There are ${own.join(', ')}.`] : []),
    ...(mcpTools > 0 ? [`The human has connected MCP servers with ${mcpTools} more.`] : []),
  ];
  return {
    name: FIND_TOOL,
    description: `Finds more tools, which you can call from your next turn on. ${there.join(' ')}`,
    properties: { query: { type: 'string', description: 'what it should do, or its name', maxLength: 200 } },
    required: ['query'],
    finds: true,
  };
}

type Waiting = Pick<MindTool, 'waits' | 'roomy'>;

/** Deferred definitions by tool and state, so that each is made and measured once. */
const deferredTools = new WeakMap<MindTool, Map<string, MindTool>>();

function deferred(tool: MindTool, waiting: Waiting): MindTool {
  const byName = deferredTools.get(tool) ?? new Map<string, MindTool>();
  deferredTools.set(tool, byName);
  const state = `${waiting.waits} ${waiting.roomy}`;
  const made = byName.get(state) ?? { ...tool, ...waiting };
  byName.set(state, made);
  return made;
}

function createToolSearch(
  limits: Pick<RunLimits, 'toolsAtOnce' | 'toolsWithoutSearch' | 'mcpToolsAtOnce' | 'toolsFound'>,
): ToolSearch {
  const atHand = new Set<string>();
  const foundNames = new Set<string>();
  let hasBegun = false;
  /** The latest list. It is read several times for each request. */
  let latest: { readonly all: readonly MindTool[]; readonly offered: readonly MindTool[] } | null = null;

  function add(names: Set<string>, name: string): void {
    if (!names.has(name)) latest = null;
    names.add(name);
  }

  function offered(all: readonly MindTool[]): readonly MindTool[] {
    if (latest?.all !== all) latest = { all, offered: listed(all) };
    return latest.offered;
  }

  function listed(all: readonly MindTool[]): readonly MindTool[] {
    const hasMany = all.filter(isMcpTool).length > limits.mcpToolsAtOnce;
    const own = all.filter((tool) => !isMcpTool(tool));
    const [core, small] = [limits.toolsAtOnce, limits.toolsWithoutSearch].map((most) => coreOf(own, hasMany, most));
    const marked = all.map((tool): MindTool => {
      if (atHand.has(tool.name) || small?.has(tool) || (isMcpTool(tool) && !hasMany)) return tool;
      const waits = foundNames.has(tool.name) ? 'found' : 'unseen';
      return deferred(tool, core?.has(tool) ? { waits, roomy: true } : { waits });
    });
    const waiting = marked.filter(({ waits }) => waits);
    return waiting.length === 0 ? marked : [finderOf(waiting), ...marked];
  }

  return {
    offered,
    begin(all, words, asked) {
      const into = hasBegun ? foundNames : atHand;
      hasBegun = true;
      for (const { name } of all) if (asked.includes(name) || words.some((text) => names(text, name))) add(into, name);
    },
    called: (name) => add(foundNames, name),
    find(called, all, input) {
      const waiting = offered(all).filter(({ waits }) => waits);
      if (called !== FIND_TOOL || waiting.length === 0) return null;
      const query = typeof input === 'object' && input !== null && 'query' in input ? input.query : null;
      if (typeof query !== 'string' || query.trim() === '')
        return toolError(`${FIND_TOOL} could not be read. query: must be words.`);
      const fitting = searched(waiting, query);
      const best = fitting.slice(0, limits.toolsFound);
      if (best.length === 0) return toolError('No tool fits these words. Try others.');
      for (const { name } of best) add(foundNames, name);
      return toolDone(
        [
          'You can call these now:',
          ...best.map(({ name, description }) => `- ${name}: ${beginningOfText(description, 300)}`),
          ...(fitting.length > best.length
            ? [`${fitting.length - best.length} more fit these words less well. Use other words to find them.`]
            : []),
        ].join('\n'),
      );
    },
  };
}

/**
 * Tools of this run alone: their definitions for the mind, and how they run. Invalid input gives an
 * outcome that the mind reads.
 */
export interface OwnTools {
  readonly definitions: readonly MindTool[];
  /** If not null, the mind is offered these tools alone. Null or left out: these and the team's. */
  toldAlone?(): readonly MindTool[] | null;
  /** `answer`: the id of the answer in which the mind calls it. */
  run(name: string, input: unknown, signal: AbortSignal, answer: string): Promise<ToolOutcome> | ToolOutcome;
}

/** For a run that has only the team's tools. */
export const NO_TOOLS: OwnTools = { definitions: [], run: (name) => toolError(`There is no tool “${name}” here.`) };

/** The tools of one answer. */
interface Offered {
  readonly team: readonly TeamTool[];
  /** All tools of the run, with those that are deferred. */
  readonly table: readonly MindTool[];
  /** The tools of the next request. It grows when tools are found. */
  all(): readonly MindTool[];
  /**
   * The same, without tools that need no approval and that the person has switched off in the
   * meantime.
   */
  now(): Promise<readonly MindTool[]>;
}

/** What a turn begins with. */
export interface Begun {
  /** The texts of the turn. Tools that they name are available. */
  readonly words: readonly string[];
  /** Names of tools that are available with it. */
  readonly tools: readonly string[];
}

interface Toolbox {
  /** The definitions that precede its conversation. Empty before any tools were offered. */
  told(): readonly MindTool[];
  offered(caller: Caller, begun: Begun): Promise<Offered>;
  /** Never rejects. A failure is an outcome, which the mind reads. */
  run(name: string, input: unknown, caller: Caller, offered: Offered): Promise<ToolOutcome>;
  /**
   * The mind's provider runs one of these tools itself. Returns a function that reports its end.
   */
  begun(name: string, input: unknown, caller: Caller, offered: Offered): (outcome: ToolOutcome) => void;
}

interface ToolboxDeps {
  readonly context: Pick<RunContext, 'teamTools' | 'logger' | 'limits'>;
  readonly agentId: AgentId;
  readonly own: OwnTools;
  readonly untilResumed: Permits['untilResumed'];
}

/** Agents' own notes may call `recall` with any argument. The first text is its query. */
function queryIn(input: unknown): unknown {
  if (!isRecord(input) || 'query' in input) return input;
  return { query: Object.values(input).find((value) => typeof value === 'string') };
}

export const TOOLS_CUT = 'The answer was cut off before this call was made.';
/** Tools that the person allows or switches off as a whole. */
const SWITCHED: readonly (Toolset | null)[] = ['files', 'shell'];
const SWITCHED_OFF = 'It is switched off. The human can allow it under Settings, What agents may do: tell them.';
const TOOL_BROKEN = 'The relay had an error. The call may or may not have been carried out. The relay’s log says more.';

export function createToolbox({ context, agentId, own, untilResumed }: ToolboxDeps): Toolbox {
  const { teamTools, logger, limits } = context;
  const search = createToolSearch(limits);
  const alone = () => own.toldAlone?.() ?? null;
  let newest: Offered | null = null;
  return {
    told: () => describedTools(newest?.all() ?? [], false),
    async offered(caller, { words, tools }) {
      const only = alone();
      const team = only ? [] : await allowedTools(teamTools.all(), caller);
      const table = [...own.definitions, ...team.map(mindToolOf)];
      if (!only) search.begin(table, words, tools);
      const all = () => only ?? search.offered(table);
      newest = {
        team,
        table,
        all,
        async now() {
          const providers = team.filter(({ provider }) => provider);
          const left = new Set((await allowedTools(providers, caller)).map(({ name }) => name));
          return all().filter(({ provider, name }) => !provider || left.has(name));
        },
      };
      return newest;
    },
    begun: (name, input, caller, { team }) =>
      team.find((tool) => tool.provider && tool.name === name)?.begun?.(input, caller) ?? (() => undefined),
    async run(name, input, caller, { team, table, all }) {
      const { signal } = caller;
      if (!(await untilResumed(signal)) || signal.aborted) return toolError(TOOLS_CUT);
      try {
        const outcome = await runTeamTool(team, name, name === 'recall' ? queryIn(input) : input, caller);
        if (outcome) {
          // A mind may know the name from another source: from a list of names, or from before it
          // slept.
          search.called(name);
          return outcome;
        }
      } catch (error) {
        logger.error('A tool failed.', {
          agentId,
          tool: name,
          error,
        });
        return toolError(TOOL_BROKEN);
      }
      const tools = all();
      const matches = search.find(name, table, input);
      if (matches) return matches;
      if (own.definitions.some((tool) => tool.name === name)) {
        search.called(name);
        return await own.run(name, input, signal, caller.run);
      }
      const isOff = SWITCHED.includes(toolsetOf(name)) && teamTools.all().some((tool) => tool.name === name);
      return toolError(
        `There is no tool “${name}” here. ${isOff && !alone() ? `${SWITCHED_OFF} ` : ''}You have: ${describedTools(
          tools,
          false,
        )
          .map((tool) => tool.name)
          .join(', ')}.`,
      );
    },
  };
}
