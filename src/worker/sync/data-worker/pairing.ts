/** Pairing over the relay's offers: this device joins a household, or admits another device. */
import { z } from 'zod';
import { type Rotation, rotationSchema } from '../../../shared/protocol/sync/control.ts';
import { sentence } from '../../../shared/domain/names.ts';
import type { SyncAnswers } from '../../../shared/protocol/sync/methods.ts';
import type { DeviceId } from '../../../shared/domain/ids.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Joining } from '../../../shared/protocol/sync/page.ts';
import type { HouseholdKeys, RandomBytes } from '../contract.ts';
import {
  base64url,
  deviceIdOf,
  deviceKeys,
  type DevicePublicKeys,
  fromBase64url,
  newPhrase,
  readKeys,
  recoveryOf,
  writeKeys,
} from '../crypto/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import {
  BAD_ANSWER,
  CHANGED,
  createInvite,
  createJoin,
  type Invite,
  type Join,
  type PairingSlots,
} from '../pairing/index.ts';
import { readJson, writeJson } from './json.ts';
import {
  type DeviceRecord,
  deviceRecord,
  deviceRecordSchema,
  isGenuineDevice,
  type LetIn,
  letInSchema,
  type Recovery,
  recoverySchema,
  type Tip,
  tipSchema,
} from './records.ts';
import { readKeyGrant } from './keys.ts';
import type { Called, SyncRelay } from './ports.ts';
import type { Shared } from './contract.ts';

// The data that a new device gets, sealed for it alone. See ../pairing.

export interface Welcoming {
  readonly keys: HouseholdKeys;
  /** The devices that got the newest of these keys when it was made. */
  readonly roll: readonly string[];
  readonly rotations: readonly Rotation[];
  readonly recovery: Recovery | null;
  readonly devices: readonly DeviceRecord[];
  /** The conversations that must be complete before their agents are woken there. */
  readonly tips: readonly Tip[];
  /** The statement of the device that admits it. Null: no device did. */
  readonly letIn: LetIn | null;
}

const welcomeSchema = z.object({
  keys: z.string(),
  roll: z.array(z.string()),
  rotations: z.array(rotationSchema),
  recovery: recoverySchema.nullable(),
  devices: z.array(deviceRecordSchema),
  tips: z.array(tipSchema),
  letIn: letInSchema.nullable(),
});

const writeWelcoming = (welcoming: Welcoming): Uint8Array =>
  writeJson({ ...welcoming, keys: base64url(writeKeys(welcoming.keys)) });

/** Null: invalid, or written by a newer Roost. */
function readWelcoming(bytes: Uint8Array): Welcoming | null {
  const welcoming = readJson(welcomeSchema, bytes);
  const written = welcoming && fromBase64url(welcoming.keys);
  const keys = written && readKeys(written);
  return welcoming && keys ? { ...welcoming, keys } : null;
}

// The tabs' calls about the recovery phrase: make it, verify it, read it again, and restore with it
// where no device is left.

export const IS_SHARED = sentence`This browser belongs to a household already.`;

interface PhraseDeps {
  readonly relay: Pick<SyncRelay, 'recovery'>;
  readonly random: RandomBytes;
  /** ms since the epoch */
  readonly now: () => number;
  /** Throws a sentence where this browser is not a device of a household. */
  readonly shared: () => Shared;
  /** Is there no household here that another one would replace? */
  readonly mayRestore: () => boolean;
  readonly enter: (welcome: Welcoming, seed: Uint8Array, name: string) => Promise<void>;
  /** The status may have changed. */
  readonly onKept: () => void;
}

export function createPhraseAnswers({
  relay,
  random,
  now,
  shared,
  mayRestore,
  enter,
  onKept,
}: PhraseDeps): Pick<SyncAnswers, 'makePhrase' | 'keepPhrase' | 'checkPhrase' | 'restore'> {
  /** A phrase that was shown and not yet verified. */
  let phrase: readonly string[] | null = null;

  return {
    async makePhrase() {
      shared();
      phrase = newPhrase(random).words;
      return { words: phrase };
    },
    async keepPhrase({ answers: given }) {
      const words = phrase;
      if (words === null) throw new Error(sentence`Make a phrase first.`);
      const wrong = given.find(({ position, word }) => words[position - 1] !== word.trim().toLowerCase());
      if (wrong) throw new Error(sentence`Word ${wrong.position} is another one. Look at what you wrote down.`);
      if (given.length === 0) throw new Error(sentence`Type the words that were asked for.`);
      const made = recoveryOf(words.join(' '));
      if (!made.ok) throw new Error(made.reason);
      await shared().keyRotation.keepRecovery({ id: made.id, boxKey: made.boxKey });
      phrase = null;
      onKept();
      return null;
    },
    async checkPhrase({ phrase: typed }) {
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      return { good: shared().keys.membership().recovery?.id === read.id };
    },
    async restore({ phrase: typed, deviceName }) {
      if (!mayRestore()) throw new Error(IS_SHARED);
      const read = recoveryOf(typed);
      if (!read.ok) throw new Error(read.reason);
      const answer = await relay.recovery({ recovery: read.id });
      if (!answer.ok)
        throw new Error(
          answer.status === 404
            ? sentence`This relay knows no household with this phrase. Did your devices use this relay, and is it your newest phrase?`
            : answer.reason,
        );
      const opened = read.open(answer.value.box);
      const handed = opened === null ? null : readKeyGrant(opened);
      if (handed === null || handed.keys.household !== answer.value.household)
        throw new Error(
          sentence`What the relay stores for this phrase cannot be opened: it was changed, or a newer Roost wrote it.`,
        );
      const seed = random(SYNC_WORKER.seedBytes);
      const recovery = {
        id: read.id,
        boxKey: read.boxKey,
        box: answer.value.box,
        by: deviceKeys(seed).deviceId,
        time: now(),
      };
      await enter({ ...handed, rotations: [], recovery, devices: [], tips: [], letIn: null }, seed, deviceName);
      return null;
    },
  };
}

