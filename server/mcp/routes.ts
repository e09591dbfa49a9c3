/**
 * `/mcp`: the relay as MCP server, over streamable HTTP, for both generations of the protocol. What carries the
 * envelope of 2026-07-28 is answered from a fresh instance; everything else belongs to a session.
 */
import {
  isJsonContentType,
  isLegacyRequest,
  readRequestBody,
  type AuthInfo,
  type McpHttpHandler,
} from '@modelcontextprotocol/server';
import { refuseJson } from '../json-bounds.ts';
import { problem } from '../problem.ts';
import type { Routes } from '../route.ts';
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

export function createMcpRoutes({ modern, sessions, bodyBytes, ...bearer }: McpRoutesDeps): Routes {
  const inSession = (request: Request, auth: AuthInfo, body: unknown) =>
    sessions.handle(request, { auth, credentialId: joinedFrom(auth).credentialId, body });

  return (route) =>
    route('/mcp', {
      async POST(context) {
        const auth = await authenticate(bearer, context.req.header('authorization'));
        const request = context.req.raw;
        const read = await readJson(request, bodyBytes);
        if (!read.ok) return read.response;
        if (await isLegacyRequest(request, read.body)) return await inSession(request, auth, read.body);
        return await modern.fetch(request, { authInfo: auth, parsedBody: read.body });
      },
      async GET(context) {
        // A HEAD would open a stream that nobody reads.
        if (context.req.method === 'HEAD')
          throw problem(405, 'method', 'This address takes POST, GET, DELETE.', {
            headers: { allow: 'POST, GET, DELETE' },
          });
        return await inSession(
          context.req.raw,
          await authenticate(bearer, context.req.header('authorization')),
          undefined,
        );
      },
      async DELETE(context) {
        return await inSession(
          context.req.raw,
          await authenticate(bearer, context.req.header('authorization')),
          undefined,
        );
      },
    });
}
