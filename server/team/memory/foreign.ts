/**
 * By which ways an agent was shown text of others in its session or run: pages, files, MCP servers,
 * other agents, attachments, what strangers sent. What the agent notes afterwards names them as its
 * source. From then on the person is asked before its soul or its name changes.
 *
 * A way is the name of a tool, or one of `WAYS`.
 */
import type { TeamTool } from '../../tools/index.ts';
import { toolsetOf } from '../../../src/shared/domain/toolsets.ts';
import type { Caller } from '../../tools/index.ts';

/** Ways that are no tools, by which an agent is shown text of others. */
export const WAYS = {
  /** A message that was not the person's own was put before the agent. */
  message: 'a message',
  /** The person attached a file or a picture. */
  attachment: 'an attachment',
  /** The conversation that the agent woke to has words of others. */
  conversation: 'an earlier conversation',
} as const;

/** The session, or the run, in which an agent reads. */
export type Reader = Pick<Caller, 'agentId' | 'sessionId' | 'runId' | 'run'>;

export interface NoteForeign {
  /** The reader was shown text of others in this way: by this tool, or by one of `WAYS`. */
  note(reader: Reader, way: string): void;
}

/** Tools of the team whose every result may have what others wrote. */
const READING = new Set([
  'read_thread',
  'wait_for_message',
  'wait_for_mention',
  'read_file',
  'search_files',
  'view_image',
  'run_command',
  'read_output',
  'get_task_context',
  'get_my_projects',
  'get_ready_tasks',
  'claim_task',
  'list_threads',
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

export interface ForeignReads extends NoteForeign {
  /** Tools that record what they have shown. */
  watch(tools: readonly TeamTool[]): readonly TeamTool[];
  /** The ways by which it was, in order. */
  seenBy(reader: Reader): readonly string[];
}

export function createForeignReads(): ForeignReads {
  const seen = new Map<string, Set<string>>();
  const watched = new WeakMap<TeamTool, TeamTool>();

  /** The conversation in which the agent has what it read before it. */
  const placeOf = ({ agentId, sessionId, runId, run }: Reader): string => `${agentId} ${runId ?? sessionId ?? run}`;
  function note(reader: Reader, way: string): void {
    const place = placeOf(reader);
    const ways = seen.get(place) ?? new Set();
    seen.delete(place);
    seen.set(place, ways.add(way));
    for (const oldest of seen.keys()) {
      if (seen.size <= MOST_PLACES) return;
      seen.delete(oldest);
    }
  }

  function watch(tool: TeamTool): TeamTool {
    const before = watched.get(tool);
    if (before) return before;
    const { begun, name } = tool;
    const isForeign = showsForeign(name);
    const made: TeamTool = {
      ...tool,
      ...(begun
        ? {
            begun(input, caller) {
              if (isForeign) note(caller, name);
              return begun.call(tool, input, caller);
            },
          }
        : {}),
      async run(input, caller) {
        const outcome = await tool.run(input, caller);
        if ((isForeign && !outcome.asks) || outcome.isOfOthers) note(caller, name);
        return outcome;
      },
    };
    watched.set(tool, made);
    return made;
  }

  return {
    watch: (tools) => tools.map(watch),
    note,
    seenBy: (reader) => [...(seen.get(placeOf(reader)) ?? [])],
  };
}
