/** The tools of one agent in a session: its own, and of the team's those that it may use just now. */
import type { Caller, TeamTool, ToolOutcome } from '../contracts.ts';
import type { MindTool } from '../minds/index.ts';
import { toolError } from '../tool-outcome.ts';
import type { SessionContext } from './context.ts';
import type { Permits } from './permits.ts';
import { allowedTools, mindToolOf, runTeamTool } from './team-tools.ts';
import { readToolCall, type ToolCall } from './tools.ts';

/** What it is offered for one answer. */
export interface Offered {
  readonly team: readonly TeamTool[];
  readonly all: readonly MindTool[];
}

export interface Toolbox {
  offered(caller: Caller): Promise<Offered>;
  /** Never rejects: what goes wrong is an outcome, which the mind reads. */
  run(name: string, input: unknown, caller: Caller, offered: Offered): Promise<ToolOutcome>;
}

export interface ToolboxDeps {
  readonly context: Pick<SessionContext, 'teamTools' | 'logger' | 'prompts'>;
  readonly agentId: string;
  readonly own: readonly MindTool[];
  readonly runOwn: (call: ToolCall, signal: AbortSignal) => Promise<ToolOutcome> | ToolOutcome;
  readonly untilAwake: Permits['untilAwake'];
}

export const TOOLS_CUT = 'The answer was cut off before this call was made.';
const TOOL_BROKEN =
  'Something in the relay broke; the call may have been carried out or not. The relay’s log says more.';

export function createToolbox({ context, agentId, own, runOwn, untilAwake }: ToolboxDeps): Toolbox {
  const { teamTools, logger, prompts } = context;
  return {
    async offered(caller) {
      const team = await allowedTools(teamTools, caller);
      return { team, all: [...own, ...team.map(mindToolOf)] };
    },
    async run(name, input, caller, { team, all }) {
      const { signal } = caller;
      if ((await untilAwake(signal)) === 'ended' || signal.aborted) return toolError(TOOLS_CUT);
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
      const read = readToolCall(all, own, name, input, prompts.human);
      return read.ok ? await runOwn(read.call, signal) : toolError(read.reason);
    },
  };
}
