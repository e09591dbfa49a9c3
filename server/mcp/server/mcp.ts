/** The MCP server at work: what `index.ts` loads at the first request. */
import {
  createMcpHandler,
  isJsonContentType,
  isLegacyRequest,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { realTimers } from '../../../src/shared/domain/platform/timers.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import { readJson as readBody, tooMuchOf } from '../../http/body.ts';
import { authenticate, joinedFrom, type BearerDeps } from './bearer.ts';
import { createReceived, createPark, createResources, createServers, type Every } from './server.ts';
import { createMcpSessions, createSlots, type McpSessions, refusal } from './sessions.ts';
import { MCP_SETTINGS } from './settings.ts';
import type { McpDeps, McpRoutes } from './types.ts';

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

/**
 * The SDK promises to keep each connection. Node knows which ones the client closes: a client that
 * believed the promise would be refused at its next request.
 */
async function withoutPromise(answered: Promise<Response>): Promise<Response> {
  const response = await answered;
  response.headers.delete('connection');
  return response;
}

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

function createMcpRoutes({ modern, sessions, bodyBytes, ...bearer }: McpRoutesDeps): McpRoutes {
  const inSession = (request: Request, auth: AuthInfo, body: unknown) =>
    withoutPromise(sessions.handle(request, { auth, credentialId: joinedFrom(auth).credentialId, body }));

  return {
    async post(context) {
      const auth = await authenticate(bearer, context);
      const request = context.req.raw;
      const read = await readJson(request, bodyBytes);
      if (!read.ok) return read.response;
      if (await isLegacyRequest(request, read.body)) return await inSession(request, auth, read.body);
      return await withoutPromise(modern.fetch(request, { authInfo: auth, parsedBody: read.body }));
    },
    inSession: async (context) => await inSession(context.req.raw, await authenticate(bearer, context), undefined),
  };
}

const systemEvery: Every = (ms, run) => {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
};

/** `close` ends every stream and session. */
export function openMcp(deps: McpDeps): McpRoutes & { close(): Promise<void> } {
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
    ...createMcpRoutes({ credentials, directory, newborn, modern, sessions, bodyBytes: settings.bodyBytes }),
    async close() {
      stop();
      park.close();
      heard.close();
      await sessions.close();
      await modern.close();
    },
  };
}
