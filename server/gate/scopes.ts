/** Whose a row of the table of settings is. */
import { z } from 'zod';
import type { AgentId } from '../../src/domain/ids.ts';

export const HOUSEHOLD_SCOPE = 'household';
export const PRICES_SCOPE = 'prices';
const AGENT = 'agent ';

export const scopeOf = (agentId: AgentId): string => `${AGENT}${JSON.stringify(agentId)}`;
/** The agent whose scope this is. */
export const agentOfScope = (scope: string): string => z.string().parse(JSON.parse(scope.slice(AGENT.length)));
