/**
 * The slots that a credential has for sessions, where several processes share a store. Each session
 * is a row there: its process says of it, again and again, that it is there, and what has not been
 * heard of for a while was left by a process that died. Times are the store's own, so that clocks
 * of several machines need not agree.
 */
import { sql } from 'kysely';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { ALWAYS_THERE, type Database, type Db } from '../../store/index.ts';
import type { McpSettings } from './settings.ts';

/** Whose session it is, and which. */
export interface Slot {
  readonly credentialId: string;
  readonly session: string;
}

export interface Slots {
  /** Takes one. `ended`: the session that has made room for it, of this process or another. */
  take(slot: Slot): Promise<{ readonly ok: true; readonly ended: string | null } | { readonly ok: false }>;
  /** Notes that it is used. False: it has made room for another one, and is over. */
  use(slot: Slot): Promise<boolean>;
  /** Gives it back. */
  release(slot: Slot): void;
  /** Resolves when all are given back. */
  close(): Promise<void>;
}

export interface SlotsDeps {
  readonly db: Db;
  /** Left out: it can always be reached. */
  readonly database?: Pick<Database, 'backMs'>;
  readonly home: string;
  readonly timers: Timers;
  readonly settings: Pick<McpSettings, 'sessionsOfOne' | 'ownIdleMs' | 'seenEveryMs' | 'deadMs'>;
  /** Is something under way in it? Then it is in use, however long it takes. */
  readonly isBusy: (session: string) => boolean;
  /** It has made room for another one, or its process was taken for dead. */
  readonly onLost: (session: string) => void;
  /** A sign of life could not be written; the next one is tried all the same. */
  readonly onError: (error: unknown) => void;
}

const NOW = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;

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
        seen_at: NOW,
        used_at: sql<number>`case when session = any(${busy}::text[]) then ${NOW} else used_at end`,
      })
      .where('home', '=', home)
      .where('session', '=', sql<string>`any(${all}::text[])`)
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
      const taken = await db.transaction().execute(async (tx) => {
        // One after the other, in all processes.
        await sql`select pg_advisory_xact_lock(hashtextextended(${`roost mcp ${home} ${credentialId}`}, 0))`.execute(
          tx,
        );
        const mine = tx.selectFrom('mcp_sessions').where('home', '=', home).where('credential', '=', credentialId);
        // After an outage others first say again that they are there.
        if (database.backMs() >= settings.deadMs)
          await tx
            .deleteFrom('mcp_sessions')
            .where('home', '=', home)
            .where('credential', '=', credentialId)
            .where('seen_at', '<=', sql<number>`${NOW} - ${settings.deadMs}::bigint`)
            .execute();
        const { count } = await mine.select(sql<string>`count(*)`.as('count')).executeTakeFirstOrThrow();
        let ended: string | null = null;
        if (Number(count) >= settings.sessionsOfOne) {
          const unused = await mine
            .select('session')
            .where('used_at', '<=', sql<number>`${NOW} - ${settings.ownIdleMs}::bigint`)
            .orderBy('used_at')
            .limit(1)
            .executeTakeFirst();
          if (!unused) return { ok: false } as const;
          ended = unused.session;
          await remove(tx, { credentialId, session: ended });
        }
        await tx
          .insertInto('mcp_sessions')
          .values({ home, credential: credentialId, session, used_at: NOW, seen_at: NOW })
          .execute();
        return { ok: true, ended } as const;
      });
      if (!taken.ok) return taken;
      if (taken.ended !== null) own.delete(taken.ended);
      own.set(session, { credentialId, session });
      beatLater();
      return taken;
    },
    async use({ credentialId, session }) {
      const { numUpdatedRows } = await db
        .updateTable('mcp_sessions')
        .set({ seen_at: NOW, used_at: NOW })
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
