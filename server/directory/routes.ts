/** The page says who there is. */
import type { AgentId } from '../../src/domain/ids.ts';
import { teamEndpoints } from '../../src/protocol/endpoints/team.ts';
import type { Directory } from '../contracts.ts';
import { answer, type Handled } from '../endpoint.ts';

/** `onTeam`: somebody lives here; before they are written. `onForgotten`: of these agents nothing is to be left. */
export function createDirectoryRoutes({
  directory,
  onTeam,
  onForgotten,
}: {
  readonly directory: Directory;
  readonly onTeam: () => Promise<void>;
  readonly onForgotten: (agentIds: readonly AgentId[]) => Promise<void>;
}): readonly Handled[] {
  return answer(teamEndpoints, {
    team: async () => ({ agents: [...(await directory.all())] }),
    async putTeam({ body: { forgotten, ...team } }) {
      // A page that has nobody yet says so too.
      if (team.agents.length > 0) await onTeam();
      await directory.set(team);
      // Whoever is there is not forgotten, whatever a page says.
      await onForgotten(forgotten.filter((agentId) => !team.agents.some((agent) => agent.agentId === agentId)));
      return null;
    },
  });
}
