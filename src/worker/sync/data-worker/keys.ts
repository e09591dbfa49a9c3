/**
 * This device's membership: its own keys, the household's keys and their renewal, and the proofs
 * made with them.
 */
import { z } from 'zod';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import {
  type FromRelay,
  recoveryBytes,
  type Register,
  registrationBytes,
  type Rotation,
  rotationBytes,
  signedGrantBytes,
} from '../../../shared/protocol/sync/control.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { HouseholdKeys, RandomBytes, Stream } from '../contract.ts';
import {
  base64url,
  deviceKeys,
  type DeviceKeys,
  fromBase64url,
  isSignedBy,
  newest,
  readKeys,
  relayAuth,
  renewed,
  sealBox,
  writeKeys,
} from '../crypto/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { readJson, writeJson } from './json.ts';
import { settled, type SyncDatabase, syncTransaction, type WriteMeta } from './entry-store.ts';
import {
  type Counters,
  deviceRecord,
  type DeviceRecord,
  isGenuineDevice,
  isGenuineLetIn,
  isGenuineRecovery,
  isOnRoll,
  type LetIn,
  letInBy,
  type Membership,
  type OwnWriter,
  type Payload,
  type Recovery,
  recoveryRecord,
  type RecoveryRecord,
} from './records.ts';
import { goesWith, type Members } from './members.ts';
import { type RelayConnection, STREAMS, type Welcome } from './relay-connection.ts';
import type { Called } from './ports.ts';

// The household’s keys and the roll of devices that have the newest one. A grant is given to a
// device or sealed to a phrase.

interface KeyGrant {
  readonly keys: HouseholdKeys;
  /** Ids of devices. */
  readonly roll: readonly string[];
}
/** `keysText`: the keys in their binary format, as base64url. */
interface SignedKeyGrant extends KeyGrant {
  readonly by: string;
  readonly keysText: string;
  readonly signature: string;
}

const keyGrantSchema = z.object({ keys: z.string(), roll: z.array(z.string()) });
const signedGrantSchema = keyGrantSchema.extend({ by: z.string(), signature: z.string() });

const keysOf = (text: string): HouseholdKeys | null => {
  const bytes = fromBase64url(text);
  return bytes && readKeys(bytes);
};

const writeKeyGrant = ({ keys, roll }: KeyGrant): Uint8Array => writeJson({ keys: base64url(writeKeys(keys)), roll });

/** Null: invalid, or written by a newer Roost. */
export function readKeyGrant(bytes: Uint8Array): KeyGrant | null {
  const grant = readJson(keyGrantSchema, bytes);
  const keys = grant && keysOf(grant.keys);
  return grant && keys ? { keys, roll: grant.roll } : null;
}

/** `sign`: signs the keys in their binary format. */
function writeSignedKeyGrant({ keys, roll }: KeyGrant, by: string, sign: (keysText: string) => string): Uint8Array {
  const keysText = base64url(writeKeys(keys));
  return writeJson({ keys: keysText, roll, by, signature: sign(keysText) });
}

/** Null: invalid, or written by a newer Roost. Verifies nothing. */
function readSignedKeyGrant(bytes: Uint8Array): SignedKeyGrant | null {
  const grant = readJson(signedGrantSchema, bytes);
  const keys = grant && keysOf(grant.keys);
  return grant && keys
    ? { keys, roll: grant.roll, by: grant.by, keysText: grant.keys, signature: grant.signature }
    : null;
}

