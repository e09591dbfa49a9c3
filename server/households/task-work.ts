/** Work on tasks in checkouts: repositories, attempts, executors, and what they may use. */
import { join } from 'node:path';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { DEFAULT_SETTINGS } from '../../src/shared/domain/settings.ts';
import { dayOf } from '../../src/shared/domain/zone-days.ts';
import { messageEvent } from '../agents/runs/message-event.ts';
import type { Approvals } from '../approvals/requests/index.ts';
import { commandReach, type Hands, type HandTools } from '../execution/hands/index.ts';
import { createGuardedFetch } from '../platform/guarded-fetch.ts';
import {
  createCheckouts,
  createRepositories,
  createTokens,
  type RepositoriesDeps,
} from '../projects/checkouts/index.ts';
import { createExecutors } from '../projects/work/executor.ts';
import { createForges } from '../projects/work/forge.ts';
import { createTaskWork } from '../projects/work/index.ts';
import { createWorkLimits } from '../projects/work/limits.ts';
import { createMeans } from '../projects/work/means.ts';
import { createMeter } from '../projects/work/meter.ts';
import { createTaskWorkTools } from '../projects/work/tools.ts';
import type { WorkStatus } from '../schedules/obstacles.ts';
import type { TeamAgents } from './team-agents.ts';
import type { TeamBase } from './team-base.ts';
import type { TeamPlans } from './team-plans.ts';

export type TaskWork = ReturnType<typeof openTaskWork>;

type RelayRepositories = Pick<RepositoriesDeps, 'folder' | 'hidden' | 'rights' | 'lane'>;

export function openTaskWork(
  { base, agents, plans, approvals }: { base: TeamBase; agents: TeamAgents; plans: TeamPlans; approvals: Approvals },
  { hands, handTools, repositoriesOf }: { hands: Hands; handTools: HandTools; repositoriesOf: RelayRepositories },
) {
  const { deps, saying, inbox, directory, configs, costs, metering, tools, scopes, snapshots, attempts } = base;
  const { db, home, log, mind, now, newId, logger, alone, sealer } = deps;
  const { host, runs } = agents;
  const { projects, granted } = plans;
  const tokens = createTokens({ db, home, sealer });
  const forgeFetch = createGuardedFetch(repositoriesOf.rights.servers);
  const repositories = createRepositories({
    ...repositoriesOf,
    tokenOf: async (projectId) => (await tokens.of(projectId))?.token ?? null,
    headsOf: (projectId) => attempts.headsOf(projectId),
  });
  const checkouts = createCheckouts({
    ...{ ...hands, newId, scratch: join(repositoriesOf.folder, 'scratch') },
    reachOf: (agentId) => commandReach({ ...hands, configs: granted }, agentId),
  });
  const workLimits = createWorkLimits({
    attempts,
    today: async () => dayOf((await configs.household()).effective.time_zone, now()),
  });
  async function tellPerson(agentId: AgentId, text: string): Promise<void> {
    const sessionId = host.sessionId() ?? log.snapshot().lastEnd?.sessionId ?? null;
    // Before the first session there is no conversation. The history of the task says it too.
    if (sessionId !== null)
      await log.append([messageEvent({ time: now(), messageId: newId(), sessionId, agentId, author: 'relay', text })]);
  }
  const means = createMeans({ tools, configs: granted, checkouts });
  const work = createTaskWork({
    ...{ means, projects, attempts, checkouts, repositories, tokens, directory, alone, now, logger, tellPerson },
    limits: workLimits,
    forges: createForges({ fetch: forgeFetch.fetch }),
    workspaces: hands.workspaces,
    approvals,
    onTurn: (attemptId) => metering.meter?.turned(attemptId),
    endCommandsOf: (agentId) => handTools.endCommandsOf(agentId),
    async tellAgent(agentId, text) {
      const message = { messageId: newId(), to: agentId, from: 'human', text, time: now(), threadId: null } as const;
      await inbox.put({ ...message, priority: 'normal' }, agentId);
    },
  });
  const meter = createMeter({
    ...{ attempts, projects, log },
    limits: workLimits,
    stop: work.stop,
    onError: saying('What a request used could not be counted to its attempt.'),
  });
  metering.meter = meter;
  /** The routine's of the agent's run, the agent's, or the household's. Null: none is set. */
  async function executorModelOf(agentId: AgentId): Promise<string | null> {
    const [{ own }, household] = await Promise.all([configs.agent(agentId), configs.household()]);
    return scopes.executorModelOf(agentId) ?? own.executor_model ?? household.own.executor_model ?? null;
  }
  const executors = createExecutors({
    ...{ projects, attempts, work, means, checkouts, runs, tools, now, tellPerson },
    endCommandsOf: (agentId, executor) => handTools.endCommandsOf(agentId, executor),
    limits: workLimits,
    async mindOf(agentId, role) {
      const answers = mind.current?.() ?? mind;
      const snapshot = await snapshots.of(agentId);
      return {
        answers,
        model:
          (role === 'executor' ? await executorModelOf(agentId) : null) ??
          host.modelOf(agentId) ??
          answers.models({ lead: '', agent: snapshot?.model ?? '' }).agentModel,
        maxAnswerTokens: snapshot?.maxAnswerTokens ?? DEFAULT_SETTINGS.maxAnswerTokens,
        contextTokens: snapshot?.contextTokens ?? DEFAULT_SETTINGS.contextTokens,
      };
    },
    onError: saying('A second mind could not look at a task in review.'),
    usedUp: async (agentId) => (await costs.usedUp(agentId))?.message ?? null,
  });
  const status: WorkStatus = { ...workLimits, lacking: means.lacking, runsOf: attempts.runsOf };
  return {
    ...{ work, executors, tokens, status, now },
    tools: createTaskWorkTools({ projects, work, repositories, executors }),
    close(): Promise<void> {
      meter.close();
      return forgeFetch.close();
    },
  };
}
