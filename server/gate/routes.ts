/** The gate's calls: settings, what was decided, and how much of its limits an agent has used. */
import type { Context } from 'hono';
import {
  setAgentConfigSchema,
  setHouseholdConfigSchema,
  type AgentConfigAnswer,
  type HouseholdConfigAnswer,
} from '../../src/protocol/config.ts';
import { WAKE_PAGE } from '../../src/protocol/wakes.ts';
import type { Configs, Directory, Gate } from '../contracts.ts';
import { findMember } from '../directory/index.ts';
import { problem } from '../problem.ts';
import { idOf, numberOf, optionalIdOf, type Routes } from '../route.ts';
import { answerConfig, readConfig } from './config-text.ts';

export interface GateRoutesDeps {
  readonly gate: Pick<Gate, 'stats' | 'feed'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
}

export function createGateRoutes({ gate, configs, directory }: GateRoutesDeps): Routes {
  /** By id, name or seat. Throws a 404 where it is nobody's, or that of several. */
  async function agentOf(context: Context): Promise<string> {
    const called = idOf(context);
    const members = await directory.all();
    // Also of one who is retired: its settings can be looked at.
    if (members.some(({ agentId }) => agentId === called)) return called;
    const found = findMember(members, called);
    if (!found.ok) throw problem(404, 'unknown-agent', found.reason);
    return found.agent.agentId;
  }
  async function agentConfig(context: Context, agentId: string): Promise<Response> {
    const { own, effective } = await configs.agent(agentId);
    const holds = { coordination: effective.coordination };
    const json: AgentConfigAnswer = { ...holds, own, effective };
    return answerConfig(context, { title: 'What holds for this agent.', holds, own, json });
  }
  async function householdConfig(context: Context): Promise<Response> {
    const { own, effective } = await configs.household();
    const json: HouseholdConfigAnswer = { ...effective, own, effective };
    return answerConfig(context, { title: 'What holds for the household.', holds: effective, own, json });
  }

  return (route) => {
    route('/api/wakes', {
      GET: async (context) =>
        context.json(
          await gate.feed({
            before: optionalIdOf(context, 'before'),
            limit: numberOf(context, 'limit', WAKE_PAGE),
            agentId: optionalIdOf(context, 'agent'),
          }),
        ),
    });
    route('/v1/agents/:id/wake-stats', {
      async GET(context) {
        const stats = await gate.stats(await agentOf(context));
        context.header('cache-control', 'no-store');
        return context.json(stats);
      },
    });
    route('/v1/agents/:id/config', {
      GET: async (context) => agentConfig(context, await agentOf(context)),
      async PUT(context) {
        const agentId = await agentOf(context);
        await configs.setAgent(agentId, await readConfig(context, setAgentConfigSchema));
        return await agentConfig(context, agentId);
      },
    });
    route('/v1/config', {
      GET: householdConfig,
      async PUT(context) {
        await configs.setHousehold(await readConfig(context, setHouseholdConfigSchema));
        return await householdConfig(context);
      },
    });
  };
}
