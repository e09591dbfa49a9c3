/** The tools of one agent at work: those of this run, and of the team's those that it may use just now. */
import { beginningOfText } from '../../src/domain/cut-middle.ts';
import type { AgentId } from '../../src/domain/ids.ts';
import { ATTACHED_PREFIX } from '../../src/domain/toolsets.ts';
import type { Caller, TeamTool, ToolOutcome } from '../contracts.ts';
import { toolError, toolDone } from '../define-tool.ts';
import type { MindTool } from '../minds/index.ts';
import type { RunContext } from './context.ts';
import type { Permits } from './permits.ts';
import type { RunLimits } from './settings.ts';
import { allowedTools, runTeamTool, mindToolOf } from './team-tools.ts';

/*
 * Where attached servers offer more tools than a mind is told of at once: they wait, and it looks for them by words. What it
 * has found it is told of from its next request on. A model that has a search of its own for tools that wait uses that.
 */

const FIND_TOOL = 'find_tool';

/** Of a search of one run: what it has found stays found. */
interface ToolSearch {
  /** What a mind is told of these: all, or, with the search, those of the team and what waits for it. */
  shown(team: readonly TeamTool[]): readonly MindTool[];
  /** Never rejects. */
  find(team: readonly TeamTool[], input: unknown): ToolOutcome;
}

const isAttached = ({ name }: TeamTool) => name.startsWith(ATTACHED_PREFIX);
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** A word in a tool's name tells more of it than one in its description. */
const NAME_COUNTS = 3;

interface Words {
  readonly tool: TeamTool;
  readonly name: readonly string[];
  readonly rest: ReadonlySet<string>;
}

function wordsOfTool(tool: TeamTool): Words {
  const { name, description, properties } = mindToolOf(tool);
  return {
    tool,
    name: wordsOf(name.slice(ATTACHED_PREFIX.length).replaceAll('_', ' ')),
    rest: new Set(wordsOf(`${description} ${Object.keys(properties).join(' ')}`)),
  };
}

/** Those with these words, the best first: a word that few of them have counts for more, one that all have for nothing. */
function searched(tools: readonly TeamTool[], query: string): TeamTool[] {
  const all = tools.map(wordsOfTool);
  const score = new Map(tools.map((tool) => [tool, 0]));
  for (const word of new Set(wordsOf(query))) {
    const isNamed = ({ name }: Words) =>
      name.some((each) => each === word || (word.length > 3 && each.startsWith(word)));
    const hits = all.filter((each) => isNamed(each) || each.rest.has(word));
    const rare = Math.log(all.length / hits.length);
    for (const hit of hits) score.set(hit.tool, (score.get(hit.tool) ?? 0) + rare * (isNamed(hit) ? NAME_COUNTS : 1));
  }
  return [...score]
    .filter(([, sum]) => sum > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([tool]) => tool);
}

