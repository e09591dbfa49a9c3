/**
 * The relay as an MCP server: a client with a credential takes the seat of its agent.
 *
 * `server.ts` offers the team's tools and the agent's own resources, `sessions.ts` serves clients
 * of the protocol up to 2025-11-25, and `bearer.ts` identifies the caller.
 *
 * Main type: `Mcp`.
 *
 * Invariants:
 * - One credential is one agent. A server instance stores nothing about its caller.
 * - A revoked credential ends its sessions at once.
 * - A client has as many concurrent calls and sessions as `settings.ts` allows.
 *
 * It does not know how a tool works, or what an agent says elsewhere.
 */
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import { mcpEndpoints } from '../../../src/shared/protocol/endpoints/mcp.ts';
import { answer, type Handled, refuseHead } from '../../http/endpoint.ts';
import type { McpDeps } from './types.ts';

export { MCP_SETTINGS, type McpSettings } from './settings.ts';

export interface Mcp {
  readonly endpoints: readonly Handled[];
  /** Ends every stream and session. Called after the relay's own session has ended. */
  close(): Promise<void>;
}

export function createMcp(deps: McpDeps): Mcp {
  let isOpened = false;
  // The protocol is loaded at the first request. Most relays serve no client of it.
  const opened = keepLoaded(async () => (await import('./mcp.ts')).openMcp(deps));
  const open = () => {
    isOpened = true;
    return opened.get();
  };
  return {
    endpoints: answer(mcpEndpoints, {
      mcpPost: async (_, context) => (await open()).post(context),
      async mcpGet(_, context) {
        refuseHead(context, 'POST, GET, DELETE');
        return (await open()).inSession(context);
      },
      mcpDelete: async (_, context) => (await open()).inSession(context),
    }),
    async close() {
      if (isOpened) await (await opened.get()).close();
    },
  };
}
