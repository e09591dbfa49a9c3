/**
 * Whether this home is the one that it was, or a copy of it: two that go by the same rows would
 * both run what is due. A copy is another relay of the household from its first start on: it has a
 * name of its own, and what was due at the first is due there still, until the person brings it
 * here.
 */
import type { EventLog } from '../contracts/index.ts';
import { NO_DETAIL } from './history.ts';
import { ELSEWHERE } from './moving-rows.ts';
import type { Db } from '../store/index.ts';

export interface Place {
  /** Something was due at the home of which this is a copy, and is not due here. */
  copied(): boolean;
}

export interface PlaceDeps {
  readonly db: Db;
  /** Names the home; a copy has the same. */
  readonly home: string;
  /** Says where its folder lies, see home.ts; null: its store is not in it, and is there once. */
  readonly place: string | null;
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly now: () => number;
  readonly newId: () => string;
  readonly onError: (error: unknown) => void;
}

const clockOf = (db: Db, home: string) => db.selectFrom('clocks').selectAll().where('home', '=', home);

/**
 * The name under which this home is known to other relays of the household, where something is due.
 */
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
    // What was due or went on there has its end there.
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

/** Looks where the home lies, before anything of it goes. */
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
