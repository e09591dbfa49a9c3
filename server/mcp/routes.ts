/**
 * `/mcp`: the relay as MCP server, over streamable HTTP, for both generations of the protocol. What carries the
 * envelope of 2026-07-28 is answered from a fresh instance; everything else belongs to a session.
 */
import type { Context } from 'hono';
import {
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { mcpEndpoints } from '../../src/protocol/endpoints/clients.ts';
import { answer, refuseHead, type Env, type Handled } from '../endpoint.ts';
import { refuseJson } from '../json-bounds.ts';
import { authenticate, joinedFrom, type BearerDeps } from './bearer.ts';
import { refusal, type McpSessions } from './sessions.ts';

export interface McpRoutesDeps extends BearerDeps {
  readonly modern: Pick<McpHttpHandler, 'fetch'>;
  readonly sessions: McpSessions;
  readonly bodyBytes: number;
}

/** The body of a POST, or the answer that refuses it. */
async function readJson(
  request: Request,
  bodyBytes: number,
): Promise<{ readonly ok: true; readonly body: unknown } | { readonly ok: false; readonly response: Response }> {
  const refused = (response: Response) => ({ ok: false, response }) as const;
  if (!isJsonContentType(request.headers.get('content-type')))
    return refused(refusal(415, -32_000, 'Send the body as application/json.'));
  const read = await readRequestBody(request, bodyBytes);
  if (read.tooLarge) return refused(refusal(413, -32_000, `A request may carry ${bodyBytes} bytes at most.`));
  const tooMuch = refuseJson(Buffer.from(read.text));
  if (tooMuch !== null) return refused(refusal(413, -32_000, tooMuch));
  try {
    const body: unknown = JSON.parse(read.text);
    return { ok: true, body };
  } catch (error) {
    if (error instanceof SyntaxError) return refused(refusal(400, -32_700, 'Parse error: the body is not JSON.'));
    throw error;
  }
}

export function createMcpRoutes({ modern, sessions, bodyBytes, ...bearer }: McpRoutesDeps): readonly Handled[] {
  const inSession = (request: Request, auth: AuthInfo, body: unknown) =>
    sessions.handle(request, { auth, credentialId: joinedFrom(auth).credentialId, body });

  const inOneSession = async (context: Context<Env>) =>
    await inSession(context.req.raw, await authenticate(bearer, context.req.header('authorization')), undefined);

  return answer(mcpEndpoints, {
    async mcpPost(_, context) {
      const auth = await authenticate(bearer, context.req.header('authorization'));
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
