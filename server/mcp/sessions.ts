/**
 * Sessions of clients that speak the protocol up to 2025-11-25: they begin with `initialize`, and everything
 * later names the session. A session belongs to the credential that began it; its client may cancel a call by a
 * notification, which is why the session is kept.
 */
import { isInitializeRequest, WebStandardStreamableHTTPServerTransport, type AuthInfo, type Server } from '@modelcontextprotocol/server';
import type { Busy } from './server.ts';
import type { McpSettings } from './settings.ts';

export interface McpSessionsDeps {
  readonly newServer: (busy: Busy) => Server;
  readonly newId: () => string;
  readonly now: () => number;
  /** Calls `run` once, `ms` from now. */
  readonly after: (ms: number, run: () => void) => void;
  readonly settings: Pick<McpSettings, 'sessions' | 'sessionIdleMs' | 'keepAliveMs' | 'revokeGraceMs'>;
  readonly onError: (error: unknown) => void;
}

interface Session {
  readonly credentialId: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
  /** Requests that are not answered yet. */
  open: number;
}

export interface McpSessions {
  /** `body`: what a POST carried, already parsed. */
  handle(request: Request, options: { readonly auth: AuthInfo; readonly credentialId: string; readonly body: unknown }): Promise<Response>;
  /** Ends the sessions of a credential, as soon as what is under way has said its last word. */
  revoke(credentialId: string): void;
  count(): number;
  close(): Promise<void>;
}

/** An error of the transport, as the protocol has it. */
export const refusal = (status: number, code: number, message: string): Response =>
  Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });

export function createMcpSessions({ newServer, newId, now, after, settings, onError }: McpSessionsDeps): McpSessions {
  /** In the order in which they were last used. */
  const sessions = new Map<string, Session>();

  /** Whoever went away without a word makes place: the one that was longest unused. */
  function makePlace(): boolean {
    if (sessions.size < settings.sessions) return true;
    for (const [id, { transport, open, usedAt }] of sessions) {
      if (open > 0 || usedAt > now() - settings.sessionIdleMs) continue;
      sessions.delete(id);
      transport.close().catch(onError);
      return true;
    }
    return false;
  }

  async function begin(credentialId: string): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      keepAliveMs: settings.keepAliveMs,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: Session = { credentialId, transport, usedAt: now(), open: 0 };
    const server = newServer((id) => {
      session.open += 1;
      return (cancelled) => {
        session.open -= 1;
        session.usedAt = now();
        // The transport keeps a stream open until its request is answered, and this one never will be.
        if (cancelled) transport.closeSSEStream(id);
      };
    });
    server.onclose = () => {
      if (transport.sessionId !== undefined && sessions.get(transport.sessionId) === session) sessions.delete(transport.sessionId);
    };
    server.onerror = onError;
    await server.connect(transport);
    return session;
  }

  return {
    async handle(request, { auth, credentialId, body }) {
      const id = request.headers.get('mcp-session-id');
      let session = id === null ? undefined : sessions.get(id);
      // Whose session it is, is nobody else's to know.
      if (id !== null && session?.credentialId !== credentialId) return refusal(404, -32_001, 'Session not found. Begin another with initialize.');
      if (!session) {
        if (!isInitializeRequest(body)) return refusal(400, -32_000, 'Bad Request: begin with initialize, and send its Mcp-Session-Id with everything later.');
        if (!makePlace()) return refusal(503, -32_000, `Too many sessions are open; there may be ${settings.sessions}. End one, or try again later.`);
        session = await begin(credentialId);
      }
      session.usedAt = now();
      if (id !== null && sessions.delete(id)) sessions.set(id, session);
      return await session.transport.handleRequest(request, { authInfo: auth, ...(body === undefined ? {} : { parsedBody: body }) });
    },
    revoke(credentialId) {
      for (const [id, session] of sessions) {
        if (session.credentialId !== credentialId) continue;
        sessions.delete(id);
        after(settings.revokeGraceMs, () => void session.transport.close().catch(onError));
      }
    },
    count: () => sessions.size,
    async close() {
      const open = [...sessions.values()];
      sessions.clear();
      for (const { transport } of open) await transport.close();
    },
  };
}
