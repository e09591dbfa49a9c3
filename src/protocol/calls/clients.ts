/** Calls of credentials, the MCP server and the model proxy. */
import type { Call } from './call.ts';

export const CLIENT_CALLS: readonly Call[] = [];
