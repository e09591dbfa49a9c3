/**
 * The toolbox of one agent at work: the tools of its run, and the team's tools that it may use at
 * the moment.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../contracts/index.ts';
import { toolError } from '../../contracts/define-tool.ts';
import { toldTools, type MindTool } from '../minds/index.ts';
import type { RunContext } from './context.ts';
import type { Permits } from './permits.ts';
import { allowedTools, runTeamTool, mindToolOf } from './team-tools.ts';
import { createToolSearch } from './tool-search.ts';

/**
 * Tools of this run alone: their definitions for the mind, and how they run. Invalid input gives an
 * outcome that the mind reads.
 */
export interface OwnTools {
  readonly definitions: readonly MindTool[];
  /** If not null, the mind is offered these tools alone. Null or left out: these and the team's. */
  toldAlone?(): readonly MindTool[] | null;
  run(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutcome> | ToolOutcome;
}

/** For a run that has only the team's tools. */
export const NO_TOOLS: OwnTools = { definitions: [], run: (name) => toolError(`There is no tool “${name}” here.`) };

/** The tools of one answer. */
interface Offered {
  readonly team: readonly TeamTool[];
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

export interface Toolbox {
  /** The definitions that always precede its conversation, for every agent. */
  told(): readonly MindTool[];
  offered(caller: Caller, begun: Begun): Promise<Offered>;
  /** Never rejects. A failure is an outcome, which the mind reads. */
  run(name: string, input: unknown, caller: Caller, offered: Offered): Promise<ToolOutcome>;
  /**
   * The mind's provider runs one of these tools itself. Returns a function that reports its end.
   */
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
  const tableOf = (team: readonly TeamTool[]) => [...own.definitions, ...team.map(mindToolOf)];
  return {
    told: () => toldTools(alone() ?? search.offered(tableOf(teamTools.all())), false),
    async offered(caller, { words, tools }) {
      const only = alone();
      const team = only ? [] : await allowedTools(teamTools.all(), caller);
      const table = tableOf(team);
      if (!only) search.begin(table, words, tools);
      const all = () => only ?? search.offered(table);
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
        if (outcome) {
          // A mind may know the name from another source: from a list of names, or from before it
          // slept.
          search.called(name);
          return outcome;
        }
      } catch (error) {
        logger.error('a tool failed', {
          agentId,
          tool: name,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        });
        return toolError(TOOL_BROKEN);
      }
      const known = all();
      const found = search.find(name, tableOf(team), input);
      if (found) return found;
      if (own.definitions.some((tool) => tool.name === name)) {
        search.called(name);
        return await own.run(name, input, signal);
      }
      return toolError(
        `There is no tool “${name}” here. You have: ${toldTools(known, false)
          .map((tool) => tool.name)
          .join(', ')}.`,
      );
    },
  };
}
