/**
 * The relay as an MCP server: a client with a credential takes the seat of its agent.
 *
 * `server.ts` offers the team's tools and the agent's own resources, `sessions.ts` serves clients
 * of the protocol up to 2025-11-25, and `bearer.ts` identifies the caller.
 *
 * Main type: `Mcp`.
 *
 * Invariants:
 * - One credential is one agent. A server instance stores nothing about its caller.
 * - A revoked credential ends its sessions at once.
 * - A client has as many concurrent calls and sessions as `settings.ts` allows.
 *
 * It does not know how a tool works, or what an agent says elsewhere.
 */
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import type { RunId } from '../../../src/shared/domain/ids.ts';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import type { Credentials } from '../../access/index.ts';
import type {
  Configs,
  Directory,
  EventLog,
  Gate,
  Inbox,
  SessionHost,
  Pauses,
  TeamTool,
} from '../../contracts/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { type Handled, answer, refuseHead, type Env } from '../../http/endpoint.ts';
import type { Threads } from '../../team/threads/index.ts';
import { createReceived, createPark, createResources, createServers, type Every } from './server.ts';
import { createMcpSessions, createSlots, type McpSessions, refusal, type SlotsDeps } from './sessions.ts';
import { MCP_SETTINGS, type McpSettings } from './settings.ts';
import type { Context } from 'hono';
import { mcpEndpoints } from '../../../src/shared/protocol/endpoints/access.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { readJson as readBody, tooMuchOf } from '../../http/body.ts';
import { authenticate, joinedFrom, type BearerDeps } from './bearer.ts';

/**
 * `/mcp`: the relay as an MCP server over streamable HTTP, for both generations of the protocol. A
 * request with the envelope of 2026-07-28 is answered by a fresh instance. Any other request
 * belongs to a session.
 */
interface McpRoutesDeps extends BearerDeps {
  readonly modern: Pick<McpHttpHandler, 'fetch'>;
  readonly sessions: McpSessions;
  readonly bodyBytes: number;
}

/** JSON limits of one client request. */
const MCP_JSON = { depth: LIMITS.jsonDepth, values: LIMITS.callValues };

/** The body of a POST, or the response that refuses it. */
async function readJson(
  request: Request,
  bodyBytes: number,
): Promise<{ readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly response: Response }> {
  const refused = (response: Response) => ({ ok: false, response }) as const;
  if (!isJsonContentType(request.headers.get('content-type')))
    return refused(refusal(415, -32_000, 'Send the body as application/json.'));
  const bounds = { bytes: bodyBytes, json: MCP_JSON };
  const read = await readBody(request.body, bounds);
  if (read.ok) return { ok: true, body: read.value };
  return refused(
    read.fault === 'syntax'
      ? refusal(400, -32_700, 'Parse error: the body is not JSON.')
      : refusal(413, -32_000, tooMuchOf(read.fault, bounds)),
  );
}

function createMcpRoutes({ modern, sessions, bodyBytes, ...bearer }: McpRoutesDeps): readonly Handled[] {
  const inSession = (request: Request, auth: AuthInfo, body: unknown) =>
    sessions.handle(request, { auth, credentialId: joinedFrom(auth).credentialId, body });

  const inOneSession = async (context: Context<Env>) =>
    await inSession(context.req.raw, await authenticate(bearer, context), undefined);

  return answer(mcpEndpoints, {
    async mcpPost(_, context) {
      const auth = await authenticate(bearer, context);
      const request = context.req.raw;
      const read = await readJson(request, bodyBytes);
      if (!read.ok) return read.response;
      if (await isLegacyRequest(request, read.body)) return await inSession(request, auth, read.body);
      return await modern.fetch(request, { authInfo: auth, parsedBody: read.body });
    },
    mcpGet(_, context) {
      refuseHead(context, 'POST, GET, DELETE');
      return inOneSession(context);
    },
    mcpDelete: (_, context) => inOneSession(context),
  });
}

export { MCP_SETTINGS, type McpSettings } from './settings.ts';

export interface McpDeps {
  readonly tools: readonly TeamTool[];
  readonly credentials: Pick<Credentials, 'check' | 'onRevoke'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly pauses: Pick<Pauses, 'wait' | 'isPaused'>;
  readonly configs: Pick<Configs, 'household'>;
  readonly inbox: Pick<Inbox, 'unread' | 'waiting'>;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly stateOf: SessionHost['stateOf'];
  readonly gate: Pick<Gate, 'stats'>;
  readonly threads: Pick<Threads, 'list'>;
  /** The running session, or null. */
  readonly sessionId: () => string | null;
  /**
   * A client called during a session, so its agent is present. Called before every tool call and
   * resource read.
   */
  readonly joined: SessionHost['joined'];
  readonly clientCalls: SessionHost['clientCalls'];
  /** Left out: no session hatches eggs. */
  readonly newborn?: SessionHost['newborn'];
  /** A run of the relay itself has listed its tools. */
  readonly onListed?: (runId: RunId) => void;
  /** Left out: nobody follows it. */
  readonly onCalled?: (runId: RunId) => () => void;
  /** The relay's version. */
  readonly version: string;
  readonly newId: () => string;
  /** Monotonic ms. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly settings?: Partial<McpSettings>;
  readonly every?: Every;
  /**
   * The store, where other processes may have sessions of the same credentials. Left out: this
   * process has all of them.
   */
  readonly shared?: Pick<SlotsDeps, 'db' | 'database' | 'home'>;
}

export interface Mcp {
  readonly endpoints: readonly Handled[];
  /** Ends every stream and session. Called after the relay's own session has ended. */
  close(): Promise<void>;
}

const systemEvery: Every = (ms, run) => {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
};

export function createMcp(deps: McpDeps): Mcp {
  const { credentials, directory, newborn = () => null, logger, newId, now, every = systemEvery, shared } = deps;
  const settings = { ...MCP_SETTINGS, ...deps.settings };
  const onError = (error: unknown) => logger.warn('An MCP exchange failed.', { error });
  const onFault = (error: unknown) => {
    const id = newId().slice(0, 8);
    logger.error('An MCP call failed.', { id, error });
    return id;
  };

  const park = createPark(deps);
  const heard = createReceived(deps);
  const newServer = createServers({
    ...deps,
    newborn,
    onListed: deps.onListed ?? (() => undefined),
    onCalled: deps.onCalled ?? (() => () => undefined),
    resources: createResources(deps),
    park,
    heard,
    every,
    progressEveryMs: settings.progressEveryMs,
    onError,
    onFault,
  });
  const modern = createMcpHandler(() => newServer(), {
    legacy: 'reject',
    // A call may wait for minutes. The stream tells its client at once that the call was accepted.
    responseMode: 'sse',
    keepAliveMs: settings.keepAliveMs,
    maxRequestBodySize: settings.bodyBytes,
    onerror: onError,
  });
  const after = (ms: number, run: () => void) => void setTimeout(run, ms).unref();
  const sessions = createMcpSessions({
    newServer,
    newId,
    now,
    after,
    settings,
    slots: shared ? (own) => createSlots({ ...shared, ...own, timers: realTimers, settings, onError }) : null,
    onError,
  });
  const stop = credentials.onRevoke((credentialId) => sessions.revoke(credentialId));

  return {
    endpoints: createMcpRoutes({ credentials, directory, newborn, modern, sessions, bodyBytes: settings.bodyBytes }),
    async close() {
      stop();
      park.close();
      heard.close();
      await sessions.close();
      await modern.close();
    },
  };
}
