/**
 * MCP servers that the person has added, for their agents to use.
 *
 * `link.ts` is the connection to one server, `program.ts` starts a local one, `sign-in.ts` does
 * OAuth, `offered.ts` and `mind-schema.ts` make its tools fit for a model, and `elicitation.ts`
 * brings a server's questions to the person.
 *
 * Main type: `McpServers`.
 *
 * Invariants:
 * - An agent is offered a tool only in the form that the person has reviewed. A new or changed tool
 *   is off until they review it.
 * - Secrets are sealed in the store, and no endpoint returns them.
 * - A server's output is bounded, and is data: it never becomes an instruction.
 *
 * It does not know which agent may use which tool. Toolsets decide that.
 */
import type { Context } from 'hono';
import type { McpServer } from '../../../src/shared/protocol/mcp.ts';
import { MCP_PREFIX, type Grant } from '../../../src/shared/domain/toolsets.ts';
import { mcpServerEndpoints } from '../../../src/shared/protocol/endpoints/mcp.ts';
import { relayEndpoints } from '../../../src/shared/protocol/endpoints/session.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import { MCP_LIMITS } from './settings.ts';
import { createRunners } from './program.ts';
import { createSigning } from './sign-in.ts';
import { heldIn, reviewTools, sealedSchema, valueSchema } from './server-state.ts';
import { createMcpServerRecords, recordOf, restored } from './records.ts';
import { createToolOf } from './tools.ts';
import type { McpServers, McpServersDeps, Refused } from './types.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
import { createKeptServers, end, type Kept } from './kept-servers.ts';
export type { McpServers, McpServersDeps, Change, Refused } from './types.ts';

const refusing = (refused: Refused['refused'], reason: string): Refused => ({ refused, reason });

