/**
 * This device's knowledge of its household. It is stored in its own database, and never sent in the
 * clear.
 *
 * The module also has the payload of an entry, and the signatures of the records in it.
 */
import { z } from 'zod';
import type { AgentId, DeviceId, SessionId } from '../../../shared/domain/ids.ts';
import {
  deviceBytes,
  letInBytes,
  phraseBytes,
  type Rotation,
  signature,
  syncId,
} from '../../../shared/protocol/sync/control.ts';
import { idOf } from '../../../shared/protocol/limits.ts';
import { parseStamp } from '../../../shared/domain/stamp.ts';
import type { Doc } from '../../../shared/protocol/documents.ts';
import type { EpochKey, HouseholdKeys, Stream } from '../contract.ts';
import { SYNC_WORKER } from '../settings.ts';
import { deviceIdOf, type DeviceKeys, isSignedBy, keyOf, newest, relayAuth } from '../crypto/index.ts';
import { isWritten } from './forgotten.ts';
import { readJson, writeJson } from './json.ts';

/** The household's recovery phrase: where its box is, and the key to seal it to. */
export interface Recovery {
  readonly id: string;
  readonly boxKey: string;
  /** The keyring, sealed to the phrase. */
  readonly box: string;
  /**
   * The device that made the phrase, or on which its words were typed. The phrase is valid while
   * that device is a member.
   */
  readonly by: string;
  /** ms since the epoch */
  readonly time: number;
}

export interface Membership {
  readonly household: string;
  readonly keyring: readonly EpochKey[];
  /**
   * The devices that got the newest key when it was made. Later ones have proven that they have
   * that key.
   */
  readonly roll: readonly string[];
  readonly deviceId: DeviceId;
  /** 32 random bytes. This device's own keys are derived from them. */
  readonly seed: Uint8Array;
  /** The rotations of the household key, for a relay that has forgotten them. */
  readonly rotations: readonly Rotation[];
  readonly recovery: Recovery | null;
  /**
   * No device was admitted and no phrase was made, so the person does not know of a household yet.
   * Data is sealed and stored all the same.
   */
  readonly alone: boolean;
  /** Are sealed entries sent to the relay? The person may switch it off. */
  readonly relay: boolean;
  /** Removed by another device: nothing more is sent or fetched. */
  readonly removed: boolean;
}

export const teamMarkSchema = z.object({
  human: z.string().nullable().describe('what the agents call the person; null: not set yet'),
  lead: z.string().nullable(),
  agents: z.number(),
  documents: z.number(),
});
/** A description of the household at the time of writing. */
export type TeamMark = z.infer<typeof teamMarkSchema>;

/** This browser's storage was lost, and its data is being restored. */
export interface Returning {
  /** ms since the epoch */
  readonly since: number;
  /** The team that lived here, from the mark. */
  readonly team: TeamMark;
}

/** Restoring is over, and the person is to be notified once. */
export interface Returned {
  /** The number of documents now. */
  readonly documents: number;
  /** Documents that the mark counted and that could not be found. */
  readonly lost: number;
}

/** The next place of each stream. Null, or left out: under a writer that is not drawn yet. */
export type Counters = { readonly [L in Stream]?: { readonly writer: string; readonly next: number } | null };

/** A writer of this device. Entries before `next` may be its own. */
export interface OwnWriter {
  readonly writer: string;
  readonly stream: Stream;
  readonly next: number;
  /**
   * Other replicas had different entries of it, and this device has left it. Otherwise it is a
   * writer of an earlier run.
   */
  readonly forked: boolean;
}

/**
 * Progress of sealing what was here before sharing began. `through` is the last sealed document.
 */
export interface FirstSeal {
  readonly done: boolean;
  readonly through: { readonly at: string; readonly id: string } | null;
}

export const recoverySchema = z.object({
  id: z.string(),
  boxKey: z.string(),
  box: z.string(),
  by: z.string(),
  time: z.number(),
});

/** Another device’s statement that it admitted this one. */
export const letInSchema = z.object({
  by: syncId,
  time: z.number().describe('ms since the epoch'),
  signature: signature.describe('signature of the device `by`, over `letInBytes`'),
});
export type LetIn = z.infer<typeof letInSchema>;

/**
 * A device's record of itself. See `isGenuineDevice`. The newest by `epoch` and `time` is valid.
 */
export const deviceRecordSchema = z.object({
  deviceId: idOf<DeviceId>(z.string()).describe('derived from the two keys'),
  name: z.string().max(SYNC_WORKER.nameChars),
  signKey: z.string().describe('Ed25519 key that verifies this device’s signatures'),
  boxKey: z.string().describe('X25519 key to which others seal keys'),
  addedAt: z.number(),
  time: z.number().describe('when this was written, ms since the epoch'),
  epoch: z.number().describe('epoch of the newest key that the device had then'),
  letIn: letInSchema
    .nullable()
    .describe('null: the device was the first, came by the recovery phrase, or does not say'),
  signature: z.string().describe('the device’s own signature, over `deviceBytes`'),
  proof: z.string().describe('signature with the household’s key of `epoch`, over the same bytes'),
});
export type DeviceRecord = z.infer<typeof deviceRecordSchema>;

/**
 * An agent's last conversation, as the device that wrote this knew it. The newest by `time` is
 * valid.
 */
export const tipSchema = z.object({
  agentId: idOf<AgentId>(z.string()),
  sessionId: idOf<SessionId>(z.string()),
  messages: z.number(),
  time: z.number(),
});
export type Tip = z.infer<typeof tipSchema>;

