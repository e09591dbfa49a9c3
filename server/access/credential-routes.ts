/** Calls by which the person makes and revokes credentials. */
import { credentialEndpoints } from '../../src/protocol/endpoints/clients.ts';
import type { Directory } from '../contracts.ts';
import { answer, type Handled } from '../endpoint.ts';
import { problem } from '../problem.ts';
import { QUOTAS } from '../quotas.ts';
import type { Credentials } from './credentials.ts';

export interface CredentialRoutesDeps {
  readonly credentials: Pick<Credentials, 'make' | 'full' | 'list' | 'revoke'>;
  readonly directory: Pick<Directory, 'all'>;
}

export function createCredentialRoutes({ credentials, directory }: CredentialRoutesDeps): readonly Handled[] {
  return answer(credentialEndpoints, {
    credentials: async () => ({ credentials: [...(await credentials.list())] }),
    async makeCredential({ body: { agentId, label, readsSoul } }) {
      const agent = agentId === null ? null : (await directory.all()).find((each) => each.agentId === agentId);
      if (agent === undefined) throw problem(404, 'unknown-agent', 'There is no such agent in this household.');
      if (agent?.retired) throw problem(409, 'retired', `${agent.name} is retired; a retired agent cannot join.`);
      if (await credentials.full())
        throw problem(
          409,
          'credentials-full',
          `${QUOTAS.credentials.valid} credentials are valid in this household, which is the most. Revoke one that is not used any more, and make this one then.`,
        );
      return await credentials.make(agentId, label, { readsSoul });
    },
    async revokeCredential({ credentialId }) {
      if (!(await credentials.revoke(credentialId))) throw problem(404, 'unknown', 'There is no such credential.');
      return null;
    },
  });
}