export function createMcpServers(deps: McpServersDeps): McpServers {
  const { db, home, sealer, newId, onChange, logger, limits = MCP_LIMITS } = deps;
  const servers = createKeptServers(deps);
  const { kept, inTurn, ending, about, keep, programRefused, refusalOf, heldBack, toolsOf, show } = servers;
  const { write, renewed, opened, leave } = servers;

  const toolOf = createToolOf<Kept>({
    isConnected: ({ serverId }) => kept.has(serverId),
    toolsOf: (one) => toolsOf(one),
    askPerson: deps.askPerson,
  });

  return {
    async start() {
      const rows = await db
        .selectFrom('attached')
        .selectAll()
        .where('home', '=', home)
        .where('removed', '=', false)
        .orderBy('made_at')
        .execute();
      const open = async (row: (typeof rows)[number]) => {
        const text = sealer.open(row.sealed, about(row.server));
        if (text === null) {
          logger.warn('The stored address of an MCP server can no longer be read. Connect the server again.', {
            server: row.name,
          });
          return;
        }
        const one = keep(
          row.server,
          row.name,
          sealedSchema.parse(JSON.parse(text)),
          valueSchema.parse(JSON.parse(row.value_json)),
          row.version,
        );
        if (heldBack(one) === null) void one.link.open();
      };
      const { setAside = SETS_NOTHING_ASIDE } = deps;
      await setAside.each('MCP servers', rows, ({ server }) => server, open);
      // Changes that were not announced before can be announced now.
      if (rows.some(({ stamp }) => stamp === null)) onChange();
    },
    all: () => [...kept.values()].map(show),
    runners: createRunners({ processes: deps.processes, timers: deps.timers, env: process.env, limits }),
    tools: () =>
      [...kept.values()].flatMap((one) =>
        heldBack(one) === null
          ? toolsOf(one)
              .filter(({ use, gone }) => use && !gone)
              .map((tool) => toolOf(one, tool))
          : [],
      ),
    async add(name, attachment) {
      const refused = await refusalOf(attachment);
      if (refused) return refused;
      const made = await inTurn(async () => {
        const before = [...kept.values()].find((one) => one.name === name);
        // The person supplies lost secrets. What they allowed the server stays.
        if (before && before.sealed.lacks.length > 0)
          return await renewed(before, { attachment, signIn: null, lacks: [] });
        if (kept.size >= limits.servers)
          return refusing('room', `There is room for ${limits.servers} servers. Remove one first.`);
        if (before) return refusing('name', `A server called ${name} is connected already.`);
        const one = keep(newId(), name, { attachment, signIn: null, lacks: [] }, { agents: null, tools: {} });
        try {
          await write(one);
        } catch (error) {
          kept.delete(one.serverId);
          throw error;
        }
        return one;
      });
      return 'refused' in made ? made : await opened(made);
    },
    async retry(serverId) {
      const one = kept.get(serverId);
      if (!one) return null;
      if (heldBack(one) === null) await one.link.retry();
      return show(one);
    },
    async change(serverId, { agents, tools = [], box, version }) {
      const changed = await inTurn(async () => {
        const server = kept.get(serverId);
        if (!server) return null;
        if (version !== undefined && version !== server.version) return 'changed-elsewhere';
        const sealed = box === undefined ? server.sealed : heldIn(server.sealed, box);
        if (!sealed) return refusing('box', 'It is no program of the relay’s machine.');
        const reason = programRefused(sealed.attachment);
        if (box !== undefined && reason !== null) return refusing('programs', reason);
        const before = server.value;
        // Checked before anything is changed, so that a refusal changes nothing.
        const reviewed = reviewTools(server.name, toolsOf(server), before.tools, tools);
        if (!reviewed.ok) return refusing('tools', reviewed.reason);
        const one = sealed === server.sealed ? server : await renewed(server, sealed);
        one.value = { agents: agents === undefined ? before.agents : agents && [...agents], tools: reviewed.tools };
        try {
          await write(one);
        } catch (error) {
          one.value = before;
          throw error;
        }
        return one;
      });
      if (changed === null || changed === 'changed-elsewhere' || 'refused' in changed) return changed;
      return box === undefined ? show(changed) : await opened(changed);
    },
    ...createSigning<Kept>({ kept, onChange, show }),
    async remove(serverId) {
      const one = kept.get(serverId);
      const removed = await inTurn(async () => {
        if (!one || kept.get(serverId) !== one) return false;
        await leave(serverId, null);
        return true;
      });
      if (removed && one) await ending.get(one);
      return removed;
    },
    records: createMcpServerRecords({
      db,
      home,
      valueOf: (serverId) => {
        const one = kept.get(serverId);
        return one ? recordOf(one.name, one.sealed, one.value) : null;
      },
      inTurn,
      leave,
      async take(serverId, record, stamp) {
        const before = kept.get(serverId);
        const restoredServer = restored(record, before?.sealed ?? null);
        if (!restoredServer) return 'The record does not say where the server is.';
        const { attachment } = restoredServer.sealed;
        if ([...kept.values()].some((one) => one !== before && one.name === record.name))
          return `A server called ${record.name} is connected already.`;
        if (!before && kept.size >= limits.servers) return `There is room for ${limits.servers} servers.`;
        const refused = await refusalOf(attachment);
        if (refused?.refused === 'address') return refused.reason;
        const one = keep(serverId, record.name, restoredServer.sealed, restoredServer.value);
        if (before) ending.set(one, end(before));
        await write(one, stamp);
        void opened(one);
        return null;
      },
    }),
    async close() {
      await Promise.all([...kept.values()].map(end));
    },
  };
}

// Cleans up after the person removed a server. Its grants must not pass to the next server of that
// name, and its questions are withdrawn.

interface CleanUpDeps {
  readonly configs: Pick<Configs, 'agent' | 'setAgent' | 'household' | 'setHousehold'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly approvals: { withdrawToolsOf(prefix: string): Promise<void> };
}

/** Null: none of these grants belongs to the server. */
function without(prefix: string, tools: Readonly<Record<string, Grant>> = {}): Record<string, Grant> | null {
  const left = Object.entries(tools).filter(([tool]) => !tool.startsWith(prefix));
  return left.length === Object.keys(tools).length ? null : Object.fromEntries(left);
}

