/** The tools that every agent of a household has, besides those of a session. */
import { createWakeTools, createToHuman } from '../agents/wakes/index.ts';
import type { Approvals } from '../approvals/requests/index.ts';
import type { HandTools } from '../execution/hands/index.ts';
import { createProviderTools } from '../execution/web/index.ts';
import { createProjectTools } from '../projects/board/index.ts';
import { createScheduleTools } from '../schedules/tools.ts';
import { createMemoryTools } from '../team/memory/tools.ts';
import { createSearchTool, type Searches } from '../team/searches/index.ts';
import { createThreadTools } from '../team/threads/index.ts';
import type { TeamTool } from '../tools/index.ts';
import type { TaskWork } from './task-work.ts';
import type { TeamAgents } from './team-agents.ts';
import type { TeamBase } from './team-base.ts';
import type { TeamPlans } from './team-plans.ts';

const NOT_NOTED = 'It could not be noted on which task an agent works.';

/** Every tool of the relay's own is watched, limited to its run's scope, and asks first. */
export function offerTeamTools({
  base,
  agents,
  plans,
  approvals,
  handTools,
  taskWork,
  searches,
}: {
  base: TeamBase;
  agents: TeamAgents;
  plans: TeamPlans;
  approvals: Approvals;
  handTools: HandTools | null;
  taskWork: TaskWork | null;
  searches: Searches;
}): void {
  const { deps, saying, tell, inbox, directory, configs, gate, pauses, foreign, tools, scopes, snapshots } = base;
  const { hands, mcpServers, now, log, newId } = deps;
  const { host, wakes, wakePayloads } = agents;
  const { threads, projects, comments, schedules, scriptTools } = plans;
  const work = taskWork?.work ?? null;
  const offer = (own: readonly TeamTool[]) => tools.offer(foreign.watch(scopes.guard(approvals.guard(own))));
  /** A tool that notes in whose checkout its agent works. */
  const noted = (tool: TeamTool): TeamTool => ({
    ...tool,
    async run(input, caller) {
      // An executor sees one checkout alone.
      if (caller.folder === undefined)
        await work
          ?.touches({ agentId: caller.agentId, executor: null }, JSON.stringify(input))
          .catch(saying(NOT_NOTED));
      return await tool.run(input, caller);
    },
  });
  const searchTool = createSearchTool({ searches, directory, threads, snapshots });
  const toHuman = createToHuman({ log, host, now, newId });
  offer([
    ...(taskWork?.tools ?? []),
    ...createWakeTools({
      ...{ wakes, inbox, gate, configs, directory, pauses, host, now, toHuman, tell },
      human: wakePayloads.human,
    }),
    ...createThreadTools({ threads, directory }),
    ...createProjectTools({ projects, comments, directory, configs, scopes, work }),
    searchTool,
    ...createMemoryTools({
      ...{ memories: base.memories, foreign, configs, now },
      searchConversations: searchTool,
      soulOf: async ({ agentId }) => wakePayloads.soulOf(agentId) ?? (await snapshots.of(agentId))?.soul ?? null,
    }),
    ...(handTools?.tools ?? []).map(noted),
    ...createProviderTools(() => hands?.web.addresses !== 'none'),
    ...createScheduleTools({ schedules, proposals: schedules.proposals, configs, now }),
    ...(hands ? scriptTools.tools : []),
  ]);
  if (mcpServers) {
    const guarded = approvals.guardFrom(mcpServers.tools);
    tools.offerFrom(() => foreign.watch(scopes.guard(guarded())));
  }
}
