/** The page says who there is. */
import { teamSchema } from '../../src/protocol/team.ts';
import { readBody } from '../body.ts';
import type { Directory } from '../contracts.ts';
import type { Routes } from '../route.ts';

/** `onTeam`: somebody lives here; before they are written. */
export function createDirectoryRoutes({
  directory,
  onTeam,
}: {
  readonly directory: Directory;
  readonly onTeam: () => Promise<void>;
}): Routes {
  return (route) => {
    route('/api/team', {
      GET: async (context) => context.json({ agents: await directory.all() }),
      async PUT(context) {
        const team = await readBody(context, teamSchema);
        // A page that has nobody yet says so too.
        if (team.agents.length > 0) await onTeam();
        await directory.set(team);
        return context.body(null, 204);
      },
    });
  };
}
