/** The servers of a household: their connections, and their rows in the store. */
import { errorMessage } from '../../../src/shared/domain/platform/error-message.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import type { McpServer, Attachment } from '../../../src/shared/protocol/mcp.ts';
import { checkAddress, createGuardedFetch, type GuardedFetch } from '../../platform/guarded-fetch.ts';
import { createSecrets } from '../../platform/key-filter.ts';
import { createLink } from './link.ts';
import { MCP_LIMITS } from './settings.ts';
import { createSignIn, type SignIn } from './sign-in.ts';
import { rightFor, type Sealed, secretsOf, toolsBeside, type Value, whereOf } from './server-state.ts';
import { lacking } from './records.ts';
import type { Usable } from './tools.ts';
import type { McpServersDeps, Refused } from './types.ts';

export interface Kept extends Usable {
  readonly attachment: Attachment;
  sealed: Sealed;
  /** Of its row; 0: it has none yet. */
  version: number;
  readonly fetch: GuardedFetch;
  /** Null: the server is a program. */
  readonly signIn: SignIn | null;
}

export const end = ({ link, fetch }: Kept) => link.close().then(() => fetch.close());

export function createKeptServers(deps: McpServersDeps) {
  const { db, home, sealer, rights, now, onChange, logger, limits = MCP_LIMITS } = deps;
  const servers = new Map<string, Kept>();
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
    servers.set(serverId, one);
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

  function show(server: Kept): McpServer {
    const { serverId, name, attachment, value, link, signIn } = server;
    const { state, problem } = link.status();
    const off = heldBack(server);
    return {
      serverId,
      version: server.version,
      name,
      ...whereOf(attachment),
      state: off === null ? state : 'failed',
      problem: off ?? problem,
      signIn: signIn?.status() ?? null,
      agents: value.agents,
      tools: toolsOf(server),
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
    if (servers.get(one.serverId) === one && heldBack(one) === null) await one.link.open();
    const now = servers.get(one.serverId);
    return now ? show(now) : null;
  }

  /** Deletes the server and its secrets, and announces the removal. Its name is free again. */
  async function leave(serverId: string, stamp: string | null): Promise<void> {
    const removedRow = {
      name: `removed:${serverId}`,
      sealed: new Uint8Array(),
      value_json: '{}',
      stamp,
      removed: true,
    };
    await db
      .insertInto('attached')
      .values({ home, server: serverId, made_at: now(), ...removedRow })
      .onConflict((conflict) =>
        conflict
          .columns(['home', 'server'])
          .doUpdateSet((eb) => ({ ...removedRow, version: eb('attached.version', '+', 1) })),
      )
      .execute();
    const one = servers.get(serverId);
    servers.delete(serverId);
    onChange();
    if (one) ending.set(one, end(one));
  }

  return {
    kept: servers,
    inTurn,
    ending,
    about,
    keep,
    programRefused,
    refusalOf,
    heldBack,
    toolsOf,
    show,
    write,
    renewed,
    opened,
    leave,
  };
}
