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
import { errorMessage } from '../../../src/shared/domain/platform/error-message.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { McpServer, Attachment } from '../../../src/shared/protocol/mcp.ts';
import { MCP_PREFIX, type Grant } from '../../../src/shared/domain/toolsets.ts';
import { mcpServerEndpoints } from '../../../src/shared/protocol/endpoints/mcp.ts';
import { relayEndpoints } from '../../../src/shared/protocol/endpoints/session.ts';
import { checkAddress, createGuardedFetch, type GuardedFetch } from '../../platform/guarded-fetch.ts';
import { createSecrets } from '../../platform/key-filter.ts';
import type { Configs, Directory } from '../../contracts/index.ts';
import { answer, type Env, type Handled } from '../../http/endpoint.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import { problem } from '../../http/problem.ts';
import { changedElsewhere } from '../../http/version.ts';
import { createLink } from './link.ts';
import { MCP_LIMITS } from './settings.ts';
import { createRunners } from './program.ts';
import { createSignIn, createSigning, type SignIn } from './sign-in.ts';
import {
  heldIn,
  reviewTools,
  rightFor,
  type Sealed,
  sealedSchema,
  secretsOf,
  toolsBeside,
  type Value,
  valueSchema,
  whereOf,
} from './server-state.ts';
import { createMcpServerRecords, lacking, recordOf, restored } from './records.ts';
import { createToolOf, type Usable } from './tools.ts';
import type { McpServers, McpServersDeps, Refused } from './types.ts';
import { SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';
export type { McpServers, McpServersDeps, Change, Refused } from './types.ts';

interface Kept extends Usable {
  readonly attachment: Attachment;
  sealed: Sealed;
  /** Of its row; 0: it has none yet. */
  version: number;
  readonly fetch: GuardedFetch;
  /** Null: the server is a program. */
  readonly signIn: SignIn | null;
}

const end = ({ link, fetch }: Kept) => link.close().then(() => fetch.close());
const refusing = (refused: Refused['refused'], reason: string): Refused => ({ refused, reason });

export function createMcpServers(deps: McpServersDeps): McpServers {
  const { db, home, sealer, rights, now, newId, onChange, logger, limits = MCP_LIMITS } = deps;
  const kept = new Map<string, Kept>();
  /** Changes of the stored servers, one after another. No change waits for a server. */
  const inTurn = createQueue();
  /** The old connection that must end before this one opens. */
  const ending = new WeakMap<Kept, Promise<void>>();
  const about = (serverId: string) => JSON.stringify(`attached ${home} ${serverId}`);

  function keep(serverId: string, name: string, sealed: Sealed, value: Value, version = 0): Kept {
    const { attachment } = sealed;
    // A server is silent while it waits for the person.
    const fetch = createGuardedFetch(rights.servers, undefined, limits.callMostMs + limits.questionMs);
    const secrets = createSecrets(secretsOf(attachment), limits.tokensKept);
    const isSecret = ({ signIn: held }: Sealed) => {
      const { access_token: access, refresh_token: refresh } = held?.tokens ?? {};
      for (const token of [access, refresh, held?.client?.client_secret]) if (token) secrets.add(token);
    };
    isSecret(sealed);
    const signIn =
      attachment.kind === 'address'
        ? createSignIn({
            ...{ url: attachment.url, client: attachment.client, kept: sealed.signIn },
            async keep(held) {
              one.sealed = { ...one.sealed, signIn: held };
              isSecret(one.sealed);
              // If the server was removed meanwhile, nothing is written.
              await rowOf(serverId)
                .set({ sealed: sealedOf(one) })
                .execute();
              onChange();
            },
            ...deps,
            may: rights.servers,
            filter: secrets,
            fetch: fetch.fetch,
            limits,
          })
        : null;
    const link = createLink({
      attachment,
      auth: signIn?.auth ?? null,
      onTokenRefused(scope) {
        signIn?.refused(scope).catch((error: unknown) => {
          logger.warn('The end of a sign-in could not be stored.', {
            server: serverId,
            reason: errorMessage(error),
          });
        });
      },
      fetch: fetch.fetch,
      version: deps.version,
      processes: deps.processes,
      sandbox: deps.sandbox,
      timers: deps.timers,
      now,
      elapsed: deps.elapsed,
      onChange,
      filter: secrets,
      limits,
    });
    const one: Kept = { serverId, name, attachment, sealed, value, version, fetch, signIn, link, made: new Map() };
    kept.set(serverId, one);
    return one;
  }

  const rowOf = (serverId: string) =>
    db.updateTable('attached').where('home', '=', home).where('server', '=', serverId);
  const sealedOf = ({ serverId, sealed }: Kept) => sealer.seal(JSON.stringify(sealed), about(serverId));

  /**
   * Why this household may not run such a program, as a sentence. Null: it may, or the server is no
   * program.
   */
  function programRefused(attachment: Attachment): string | null {
    const right = rightFor(attachment);
    return right === null || rights.has(right) ? null : rights.refusal(right);
  }
  async function refusalOf(attachment: Attachment): Promise<Refused | null> {
    const reason = programRefused(attachment);
    if (reason !== null) return { refused: 'programs', reason };
    return attachment.kind === 'address' && (await checkAddress(new URL(attachment.url), rights.servers)) === 'refused'
      ? { refused: 'address', reason: rights.refusal('inner-servers') }
      : null;
  }
  /** Why the server is not contacted, as a sentence. Null: it is. */
  const heldBack = ({ attachment, sealed }: Kept): string | null =>
    programRefused(attachment) ?? (sealed.lacks.length > 0 ? lacking(sealed.lacks) : null);

  const toolsOf = ({ name, link, value }: Kept) => toolsBeside(name, link.status().tools, value);

  function show(one: Kept): McpServer {
    const { serverId, name, attachment, value, link, signIn } = one;
    const { state, problem } = link.status();
    const off = heldBack(one);
    return {
      serverId,
      version: one.version,
      name,
      ...whereOf(attachment),
      state: off === null ? state : 'failed',
      problem: off ?? problem,
      signIn: signIn?.status() ?? null,
      agents: value.agents,
      tools: toolsOf(one),
    };
  }

  /** `stamp` null: the change must still be announced. */
  async function write(one: Kept, stamp: string | null = null): Promise<void> {
    const { serverId, name, value } = one;
    const row = { name, sealed: sealedOf(one), value_json: JSON.stringify(value), stamp, removed: false };
    const { version } = await db
      .insertInto('attached')
      .values({ home, server: serverId, made_at: now(), version: 1, ...row })
      .onConflict((conflict) =>
        conflict.columns(['home', 'server']).doUpdateSet((eb) => ({ ...row, version: eb('attached.version', '+', 1) })),
      )
      .returning('version')
      .executeTakeFirstOrThrow();
    one.version = version;
    onChange();
  }

  /**
   * Connects the server in another way, and preserves what the person allowed it. The old
   * connection ends first.
   */
  async function renewed(before: Kept, sealed: Sealed): Promise<Kept> {
    const one = keep(before.serverId, before.name, sealed, before.value);
    ending.set(one, end(before));
    await write(one);
    return one;
  }
  /**
   * Runs outside the queue, so that no server waits for another. Null: the server was removed
   * meanwhile.
   */
  async function opened(one: Kept): Promise<McpServer | null> {
    await ending.get(one);
    if (kept.get(one.serverId) === one && heldBack(one) === null) await one.link.open();
    const now = kept.get(one.serverId);
    return now ? show(now) : null;
  }

  /** Deletes the server and its secrets, and announces the removal. Its name is free again. */
  async function leave(serverId: string, stamp: string | null): Promise<void> {
    const gone = { name: `removed:${serverId}`, sealed: new Uint8Array(), value_json: '{}', stamp, removed: true };
    await db
      .insertInto('attached')
      .values({ home, server: serverId, made_at: now(), ...gone })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'server'])
          .doUpdateSet((eb) => ({ ...gone, version: eb('attached.version', '+', 1) })),
      )
      .execute();
    const one = kept.get(serverId);
    kept.delete(serverId);
    onChange();
    if (one) ending.set(one, end(one));
  }

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
        const found = kept.get(serverId);
        if (!found) return null;
        if (version !== undefined && version !== found.version) return 'changed-elsewhere';
        const sealed = box === undefined ? found.sealed : heldIn(found.sealed, box);
        if (!sealed) return refusing('box', 'It is no program of the relay’s machine.');
        const reason = programRefused(sealed.attachment);
        if (box !== undefined && reason !== null) return refusing('programs', reason);
        const before = found.value;
        // Checked before anything is changed, so that a refusal changes nothing.
        const reviewed = reviewTools(found.name, toolsOf(found), before.tools, tools);
        if (!reviewed.ok) return refusing('tools', reviewed.reason);
        const one = sealed === found.sealed ? found : await renewed(found, sealed);
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
        const taken = restored(record, before?.sealed ?? null);
        if (!taken) return 'The record does not say where the server is.';
        const { attachment } = taken.sealed;
        if ([...kept.values()].some((one) => one !== before && one.name === record.name))
          return `A server called ${record.name} is connected already.`;
        if (!before && kept.size >= limits.servers) return `There is room for ${limits.servers} servers.`;
        const refused = await refusalOf(attachment);
        if (refused?.refused === 'address') return refused.reason;
        const one = keep(serverId, record.name, taken.sealed, taken.value);
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
const found = (server: McpServer | Refused | null): McpServer =>
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
      return found(await mcpServers.add(name, attachment));
    },
    async retryMcpServer({ serverId }, context) {
      byPerson(context);
      return found(await mcpServers.retry(serverId));
    },
    async changeMcpServer({ serverId, body }, context) {
      byPerson(context);
      const changed = await mcpServers.change(serverId, body);
      if (changed !== 'changed-elsewhere') return found(changed);
      throw changedElsewhere(found(mcpServers.all().find((each) => each.serverId === serverId) ?? null));
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
      return found(await mcpServers.signOut(serverId));
    },
    async finishSignIn({ body }, context) {
      byPerson(context);
      return found(await mcpServers.finishSignIn(new URLSearchParams(body.query)));
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
