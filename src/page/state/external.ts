/**
 * Connections with other programs, as this page shows them: API clients, ACP agents and MCP
 * servers.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Scope } from '../../shared/protocol/scopes.ts';
import type { Credential } from '../../shared/protocol/team.ts';
import type { AddProgram, Programs } from '../../shared/protocol/programs.ts';
import type { ReachClient } from '../../shared/relay-client/reach-client.ts';
import type { AttachedServer, Attachment } from '../../shared/protocol/attached.ts';
import type { Runner } from '../../shared/protocol/runners.ts';
import { newerOf, type RelayResult } from '../../shared/relay-client/result.ts';
import type { RoostState } from './index.ts';
import { createQuery, type Query } from './query.ts';
import { mapResult } from './reach.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { DONE, type Done, doneOf } from './attempt.ts';

// Credentials of API clients. Loaded with the parts of the page that show them.

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

function createClients({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Clients {
  const list = createQuery<readonly Credential[]>({
    ask: async () => mapResult(await reach((client) => client.credentials()), ({ credentials }) => credentials),
    changes,
    device,
    what: ['credentials'],
  });
  return {
    list,
    async make(agentId, label, may) {
      const made = await reach((client) => client.makeCredential({ body: { agentId, label, ...may } }));
      if (!made.ok) return { ok: false, reason: problemText(made.problem) };
      await list.again();
      return { ok: true, ...made.value };
    },
    async revoke(credentialId) {
      const revoked = await reach((client) => client.revokeCredential({ credentialId }));
      if (!revoked.ok) return { ok: false, reason: problemText(revoked.problem) };
      await list.again();
      return DONE;
    },
  };
}

export const clientsOf = onePerPage(createClients);

// ACP agents on the relay's machine. Loaded with the part of the page that shows them.

type ProgramCalls = Pick<ReachClient, 'addProgram' | 'tryProgram' | 'removeProgram'>;

interface AgentPrograms {
  readonly list: Query<Programs>;
  add(program: AddProgram): Promise<Done>;
  /** Makes one of these calls, then shows the resulting state. */
  change<Value>(call: (calls: ProgramCalls) => Promise<RelayResult<Value>>): Promise<Done>;
}

function createPrograms({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): AgentPrograms {
  const list = createQuery<Programs>({
    ask: () => reach((client) => client.programs()),
    changes,
    device,
    what: ['programs'],
  });
  const change: AgentPrograms['change'] = async (call) => {
    const result = await reach(call);
    await list.again();
    return doneOf(result);
  };
  return { list, change, add: (body) => change((client) => client.addProgram({ body })) };
}

export const programsOf = onePerPage(createPrograms);

// MCP servers that the person has connected. Loaded with the part of the page that shows them.

interface AttachedServers {
  readonly servers: readonly AttachedServer[];
  /** The relay runs programs for this household, at least in the sandbox. */
  readonly programs: boolean;
  /**
   * Why programs outside the sandbox are not allowed, in the relay's words; left out: they are
   * allowed.
   */
  readonly why?: string | undefined;
  /** Sandboxed programs may be granted folders of the machine. */
  readonly folders: boolean;
  /** The relay's machine has a sandbox. */
  readonly sandbox: boolean;
}
type Calls = Pick<ReachClient, 'attach' | 'retryAttached' | 'changeAttached' | 'detach' | 'signOutOfAttached'>;

interface Attached {
  readonly list: Query<AttachedServers>;
  attach(name: string, attachment: Attachment): Promise<Done>;
  /**
   * Settings on the relay's machine for programs that download others; empty if the relay does not
   * say.
   */
  runners(): Promise<readonly Runner[]>;
  /** Starts a sign-in. Returns the page on which the person allows it. */
  signIn(
    serverId: string,
  ): Promise<{ readonly ok: true; readonly url: string } | { readonly ok: false; readonly reason: string }>;
  /** Makes one of these calls, then shows the resulting state. */
  change<Value>(call: (calls: Calls) => Promise<RelayResult<Value>>): Promise<Done & { readonly newer?: Value }>;
}

function createAttached({ reach, changes, device }: Pick<RoostState, 'reach' | 'changes' | 'device'>): Attached {
  const list = createQuery<AttachedServers>({
    ask: () => reach((client) => client.attached()),
    changes,
    device,
    what: ['attached'],
  });
  const change: Attached['change'] = async (call) => {
    const result = await reach(call);
    await list.again();
    const newer = newerOf(result);
    return newer === undefined ? doneOf(result) : { ...doneOf(result), newer };
  };
  return {
    list,
    attach: (name, attachment) => change((client) => client.attach({ body: { name, attachment } })),
    async runners() {
      const result = await reach((client) => client.runners());
      return result.ok ? result.value.runners : [];
    },
    async signIn(serverId) {
      const result = await reach((client) => client.signInToAttached({ serverId }));
      await list.again();
      return result.ok ? { ok: true, url: result.value.url } : { ok: false, reason: problemText(result.problem) };
    },
    change,
  };
}

export const attachedOf = onePerPage(createAttached);
