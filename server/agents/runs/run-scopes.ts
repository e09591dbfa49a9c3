/**
 * What single runs may use and take. A run lives in one process, and so does its scope. The scope
 * holds for every way in which the run calls tools, also by MCP.
 */
import type { RunId } from '../../../src/shared/domain/ids.ts';
import type { RunScope, RunScopes, TeamTool } from '../../contracts/index.ts';

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