export interface Keys {
  membership(): Membership;
  household(): HouseholdKeys;
  readonly device: DeviceKeys;
  epoch(): number;
  /** Durable when it resolves. */
  change(part: Partial<Membership>): Promise<void>;
  registration(): Register;
  /**
   * Takes renewed keys that are sealed to this device. Resolves with whether they were taken. They
   * must be of this household, contain our keys and more at the end, and be signed by a device that
   * `signKeyOf` knows as a member.
   */
  adopt(box: string, signKeyOf: (deviceId: DeviceId) => string | null): Promise<boolean>;
  /** A rotation that excludes these devices, and the membership after it. Changes nothing. */
  rotation(
    removed: readonly string[],
    staying: readonly DeviceRecord[],
  ): { readonly rotation: Rotation; readonly next: Pick<Membership, 'keyring' | 'roll' | 'rotations' | 'recovery'> };
  /** This device’s current record of itself. */
  record(said: {
    readonly name: string;
    readonly addedAt: number;
    readonly time: number;
    readonly letIn: LetIn | null;
  }): DeviceRecord;
  /** This device’s statement that it admitted the device with this id. */
  letIn(deviceId: DeviceId, time: number): LetIn;
  /** Is the statement from the device that signs with `signKey`? */
  isLetIn(deviceId: DeviceId, letIn: LetIn, signKey: string): boolean;
  /**
   * Was the record made by the device that it names, and did that device have the household’s key?
   */
  isGenuine(record: DeviceRecord): boolean;
  /** Is the device a member, by the newest epoch whose key it has proven to have? */
  isOnRoll(deviceId: DeviceId, epoch: number): boolean;
  recoveryRecord(made: { readonly id: string; readonly boxKey: string; readonly time: number }): RecoveryRecord;
  /**
   * Another device has made a phrase. If that device is a member and the phrase is the newest, keys
   * are sealed to it from then on.
   */
  hearRecovery(record: RecoveryRecord): Promise<void>;
  recoveryProof(recoveryId: string): string;
  /** The keyring, sealed to a phrase. */
  recoveryBox(boxKey: string): string;
}

