/**
 * Sessions of clients that speak the protocol up to 2025-11-25: they begin with `initialize`, and
 * everything later names the session. A session belongs to the credential that began it; its client
 * may cancel a call by a notification, which is why the session is kept.
 */
import {
  isInitializeRequest,
  WebStandardStreamableHTTPServerTransport,
  type AuthInfo,
  type Server,
} from '@modelcontextprotocol/server';
import type { Slot, Slots } from './slots.ts';
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
  /**
   * Where other processes may have sessions of the same credentials; null: this one has all of
   * them.
   */
  readonly slots: ((own: { isBusy(session: string): boolean; onLost(session: string): void }) => Slots) | null;
  readonly onError: (error: unknown) => void;
}

interface Session extends Slot {
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

const notFound = () => refusal(404, -32_001, 'Session not found. Begin another with initialize.');

export function createMcpSessions({
  newServer,
  newId,
  now,
  after,
  settings,
  onError,
  ...deps
}: McpSessionsDeps): McpSessions {
  /** In the order in which they were last used. */
  const sessions = new Map<string, Session>();
  /**
   * Not named yet; they take a place from their first moment, so that many at once find no more
   * than there are.
   */
  const beginning = new Set<Session>();

  function end(id: string): void {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.transport.close().catch(onError);
  }
  const slots = deps.slots?.({ isBusy: (session) => (sessions.get(session)?.open ?? 0) > 0, onLost: end }) ?? null;

  /** Whoever went away without a word makes slot: the one that was longest unused. */
  function endUnused(candidates: Iterable<readonly [string, Session]>, idleMs: number): boolean {
    for (const [id, session] of candidates) {
      if (session.open > 0 || session.usedAt > now() - idleMs) continue;
      end(id);
      slots?.release(session);
      return true;
    }
    return false;
  }

  const tooManyOfOne = () =>
    refusal(
      429,
      -32_000,
      `This credential has ${settings.sessionsOfOne} sessions open, which is the most. End one with DELETE and its Mcp-Session-Id, or wait: one that is not used for ${Math.ceil(settings.ownIdleMs / 1_000)} s makes place.`,
    );

  /**
   * Why there is no place for another session of this credential; null where there is, or one has
   * made place.
   */
  function refuse(credentialId: string): Response | null {
    if (slots === null) {
      const own = [...sessions].filter(([, session]) => session.credentialId === credentialId);
      const used = own.length + [...beginning].filter((session) => session.credentialId === credentialId).length;
      if (used >= settings.sessionsOfOne && !endUnused(own, settings.ownIdleMs)) return tooManyOfOne();
    }
    if (sessions.size + beginning.size < settings.sessions || endUnused(sessions, settings.sessionIdleMs)) return null;
    return refusal(
      503,
      -32_000,
      `Too many sessions are open; there may be ${settings.sessions}. End one, or try again later.`,
    );
  }

  /** It takes a place here from this moment on; its client knows nothing of it yet. */
  function begin(credentialId: string): Session {
    const id = newId();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      keepAliveMs: settings.keepAliveMs,
      onsessioninitialized: () => void sessions.set(id, session),
    });
    const session: Session = { credentialId, session: id, transport, usedAt: now(), open: 0 };
    beginning.add(session);
    return session;
  }

  async function connect(session: Session): Promise<void> {
    const { transport } = session;
    const server = newServer((id) => {
      session.open += 1;
      return (cancelled) => {
        session.open -= 1;
        session.usedAt = now();
        // The transport keeps a stream open until its request is answered, and this one never will
        // be.
        if (cancelled) transport.closeSSEStream(id);
      };
    });
    server.onclose = () => {
      if (sessions.get(session.session) !== session) return;
      sessions.delete(session.session);
      slots?.release(session);
    };
    server.onerror = onError;
    await server.connect(transport);
  }

  return {
    async handle(request, { auth, credentialId, body }) {
      const id = request.headers.get('mcp-session-id');
      let session = id === null ? undefined : sessions.get(id);
      // Whose session it is, is nobody else's to know.
      if (id !== null && session?.credentialId !== credentialId) return notFound();
      try {
        if (session && slots !== null && !(await slots.use(session))) {
          end(session.session);
          return notFound();
        }
        if (!session) {
          if (!isInitializeRequest(body))
            return refusal(
              400,
              -32_000,
              'Bad Request: begin with initialize, and send its Mcp-Session-Id with everything later.',
            );
          const full = refuse(credentialId);
          if (full) return full;
          session = begin(credentialId);
          const taken = await slots?.take(session);
          if (taken?.ok === false) return tooManyOfOne();
          if (taken && taken.ended !== null) end(taken.ended);
          await connect(session);
        }
        session.usedAt = now();
        if (id !== null && sessions.delete(id)) sessions.set(id, session);
        return await session.transport.handleRequest(request, {
          authInfo: auth,
          ...(body === undefined ? {} : { parsedBody: body }),
        });
      } finally {
        // What did not become a session gives its place back.
        if (session && beginning.delete(session) && !sessions.has(session.session)) slots?.release(session);
      }
    },
    revoke(credentialId) {
      for (const [id, session] of sessions) {
        if (session.credentialId !== credentialId) continue;
        sessions.delete(id);
        slots?.release(session);
        after(settings.revokeGraceMs, () => void session.transport.close().catch(onError));
      }
    },
    count: () => sessions.size,
    async close() {
      const open = [...sessions.values()];
      sessions.clear();
      for (const { transport } of open) await transport.close();
      await slots?.close();
    },
  };
}
