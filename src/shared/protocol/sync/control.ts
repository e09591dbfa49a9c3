/**
 * The text messages on the sync socket (`GET /api/sync/socket`). They say which devices are online
 * and which belong to the household, and carry renewed keys and signals that connect two browsers.
 * Binary messages are frames of replication (src/shared/replication/frames.ts). The relay reads
 * nothing except these messages.
 */
import { z } from 'zod';
import type { DeviceId } from '../../domain/ids.ts';
import { SYNC } from './settings.ts';

// The signed bytes: UTF-8 lines, the first of which names the purpose.

const lines = (...parts: readonly (string | number)[]) => new TextEncoder().encode(parts.join('\n'));

/** A device proves its identity on a socket. `nonce` is the relay's, fresh for each socket. */
export const socketBytes = (household: string, device: string, nonce: string) =>
  lines('roost socket 1', household, device, nonce);

/**
 * A holder of the household key of `epoch` lets a device in. The device signs the same bytes, so
 * that no other can request it in its name.
 */
export const registrationBytes = (household: string, epoch: number, device: string, deviceKey: string) =>
  lines('roost registration 1', household, epoch, device, deviceKey);

/** The household key of `epoch - 1` authorises that of `epoch`. */
export const rotationBytes = (household: string, epoch: number, authKey: string, removed: readonly string[]) =>
  lines('roost rotation 1', household, epoch, authKey, [...removed].sort().join(' '));

/** The household key of `epoch` sets the recovery box. */
export const recoveryBytes = (household: string, epoch: number, recoveryId: string) =>
  lines('roost recovery 1', household, epoch, recoveryId);

/** `by` has let `device` in at `time`; signed by `by`. */
export const letInBytes = (household: string, device: string, by: string, time: number) =>
  lines('roost let in 1', household, device, by, time);

/**
 * A device's description of itself for the others, signed by the device and by the household key of
 * `epoch`. The name, which may be any text, comes last. Before it is the device that let it in, or
 * an empty line if there was none.
 */
export const deviceBytes = (
  household: string,
  {
    deviceId,
    signKey,
    boxKey,
    addedAt,
    time,
    epoch,
    letIn,
    name,
  }: {
    deviceId: DeviceId;
    signKey: string;
    boxKey: string;
    addedAt: number;
    time: number;
    epoch: number;
    letIn: { by: string; time: number; signature: string } | null;
    name: string;
  },
) => {
  const came = letIn === null ? '' : `${letIn.by} ${letIn.time} ${letIn.signature}`;
  return lines('roost device 1', household, deviceId, signKey, boxKey, epoch, addedAt, time, came, name);
};

/**
 * A device has made a recovery phrase; signed by the device and by the household key of `epoch`.
 */
export const phraseBytes = (
  household: string,
  { id, boxKey, by, epoch, time }: { id: string; boxKey: string; by: string; epoch: number; time: number },
) => lines('roost phrase 1', household, id, boxKey, by, epoch, time);

/**
 * A device has renewed the keys, and lists the remaining members. `keys` are in base64url, as
 * written.
 */
export const signedGrantBytes = (by: string, keys: string, members: readonly string[]) =>
  lines('roost renewal 1', by, keys, [...members].sort().join(' '));

export const syncId = z.string().regex(/^[A-Za-z0-9_-]{22}$/, '16 bytes as base64url');
const base64 = (most: number) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_-]*$/, 'base64url')
    .max(most);
/** An Ed25519 public key: 32 bytes. */
export const publicKey = z.string().regex(/^[A-Za-z0-9_-]{43}$/, '32 bytes as base64url');
/** An Ed25519 signature: 64 bytes. */
export const signature = z.string().regex(/^[A-Za-z0-9_-]{86}$/, '64 bytes as base64url');
/** Number of a household key. Each rotation increases it by one. */
const epoch = z.number().int().min(1).max(65_535);
/** Data sealed to one device or to the recovery key. */
const box = base64(SYNC.slotChars);
/**
 * A device's id is derived from these two: the first 16 bytes of SHA-256 over `roost device id 1`,
 * deviceKey and boxKey.
 */
const deviceKey = publicKey.describe('Ed25519 key with which this device proves its identity');
const boxKey = publicKey.describe('X25519 key to which others seal keys');
const recovery = z.object({
  id: publicKey.describe('the address of the box, which only the phrase reveals; 32 bytes'),
  box,
});

/**
 * The household key was renewed: from `epoch` on, the relay verifies registrations with `authKey`.
 */
export const rotationSchema = z.object({
  epoch: epoch.describe('the new epoch: one more than before'),
  authKey: publicKey.describe('the key that verifies registrations from now on'),
  proof: signature.describe('signature with the authKey of the epoch before, over `rotationBytes`'),
  removed: z.array(syncId).max(64).describe('devices that are removed'),
  boxes: z.record(syncId, box).describe('the keys, sealed to each device that stays'),
  recovery: recovery.nullable(),
});
export type Rotation = z.infer<typeof rotationSchema>;