export function createKeys({
  writeMeta,
  random,
  now,
  onChange,
  ...given
}: {
  readonly writeMeta: WriteMeta;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
  readonly membership: Membership;
  readonly onChange: () => void;
}): Keys {
  let { membership } = given;
  const device = deviceKeys(membership.seed);

  const household = (): HouseholdKeys => ({ household: membership.household, keyring: membership.keyring });
  const current = () => newest(household());
  async function change(part: Partial<Membership>) {
    const next = { ...membership, ...part };
    await writeMeta({ membership: next });
    membership = next;
    onChange();
  }
  const sealedTo = (boxKey: string, bytes: Uint8Array) => sealBox(boxKey, bytes, random);

  const recoveryBox = (boxKey: string) => sealedTo(boxKey, writeKeyGrant({ keys: household(), roll: membership.roll }));

  /** Anybody can seal to a device. So the device that renews the keys signs them. */
  function signed(keys: HouseholdKeys, roll: readonly string[]): Uint8Array {
    return writeSignedKeyGrant({ keys, roll }, device.deviceId, (keysText) =>
      device.sign(signedGrantBytes(device.deviceId, keysText, roll)),
    );
  }
  /**
   * A phrase is valid while the device that made it is a member. The current keys are sealed to it.
   */
  function recoveryAfter(keys: HouseholdKeys, roll: readonly string[]): Recovery | null {
    const { recovery } = membership;
    return recovery !== null && roll.includes(recovery.by)
      ? { ...recovery, box: sealedTo(recovery.boxKey, writeKeyGrant({ keys, roll })) }
      : null;
  }

  return {
    membership: () => membership,
    household,
    device,
    epoch: () => current().epoch,
    change,
    registration() {
      const { epoch } = current();
      const auth = relayAuth(current());
      const { household: id, deviceId, rotations } = membership;
      const bytes = registrationBytes(id, epoch, deviceId, device.signKey);
      return {
        epoch,
        authKey: auth.publicKey,
        rotations: [...rotations],
        device: deviceId,
        deviceKey: device.signKey,
        boxKey: device.boxKey,
        proof: auth.sign(bytes),
        deviceProof: device.sign(bytes),
      };
    },
    async adopt(box, signKeyOf) {
      const opened = device.openBox(box);
      const grant = opened === null ? null : readSignedKeyGrant(opened);
      const signKey = grant === null ? null : signKeyOf(grant.by);
      if (
        grant === null ||
        signKey === null ||
        !isSignedBy(signKey, signedGrantBytes(grant.by, grant.keysText, grant.roll), grant.signature)
      )
        return false;
      const { keys, roll } = grant;
      if (keys.household !== membership.household || keys.keyring.length <= membership.keyring.length) return false;
      if (membership.keyring.some(({ key }, i) => !sameKey(key, keys.keyring[i]?.key))) return false;
      await change({ keyring: keys.keyring, roll, recovery: recoveryAfter(keys, roll) });
      return true;
    },
    rotation(removed, staying) {
      const keys = renewed(household(), random);
      const last = newest(keys);
      const auth = relayAuth(last);
      const roll = [...new Set([membership.deviceId, ...staying.map(({ deviceId }) => deviceId)])];
      const recovery = recoveryAfter(keys, roll);
      const rotation: Rotation = {
        epoch: last.epoch,
        authKey: auth.publicKey,
        proof: relayAuth(current()).sign(rotationBytes(membership.household, last.epoch, auth.publicKey, removed)),
        removed: [...removed],
        boxes: Object.fromEntries(
          staying.map(({ deviceId, boxKey }) => [deviceId, sealedTo(boxKey, signed(keys, roll))]),
        ),
        recovery: recovery && { id: recovery.id, box: recovery.box },
      };
      return {
        rotation,
        next: { keyring: keys.keyring, roll, rotations: [...membership.rotations, rotation], recovery },
      };
    },
    record: (said) => deviceRecord(household(), device, said),
    letIn: (deviceId, time) => letInBy(household(), device, deviceId, time),
    isLetIn: (deviceId, letIn, signKey) => isGenuineLetIn(household(), deviceId, letIn, signKey),
    isGenuine: (record) => isGenuineDevice(household(), record),
    isOnRoll: (deviceId, epoch) => isOnRoll(household(), membership.roll, deviceId, epoch),
    recoveryRecord: (made) => recoveryRecord(household(), device, made),
    async hearRecovery(record) {
      const { id, boxKey, by, time } = record;
      const held = membership.recovery;
      const isNewer = held?.id !== id && time > (held?.time ?? 0) && time <= now() + SYNC_WORKER.clockAhead;
      if (
        !isNewer ||
        !isGenuineRecovery(household(), record) ||
        !isOnRoll(household(), membership.roll, by, record.epoch)
      )
        return;
      await change({ recovery: { id, boxKey, by, time, box: recoveryBox(boxKey) } });
    },
    recoveryProof: (recoveryId) =>
      relayAuth(current()).sign(recoveryBytes(membership.household, current().epoch, recoveryId)),
    recoveryBox,
  };
}

const sameKey = (a: Uint8Array, b: Uint8Array | undefined) =>
  b !== undefined && a.length === b.length && a.every((byte, i) => byte === b[i]);

// Renewal of the household's keys, and the recovery phrase that they are sealed to. A rotation
// takes effect when the relay accepts it. If two devices renew at once, one is first, and the other
// takes its keys.

const AWAY = sentence`The relay cannot be reached, and it must lock the device out. Try again when it can.`;
const ROTATED_MEANWHILE = sentence`Another device renewed the keys at the same moment. Look at the list again, and repeat this if it is still needed.`;

export interface KeyRotation {
  hearWelcome(welcome: Welcome): Promise<void>;
  /** Takes newer keys that are sealed to this device. Resolves with whether they were taken. */
  adopt(box: string | null): Promise<boolean>;
  hearRotated(rotated: Extract<FromRelay, { kind: 'rotated' }>): Promise<void>;
  hearAnswer(message: Extract<FromRelay, { kind: 'refused' | 'recovery-kept' }>): void;
  /**
   * Removes a device with one rotation, together with those that go with it (see ./members.ts),
   * except the ones in `keep`. Resolves with the ids of all removed devices. Rejects with a
   * sentence where the relay refuses. Nothing changes then.
   */
  remove(deviceId: DeviceId, keep: readonly string[]): Promise<readonly string[]>;
  /**
   * From now on this phrase restores the household. Rejects with a sentence where the relay
   * refuses.
   */
  keepRecovery(recovery: { readonly id: string; readonly boxKey: string }): Promise<void>;
}

