/** How a new device gets the household's keys from one that has them, through slots of an offer at the relay. */
import { z } from 'zod';
import type { Joining } from '../../protocol/sync/page.ts';
import { SYNC } from '../../protocol/sync/settings.ts';
import { rotationSchema } from '../../protocol/sync/control.ts';
import type { RandomBytes } from '../contract.ts';
import { base64url, fromBase64url, isPairingKey, newInvitation, newOffer, openJoined, openWelcome, pairingWords, readKeys, readOffer, sealJoined, sealWelcome, writeKeys, type Offer, type PairingSide } from '../crypto/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { Called, SyncRelayPort, Timers } from './ports.ts';
import { deviceRecordSchema, headSchema } from './records.ts';
import type { Welcoming } from './sync.ts';

const EXPIRED = 'The offer is too old: it lives five minutes. Make a new one.';
const CHANGED = 'What came from the other device cannot be opened: it was changed on its way, or is of a newer Roost. Nothing was joined; begin again.';

const welcomeSchema = z.object({
  keys: z.string(),
  rotations: z.array(rotationSchema),
  recovery: z.object({ id: z.string(), boxKey: z.string(), box: z.string() }).nullable(),
  devices: z.array(deviceRecordSchema),
  heads: z.array(headSchema),
});

const writeWelcome = (welcome: Welcoming) => new TextEncoder().encode(JSON.stringify({ ...welcome, keys: base64url(writeKeys(welcome.keys)) }));

function readWelcome(bytes: Uint8Array): Welcoming | null {
  try {
    const parsed = welcomeSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes)));
    const written = parsed.success ? fromBase64url(parsed.data.keys) : null;
    const keys = written && readKeys(written);
    return parsed.success && keys ? { ...parsed.data, keys } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export interface PairingDeps {
  readonly relay: Pick<SyncRelayPort, 'openOffer' | 'closeOffer' | 'putSlot' | 'getSlot'>;
  readonly timers: Timers;
  readonly now: () => number;
  readonly random: RandomBytes;
  /** Makes this device one of the household. */
  readonly enter: (welcome: Welcoming, deviceName: string) => Promise<void>;
  /** What a new device is given by this one. */
  readonly welcome: () => Promise<Welcoming>;
  readonly onJoining: (joining: Joining | null) => void;
}

export interface Pairing {
  beginJoin(deviceName: string): Promise<void>;
  answerJoin(same: boolean): Promise<void>;
  beginInvite(text: string): Promise<readonly string[]>;
  answerInvite(same: boolean): Promise<boolean>;
  close(): void;
}

interface Join {
  readonly offer: Offer;
  readonly name: string;
  readonly until: number;
  side: PairingSide | null;
  words: readonly string[];
  confirmed: boolean;
}

