/** The page says who there is. */
import { teamEndpoints } from '../../src/protocol/endpoints/team.ts';
import type { Directory } from '../contracts.ts';
import { answer, type Handled } from '../endpoint.ts';

/** `onTeam`: somebody lives here; before they are written. */
export function createDirectoryRoutes({
  directory,
  onTeam,
}: {
  readonly directory: Directory;
  readonly onTeam: () => Promise<void>;
}): readonly Handled[] {
  return answer(teamEndpoints, {
    team: async () => ({ agents: [...(await directory.all())] }),
    async putTeam({ body: team }) {
      // A page that has nobody yet says so too.
      if (team.agents.length > 0) await onTeam();
      await directory.set(team);
      return null;
    },
  });
}
