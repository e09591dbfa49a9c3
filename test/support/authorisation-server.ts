/**
 * An MCP server that asks for a sign-in, and its authorisation server (OAuth 2.1: discovery,
 * registration, PKCE, refresh with rotation), both over HTTP.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { mcpAnswer } from './mcp-answer.ts';

export interface AuthorisationServer {
  /** Of the MCP server. */
  readonly url: string;
  /** Its secrets: tokens, codes. */
  readonly secrets: ReadonlySet<string>;
  readonly heard: readonly { readonly path: string; readonly body: string; readonly bearer: string | undefined }[];
  /** What it does otherwise than it should from now on. */
  does(how: How): void;
  /** The person allows it on the page to which they were sent: where they are sent back to. */
  allow(page: string): Promise<URL>;
  /** Access tokens are no longer taken; `all`: nor what they are renewed with. */
  expire(all?: boolean): void;
  /** No client that was registered is known any more. */
  forgetClients(): void;
  close(): Promise<void>;
}

interface How {
  /** What it calls itself when it sends the person back; null: it does not say. */
  readonly iss?: string | null;
  /** What its description calls it. */
  readonly issuer?: string;
  readonly refuses?: boolean;
  readonly page?: string;
  readonly tokenStatus?: number;
  /** What it answers where a token is asked for. */
  readonly token?: { readonly status: number; readonly type: string; readonly body: string };
  /** The MCP server: its stream of messages is not there; it takes no token. */
  readonly getStatus?: number;
  readonly takesNone?: boolean;
  /** The methods that ask for a sign-in; left out: all. */
  readonly asksFor?: readonly string[];
}

const TOOL = { name: 'echo', description: 'Says it again.', inputSchema: { type: 'object' } };
const idToken = ['{}', JSON.stringify({ email: 'ada@example.org' }), ''].map((part) =>
  Buffer.from(part).toString('base64url'),
);
const rpcSchema = z.object({
  id: z.number().optional(),
  method: z.string(),
  params: z.looseObject({ protocolVersion: z.string().optional() }).optional(),
});

export async function startAuthorisationServer(): Promise<AuthorisationServer> {
  let how: How = {};
  const heard: { path: string; body: string; bearer: string | undefined }[] = [];
  const secrets = new Set<string>();
  const access = new Set<string>();
  const refresh = new Set<string>();
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string }>();
  const clients = new Map<string, readonly string[]>();
  const secret = (kept?: Set<string>) => {
    const made = `secret-${randomUUID()}`;
    secrets.add(made);
    kept?.add(made);
    return made;
  };
  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const tokens = () => ({
    access_token: secret(access),
    refresh_token: secret(refresh),
    token_type: 'Bearer',
    expires_in: 3_600,
    id_token: idToken.join('.'),
  });

  function authorise(query: URLSearchParams): URL {
    const redirect = query.get('redirect_uri') ?? '';
    if (!clients.get(query.get('client_id') ?? '')?.includes(redirect)) throw new Error('no such client');
    const back = new URL(redirect);
    back.searchParams.set('state', query.get('state') ?? '');
    if (how.iss !== null) back.searchParams.set('iss', how.iss ?? origin());
    if (how.refuses) {
      back.searchParams.set('error', 'access_denied');
      return back;
    }
    const code = secret();
    codes.set(code, { challenge: query.get('code_challenge') ?? '', redirect });
    back.searchParams.set('code', code);
    return back;
  }
  function token(response: ServerResponse, form: URLSearchParams): void {
    if (how.tokenStatus !== undefined) return json(response, how.tokenStatus, {});
    if (how.token)
      return void response.writeHead(how.token.status, { 'content-type': how.token.type }).end(how.token.body);
    if (!clients.has(form.get('client_id') ?? '')) return json(response, 401, { error: 'invalid_client' });
    if (form.get('grant_type') === 'refresh_token')
      return refresh.delete(form.get('refresh_token') ?? '')
        ? json(response, 200, tokens())
        : json(response, 400, { error: 'invalid_grant' });
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return code?.challenge === challenge && code.redirect === form.get('redirect_uri')
      ? json(response, 200, tokens())
      : json(response, 400, { error: 'invalid_grant' });
  }
  function mcp(response: ServerResponse, bearer: string | undefined, body: string): void {
    const asked = rpcSchema.parse(JSON.parse(body));
    const isOpen = how.asksFor !== undefined && !how.asksFor.includes(asked.method);
    if (!isOpen && (how.takesNone || bearer === undefined || !access.has(bearer)))
      return void response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin()}/found/here"` })
        .end();
    if (asked.id === undefined) return void response.writeHead(202).end();
    const result = mcpAnswer(asked, TOOL, 'From behind the sign-in.');
    json(response, 200, { jsonrpc: '2.0', id: asked.id, result });
  }

  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request);
      const { pathname: path } = new URL(request.url ?? '', origin());
      const bearer = request.headers.authorization?.replace(/^Bearer /, '');
      heard.push({ path, body, bearer });
      if (path === '/mcp')
        return request.method === 'POST' ? mcp(response, bearer, body) : json(response, how.getStatus ?? 405, {});
      if (path === '/found/here')
        return json(response, 200, { resource: `${origin()}/mcp`, authorization_servers: [origin()] });
      if (path === '/.well-known/oauth-authorization-server')
        return json(response, 200, {
          issuer: how.issuer ?? origin(),
          authorization_endpoint: how.page ?? `${origin()}/allow`,
          token_endpoint: `${origin()}/token`,
          registration_endpoint: `${origin()}/register`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
          authorization_response_iss_parameter_supported: true,
        });
      if (path === '/register') {
        const asked = z.looseObject({ redirect_uris: z.array(z.string()) }).parse(JSON.parse(body));
        const clientId = randomUUID();
        clients.set(clientId, asked.redirect_uris);
        return json(response, 201, { ...asked, client_id: clientId });
      }
      if (path === '/token') return token(response, new URLSearchParams(body));
      if (path === '/allow') {
        const query = new URL(request.url ?? '', origin()).searchParams;
        if (!clients.has(query.get('client_id') ?? '')) return json(response, 400, { error: 'invalid_client' });
        const back = authorise(query);
        return void response.writeHead(302, { location: back.href }).end();
      }
      json(response, 404, {});
    })();
  });
  const origin = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  return {
    url: `${origin()}/mcp`,
    secrets,
    heard,
    does: (next) => void (how = next),
    async allow(page) {
      const answer = await fetch(page, { redirect: 'manual' });
      if (answer.status === 400) throw new Error('no such client');
      return new URL(answer.headers.get('location') ?? '');
    },
    forgetClients: () => clients.clear(),
    expire(all = false) {
      access.clear();
      if (all) refresh.clear();
    },
    close: () => new Promise<void>((down) => (server.close(() => down()), server.closeAllConnections())),
  };
}
