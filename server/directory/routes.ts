/** The page says who there is. */
import { teamSchema } from '../../src/protocol/team.ts';
import { readBody } from '../body.ts';
import type { Directory } from '../contracts.ts';
import type { Routes } from '../route.ts';

export function createDirectoryRoutes({ directory }: { readonly directory: Directory }): Routes {
  return (route) => {
    route('/api/team', {
      GET: async (context) => context.json({ agents: await directory.all() }),
      async PUT(context) {
        await directory.set(await readBody(context, teamSchema));
        return context.body(null, 204);
      },
    });
  };
}
