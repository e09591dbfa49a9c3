import type { Asks } from '../../server/mcp/client/elicitation.ts';

/** For a call whose server is not to ask anybody. */
export const NOBODY: Asks = { agentId: 'a1', person: () => Promise.reject(new Error('Nobody is there.')) };