export function createPairing({ relay, timers, now, random, enter, welcome, onJoining }: PairingDeps): Pairing {
  let join: Join | null = null;
  let cancelLook: (() => void) | null = null;
  let invite: { readonly side: PairingSide; readonly offerId: string; readonly until: number } | null = null;

  function endJoin(joining: Joining | null) {
    cancelLook?.();
    cancelLook = null;
    if (join) void relay.closeOffer(join.offer.offerId);
    join = null;
    onJoining(joining);
  }

  function look(mine: Join) {
    cancelLook = timers.after(SYNC_OWNER.pairingLook, () => {
      step(mine).catch((error: unknown) => {
        if (join === mine) endJoin({ step: 'failed', reason: error instanceof Error ? error.message : String(error) });
      });
    });
  }

  /** One look at the offer's slots. */
  async function step(mine: Join) {
    if (join !== mine) return;
    if (now() >= mine.until) return endJoin({ step: 'failed', reason: EXPIRED });
    if (mine.side === null) {
      const slot = await relay.getSlot(mine.offer.offerId, 'invitation');
      if (join !== mine) return;
      if (!slot.ok && slot.status !== null) return endJoin({ step: 'failed', reason: slot.status === 404 || slot.status === 410 ? EXPIRED : slot.reason });
      if (slot.ok && slot.value) {
        const inviterKey = slot.value.data;
        if (!isPairingKey(inviterKey)) return endJoin({ step: 'failed', reason: CHANGED });
        mine.side = { secret: mine.offer.secret, offerKey: mine.offer.publicKey, inviterKey };
        mine.words = pairingWords(mine.offer.publicKey, inviterKey);
        onJoining({ step: 'comparing', words: mine.words, until: mine.until });
      }
    } else if (mine.confirmed) {
      const slot = await relay.getSlot(mine.offer.offerId, 'welcome');
      if (join !== mine) return;
      if (!slot.ok && slot.status !== null) return endJoin({ step: 'failed', reason: slot.status === 404 || slot.status === 410 ? 'The other device ended it, or the offer is too old. Begin again.' : slot.reason });
      if (slot.ok && slot.value) {
        const opened = openWelcome(mine.side, slot.value.data);
        const given = opened && readWelcome(opened);
        if (!given) return endJoin({ step: 'failed', reason: CHANGED });
        const { side } = mine;
        // From here on it is this device's, whatever the other one hears of it.
        join = null;
        await enter(given, mine.name);
        await relay.putSlot(mine.offer.offerId, 'joined', sealJoined(side, new TextEncoder().encode('joined'), random));
        return;
      }
    }
    look(mine);
  }

  const said = <Value>(answer: Called<Value>, otherwise: Readonly<Record<number, string>>): Value => {
    if (answer.ok) return answer.value;
    throw new Error((answer.status !== null && otherwise[answer.status]) || answer.reason);
  };
  const GONE = { 404: EXPIRED, 410: EXPIRED, 409: 'This offer was taken by a device already. Make a new one on the new device.' };

  return {
    async beginJoin(name) {
      endJoin(null);
      const offer = newOffer(random);
      const until = now() + SYNC.offerMs;
      said(await relay.openOffer(offer.offerId), {});
      join = { offer, name, until, side: null, words: [], confirmed: false };
      onJoining({ step: 'offering', offer: offer.text, until });
      look(join);
    },
    async answerJoin(same) {
      if (!join || !same) return endJoin(null);
      if (!join.side || join.confirmed) return;
      join.confirmed = true;
      onJoining({ step: 'waiting', words: join.words, until: join.until });
    },
    async beginInvite(text) {
      const offer = readOffer(text);
      if (!offer.ok) throw new Error(offer.reason);
      const key = newInvitation(random);
      said(await relay.putSlot(offer.offerId, 'invitation', key.publicKey), GONE);
      invite = { side: { secret: key.secret, offerKey: offer.publicKey, inviterKey: key.publicKey }, offerId: offer.offerId, until: now() + SYNC.offerMs };
      return pairingWords(offer.publicKey, key.publicKey);
    },
    async answerInvite(same) {
      const mine = invite;
      invite = null;
      if (!mine) throw new Error('There is no offer any more. Begin again.');
      if (!same) {
        await relay.closeOffer(mine.offerId);
        return false;
      }
      said(await relay.putSlot(mine.offerId, 'welcome', sealWelcome(mine.side, writeWelcome(await welcome()), random)), GONE);
      for (;;) {
        await new Promise<void>((resolve) => void timers.after(SYNC_OWNER.pairingLook, resolve));
        const slot = await relay.getSlot(mine.offerId, 'joined');
        if (slot.ok && slot.value) {
          void relay.closeOffer(mine.offerId);
          if (openJoined(mine.side, slot.value.data)) return true;
          throw new Error(CHANGED);
        }
        if (now() >= mine.until || (!slot.ok && (slot.status === 404 || slot.status === 410)))
          throw new Error('The new device did not say that it has the keys. If it shows the team, all is well; otherwise begin again.');
      }
    },
    close: () => cancelLook?.(),
  };
}
