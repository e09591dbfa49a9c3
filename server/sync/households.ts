/**
 * The members of each household, in the relay's store. Changes are written under a lock on the
 * household's row, after every proof was checked. Of two concurrent rotations one wins, and a
 * refused one changes nothing.
 */
import { z } from 'zod';
import {
  recoveryBytes,
  type Register,
  registrationBytes,
  type Rotation,
  rotationBytes,
} from '../../src/shared/protocol/sync/control.ts';
import { isNoneOf, isOneOf, lockNamed } from '../store/dialect.ts';
import type { Db } from '../store/index.ts';
import type { HouseholdRef } from './entry-store.ts';
import { isDeviceOf, isSignedBy } from './offers.ts';
import { SYNC_LIMITS } from './settings.ts';

// The SQL of households, their devices and rotated keys. Every function takes the transaction or
// database in which it runs.

interface HouseholdRow {
  readonly epoch: number;
  readonly auth_key: string;
  readonly recovery: string | null;
  readonly bytes: number;
}

/** Serialises changes of the number of households. */
async function lockRelay(db: Db, relay: string): Promise<void> {
  await lockNamed(db, `roost households ${relay}`);
}

async function countHouseholds(db: Db, relay: string): Promise<number> {
  const { count } = await db
    .selectFrom('households')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('relay', '=', relay)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Number of households whose devices have used this sign-in. */
async function countOfBrowser(db: Db, relay: string, browser: string): Promise<number> {
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

const readHousehold = (db: Db, home: HouseholdRef): Promise<HouseholdRow | undefined> =>
  householdOf(db, home).executeTakeFirst();
/** Its row stays locked until the transaction ends. */
const lockHousehold = (db: Db, home: HouseholdRef): Promise<HouseholdRow | undefined> =>
  householdOf(db, home).forUpdate().executeTakeFirst();

async function insertHousehold(
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

interface DeviceRow {
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

/** Includes removed devices, in the order in which they joined. */
const readDevices = (db: Db, home: HouseholdRef): Promise<readonly DeviceRow[]> =>
  devicesOf(db, home).orderBy('added_at').orderBy('device').execute();
const readDevice = (db: Db, home: HouseholdRef, device: string): Promise<DeviceRow | undefined> =>
  devicesOf(db, home).where('device', '=', device).executeTakeFirst();

async function insertDevice(db: Db, { relay, household }: HouseholdRef, device: string, now: number): Promise<void> {
  await db.insertInto('devices').values({ relay, household, device, added_at: now, seen_at: now }).execute();
}

async function noteSeen(db: Db, { relay, household }: HouseholdRef, device: string, now: number): Promise<void> {
  await db
    .updateTable('devices')
    .set({ seen_at: now })
    .where('relay', '=', relay)
    .where('household', '=', household)
    .where('device', '=', device)
    .execute();
}

/** Records that a device has used a sign-in. */
async function noteBrowser(db: Db, { relay, household }: HouseholdRef, device: string, browser: string): Promise<void> {
  await db
    .insertInto('device_browsers')
    .values({ relay, household, device, browser })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/**
 * Replaces the key by the next one. Removed devices are out. A device without a new key is
 * forgotten, except `by`.
 */
async function applyRotation(
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
    .where(isNoneOf('device', stays))
    .execute();
}

const boxesSchema = z.record(z.string(), z.string());

/** The keys of this epoch, sealed to each device that stayed. */
async function readBoxes(
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
 * issued beside them. Returns them.
 */
async function revokeBrowsers(db: Db, { relay, household }: HouseholdRef): Promise<readonly string[]> {
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
  const revoked = await db
    .deleteFrom('browsers')
    .where('relay', '=', relay)
    .where('token_hash', 'not in', used(false))
    .where(({ or, and, eb, selectFrom }) =>
      or([
        eb('token_hash', 'in', used(true)),
        // Also where the original sign-in has expired meanwhile.
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
  return revoked.map(({ token_hash }) => token_hash);
}

/** The sign-ins of this list that no longer exist. */
async function readEnded(db: Db, relay: string, browsers: readonly string[]): Promise<readonly string[]> {
  const there = await db
    .selectFrom('browsers')
    .select('token_hash')
    .where('relay', '=', relay)
    .where(isOneOf('token_hash', [...browsers]))
    .execute();
  const known = new Set(there.map(({ token_hash }) => token_hash));
  return browsers.filter((browser) => !known.has(browser));
}

async function setRecovery(
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

async function findRecovery(
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

/** Chains of rotations, in which each household key signs its successor. Pure. */
interface AuthKey {
  readonly epoch: number;
  readonly authKey: string;
}

/** Whether the previous key signed this one. */
const isSucceeded = (household: string, from: AuthKey, rotation: Rotation): boolean =>
  rotation.epoch === from.epoch + 1 &&
  isSignedBy(
    from.authKey,
    rotationBytes(household, rotation.epoch, rotation.authKey, rotation.removed),
    rotation.proof,
  );

/**
 * The rotations that follow a key, in order. Null where one is not signed by its predecessor, or
 * one is missing.
 */
function chainFrom(household: string, from: AuthKey, rotations: readonly Rotation[]): readonly Rotation[] | null {
  const chain = rotations.filter(({ epoch }) => epoch > from.epoch).sort((a, b) => a.epoch - b.epoch);
  let last: AuthKey = from;
  for (const rotation of chain) {
    if (!isSucceeded(household, last, rotation)) return null;
    last = rotation;
  }
  return chain;
}

interface HouseholdsDeps {
  readonly db: Db;
  readonly relay: string;
  readonly now: () => number;
  /** Most households. */
  readonly most: number;
  /** Most households that one sign-in may bring. Left out: the same number. */
  readonly mostBySignIn?: number;
  /**
   * A device with this sign-in has proved its household. `joins`: it joined just now, with the
   * household's key.
   */
  readonly onMember: (household: string, browser: string, joins: boolean) => Promise<void>;
}

/** Sign-ins that ended with a rotation. */
interface Revoked {
  readonly revoked: readonly string[];
}
export type Registered =
  | ({ readonly ok: true; readonly epoch: number } & Revoked)
  | {
      readonly ok: false;
      readonly reason:
        | 'households'
        | 'sign-in-households'
        | 'devices'
        | 'removed'
        | 'other-household'
        | 'bad-proof'
        | 'bad-rotations';
    }
  /**
   * The proof uses an earlier key. `box`: the new keys, sealed to this device, if a rotation had
   * some for it.
   */
  | { readonly ok: false; readonly reason: 'old-key'; readonly epoch: number; readonly box: string | null };
export type Rotated =
  | ({ readonly ok: true } & Revoked)
  | { readonly ok: false; readonly reason: 'late' | 'too-early' | 'bad-proof' | 'not-here' | 'taken' };
export type RecoverySet = { readonly ok: true } | { readonly ok: false; readonly reason: 'bad-proof' | 'taken' };

export interface HouseholdNow {
  readonly epoch: number;
  readonly recoveryId: string | null;
  /** Bytes of all its entries. */
  readonly bytes: number;
  /** Includes removed devices. */
  readonly devices: readonly DeviceRow[];
  /** The keys of this epoch, sealed to each device that stayed. */
  readonly boxes: Readonly<Record<string, string>>;
}

export interface Households {
  /**
   * `browser`: the sign-in that the device uses. The request's own proofs are checked before
   * anything else.
   */
  register(household: string, request: Register, browser: string): Promise<Registered>;
  /** `by`: a device of the household. */
  rotate(household: string, rotation: Rotation, by: string): Promise<Rotated>;
  setRecovery(
    household: string,
    recovery: { readonly id: string; readonly box: string },
    proof: string,
  ): Promise<RecoverySet>;
  recovery(id: string): Promise<{ readonly household: string; readonly epoch: number; readonly box: string } | null>;
  device(household: string, device: string): Promise<DeviceRow | undefined>;
  now(household: string): Promise<HouseholdNow | null>;
  /** The newest epoch. Null where the household does not exist. */
  epoch(household: string): Promise<number | null>;
  seen(household: string, device: string, browser: string): Promise<void>;
  /** The sign-ins of this list that have ended. */
  ended(browsers: readonly string[]): Promise<readonly string[]>;
}

export function createHouseholds({ db, relay, now, most, mostBySignIn = most, onMember }: HouseholdsDeps): Households {
  const homeOf = (household: string): HouseholdRef => ({ relay, household });

  /** The rotations from the known key to the claimed one, and the key that is valid then. */
  function caughtUp(
    household: string,
    known: AuthKey,
    request: Register,
  ): { chain: readonly Rotation[]; key: AuthKey } | null {
    const chain = chainFrom(household, known, request.rotations);
    return chain && { chain, key: chain.at(-1) ?? known };
  }

  /** For a household that is new here: its own data must be consistent. */
  function claimed(household: string, request: Register): { chain: readonly Rotation[]; key: AuthKey } | null {
    const [oldest, ...later] = [...request.rotations].sort((a, b) => a.epoch - b.epoch);
    const key = { epoch: request.epoch, authKey: request.authKey };
    if (!oldest) return { chain: [], key };
    const chain = chainFrom(household, oldest, later);
    const last = chain?.at(-1) ?? oldest;
    return chain && last.epoch === key.epoch && last.authKey === key.authKey
      ? { chain: [oldest, ...chain], key }
      : null;
  }

  async function register(trx: Db, household: string, request: Register, browser: string): Promise<Registered> {
    const home = homeOf(household);
    const { device } = request;
    await lockRelay(trx, relay);
    const row = await lockHousehold(trx, home);
    if (!row && (await countHouseholds(trx, relay)) >= most) return { ok: false, reason: 'households' };
    if (!row && (await countOfBrowser(trx, relay, browser)) >= mostBySignIn)
      return { ok: false, reason: 'sign-in-households' };
    const next = row
      ? caughtUp(household, { epoch: row.epoch, authKey: row.auth_key }, request)
      : claimed(household, request);
    if (next === null) return { ok: false, reason: 'bad-rotations' };
    const { chain, key } = next;
    const before = await readDevice(trx, home, device);
    if ((before && before.removed_at !== null) || chain.some(({ removed }) => removed.includes(device)))
      return { ok: false, reason: 'removed' };
    if (request.epoch < key.epoch)
      return {
        ok: false,
        reason: 'old-key',
        epoch: key.epoch,
        box: (await boxesAt(trx, home, chain, key.epoch))[device] ?? null,
      };
    if (request.epoch > key.epoch) return { ok: false, reason: 'bad-rotations' };
    if (request.authKey !== key.authKey) return { ok: false, reason: 'other-household' };
    for (const rotation of chain) if (await isTaken(trx, home, rotation)) return { ok: false, reason: 'bad-rotations' };

    if (!row) await insertHousehold(trx, home, key, now());
    for (const rotation of chain) await applyRotation(trx, home, rotation, device, now());
    const staying = (await readDevices(trx, home)).filter(({ removed_at }) => removed_at === null);
    if (!before) {
      if (staying.length >= SYNC_LIMITS.devices) throw new TooManyDevices();
      await insertDevice(trx, home, device, now());
    }
    await noteBrowser(trx, home, device, browser);
    return { ok: true, epoch: key.epoch, revoked: chain.length > 0 ? await revokeBrowsers(trx, home) : [] };
  }

  /** Whether another household has a recovery box with this id. */
  const isTaken = async (trx: Db, home: HouseholdRef, { recovery }: Pick<Rotation, 'recovery'>) => {
    const holder = recovery && (await findRecovery(trx, relay, recovery.id));
    return holder !== null && holder.household !== home.household;
  };
  const boxesAt = (trx: Db, home: HouseholdRef, chain: readonly Rotation[], epoch: number) => {
    const last = chain.at(-1);
    return last ? Promise.resolve(last.boxes) : readBoxes(trx, home, epoch);
  };

  return {
    async register(household, request, browser) {
      if (!provesItself(household, request)) return { ok: false, reason: 'bad-proof' };
      try {
        const registered = await db.transaction().execute((trx) => register(trx, household, request, browser));
        if (registered.ok) await onMember(household, browser, true);
        return registered;
      } catch (error) {
        // The number of remaining devices is known only now. The transaction undoes earlier writes.
        if (error instanceof TooManyDevices) return { ok: false, reason: 'devices' };
        throw error;
      }
    },
    rotate: (household, rotation, by) =>
      db.transaction().execute(async (trx): Promise<Rotated> => {
        const home = homeOf(household);
        await lockRelay(trx, relay);
        const row = await lockHousehold(trx, home);
        const device = await readDevice(trx, home, by);
        if (!row || !device || device.removed_at !== null) return { ok: false, reason: 'not-here' };
        // A repeated request, because the answer was lost.
        if (rotation.epoch === row.epoch && rotation.authKey === row.auth_key) return { ok: true, revoked: [] };
        if (rotation.epoch <= row.epoch) return { ok: false, reason: 'late' };
        if (rotation.epoch > row.epoch + 1) return { ok: false, reason: 'too-early' };
        if (!isSucceeded(household, { epoch: row.epoch, authKey: row.auth_key }, rotation))
          return { ok: false, reason: 'bad-proof' };
        if (await isTaken(trx, home, rotation)) return { ok: false, reason: 'taken' };
        await applyRotation(trx, home, rotation, by, now());
        return { ok: true, revoked: await revokeBrowsers(trx, home) };
      }),
    setRecovery: (household, recovery, proof) =>
      db.transaction().execute(async (trx): Promise<RecoverySet> => {
        const home = homeOf(household);
        await lockRelay(trx, relay);
        const row = await lockHousehold(trx, home);
        if (!row || !isSignedBy(row.auth_key, recoveryBytes(household, row.epoch, recovery.id), proof))
          return { ok: false, reason: 'bad-proof' };
        if (await isTaken(trx, home, { recovery })) return { ok: false, reason: 'taken' };
        await setRecovery(trx, home, recovery, row.epoch);
        return { ok: true };
      }),
    recovery: (id) => findRecovery(db, relay, id),
    device: (household, device) => readDevice(db, homeOf(household), device),
    async now(household) {
      const home = homeOf(household);
      const row = await readHousehold(db, home);
      if (!row) return null;
      return {
        epoch: row.epoch,
        recoveryId: row.recovery,
        bytes: row.bytes,
        devices: await readDevices(db, home),
        boxes: await readBoxes(db, home, row.epoch),
      };
    },
    epoch: async (household) => (await readHousehold(db, homeOf(household)))?.epoch ?? null,
    ended: (browsers) => readEnded(db, relay, browsers),
    async seen(household, device, browser) {
      const home = homeOf(household);
      await noteSeen(db, home, device, now());
      await noteBrowser(db, home, device, browser);
      await onMember(household, browser, false);
    },
  };
}

/**
 * Whether the request comes from this very device, and the device has the claimed key. Whether that
 * key is valid is checked elsewhere.
 */
function provesItself(household: string, request: Register): boolean {
  const { epoch, authKey, device, deviceKey, proof, deviceProof } = request;
  const bytes = registrationBytes(household, epoch, device, deviceKey);
  return isDeviceOf(device, request) && isSignedBy(deviceKey, bytes, deviceProof) && isSignedBy(authKey, bytes, proof);
}

class TooManyDevices extends Error {}
