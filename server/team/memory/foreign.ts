/**
 * Which tools have shown an agent text of others: pages, files, MCP servers, other agents. What the
 * agent notes afterwards names them as its source, and it does not change its soul in the same
 * answer.
 */
import type { Caller, TeamTool } from '../../contracts/index.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';

/** Tools of the team by which an agent reads what others wrote. */
const READING = new Set([
  'read_inbox',
  'read_thread',
  'wait_for_message',
  'wait_for_mention',
  'read_file',
  'search_files',
  'view_image',
  'run_command',
  'read_output',
  'get_task_context',
  'read_skill',
  'spawn_executor',
  'execute_task',
]);
const FOREIGN_SETS = new Set(['web', 'attached', 'mind']);

/** Whether results of this tool have text that somebody else wrote. */
function showsForeign(tool: string): boolean {
  const set = toolsetOf(tool);
  return READING.has(tool) || (set !== null && FOREIGN_SETS.has(set));
}

/** Sessions and runs that are remembered. The oldest are dropped. */
const MOST_PLACES = 500;

export interface ForeignReads {
  /** Tools that record what they have shown. */
  watch(tools: readonly TeamTool[]): readonly TeamTool[];
  /** Tools that have shown this caller text of others in its session or run, in order. */
  seenBy(caller: Pick<Caller, 'agentId' | 'sessionId' | 'runId' | 'run'>): readonly string[];
  /** The same in this one answer. */
  inAnswer(run: string): readonly string[];
}

export function createForeignReads(): ForeignReads {
  const seen = new Map<string, Set<string>>();
  const watched = new WeakMap<TeamTool, TeamTool>();

  function add(place: string, tool: string): void {
    const tools = seen.get(place) ?? new Set();
    seen.delete(place);
    seen.set(place, tools.add(tool));
    for (const oldest of seen.keys()) {
      if (seen.size <= MOST_PLACES) return;
      seen.delete(oldest);
    }
  }
  /** The conversation in which the agent has what it read before it. */
  const placeOf = ({ agentId, sessionId, runId, run }: Parameters<ForeignReads['seenBy']>[0]): string =>
    `${agentId} ${runId ?? sessionId ?? run}`;

  function watch(tool: TeamTool): TeamTool {
    if (!showsForeign(tool.name)) return tool;
    const before = watched.get(tool);
    if (before) return before;
    const { begun } = tool;
    const note = (caller: Caller) => {
      add(placeOf(caller), tool.name);
      add(caller.run, tool.name);
    };
    const made: TeamTool = {
      ...tool,
      ...(begun
        ? {
            begun(input, caller) {
              note(caller);
              return begun.call(tool, input, caller);
            },
          }
        : {}),
      async run(input, caller) {
        const outcome = await tool.run(input, caller);
        if (!outcome.asks) note(caller);
        return outcome;
      },
    };
    watched.set(tool, made);
    return made;
  }

  return {
    watch: (tools) => tools.map(watch),
    seenBy: (caller) => [...(seen.get(placeOf(caller)) ?? [])],
    inAnswer: (run) => [...(seen.get(run) ?? [])],
  };
}