async function removeGrantsOf({ configs, directory, approvals }: CleanUpDeps, name: string): Promise<void> {
  const prefix = `${MCP_PREFIX}${name}__`;
  const { own: household } = await configs.household();
  const ofAll = without(prefix, household.coordination.tools);
  if (ofAll) await configs.setHousehold({ ...household, coordination: { ...household.coordination, tools: ofAll } });
  for (const { agentId } of await directory.all()) {
    const { own } = await configs.agent(agentId);
    const tools = without(prefix, own.coordination.tools);
    if (tools) await configs.setAgent(agentId, { ...own, coordination: { ...own.coordination, tools } });
  }
  await approvals.withdrawToolsOf(prefix);
}

interface McpServerRoutesDeps extends CleanUpDeps {
  readonly mcpServers: McpServers;
  readonly rights: HomeRights;
  readonly sandbox: () => Promise<{ readonly available: boolean }>;
}

const STATUS = { box: 409, name: 409, room: 409, tools: 409, programs: 403, address: 403, 'sign-in': 409 } as const;

function refuse(refused: Refused | null): never {
  if (refused === null) throw problem(404, 'not-found', 'No such server is connected.');
  throw problem(STATUS[refused.refused], `mcp-${refused.refused}`, refused.reason);
}
const serverOrProblem = (server: McpServer | Refused | null): McpServer =>
  server === null || 'refused' in server ? refuse(server) : server;

// The person's endpoints for MCP servers. API clients may not call them: a credential is not the
// person.

export function createMcpServerRoutes(deps: McpServerRoutesDeps): readonly Handled[] {
  const { mcpServers, rights, sandbox } = deps;
  const byPerson = (context: Context<Env>) => {
    if (context.get('browser') === undefined)
      throw problem(403, 'browsers-only', 'Only the household’s page connects servers.');
  };
  return answer(mcpServerEndpoints, {
    async mcpServers(_input, context) {
      byPerson(context);
      return {
        servers: mcpServers.all(),
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
      return { runners: rights.has('boxed-programs') ? await mcpServers.runners() : [] };
    },
    async addMcpServer({ body: { name, attachment } }, context) {
      byPerson(context);
      return serverOrProblem(await mcpServers.add(name, attachment));
    },
    async retryMcpServer({ serverId }, context) {
      byPerson(context);
      return serverOrProblem(await mcpServers.retry(serverId));
    },
    async changeMcpServer({ serverId, body }, context) {
      byPerson(context);
      const changed = await mcpServers.change(serverId, body);
      if (changed !== 'changed-elsewhere') return serverOrProblem(changed);
      throw changedElsewhere(serverOrProblem(mcpServers.all().find((each) => each.serverId === serverId) ?? null));
    },
    async signInToMcpServer({ serverId }, context) {
      byPerson(context);
      // Returns to the very address at which this browser is signed in. Whether the origin is ours
      // was checked before.
      const origin = context.req.header('origin') ?? new URL(context.req.url).origin;
      const begun = await mcpServers.signIn(serverId, new URL(relayEndpoints.signedIn.path, origin).href);
      if (begun === null || 'refused' in begun) return refuse(begun);
      return { url: begun.href };
    },
    async signOutOfMcpServer({ serverId }, context) {
      byPerson(context);
      return serverOrProblem(await mcpServers.signOut(serverId));
    },
    async finishSignIn({ body }, context) {
      byPerson(context);
      return serverOrProblem(await mcpServers.finishSignIn(new URLSearchParams(body.query)));
    },
    async removeMcpServer({ serverId }, context) {
      byPerson(context);
      const server = mcpServers.all().find((each) => each.serverId === serverId);
      if (!(await mcpServers.remove(serverId))) throw problem(404, 'not-found', 'No such server is connected.');
      if (server) await removeGrantsOf(deps, server.name);
      return null;
    },
  });
}
