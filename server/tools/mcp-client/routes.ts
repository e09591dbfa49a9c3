/**
 * The person's endpoints for MCP servers. API clients may not call them: a credential is not the
 * person.
 */
import type { Context } from 'hono';
import { ATTACHED_PREFIX, type Grant } from '../../../src/shared/domain/toolsets.ts';
import type { AttachedServer } from '../../../src/shared/protocol/attached.ts';
import { attachedEndpoints } from '../../../src/shared/protocol/endpoints/external.ts';
import { relayEndpoints } from '../../../src/shared/protocol/endpoints/session.ts';
import type { Configs, Directory } from '../../contracts/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import type { Attached, Refused } from './index.ts';

// Cleans up after the person removed a server. Its grants must not pass to the next server of that
// name, and its questions are withdrawn.

interface LetGoDeps {
  readonly configs: Pick<Configs, 'agent' | 'setAgent' | 'household' | 'setHousehold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly calls: { withdrawToolsOf(prefix: string): Promise<void> };
}

/** Null: none of these grants belongs to the server. */
function without(prefix: string, tools: Readonly<Record<string, Grant>> = {}): Record<string, Grant> | null {
  const left = Object.entries(tools).filter(([tool]) => !tool.startsWith(prefix));
  return left.length === Object.keys(tools).length ? null : Object.fromEntries(left);
}

async function letGoOfServer({ configs, directory, calls }: LetGoDeps, name: string): Promise<void> {
  const prefix = `${ATTACHED_PREFIX}${name}__`;
  const { own: household } = await configs.household();
  const ofAll = without(prefix, household.coordination.tools);
  if (ofAll) await configs.setHousehold({ ...household, coordination: { ...household.coordination, tools: ofAll } });
  for (const { agentId } of await directory.all()) {
    const { own } = await configs.agent(agentId);
    const tools = without(prefix, own.coordination.tools);
    if (tools) await configs.setAgent(agentId, { ...own, coordination: { ...own.coordination, tools } });
  }
  await calls.withdrawToolsOf(prefix);
}

export interface AttachedRoutesDeps extends LetGoDeps {
  readonly attached: Attached;
  readonly rights: HomeRights;
  readonly sandbox: () => Promise<{ readonly available: boolean }>;
}

const STATUS = { box: 409, name: 409, room: 409, tools: 409, programs: 403, address: 403, 'sign-in': 409 } as const;

function refuse(refused: Refused | null): never {
  if (refused === null) throw problem(404, 'not-found', 'No such server is connected.');
  throw problem(STATUS[refused.refused], `attached-${refused.refused}`, refused.reason);
}
const found = (server: AttachedServer | Refused | null): AttachedServer =>
  server === null || 'refused' in server ? refuse(server) : server;

export function createAttachedRoutes(deps: AttachedRoutesDeps): readonly Handled[] {
  const { attached, rights, sandbox } = deps;
  const byPerson = (context: Context<Env>) => {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Servers are connected on the household’s page.');
  };
  return answer(attachedEndpoints, {
    async attached(_input, context) {
      byPerson(context);
      return {
        servers: attached.all(),
        programs: rights.has('boxed-programs'),
        ...(rights.has('free-programs') ? {} : { why: rights.refusal('free-programs') }),
        folders: rights.has('machine-folders'),
        sandbox: (await sandbox()).available,
      };
    },
    async runners(_input, context) {
      byPerson(context);
      // Their settings are read by a program, which needs the same right as any program that a page
      // starts here.
      return { runners: rights.has('boxed-programs') ? await attached.runners() : [] };
    },
    async attach({ body: { name, attachment } }, context) {
      byPerson(context);
      return found(await attached.add(name, attachment));
    },
    async lookAtAttached({ serverId }, context) {
      byPerson(context);
      return found(await attached.look(serverId));
    },
    async changeAttached({ serverId, body }, context) {
      byPerson(context);
      const changed = await attached.change(serverId, body);
      if (changed !== 'changed-elsewhere') return found(changed);
      throw changedElsewhere(found(attached.all().find((each) => each.serverId === serverId) ?? null));
    },
    async signInToAttached({ serverId }, context) {
      byPerson(context);
      // Returns to the very address at which this browser is signed in. Whether the origin is ours
      // was checked before.
      const origin = context.req.header('origin') ?? new URL(context.req.url).origin;
      const begun = await attached.signIn(serverId, new URL(relayEndpoints.signedIn.path, origin).href);
      if (begun === null || 'refused' in begun) return refuse(begun);
      return { url: begun.href };
    },
    async signOutOfAttached({ serverId }, context) {
      byPerson(context);
      return found(await attached.signOut(serverId));
    },
    async finishSignIn({ body }, context) {
      byPerson(context);
      return found(await attached.finishSignIn(new URLSearchParams(body.query)));
    },
    async detach({ serverId }, context) {
      byPerson(context);
      const server = attached.all().find((each) => each.serverId === serverId);
      if (!(await attached.remove(serverId))) throw problem(404, 'not-found', 'No such server is connected.');
      if (server) await letGoOfServer(deps, server.name);
      return null;
    },
  });
}