const deviceSeenSchema = z.object({
  device: syncId,
  addedAt: z.number(),
  lastSeen: z.number().describe('ms since the epoch'),
  online: z.boolean(),
});
export type DeviceSeen = z.infer<typeof deviceSeenSchema>;

export const fromDeviceSchema = z.discriminatedUnion('kind', [
  z
    .object({
      kind: z.literal('hello'),
      household: syncId,
      device: syncId,
      deviceKey,
      boxKey,
      signature: signature.describe('signature with the deviceKey, over `socketBytes`'),
    })
    .describe('the device’s identity; its first message'),
  z
    .object({ kind: z.literal('rotate'), rotation: rotationSchema })
    .describe('renews the household’s key; if two devices do so at once, the first wins'),
  z
    .object({
      kind: z.literal('recovery'),
      recovery,
      proof: signature.describe('signature with the current authKey, over `recoveryBytes`'),
    })
    .describe('sets the box of the recovery phrase'),
  z
    .object({ kind: z.literal('signal'), to: syncId, data: z.string().max(SYNC.signalChars).describe('sealed') })
    .describe('forwarded to another device of the household, if it is online'),
  z.object({ kind: z.literal('ping') }).describe('checks that the relay still answers'),
]);
export type FromDevice = z.infer<typeof fromDeviceSchema>;

const newestBox = box
  .nullable()
  .describe('the newest keys, sealed to this device; null: no key rotation since it joined, or none sealed to it');

export const fromRelaySchema = z.discriminatedUnion('kind', [
  z
    .object({ kind: z.literal('challenge'), nonce: z.string().describe('fresh for each socket') })
    .describe('the first message of the relay'),
  z
    .object({
      kind: z.literal('welcome'),
      epoch,
      box: newestBox,
      recoveryId: publicKey.nullable().describe('epoch of the recovery phrase’s box; null: there is no box'),
      devices: z.array(deviceSeenSchema),
    })
    .describe('the device is let in'),
  z
    .object({ kind: z.literal('devices'), devices: z.array(deviceSeenSchema) })
    .describe('the list of devices, or of those that are online, has changed'),
  z
    .object({ kind: z.literal('rotated'), epoch, box: newestBox })
    .describe('this or another device has renewed the household’s key'),
  z
    .object({ kind: z.literal('recovery-kept'), recoveryId: publicKey })
    .describe('the relay has stored the box of the recovery phrase'),
  z
    .object({ kind: z.literal('signal'), from: syncId, data: z.string() })
    .describe('from another device of the household'),
  z
    .object({ kind: z.literal('removed') })
    .describe('this device no longer belongs to the household; the relay then closes the socket'),
  z
    .object({ kind: z.literal('unknown') })
    .describe(
      'the relay does not know this device, which must first register with `PUT /api/sync/households/{id}`; the relay then closes the socket',
    ),
  z
    .object({
      kind: z.literal('refused'),
      what: z.string().describe('the kind of message; `message`, `frame`, or `entries` if they cannot be stored'),
      reason: z.string().describe('a sentence'),
    })
    .describe(
      'nothing was changed; if the device could not have sent this by an accident of timing, the relay closes the socket',
    ),
  z.object({ kind: z.literal('pong') }).describe('sent after a ping, and now and then unasked'),
]);
export type FromRelay = z.infer<typeof fromRelaySchema>;

/**
 * `PUT /api/sync/households/{id}`: registers the household if it is unknown, and this device as one
 * of its devices.
 */
export const registerSchema = z.strictObject({
  epoch,
  authKey: publicKey.describe('the household’s authKey of that epoch'),
  rotations: z
    .array(rotationSchema)
    .max(1_000)
    .describe('the key rotations that this device knows, so that a relay restored from an old backup catches up'),
  device: syncId,
  deviceKey,
  boxKey,
  proof: signature.describe('signature with the household’s authKey of `epoch`, over `registrationBytes`'),
  deviceProof: signature.describe('signature with the deviceKey, over the same bytes'),
});
export type Register = z.infer<typeof registerSchema>;
export const registeredSchema = z.object({ epoch });

/** `PUT /api/sync/offers/{id}`. */
export const offerSchema = z.object({ until: z.number().describe('when the offer ends, ms since the epoch') });
/** The slots of an offer to join. Each is written once. */
export const OFFER_SLOTS = ['device', 'invitation', 'welcome', 'joined'] as const;
export type OfferSlot = (typeof OFFER_SLOTS)[number];
export const slotSchema = z.strictObject({ data: base64(SYNC.slotChars) });

export const recoveryAnswerSchema = z.object({ household: syncId, epoch, box });
