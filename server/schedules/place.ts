/**
 * Finds out whether this home is the original or a copy. Two homes with the same rows would both
 * run what is due. From its first start on, a copy counts as another relay of the household: it has
 * its own name, and everything stays due at the original until the person brings it here.
 */
import type { EventLog } from '../log/index.ts';
import { NO_DETAIL } from './history.ts';
import { ELSEWHERE } from './moving-rows.ts';
import type { Db, HomeStore } from '../store/index.ts';

export interface Place {
  /** Whether this home is a copy, and schedules of the original are not due here yet. */
  copied(): boolean;
}

export interface PlaceDeps extends HomeStore {
  /**
   * Where the home's folder is, see home.ts. Null: the store is outside the folder, and cannot be
   * copied with it.
   */
  readonly place: string | null;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

const clockOf = (db: Db, home: string) => db.selectFrom('clocks').selectAll().where('home', '=', home);

/** The name under which the other relays of the household know this home. */
export async function siteOf(db: Db, home: string): Promise<string> {
  return (await clockOf(db, home).executeTakeFirst())?.site ?? home;
}

async function settle({ db, home, place, now, newId }: PlaceDeps): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const before = await clockOf(trx, home).forUpdate().executeTakeFirst();
    const write = (what: { place: string | null; site?: string; copied_from?: string }) =>
      trx
        .insertInto('clocks')
        .values({ home, seen_at: now(), stopped_at: null, ...what })
        .onConflict((conflict) => conflict.column('home').doUpdateSet(what))
        .execute();
    if (!before?.place || before.place === place) return await write({ place });
    const first = before.site ?? home;
    await write({ place, site: newId(), copied_from: first });
    await trx
      .updateTable('schedules')
      .set({ elsewhere: first, paused_why: ELSEWHERE, due_at: null, wanted: false })
      .where('home', '=', home)
      .where('removed', '=', false)
      .where('elsewhere', 'is', null)
      .execute();
    // What was due or running there ends there.
    await trx
      .updateTable('occurrences')
      .set({
        ...{ state: 'cancelled', ended_at: now(), lease_until: null },
        detail_json: JSON.stringify({ ...NO_DETAIL, detail: ELSEWHERE }),
      })
      .where('home', '=', home)
      .where('ended_at', 'is', null)
      .execute();
  });
}

async function isCopied(db: Db, home: string): Promise<boolean> {
  const from = (await clockOf(db, home).executeTakeFirst())?.copied_from ?? null;
  if (from === null) return false;
  const away = await db
    .selectFrom('schedules')
    .select('schedule')
    .where('home', '=', home)
    .where('removed', '=', false)
    .where('elsewhere', '=', from)
    .limit(1)
    .execute();
  return away.length > 0;
}

/** Detects a copy before anything of the home starts. */
export async function openPlace(deps: PlaceDeps): Promise<Place> {
  const { db, home, log, onError } = deps;
  if (deps.place !== null) await settle(deps);
  let copied = await isCopied(db, home);
  log.subscribe(({ event }) => {
    if (copied && event.kind === 'changed' && event.what === 'schedules')
      isCopied(db, home).then((is) => (copied = is), onError);
  });
  return { copied: () => copied };
}