function createToolSearch({ toolsAtOnce, toolsFound }: Pick<RunLimits, 'toolsAtOnce' | 'toolsFound'>): ToolSearch {
  const found = new Set<string>();

  const finder = (waiting: number): MindTool => ({
    name: FIND_TOOL,
    description: `Looks for tools of the tool servers that the human has connected: there are ${waiting}, too many to be put before you at once. Say in a few words what you want to do. You can call what it finds from your next turn on.`,
    properties: { query: { type: 'string', description: 'what it should do, or its name', maxLength: 200 } },
    required: ['query'],
    finds: true,
  });

  return {
    shown(team) {
      const attached = team.filter(isAttached);
      if (attached.length <= toolsAtOnce) return team.map(mindToolOf);
      return [
        finder(attached.length),
        ...team.map((tool) =>
          isAttached(tool)
            ? ({ ...mindToolOf(tool), waits: found.has(tool.name) ? 'found' : 'unseen' } satisfies MindTool)
            : mindToolOf(tool),
        ),
      ];
    },
    find(team, input) {
      const query = typeof input === 'object' && input !== null && 'query' in input ? input.query : null;
      if (typeof query !== 'string' || query.trim() === '')
        return toolError(`${FIND_TOOL} could not be read. query: must be words.`);
      const fitting = searched(team.filter(isAttached), query);
      const best = fitting.slice(0, toolsFound);
      if (best.length === 0) return toolError('No tool of a tool server fits these words. Try others.');
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

/** Tools of this run alone: what its mind is told of them, and how they are run. What does not fit is an outcome, which the mind reads. */
export interface OwnTools {
  readonly definitions: readonly MindTool[];
  /** All that the mind is told of for now. Null, and left out: these and the team's. */
  toldAlone?(): readonly MindTool[] | null;
  run(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutcome> | ToolOutcome;
}

/** Of a run that has none but the team’s. */
export const NO_TOOLS: OwnTools = { definitions: [], run: (name) => toolError(`There is no tool “${name}” here.`) };

/** What it is offered for one answer. */
interface Offered {
  readonly team: readonly TeamTool[];
  /** What the next request tells of: more, once something was found. */
  all(): readonly MindTool[];
  /** The same, without what the person has switched off meanwhile of that which is not asked for call by call. */
  now(): Promise<readonly MindTool[]>;
}

export interface Toolbox {
  /** What stands before its conversation in any case, whoever may use it. */
  told(): readonly MindTool[];
  offered(caller: Caller): Promise<Offered>;
  /** Never rejects: what goes wrong is an outcome, which the mind reads. */
  run(name: string, input: unknown, caller: Caller, offered: Offered): Promise<ToolOutcome>;
  /** The provider of its mind carries out one of these by itself. Returns the way to tell its end. */
  begun(name: string, input: unknown, caller: Caller, offered: Offered): (outcome: ToolOutcome) => void;
}

export interface ToolboxDeps {
  readonly context: Pick<RunContext, 'teamTools' | 'logger' | 'limits'>;
  readonly agentId: AgentId;
  readonly own: OwnTools;
  readonly untilResumed: Permits['untilResumed'];
}

export const TOOLS_CUT = 'The answer was cut off before this call was made.';
const TOOL_BROKEN =
  'Something in the relay broke; the call may have been carried out or not. The relay’s log says more.';

export function createToolbox({ context, agentId, own, untilResumed }: ToolboxDeps): Toolbox {
  const { teamTools, logger, limits } = context;
  const search = createToolSearch(limits);
  const alone = () => own.toldAlone?.() ?? null;
  return {
    told: () =>
      (alone() ?? [...own.definitions, ...search.shown(teamTools.all())]).filter(({ waits }) => waits !== 'unseen'),
    async offered(caller) {
      const only = alone();
      const team = only ? [] : await allowedTools(teamTools.all(), caller);
      const all = () => only ?? [...own.definitions, ...search.shown(team)];
      return {
        team,
        all,
        async now() {
          const providers = team.filter(({ provider }) => provider);
          const left = new Set((await allowedTools(providers, caller)).map(({ name }) => name));
          return all().filter(({ provider, name }) => !provider || left.has(name));
        },
      };
    },
    begun: (name, input, caller, { team }) =>
      team.find((tool) => tool.provider && tool.name === name)?.begun?.(input, caller) ?? (() => undefined),
    async run(name, input, caller, { team, all }) {
      const { signal } = caller;
      if (!(await untilResumed(signal)) || signal.aborted) return toolError(TOOLS_CUT);
      try {
        const outcome = await runTeamTool(team, name, input, caller);
        if (outcome) return outcome;
      } catch (error) {
        logger.error('a tool failed', {
          agentId,
          tool: name,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
        return toolError(TOOL_BROKEN);
      }
      const known = all();
      if (name === FIND_TOOL && known.some(({ finds }) => finds)) return search.find(team, input);
      if (own.definitions.some((tool) => tool.name === name)) return await own.run(name, input, signal);
      return toolError(
        `There is no tool “${name}” here. You have: ${known
          .filter(({ waits }) => waits !== 'unseen')
          .map((tool) => tool.name)
          .join(', ')}.`,
      );
    },
  };
}