interface KeyRotationDeps {
  readonly keys: Keys;
  readonly members: Members;
  readonly timers: Timers;
  readonly now: () => number;
  readonly relayConnection: Pick<RelayConnection, 'say'>;
  readonly register: () => Promise<Called<{ readonly epoch: number }>>;
  readonly say: (payload: Payload) => Promise<void>;
  /** There are new keys and a new roll. */
  readonly onKeys: () => Promise<void>;
  /** Null: it is over. */
  readonly onTrouble: (error: unknown) => void;
  /** The relay accepts no more entries. Null: it may again. */
  readonly onFull: (error: Error | null) => void;
}

type Answer = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export function createKeyRotation({
  keys,
  members,
  timers,
  now,
  relayConnection,
  register,
  say,
  onKeys,
  onTrouble,
  onFull,
}: KeyRotationDeps): KeyRotation {
  /** The pending request to the relay: a rotation to this epoch, or this recovery. */
  let waiting: {
    readonly what: 'rotate' | 'recovery';
    readonly box: string | null;
    readonly settle: (answer: Answer) => void;
  } | null = null;

  const signKeyOf = (deviceId: DeviceId) =>
    members.devices().find((one) => one.deviceId === deviceId && !one.removed)?.signKey ?? null;

  /**
   * `box`: the box that the relay returns to this device if it accepted our rotation and not
   * another one's.
   */
  function ask(
    what: 'rotate' | 'recovery',
    message: Parameters<RelayConnection['say']>[0],
    box: string | null,
  ): Promise<Answer> {
    if (waiting)
      return Promise.resolve({
        ok: false,
        reason: sentence`Another change of the keys is under way. Try again in a moment.`,
      });
    if (!relayConnection.say(message)) return Promise.resolve({ ok: false, reason: AWAY });
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        waiting = null;
        cancel();
        resolve(answer);
      };
      const cancel = timers.after(SYNC_WORKER.rotate, () =>
        settle({
          ok: false,
          reason: sentence`The relay did not answer. Look at the list of devices in a moment: it may have been done.`,
        }),
      );
      waiting = { what, box, settle };
    });
  }

  async function adopt(box: string | null): Promise<boolean> {
    if (box === null || !(await keys.adopt(box, signKeyOf))) return false;
    await onKeys();
    return true;
  }

  return {
    adopt,
    async hearWelcome({ epoch, box, recoveryId }) {
      // The relay reports it again where it still applies.
      onFull(null);
      if (epoch > keys.epoch())
        onTrouble(
          (await adopt(box))
            ? null
            : new Error(
                sentence`The household’s keys were renewed, and this device did not receive the new ones. Add it again from another device.`,
              ),
        );
      else onTrouble(null);
      // A relay that was restored from a backup has forgotten rotations. Register first, so it
      // knows them before it gets anything new.
      if (epoch < keys.epoch()) await register();
      const { recovery } = keys.membership();
      if (recovery !== null && recovery.id !== recoveryId && recovery.box !== '')
        queueMicrotask(() =>
          relayConnection.say({
            kind: 'recovery',
            recovery: { id: recovery.id, box: recovery.box },
            proof: keys.recoveryProof(recovery.id),
          }),
        );
    },
    async hearRotated({ epoch, box }) {
      if (waiting?.what === 'rotate' && box === waiting.box) {
        waiting.settle({ ok: true });
        return;
      }
      if (waiting?.what === 'rotate') waiting.settle({ ok: false, reason: ROTATED_MEANWHILE });
      if (epoch > keys.epoch()) await adopt(box);
    },
    hearAnswer(message) {
      if (message.kind === 'recovery-kept') {
        if (waiting?.what === 'recovery') waiting.settle({ ok: true });
        return;
      }
      if (message.what === 'entries') onFull(new Error(message.reason));
      else if (waiting?.what === message.what)
        waiting.settle({ ok: false, reason: message.what === 'rotate' ? ROTATED_MEANWHILE : message.reason });
    },
    async remove(deviceId, keep) {
      const known = members.devices();
      const along = goesWith(known, deviceId, keys.membership().deviceId).filter((one) => !keep.includes(one));
      const out = [deviceId, ...along];
      const staying = known.filter((one) => !one.removed && !out.includes(one.deviceId));
      const { rotation, next } = keys.rotation(out, staying);
      const answer = await ask(
        'rotate',
        { kind: 'rotate', rotation },
        rotation.boxes[keys.membership().deviceId] ?? null,
      );
      if (!answer.ok) throw new Error(answer.reason);
      // The other devices learn the members from the box that is sealed to them.
      await keys.change(next);
      await onKeys();
      return out;
    },
    async keepRecovery({ id, boxKey }) {
      const box = keys.recoveryBox(boxKey);
      const answer = await ask(
        'recovery',
        { kind: 'recovery', recovery: { id, box }, proof: keys.recoveryProof(id) },
        null,
      );
      if (!answer.ok) throw new Error(answer.reason);
      const time = now();
      await keys.change({ recovery: { id, boxKey, box, by: keys.membership().deviceId, time } });
      await say({ recovery: keys.recoveryRecord({ id, boxKey, time }) });
    },
  };
}

