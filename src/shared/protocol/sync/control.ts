/**
 * The text messages on the sync socket (`GET /api/sync/socket`): who is there, who belongs to the
 * household, renewed keys, and signals that introduce two browsers. Binary messages are the frames
 * of replication (./frames.ts). The relay reads nothing but what stands here.
 */
import { z } from 'zod';
import { SYNC } from './settings.ts';

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
/** Number of a household key; it rises by one with each rotation. */
const epoch = z.number().int().min(1).max(65_535);
/** Something sealed to one device or to the recovery key. */
const box = base64(SYNC.slotChars);
/**
 * A device's id follows from these two: the first 16 bytes of SHA-256 over `roost device id 1`,
 * deviceKey and boxKey.
 */
const deviceKey = publicKey.describe('Ed25519: which this device proves itself with');
const boxKey = publicKey.describe('X25519: which others seal keys to');
const recovery = z.object({ id: publicKey.describe('names the box to whoever has the phrase; 32 bytes'), box });

/** The household key was renewed: from `epoch` on the relay lets devices in by `authKey`. */
export const rotationSchema = z.object({
  epoch: epoch.describe('the new one: one more than before'),
  authKey: publicKey.describe('which registrations are checked with from now on'),
  proof: signature.describe('with the authKey of the epoch before, over `rotationBytes`'),
  removed: z.array(syncId).max(64).describe('devices that are out'),
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
      signature: signature.describe('with the deviceKey, over `socketBytes`'),
    })
    .describe('who it is; the first message of a device'),
  z
    .object({ kind: z.literal('rotate'), rotation: rotationSchema })
    .describe('renews the household’s key; of two at once one is first'),
  z
    .object({
      kind: z.literal('recovery'),
      recovery,
      proof: signature.describe('with the current authKey, over `recoveryBytes`'),
    })
    .describe('sets the box of the recovery phrase'),
  z
    .object({ kind: z.literal('signal'), to: syncId, data: z.string().max(SYNC.signalChars).describe('sealed') })
    .describe('handed to another device of the household, if it is online'),
  z.object({ kind: z.literal('ping') }).describe('is anybody there?'),
]);
export type FromDevice = z.infer<typeof fromDeviceSchema>;

const newestBox = box
  .nullable()
  .describe('the newest keys, sealed to this device; null: no rotation since it came, or none for it');

export const fromRelaySchema = z.discriminatedUnion('kind', [
  z
    .object({ kind: z.literal('challenge'), nonce: z.string().describe('fresh for each socket') })
    .describe('the first message of the relay'),
  z
    .object({
      kind: z.literal('welcome'),
      epoch,
      box: newestBox,
      recoveryId: publicKey.nullable().describe('of the recovery phrase; null: there is no box'),
      devices: z.array(deviceSeenSchema),
    })
    .describe('let in'),
  z
    .object({ kind: z.literal('devices'), devices: z.array(deviceSeenSchema) })
    .describe('the list, or who of it is here, has changed'),
  z
    .object({ kind: z.literal('rotated'), epoch, box: newestBox })
    .describe('the household’s key was renewed, by this device or another'),
  z
    .object({ kind: z.literal('recovery-kept'), recoveryId: publicKey })
    .describe('the box of the recovery phrase is kept'),
  z
    .object({ kind: z.literal('signal'), from: syncId, data: z.string() })
    .describe('from another device of the household'),
  z
    .object({ kind: z.literal('removed') })
    .describe('this device is no longer one of the household; the socket closes after it'),
  z
    .object({ kind: z.literal('unknown') })
    .describe('not known here: register first, with `PUT /api/sync/households/{id}`; the socket closes after it'),
  z
    .object({
      kind: z.literal('refused'),
      what: z.string().describe('the kind of message; `message`, `frame`, or `entries` where they cannot be stored'),
      reason: z.string().describe('a sentence'),
    })
    .describe('nothing was changed; where it could not have been a mistake of the moment, the socket closes after it'),
  z.object({ kind: z.literal('pong') }).describe('said after a ping, and now and then unasked'),
]);
export type FromRelay = z.infer<typeof fromRelaySchema>;

/**
 * `PUT /api/sync/households/{id}`: makes the household known where it is not, and this device one
 * of it.
 */
export const registerSchema = z.strictObject({
  epoch,
  authKey: publicKey.describe('the household’s, of that epoch'),
  rotations: z
    .array(rotationSchema)
    .max(1_000)
    .describe('the rotations this device knows, so that a relay from an old backup catches up'),
  device: syncId,
  deviceKey,
  boxKey,
  proof: signature.describe('with the household’s authKey of `epoch`, over `registrationBytes`'),
  deviceProof: signature.describe('with the deviceKey, over the same'),
});
export type Register = z.infer<typeof registerSchema>;
export const registeredSchema = z.object({ epoch });

/** `PUT /api/sync/offers/{id}`. */
export const offerSchema = z.object({ until: z.number().describe('when it ends, ms since the epoch') });
/** What an offer to join has room for. Each is written once. */
export const OFFER_SLOTS = ['device', 'invitation', 'welcome', 'joined'] as const;
export type OfferSlot = (typeof OFFER_SLOTS)[number];
export const slotSchema = z.strictObject({ data: base64(SYNC.slotChars) });

export const recoveryAnswerSchema = z.object({ household: syncId, epoch, box });