const NEWER = sentence`The other device runs a newer Roost. Update Roost here, then make a new code; nothing was changed.`;
const NOTHING = sentence`There is no code to compare words for. Enter a code first.`;

const SEED_BYTES = 32;

/** Is the record of the device with these keys? */
const isOf = (record: DeviceRecord, keys: DevicePublicKeys) =>
  record.deviceId === deviceIdOf(keys) && record.signKey === keys.signKey && record.boxKey === keys.boxKey;

const isGone = (status: number | null) => status === 404 || status === 410;

/**
 * The relay's answers in the form that pairing needs. Rejects where the relay cannot be reached.
 * Pairing then asks again.
 */
function createSlots(relay: PairingDeps['relay']): PairingSlots {
  function said<Value>(answer: Called<Value>): Value {
    if (answer.ok) return answer.value;
    throw new Error(answer.reason);
  }
  return {
    open: async (offerId) => void said(await relay.openOffer({ offer: offerId })),
    close: async (offerId) => void said(await relay.closeOffer({ offer: offerId })),
    async putSlot(offerId, slot, data) {
      const answer = await relay.putSlot({ offer: offerId, slot, body: { data } });
      if (answer.ok) return 'kept';
      if (answer.status === 409) return 'taken';
      return isGone(answer.status) ? 'gone' : said(answer);
    },
    async getSlot(offerId, slot) {
      const answer = await relay.getSlot({ offer: offerId, slot });
      if (answer.ok) return answer.value === null ? { kind: 'empty' } : { kind: 'data', data: answer.value.data };
      if (isGone(answer.status)) return { kind: 'gone' };
      // Too many calls, or a relay that is busy: asking again helps.
      const passes = answer.status === null || answer.status === 429 || answer.status >= 500;
      return passes ? said(answer) : { kind: 'refused', reason: answer.reason };
    },
  };
}

export interface PairingDeps {
  readonly relay: Pick<SyncRelay, 'openOffer' | 'closeOffer' | 'putSlot' | 'getSlot'>;
  readonly timers: Timers;
  /** ms since the epoch */
  readonly now: () => number;
  readonly random: RandomBytes;
  /** Makes this device a member. `seed`: of its keys. A rejection leaves nothing behind. */
  readonly enter: (welcoming: Welcoming, seed: Uint8Array, deviceName: string) => Promise<void>;
  /** This device’s keys, where it is a member. */
  readonly device: () => DevicePublicKeys;
  /** The data for a new device. `deviceId`: the new one’s. */
  readonly welcome: (deviceId: DeviceId) => Promise<Welcoming>;
  /** The new device has the keys, and this is its record. */
  readonly joined: (record: DeviceRecord) => Promise<void>;
  readonly onJoining: (joining: Joining | null) => void;
}

export interface Pairing {
  beginJoin(deviceName: string): Promise<void>;
  answerJoin(same: boolean): void;
  beginInvite(offer: string): Promise<readonly string[]>;
  answerInvite(same: boolean): Promise<boolean>;
  close(): void;
}

export function createPairing({ relay, enter, device, welcome, joined, onJoining, ...deps }: PairingDeps): Pairing {
  const slots = createSlots(relay);
  let join: Join | null = null;
  let invite: Invite | null = null;

  return {
    async beginJoin(deviceName) {
      join?.answer(false);
      // The keys come before the words, because the words stand for them.
      const seed = deps.random(SEED_BYTES);
      const own = deviceKeys(seed);
      const mine = createJoin({
        ...deps,
        slots,
        device: own,
        async take(bytes, inviter) {
          const welcoming = readWelcoming(bytes);
          if (welcoming === null) throw new Error(NEWER);
          if (!welcoming.devices.some((one) => isOf(one, inviter) && isGenuineDevice(welcoming.keys, one)))
            throw new Error(BAD_ANSWER);
          await enter(welcoming, seed, deviceName);
          return writeJson(
            deviceRecord(welcoming.keys, own, {
              name: deviceName.slice(0, SYNC_WORKER.nameChars),
              addedAt: deps.now(),
              time: deps.now(),
              letIn: welcoming.letIn,
            }),
          );
        },
        changed(state) {
          if (join === mine) onJoining(state.step === 'joined' || state.step === 'cancelled' ? null : state);
        },
      });
      join = mine;
      await mine.begin();
    },
    answerJoin(same) {
      if (!same) {
        join?.answer(false);
        // Dismisses a failed pairing.
        onJoining(null);
      } else join?.answer(true);
    },
    async beginInvite(offer) {
      const mine = createInvite({
        ...deps,
        slots,
        offer,
        device: device(),
        welcome: async (newcomer) => {
          const newcomerId = deviceIdOf(newcomer);
          if (newcomerId === null) throw new Error(CHANGED);
          return writeWelcoming(await welcome(newcomerId));
        },
        async joined(said, newcomer) {
          const record = readJson(deviceRecordSchema, said);
          if (record === null || !isOf(record, newcomer)) return false;
          await joined(record);
          return true;
        },
      });
      const { words } = await mine.begin();
      invite = mine;
      return words;
    },
    async answerInvite(same) {
      if (!invite) throw new Error(NOTHING);
      return (await invite.answer(same)).joined;
    },
    close() {
      join?.answer(false);
      // If the relay cannot be reached, the offer expires there.
      invite?.answer(false).catch(() => undefined);
      invite = null;
    },
  };
}
