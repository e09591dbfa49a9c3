/**
 * Sessions of clients that speak the protocol up to 2025-11-25: they begin with `initialize`, and everything
 * later names the session. A session belongs to the credential that began it; its client may cancel a call by a
 * notification, which is why the session is kept.
 */
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type Server,
} from '@modelcontextprotocol/server';
import type { Busy } from './server.ts';
import type { McpSettings } from './settings.ts';

export interface McpSessionsDeps {
  readonly newServer: (busy: Busy) => Server;
  readonly newId: () => string;
  readonly now: () => number;
  /** Calls `run` once, `ms` from now. */
  readonly after: (ms: number, run: () => void) => void;
  readonly settings: Pick<
    McpSettings,
    'sessions' | 'sessionsOfOne' | 'ownIdleMs' | 'sessionIdleMs' | 'keepAliveMs' | 'revokeGraceMs'
  >;
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
  handle(
    request: Request,
    options: { readonly auth: AuthInfo; readonly credentialId: string; readonly body: unknown },
  ): Promise<Response>;
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
  /** Not named yet; they take a place from their first moment, so that many at once find no more than there are. */
  const beginning = new Set<Session>();

  /** Whoever went away without a word makes place: the one that was longest unused. */
  function endUnused(candidates: Iterable<readonly [string, Session]>, idleMs: number): boolean {
    for (const [id, { transport, open, usedAt }] of candidates) {
      if (open > 0 || usedAt > now() - idleMs) continue;
      sessions.delete(id);
      transport.close().catch(onError);
      return true;
    }
    return false;
  }

  /** Why there is no place for another session of this credential; null where there is, or one has made place. */
  function refuse(credentialId: string): Response | null {
    const own = [...sessions].filter(([, session]) => session.credentialId === credentialId);
    const used = own.length + [...beginning].filter((session) => session.credentialId === credentialId).length;
    if (used >= settings.sessionsOfOne && !endUnused(own, settings.ownIdleMs))
      return refusal(
        429,
        -32_000,
        `This credential has ${used} sessions open, which is the most. End one with DELETE and its Mcp-Session-Id, or wait: one that is not used for ${Math.ceil(settings.ownIdleMs / 1_000)} s makes place.`,
      );
    if (sessions.size + beginning.size < settings.sessions || endUnused(sessions, settings.sessionIdleMs)) return null;
    return refusal(
      503,
      -32_000,
      `Too many sessions are open; there may be ${settings.sessions}. End one, or try again later.`,
    );
  }

  async function begin(credentialId: string): Promise<Session> {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: newId,
      keepAliveMs: settings.keepAliveMs,
      onsessioninitialized: (id) => void sessions.set(id, session),
    });
    const session: Session = { credentialId, transport, usedAt: now(), open: 0 };
    beginning.add(session);
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
      if (transport.sessionId !== undefined && sessions.get(transport.sessionId) === session)
        sessions.delete(transport.sessionId);
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
      if (id !== null && session?.credentialId !== credentialId)
        return refusal(404, -32_001, 'Session not found. Begin another with initialize.');
      if (!session) {
        if (!isInitializeRequest(body))
          return refusal(
            400,
            -32_000,
            'Bad Request: begin with initialize, and send its Mcp-Session-Id with everything later.',
          );
        const full = refuse(credentialId);
        if (full) return full;
        session = await begin(credentialId);
      }
      session.usedAt = now();
      if (id !== null && sessions.delete(id)) sessions.set(id, session);
      try {
        return await session.transport.handleRequest(request, {
          authInfo: auth,
          ...(body === undefined ? {} : { parsedBody: body }),
        });
      } finally {
        beginning.delete(session);
      }
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
