/**
 * Who belongs to a household, as the relay keeps it. What changes is written under a lock on the
 * household's row, after every proof was checked: of two rotations at once one wins, and whatever
 * is refused has changed nothing.
 */
import {
  recoveryBytes,
  type Register,
  registrationBytes,
  type Rotation,
  rotationBytes,
} from '../../src/shared/protocol/sync/control.ts';
import type { Db } from '../store/index.ts';
import type { HouseholdRef } from './entry-rows.ts';
import {
  applyRotation,
  countHouseholds,
  countOfBrowser,
  findRecovery,
  insertDevice,
  insertHousehold,
  lockHousehold,
  lockRelay,
  noteBrowser,
  noteSeen,
  readBoxes,
  readDevice,
  readDevices,
  readEnded,
  readHousehold,
  revokeBrowsers,
  setRecovery,
  type DeviceRow,
} from './household-rows.ts';
import { isDeviceOf, isSignedBy } from './proofs.ts';
import { SYNC_LIMITS } from './settings.ts';

/** Chains of rotations: each household key hands over to the next. Pure. */
interface AuthKey {
  readonly epoch: number;
  readonly authKey: string;
}

/** Does the key before hand over to this one? */
const isSucceeded = (household: string, from: AuthKey, rotation: Rotation): boolean =>
  rotation.epoch === from.epoch + 1 &&
  isSignedBy(
    from.authKey,
    rotationBytes(household, rotation.epoch, rotation.authKey, rotation.removed),
    rotation.proof,
  );

/**
 * The rotations that lead on from a key, in order; null where one of them is not handed over to, or
 * one is missing between.
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

export interface HouseholdsDeps {
  readonly db: Db;
  readonly relay: string;
  readonly now: () => number;
  /** Most households. */
  readonly most: number;
  /** Most that one sign-in brings. Left out: as many. */
  readonly mostBySignIn?: number;
  /**
   * This sign-in is used by a device that has proven to be one of this household. `joins`: just
   * now, with the household's key.
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
   * The proof is of a key before the current one. `box`: the keys sealed to this device, if a
   * rotation had some for it.
   */
  | { readonly ok: false; readonly reason: 'old-key'; readonly epoch: number; readonly box: string | null };
export type Rotated =
  | ({ readonly ok: true } & Revoked)
  | { readonly ok: false; readonly reason: 'late' | 'too-early' | 'bad-proof' | 'not-here' | 'taken' };
export type RecoverySet = { readonly ok: true } | { readonly ok: false; readonly reason: 'bad-proof' | 'taken' };

export interface HouseholdNow {
  readonly epoch: number;
  readonly recoveryId: string | null;
  /** Of all its entries. */
  readonly bytes: number;
  /** Also those that were removed. */
  readonly devices: readonly DeviceRow[];
  /** The keys of this epoch, sealed to each device that stayed. */
  readonly boxes: Readonly<Record<string, string>>;
}

export interface Households {
  /**
   * `browser`: the sign-in that the device uses. What the request proves of itself is checked
   * before anything else.
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
  /** The newest epoch; null where there is no such household. */
  epoch(household: string): Promise<number | null>;
  seen(household: string, device: string, browser: string): Promise<void>;
  /** Which of these sign-ins have ended. */
  ended(browsers: readonly string[]): Promise<readonly string[]>;
}

export function createHouseholds({ db, relay, now, most, mostBySignIn = most, onMember }: HouseholdsDeps): Households {
  const homeOf = (household: string): HouseholdRef => ({ relay, household });

  /**
   * The rotations that lead from what is known to what is claimed, and the key that counts then.
   */
  function caughtUp(
    household: string,
    known: AuthKey,
    request: Register,
  ): { chain: readonly Rotation[]; key: AuthKey } | null {
    const chain = chainFrom(household, known, request.rotations);
    return chain && { chain, key: chain.at(-1) ?? known };
  }

  /** Of a household that nobody has brought before: what it says of itself must hold together. */
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

  /** Does another household have a recovery box under this id? */
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
        // Only now is it known how many stay; what was written before goes with the transaction.
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
        // Sent again, because the answer was lost.
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
 * Is it this very device that asks, and has it the key that it says it has? Whether that key counts
 * is another question.
 */
function provesItself(household: string, request: Register): boolean {
  const { epoch, authKey, device, deviceKey, proof, deviceProof } = request;
  const bytes = registrationBytes(household, epoch, device, deviceKey);
  return isDeviceOf(device, request) && isSignedBy(deviceKey, bytes, deviceProof) && isSignedBy(authKey, bytes, proof);
}

class TooManyDevices extends Error {}
