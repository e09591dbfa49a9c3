/**
 * This device's part in the household: its own keys, the household's as they are renewed, and the
 * proofs made with them.
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
import { sentence } from '../../../shared/domain/sentence.ts';
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
import { SYNC_OWNER } from '../settings.ts';
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
import { goesWith } from './let-in.ts';
import type { Members } from './members.ts';
import { type RelayConnection, STREAMS, type Welcome } from './relay-connection.ts';
import type { Called } from './ports.ts';

// The household’s keys and the roll of who has the newest of them, as they are handed to a device
// or sealed to a phrase.

interface KeyGrant {
  readonly keys: HouseholdKeys;
  /** Ids of devices. */
  readonly roll: readonly string[];
}
/** `keysText`: the keys as they are written, base64url. */
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

/** null: it is none, or a newer Roost wrote it. */
export function readKeyGrant(bytes: Uint8Array): KeyGrant | null {
  const grant = readJson(keyGrantSchema, bytes);
  const keys = grant && keysOf(grant.keys);
  return grant && keys ? { keys, roll: grant.roll } : null;
}

/** `sign`: signs these keys, as they are written. */
function writeSignedKeyGrant({ keys, roll }: KeyGrant, by: string, sign: (keysText: string) => string): Uint8Array {
  const keysText = base64url(writeKeys(keys));
  return writeJson({ keys: keysText, roll, by, signature: sign(keysText) });
}

/** null: it is none, or a newer Roost wrote it. Nothing of it is checked. */
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
   * Renewed keys that came sealed to this device. Answers whether they were taken: signed by a
   * device that `signKeyOf` knows as one of the household, of this household, and ours with more at
   * the end.
   */
  adopt(box: string, signKeyOf: (deviceId: DeviceId) => string | null): Promise<boolean>;
  /**
   * A rotation that leaves these devices out, and the membership as it will be. Nothing is changed
   * by it.
   */
  rotation(
    removed: readonly string[],
    staying: readonly DeviceRecord[],
  ): { readonly rotation: Rotation; readonly next: Pick<Membership, 'keyring' | 'roll' | 'rotations' | 'recovery'> };
  /** This device’s own record, as of now. */
  record(said: {
    readonly name: string;
    readonly addedAt: number;
    readonly time: number;
    readonly letIn: LetIn | null;
  }): DeviceRecord;
  /** This device’s word that it let in the device of this id. */
  letIn(deviceId: DeviceId, time: number): LetIn;
  /** Is it the word of the device that signs with `signKey`? */
  isLetIn(deviceId: DeviceId, letIn: LetIn, signKey: string): boolean;
  /** Does the device that it names say this itself, and had it the household’s key? */
  isGenuine(record: DeviceRecord): boolean;
  /** Is it one of the household, by the newest epoch that it has shown the key of? */
  isOnRoll(deviceId: DeviceId, epoch: number): boolean;
  recoveryRecord(made: { readonly id: string; readonly boxKey: string; readonly time: number }): RecoveryRecord;
  /**
   * Another device has made a phrase: from then on keys are sealed to it, if it is of the household
   * and the newest.
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

  /** Anybody can seal to a device; so that nobody else hands it keys, whoever renews them signs. */
  function signed(keys: HouseholdKeys, roll: readonly string[]): Uint8Array {
    return writeSignedKeyGrant({ keys, roll }, device.deviceId, (keysText) =>
      device.sign(signedGrantBytes(device.deviceId, keysText, roll)),
    );
  }
  /**
   * A phrase counts as long as the device that made it is of the household; sealed to it is what
   * there is now.
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
      const isNewer = held?.id !== id && time > (held?.time ?? 0) && time <= now() + SYNC_OWNER.clockAhead;
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

// The household's keys as they are renewed, and the recovery phrase they are sealed to. A rotation
// counts when the relay has taken it: of two devices that renew at once one is first, and the other
// takes its keys.

const AWAY = sentence`The relay cannot be reached, and it must lock the device out. Try again when it can.`;
const ROTATED_MEANWHILE = sentence`Another device renewed the keys at the same moment. Look at the list again, and repeat this if it is still needed.`;

export interface KeyRotation {
  hearWelcome(welcome: Welcome): Promise<void>;
  /** Newer keys, sealed to this device. Answers whether they were taken. */
  adopt(box: string | null): Promise<boolean>;
  hearRotated(rotated: Extract<FromRelay, { kind: 'rotated' }>): Promise<void>;
  hearAnswer(message: Extract<FromRelay, { kind: 'refused' | 'recovery-kept' }>): void;
  /**
   * Leaves a device out, and those that go with it except what is to be kept, by one rotation: see
   * ./let-in.ts. Answers with the ids of all that are out. Rejects with a sentence where the relay
   * did not take it; nothing is changed then.
   */
  remove(deviceId: DeviceId, keep: readonly string[]): Promise<readonly string[]>;
  /**
   * From now on this phrase restores the household. Rejects with a sentence where the relay did not
   * take it.
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
  /** There are more keys than before, and who has them is another roll. */
  readonly onKeys: () => Promise<void>;
  /** null: it is over. */
  readonly onTrouble: (error: unknown) => void;
  /** The relay takes no more entries; null: it may again. */
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
  /** What is waited for: the relay's word on a rotation to this epoch, or on this recovery. */
  let waiting: {
    readonly what: 'rotate' | 'recovery';
    readonly box: string | null;
    readonly settle: (answer: Answer) => void;
  } | null = null;

  const signKeyOf = (deviceId: DeviceId) =>
    members.devices().find((one) => one.deviceId === deviceId && !one.removed)?.signKey ?? null;

  /**
   * `box`: what the relay gives this device when it has taken our rotation, rather than another
   * one's.
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
      const cancel = timers.after(SYNC_OWNER.rotate, () =>
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
      // Said anew where it still is so.
      onFull(null);
      if (epoch > keys.epoch())
        onTrouble(
          (await adopt(box))
            ? null
            : new Error(
                sentence`The household’s keys were renewed, and this device was not given the new ones. Add it anew from another device.`,
              ),
        );
      else onTrouble(null);
      // A relay from an old copy has forgotten rotations of the keys: it is told of them before
      // anything new goes to it.
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
      // The others learn who is left from what was sealed to them.
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

// The writers of this device: those it writes under now, and those that it has left.

export interface OwnWriters {
  counters(): Counters;
  /** These are durable: written by a transaction of the caller's. */
  advanced(next: Counters): void;
  /** One for each stream that has any. */
  current(): readonly OwnWriter[];
  /** Does it write under this one now? */
  isCurrent(writer: string): boolean;
  /** The writer as this device knows it, if it ever was its own. */
  own(writer: string): OwnWriter | undefined;
  /**
   * Nothing more is written under what these streams had. `forked`: others have other entries of
   * it. Durable when it resolves.
   */
  retire(streams: readonly Stream[], forked: boolean): Promise<void>;
  /** Others have other entries of this one: nothing more is written under it. */
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
  /** By writer: a replica asks often, and they become many in the course of years. */
  let retired = new Map(given.retired.map((one) => [one.writer, one]));

  const current = (): readonly OwnWriter[] =>
    STREAMS.flatMap((stream) => (counters[stream] ? [{ stream, ...counters[stream], forked: false }] : []));

  /** These are among the retired ones now. */
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