// The writers of this device: the current ones and the former ones.

export interface OwnWriters {
  counters(): Counters;
  /** These counters are durable, through the caller's transaction. */
  advanced(next: Counters): void;
  /** One for each stream that has a writer. */
  current(): readonly OwnWriter[];
  /** Does this device write under this writer now? */
  isCurrent(writer: string): boolean;
  /** This device's record of the writer, if it ever was its own. */
  own(writer: string): OwnWriter | undefined;
  /**
   * Stops writing under the writers of these streams. `forked`: other replicas have different
   * entries of them. Durable when it resolves.
   */
  retire(streams: readonly Stream[], forked: boolean): Promise<void>;
  /** Stops writing under this writer, because other replicas have different entries of it. */
  fork(writer: string): Promise<void>;
}

export function createOwnWriters({
  db,
  ...given
}: {
  readonly db: SyncDatabase;
  readonly counters: Counters;
  readonly retired: readonly OwnWriter[];
}): OwnWriters {
  let { counters } = given;
  /** By writer: a replica asks often, and their number grows over the years. */
  let retired = new Map(given.retired.map((one) => [one.writer, one]));

  const current = (): readonly OwnWriter[] =>
    STREAMS.flatMap((stream) => (counters[stream] ? [{ stream, ...counters[stream], forked: false }] : []));

  /** Adds these to the former writers. */
  async function leaveBehind(next: Counters, left: readonly OwnWriter[]) {
    const all = new Map([...retired, ...left.map((one) => [one.writer, one] as const)]);
    const tx = syncTransaction(db, 'strict');
    const meta = tx.objectStore('meta');
    await settled(tx, Promise.all([meta.put(next, 'counters'), meta.put([...all.values()], 'retired')]));
    counters = next;
    retired = all;
  }

  function retire(streams: readonly Stream[], forked: boolean) {
    const ended = current().filter(({ stream }) => streams.includes(stream));
    return leaveBehind(
      { ...counters, ...Object.fromEntries(streams.map((stream) => [stream, null])) },
      ended.map((one) => ({ ...one, forked })),
    );
  }

  return {
    counters: () => counters,
    advanced: (next) => void (counters = next),
    current,
    isCurrent: (writer) => current().some((one) => one.writer === writer),
    own: (writer) => current().find((one) => one.writer === writer) ?? retired.get(writer),
    retire,
    async fork(writer) {
      const known = current().find((one) => one.writer === writer);
      const left = retired.get(writer);
      if (known) await retire([known.stream], true);
      else if (left && !left.forked) await leaveBehind(counters, [{ ...left, forked: true }]);
    },
  };
}
