/**
 * What single runs may use and take. A run lives in one process, and so does its scope. The scope
 * holds for every way in which the run calls tools, also by MCP.
 */
import type { RunId } from '../../../src/shared/domain/ids.ts';
import type { TeamTool } from '../../tools/index.ts';
import type { Caller } from '../../tools/index.ts';
import type { AgentId, ProjectId } from '../../../src/shared/domain/ids.ts';

/** What a run may use and take, as its routine limits it. */
export interface RunScope {
  readonly agentId: AgentId;
  /** Model of the executors that the run starts. Null: the routine sets none. */
  readonly executorModel: string | null;
  /** Names of tools. Null: all that the agent may use. */
  readonly tools: ReadonlySet<string> | null;
  /**
   * By project: the columns from which the run takes tasks. It takes none of other projects. Null:
   * it takes any task that is ready.
   */
  readonly columns: ReadonlyMap<ProjectId, readonly string[]> | null;
  /** Called after each claim of a task. `why`: its work could not begin, as a sentence. */
  readonly onClaim?: (why: string | null) => void;
}

export interface RunScopes {
  /** The scope holds until the returned function is called. */
  enter(runId: RunId, scope: RunScope): () => void;
  /** Null: the run has none, or a client calls. */
  of(caller: Pick<Caller, 'runId'>): RunScope | null;
  /** The model that the agent’s run sets for executors. Null: it sets none, or there is no run. */
  executorModelOf(agentId: AgentId): string | null;
  /** The tools, each refused to runs whose scope does not name it. */
  guard(tools: readonly TeamTool[]): readonly TeamTool[];
}

export function createRunScopes(): RunScopes {
  const scopes = new Map<RunId, RunScope>();
  const guarded = new WeakMap<TeamTool, TeamTool>();
  const of: RunScopes['of'] = ({ runId }) => (runId === undefined ? null : (scopes.get(runId) ?? null));

  function guard(tool: TeamTool): TeamTool {
    const before = guarded.get(tool);
    if (before) return before;
    const made: TeamTool = {
      ...tool,
      async allowed(caller) {
        if (of(caller)?.tools?.has(tool.name) === false) return false;
        return (await tool.allowed?.(caller)) ?? true;
      },
    };
    guarded.set(tool, made);
    return made;
  }

  return {
    enter(runId, scope) {
      scopes.set(runId, scope);
      return () => void scopes.delete(runId);
    },
    of,
    // An agent does one thing at a time. Executors have runs of their own, without a scope.
    executorModelOf: (agentId) =>
      [...scopes.values()].find((scope) => scope.agentId === agentId)?.executorModel ?? null,
    guard: (tools) => tools.map(guard),
  };
}