/** The household’s phrase, for the device that renews the key. See `isGenuineRecovery`. */
const recoveryRecordSchema = z.object({
  id: z.string(),
  boxKey: z.string(),
  by: z.string().describe('the device that made it'),
  keys: z.object({ signKey: z.string(), boxKey: z.string() }).describe('signing key of that device'),
  epoch: z.number(),
  time: z.number(),
  signature: z.string().describe('signature of that device, over `phraseBytes`'),
  proof: z.string().describe('signature with the household’s key of `epoch`, over the same bytes'),
});
export type RecoveryRecord = z.infer<typeof recoveryRecordSchema>;

// The payload of an entry, as JSON: documents of the ledger, or records of devices about
// themselves.

export interface Payload {
  readonly docs?: readonly Doc[];
  readonly devices?: readonly DeviceRecord[];
  readonly tips?: readonly Tip[];
  readonly recovery?: RecoveryRecord;
}

/** The ledger parses the documents. Fields of a newer Roost are ignored, and stay. */
const payloadSchema = z.looseObject({
  docs: z.array(z.unknown()).optional(),
  devices: z.array(deviceRecordSchema).optional(),
  tips: z.array(tipSchema).optional(),
  recovery: recoveryRecordSchema.optional(),
});
export type ReadPayload = z.infer<typeof payloadSchema>;

/** The latest date of its documents, in ms since the epoch. 0: none has one. */
export const latestOf = ({ docs = [] }: ReadPayload): number =>
  docs.reduce<number>((latest, doc) => Math.max(latest, isWritten(doc) ? (parseStamp(doc.at)?.time ?? 0) : 0), 0);

export const writePayload = (payload: Payload): Uint8Array => writeJson(payload);

/** Null where this version cannot read the bytes. */
export const readPayload = (bytes: Uint8Array): ReadPayload | null => readJson(payloadSchema, bytes);

// Records of devices, and how the other devices verify them. The device that a record names signs
// it, and its id is derived from its keys. So nobody can make a record in another’s name, or with
// other keys under that id. It is also signed with the household’s key of its epoch. So a device
// that a rotation excluded cannot come back, nor admit others.

interface Signed {
  readonly epoch: number;
  readonly signature: string;
  readonly proof: string;
}

function bothSigned(
  keys: HouseholdKeys,
  device: DeviceKeys,
  bytes: Uint8Array,
): { readonly signature: string; readonly proof: string } {
  return { signature: device.sign(bytes), proof: relayAuth(newest(keys)).sign(bytes) };
}

function isBothSigned(
  keys: HouseholdKeys,
  signKey: string,
  { epoch, signature, proof }: Signed,
  bytes: Uint8Array,
): boolean {
  const key = keyOf(keys, epoch);
  return (
    key !== undefined && isSignedBy(signKey, bytes, signature) && isSignedBy(relayAuth(key).publicKey, bytes, proof)
  );
}

/** This device’s own record. */
export function deviceRecord(
  keys: HouseholdKeys,
  device: DeviceKeys,
  {
    name,
    addedAt,
    time,
    letIn = null,
  }: { readonly name: string; readonly addedAt: number; readonly time: number; readonly letIn?: LetIn | null },
): DeviceRecord {
  const { deviceId, signKey, boxKey } = device;
  const said = { deviceId, name, signKey, boxKey, addedAt, time, epoch: newest(keys).epoch, letIn };
  return { ...said, ...bothSigned(keys, device, deviceBytes(keys.household, said)) };
}

export const isGenuineDevice = (keys: HouseholdKeys, record: DeviceRecord): boolean =>
  deviceIdOf(record) === record.deviceId &&
  isBothSigned(keys, record.signKey, record, deviceBytes(keys.household, record));

/**
 * This device’s statement that it admitted another one. The other one carries it in its records.
 */
export function letInBy(keys: HouseholdKeys, device: DeviceKeys, newcomer: string, time: number): LetIn {
  const { deviceId: by } = device;
  return { by, time, signature: device.sign(letInBytes(keys.household, newcomer, by, time)) };
}

/** `signKey`: of the device that the statement names as its author. */
export const isGenuineLetIn = (keys: HouseholdKeys, newcomer: string, letIn: LetIn, signKey: string): boolean =>
  isSignedBy(signKey, letInBytes(keys.household, newcomer, letIn.by, letIn.time), letIn.signature);

/** A phrase that this device has made. */
export function recoveryRecord(
  keys: HouseholdKeys,
  device: DeviceKeys,
  { id, boxKey, time }: { readonly id: string; readonly boxKey: string; readonly time: number },
): RecoveryRecord {
  const said = {
    id,
    boxKey,
    by: device.deviceId,
    keys: { signKey: device.signKey, boxKey: device.boxKey },
    epoch: newest(keys).epoch,
    time,
  };
  return { ...said, ...bothSigned(keys, device, phraseBytes(keys.household, said)) };
}

export const isGenuineRecovery = (keys: HouseholdKeys, record: RecoveryRecord): boolean =>
  deviceIdOf(record.keys) === record.by &&
  isBothSigned(keys, record.keys.signKey, record, phraseBytes(keys.household, record));

/** Is a device a member: did it get the newest key, or has it since proven that it has it? */
export const isOnRoll = (keys: HouseholdKeys, roll: readonly string[], deviceId: DeviceId, epoch: number): boolean =>
  epoch >= newest(keys).epoch || roll.includes(deviceId);
