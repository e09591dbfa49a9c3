/**
 * Sessions of clients that speak the protocol up to 2025-11-25. A session begins with `initialize`,
 * and all later requests name it. It belongs to the credential that began it. The session is needed
 * because a client may cancel a call by a notification.
 */
import { sql } from 'kysely';
import {
  type AuthInfo,
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { isOneOf, lockNamed, STORE_NOW } from '../../store/dialect.ts';
import { ALWAYS_THERE, type Database, type Db, type HomeStore } from '../../store/index.ts';
import type { McpSettings } from './settings.ts';
import type { Busy } from './server.ts';

// A credential's session slots, where several processes share a store. Each session is a row. Its
// process refreshes the row at intervals. A row without a refresh for a while was left by a process
// that died. Times come from the store, so the clocks of several machines need not agree.

/** One session of a credential. */
interface Slot {
  readonly credentialId: string;
  readonly session: string;
}

interface Slots {
  /**
   * Takes a slot. `ended`: a session, of this process or another, that lost its slot to this one.
   */
  take(slot: Slot): Promise<{ readonly ok: true; readonly ended: string | null } | { readonly ok: false }>;
  /** Records that the session is used. False: it lost its slot and is over. */
  use(slot: Slot): Promise<boolean>;
  /** Returns the slot. */
  release(slot: Slot): void;
  /** Resolves when all slots are returned. */
  close(): Promise<void>;
}

export interface SlotsDeps extends HomeStore {
  /** Left out: the database is always reachable. */
  readonly database?: Pick<Database, 'backMs'>;
  readonly timers: Timers;
  readonly settings: Pick<McpSettings, 'sessionsOfOne' | 'ownIdleMs' | 'seenEveryMs' | 'deadMs'>;
  /** Whether a request runs in the session. Such a session is in use, however long that takes. */
  readonly isBusy: (session: string) => boolean;
  /** The session lost its slot, or its process was taken for dead. */
  readonly onLost: (session: string) => void;
  /** A refresh could not be written. The next one is tried all the same. */
  readonly onError: (error: unknown) => void;
}

export function createSlots(deps: SlotsDeps): Slots {
  const { db, database = ALWAYS_THERE, home, timers, settings, isBusy, onLost, onError } = deps;
  const own = new Map<string, Slot>();
  let cancel: (() => void) | null = null;
  let under: Promise<unknown> = Promise.resolve();
  const remove = (tx: Db, { credentialId, session }: Slot) =>
    tx
      .deleteFrom('mcp_sessions')
      .where('home', '=', home)
      .where('credential', '=', credentialId)
      .where('session', '=', session)
      .execute();

  async function beat(): Promise<void> {
    const all = [...own.keys()];
    const busy = all.filter(isBusy);
    const rows = await db
      .updateTable('mcp_sessions')
      .set({
        seen_at: STORE_NOW,
        used_at: sql<number>`case when ${isOneOf('session', busy)} then ${STORE_NOW} else used_at end`,
      })
      .where('home', '=', home)
      .where(isOneOf('session', all))
      .returning('session')
      .execute();
    const there = new Set(rows.map(({ session }) => session));
    for (const session of all) if (!there.has(session) && own.delete(session)) onLost(session);
  }
  function beatLater(): void {
    if (own.size === 0) return;
    cancel ??= timers.after(settings.seenEveryMs, () => {
      cancel = null;
      under = beat().catch(onError).finally(beatLater);
    });
  }

  return {
    async take({ credentialId, session }) {
      const admission = await db.transaction().execute(async (tx) => {
        // One at a time, across all processes.
        await lockNamed(tx, `roost mcp ${home} ${credentialId}`);
        const mine = tx.selectFrom('mcp_sessions').where('home', '=', home).where('credential', '=', credentialId);
        // After an outage other processes must first refresh their rows.
        if (database.backMs() >= settings.deadMs)
          await tx
            .deleteFrom('mcp_sessions')
            .where('home', '=', home)
            .where('credential', '=', credentialId)
            .where('seen_at', '<=', sql<number>`${STORE_NOW} - ${settings.deadMs}`)
            .execute();
        const { count } = await mine.select(sql<string>`count(*)`.as('count')).executeTakeFirstOrThrow();
        let ended: string | null = null;
        if (Number(count) >= settings.sessionsOfOne) {
          const unused = await mine
            .select('session')
            .where('used_at', '<=', sql<number>`${STORE_NOW} - ${settings.ownIdleMs}`)
            .orderBy('used_at')
            .limit(1)
            .executeTakeFirst();
          if (!unused) return { ok: false } as const;
          ended = unused.session;
          await remove(tx, { credentialId, session: ended });
        }
        await tx
          .insertInto('mcp_sessions')
          .values({ home, credential: credentialId, session, used_at: STORE_NOW, seen_at: STORE_NOW })
          .execute();
        return { ok: true, ended } as const;
      });
      if (!admission.ok) return admission;
      if (admission.ended !== null) own.delete(admission.ended);
      own.set(session, { credentialId, session });
      beatLater();
      return admission;
    },
    async use({ credentialId, session }) {
      const { numUpdatedRows } = await db
        .updateTable('mcp_sessions')
        .set({ seen_at: STORE_NOW, used_at: STORE_NOW })
        .where('home', '=', home)
        .where('credential', '=', credentialId)
        .where('session', '=', session)
        .executeTakeFirst();
      if (numUpdatedRows > 0n) return true;
      own.delete(session);
      return false;
    },
    release(slot) {
      own.delete(slot.session);
      const removing = remove(db, slot).catch(onError);
      under = Promise.all([under, removing]);
    },
    async close() {
      cancel?.();
      cancel = null;
      const left = [...own.values()];
      own.clear();
      await under;
      await Promise.all(left.map((slot) => remove(db, slot).catch(onError)));
    },
  };
}

interface McpSessionsDeps {
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
   * The slots where other processes may have sessions of the same credentials. Null: this process
   * has all of them.
   */
  readonly slots: ((own: { isBusy(session: string): boolean; onLost(session: string): void }) => Slots) | null;
  readonly onError: (error: unknown) => void;
}

interface Session extends Slot {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
  /** Requests without an answer yet. */
  open: number;
}

export interface McpSessions {
  /** `body`: the parsed body of a POST. */
  handle(
    request: Request,
    options: { readonly auth: AuthInfo; readonly credentialId: string; readonly body: unknown },
  ): Promise<Response>;
  /** Ends the sessions of a credential, once running calls have sent their last answer. */
  revoke(credentialId: string): void;
  count(): number;
  close(): Promise<void>;
}

/** A transport error in the protocol's form. */
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
  /** Ordered by last use. */
  const sessions = new Map<string, Session>();
  /**
   * Sessions without an id yet. They take a slot from the start, so that many concurrent ones
   * cannot exceed the limit.
   */
  const beginning = new Set<Session>();

  function end(id: string): void {
    const session = sessions.get(id);
    sessions.delete(id);
    session?.transport.close().catch(onError);
  }
  const slots = deps.slots?.({ isBusy: (session) => (sessions.get(session)?.open ?? 0) > 0, onLost: end }) ?? null;

  /**
   * Ends the session that was unused longest, to free a slot. Clients may leave without ending
   * their session.
   */
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
   * Why this credential gets no further session. Null: there is room, or an unused session was
   * ended.
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

  /** Takes a slot here from this moment on. Its client does not know the session yet. */
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
      // A client must not learn that another credential's session exists.
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
        // A failed start returns its slot.
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
