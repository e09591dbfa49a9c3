/** Calls by which the person makes and revokes credentials. */
import type { z } from 'zod';
import { makeCredentialSchema, type credentialsSchema, type madeCredentialSchema } from '../../src/protocol/team.ts';
import { readBody } from '../body.ts';
import type { Directory } from '../contracts.ts';
import { problem } from '../problem.ts';
import { QUOTAS } from '../quotas.ts';
import { idOf, type Routes } from '../route.ts';
import type { Credentials } from './credentials.ts';

export interface CredentialRoutesDeps {
  readonly credentials: Pick<Credentials, 'make' | 'full' | 'list' | 'revoke'>;
  readonly directory: Pick<Directory, 'all'>;
}

export function createCredentialRoutes({ credentials, directory }: CredentialRoutesDeps): Routes {
  return (route) => {
    route('/api/credentials', {
      async GET(context) {
        const answer: z.infer<typeof credentialsSchema> = { credentials: [...(await credentials.list())] };
        return context.json(answer);
      },
      async POST(context) {
        const { agentId, label, readsSoul } = await readBody(context, makeCredentialSchema);
        const agent = agentId === null ? null : (await directory.all()).find((each) => each.agentId === agentId);
        if (agent === undefined) throw problem(404, 'unknown-agent', 'There is no such agent in this household.');
        if (agent?.retired) throw problem(409, 'retired', `${agent.name} is retired; a retired agent cannot join.`);
        if (await credentials.full())
          throw problem(
            409,
            'credentials-full',
            `${QUOTAS.credentials.valid} credentials are valid in this household, which is the most. Revoke one that is not used any more, and make this one then.`,
          );
        const made: z.infer<typeof madeCredentialSchema> = await credentials.make(agentId, label, { readsSoul });
        return context.json(made, 201);
      },
    });
    route('/api/credentials/:id', {
      async DELETE(context) {
        if (!(await credentials.revoke(idOf(context)))) throw problem(404, 'unknown', 'There is no such credential.');
        return context.body(null, 204);
      },
    });
  };
}
