/**
 * The SQL of households, their devices and renewed keys. Every function takes the transaction or
 * database it runs in.
 */
import { sql } from 'kysely';
import { z } from 'zod';
import type { Rotation } from '../../src/shared/protocol/sync/control.ts';
import type { Db } from '../store/index.ts';
import type { HouseholdRef } from './entry-rows.ts';

export interface HouseholdRow {
  readonly epoch: number;
  readonly auth_key: string;
  readonly recovery: string | null;
  readonly bytes: number;
}

/** Makes whoever changes how many households there are wait for each other. */
export async function lockRelay(db: Db, relay: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`roost households ${relay}`}, 0))`.execute(db);
}

export async function countHouseholds(db: Db, relay: string): Promise<number> {
  const { count } = await db
    .selectFrom('households')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('relay', '=', relay)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Households whose devices have used this sign-in. */
export async function countOfBrowser(db: Db, relay: string, browser: string): Promise<number> {
  const { count } = await db
    .selectFrom('device_browsers')
    .select((eb) => eb.fn.count<number>('household').distinct().as('count'))
    .where('relay', '=', relay)
    .where('browser', '=', browser)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const householdOf = (db: Db, { relay, household }: HouseholdRef) =>
  db
    .selectFrom('households')
    .select(['epoch', 'auth_key', 'recovery', 'bytes'])
    .where('relay', '=', relay)
    .where('household', '=', household);

export const readHousehold = (db: Db, home: HouseholdRef): Promise<HouseholdRow | undefined> =>
  householdOf(db, home).executeTakeFirst();
/** Its row stays locked until the transaction ends. */
export const lockHousehold = (db: Db, home: HouseholdRef): Promise<HouseholdRow | undefined> =>
  householdOf(db, home).forUpdate().executeTakeFirst();

export async function insertHousehold(
  db: Db,
  { relay, household }: HouseholdRef,
  { epoch, authKey }: { epoch: number; authKey: string },
  now: number,
): Promise<void> {
  await db
    .insertInto('households')
    .values({ relay, household, epoch, auth_key: authKey, made_at: now, bytes: 0 })
    .execute();
}

export interface DeviceRow {
  readonly device: string;
  readonly added_at: number;
  readonly seen_at: number;
  readonly removed_at: number | null;
}

const devicesOf = (db: Db, { relay, household }: HouseholdRef) =>
  db
    .selectFrom('devices')
    .select(['device', 'added_at', 'seen_at', 'removed_at'])
    .where('relay', '=', relay)
    .where('household', '=', household);

/** Also those that were removed, in the order in which they came. */
export const readDevices = (db: Db, home: HouseholdRef): Promise<readonly DeviceRow[]> =>
  devicesOf(db, home).orderBy('added_at').orderBy('device').execute();
export const readDevice = (db: Db, home: HouseholdRef, device: string): Promise<DeviceRow | undefined> =>
  devicesOf(db, home).where('device', '=', device).executeTakeFirst();

export async function insertDevice(
  db: Db,
  { relay, household }: HouseholdRef,
  device: string,
  now: number,
): Promise<void> {
  await db.insertInto('devices').values({ relay, household, device, added_at: now, seen_at: now }).execute();
}

export async function noteSeen(db: Db, { relay, household }: HouseholdRef, device: string, now: number): Promise<void> {
  await db
    .updateTable('devices')
    .set({ seen_at: now })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('device', '=', device)
    .execute();
}

/** Notes that a device has used a sign-in. */
export async function noteBrowser(
  db: Db,
  { relay, household }: HouseholdRef,
  device: string,
  browser: string,
): Promise<void> {
  await db
    .insertInto('device_browsers')
    .values({ relay, household, device, browser })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Puts the next key in the place of the one before: whoever is out is out, and whoever got no key
 * is not known any more, except `by`.
 */
export async function applyRotation(
  db: Db,
  { relay, household }: HouseholdRef,
  rotation: Rotation,
  by: string,
  now: number,
): Promise<void> {
  const { epoch, authKey, removed, boxes, recovery } = rotation;
  const here = { relay, household };
  await db
    .updateTable('households')
    .set({
      epoch,
      auth_key: authKey,
      recovery: recovery?.id ?? null,
      recovery_box: recovery?.box ?? null,
      recovery_epoch: recovery === null ? null : epoch,
    })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .execute();
  await db
    .updateTable('rotations')
    .set({ boxes_json: '{}' })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .execute();
  await db
    .insertInto('rotations')
    .values({ ...here, epoch, auth_key: authKey, rotated_at: now, boxes_json: JSON.stringify(boxes) })
    .execute();
  if (removed.length > 0)
    await db
      .insertInto('devices')
      .values(
        [...new Set(removed)].map((device) => ({
          ...here,
          device,
          added_at: now,
          seen_at: now,
          removed_at: now,
        })),
      )
      .onConflict((conflict) => conflict.columns(['relay', 'household', 'device']).doUpdateSet({ removed_at: now }))
      .execute();
  const stays = [...Object.keys(boxes), by];
  await db
    .deleteFrom('devices')
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('removed_at', 'is', null)
    .where(sql<boolean>`not (device = any(${stays}::text[]))`)
    .execute();
}

const boxesSchema = z.record(z.string(), z.string());

/** The keys of this epoch, sealed to each device that stayed. */
export async function readBoxes(
  db: Db,
  { relay, household }: HouseholdRef,
  epoch: number,
): Promise<Readonly<Record<string, string>>> {
  const row = await db
    .selectFrom('rotations')
    .select('boxes_json')
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('epoch', '=', epoch)
    .executeTakeFirst();
  return row ? boxesSchema.parse(JSON.parse(row.boxes_json)) : {};
}

/**
 * Ends the sign-ins that removed devices have used and no other device does, and those that were
 * given beside them; answers which.
 */
export async function revokeBrowsers(db: Db, { relay, household }: HouseholdRef): Promise<readonly string[]> {
  const used = (removed: boolean) =>
    db
      .selectFrom('device_browsers as used')
      .innerJoin('devices', (join) =>
        join
          .onRef('devices.relay', '=', 'used.relay')
          .onRef('devices.household', '=', 'used.household')
          .onRef('devices.device', '=', 'used.device'),
      )
      .select('used.browser')
      .where('used.relay', '=', relay)
      .where('used.household', '=', household)
      .where('devices.removed_at', removed ? 'is not' : 'is', null);
  const gone = await db
    .deleteFrom('browsers')
    .where('relay', '=', relay)
    .where('token_hash', 'not in', used(false))
    .where(({ or, and, eb, selectFrom }) =>
      or([
        eb('token_hash', 'in', used(true)),
        // Also where that one has run out meanwhile.
        and([eb('family', 'in', used(true)), eb('family', 'not in', used(false))]),
        eb(
          'family',
          'in',
          selectFrom('browsers as ended')
            .select('ended.family')
            .where('ended.relay', '=', relay)
            .where('ended.family', 'is not', null)
            .where('ended.token_hash', 'in', used(true))
            .where('ended.token_hash', 'not in', used(false)),
        ),
      ]),
    )
    .returning('token_hash')
    .execute();
  return gone.map(({ token_hash }) => token_hash);
}

/** Which of these sign-ins are there no more. */
export async function readEnded(db: Db, relay: string, browsers: readonly string[]): Promise<readonly string[]> {
  const there = await db
    .selectFrom('browsers')
    .select('token_hash')
    .where('relay', '=', relay)
    .where('token_hash', '=', sql<string>`any(${[...browsers]}::text[])`)
    .execute();
  const known = new Set(there.map(({ token_hash }) => token_hash));
  return browsers.filter((browser) => !known.has(browser));
}

export async function setRecovery(
  db: Db,
  { relay, household }: HouseholdRef,
  { id, box }: { id: string; box: string },
  epoch: number,
): Promise<void> {
  await db
    .updateTable('households')
    .set({ recovery: id, recovery_box: box, recovery_epoch: epoch })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .execute();
}

export async function findRecovery(
  db: Db,
  relay: string,
  id: string,
): Promise<{ readonly household: string; readonly epoch: number; readonly box: string } | null> {
  const row = await db
    .selectFrom('households')
    .select(['household', 'recovery_box', 'recovery_epoch'])
    .where('relay', '=', relay)
    .where('recovery', '=', id)
    .executeTakeFirst();
  if (!row || row.recovery_box === null || row.recovery_epoch === null) return null;
  return { household: row.household, epoch: row.recovery_epoch, box: row.recovery_box };
}
