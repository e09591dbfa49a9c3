/** The gate's calls: settings, what was decided, and how much of its limits an agent has used. */
import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import type { AgentId } from '../../src/domain/ids.ts';
import type { AgentConfigAnswer, HouseholdConfigAnswer } from '../../src/protocol/config.ts';
import { createQueue } from '../../src/domain/platform/queue.ts';
import { wakeEndpoints } from '../../src/protocol/endpoints/wakes.ts';
import { answerConfig } from '../config-text.ts';
import type { Configs, Directory, Gate, Pulses } from '../contracts.ts';
import { agentIdIn } from '../directory/index.ts';
import { answer, type Handled } from '../endpoint.ts';
import { problem } from '../problem.ts';

export interface GateRoutesDeps {
  readonly gate: Pick<Gate, 'stats' | 'feed'>;
  readonly configs: Configs;
  readonly directory: Pick<Directory, 'all'>;
  /** Its default routine, as its settings say it. `set` writes the whole configuration. Throws a problem where it does not fit. */
  readonly pulses: Pulses;
}

const versionOf = (own: object) => createHash('sha256').update(JSON.stringify(own)).digest('base64url').slice(0, 22);

/** Throws a problem where what is set is not what `version` names; left out, whatever is set gives way. */
function expectVersion(version: string | undefined, { own }: { readonly own: object }): void {
  if (version !== undefined && version !== versionOf(own))
    throw problem(409, 'set-meanwhile', 'Something else was set since you read this. Read it again, then set it.');
}

export function createGateRoutes({ gate, configs, directory, pulses }: GateRoutesDeps): readonly Handled[] {
  /** Between the look at what is set and the change, nothing else is set by a page. */
  const inTurn = createQueue();
  const agentOf = (called: string) => agentIdIn(directory, called);
  async function agentConfig(context: Context, agentId: AgentId): Promise<Response> {
    const { own, effective } = await configs.agent(agentId);
    const holds = { coordination: effective.coordination, ...(await pulses.of(agentId)) };
    const json: AgentConfigAnswer = { ...holds, own, effective, version: versionOf(own) };
    return answerConfig(context, { title: 'What holds for this agent.', holds, own, json });
  }
  async function householdConfig(context: Context): Promise<Response> {
    const { own, effective } = await configs.household();
    const json: HouseholdConfigAnswer = { ...effective, own, effective, version: versionOf(own) };
    return answerConfig(context, { title: 'What holds for the household.', holds: effective, own, json });
  }

  return answer(wakeEndpoints, {
    wakes: async ({ before, limit, agent }) => await gate.feed({ before, limit, agentId: agent }),
    wakeStats: async ({ agentId }) => await gate.stats(await agentOf(agentId)),
    agentConfig: async ({ agentId }, context) => await agentConfig(context, await agentOf(agentId)),
    async putAgentConfig({ agentId: called, body }, context) {
      const agentId = await agentOf(called);
      await inTurn(async () => {
        expectVersion(body.version, await configs.agent(agentId));
        await pulses.set(agentId, body);
      });
      return await agentConfig(context, agentId);
    },
    householdConfig: (_, context) => householdConfig(context),
    async putHouseholdConfig({ body }, context) {
      await inTurn(async () => {
        expectVersion(body.version, await configs.household());
        await configs.setHousehold(body.config);
      });
      return await householdConfig(context);
    },
  });
}
