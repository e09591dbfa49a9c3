/** Credentials of API clients. Loaded with the parts of the page that show them. */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Scope } from '../../shared/protocol/scopes.ts';
import type { Credential } from '../../shared/protocol/team.ts';
import { DONE, type Done } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';

interface Clients {
  readonly list: Query<readonly Credential[]>;
  /** `agentId`: null for an application. The secret is returned only once, here. */
  make(
    agentId: AgentId | null,
    label: string,
    may: { readonly readsSoul: boolean } | { readonly scopes: Scope[] },
  ): Promise<
    | { readonly ok: true; readonly credential: Credential; readonly secret: string }
    | { readonly ok: false; readonly reason: string }
  >;
  revoke(credentialId: string): Promise<Done>;
}

function createClients({ callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>): Clients {
  const list = relayQuery<readonly Credential[]>({ callRelay, changes, device }, ['credentials'], async (client) =>
    mapResult(await client.credentials(), ({ credentials }) => credentials),
  );
  return {
    list,
    async make(agentId, label, may) {
      const made = await callRelay((client) => client.makeCredential({ body: { agentId, label, ...may } }));
      if (!made.ok) return { ok: false, reason: problemText(made.problem) };
      await list.again();
      return { ok: true, ...made.value };
    },
    async revoke(credentialId) {
      const revoked = await callRelay((client) => client.revokeCredential({ credentialId }));
      if (!revoked.ok) return { ok: false, reason: problemText(revoked.problem) };
      await list.again();
      return DONE;
    },
  };
}

export const clientsOf = onePerPage(createClients);
