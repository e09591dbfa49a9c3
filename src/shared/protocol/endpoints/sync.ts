/**
 * Synchronisation. The messages of the socket are in ../sync/control.ts, its frames in
 * src/shared/replication/frames.ts.
 */
import { LIMITS } from '../limits.ts';
import { z } from 'zod';
import {
  OFFER_SLOTS,
  offerSchema,
  publicKey,
  recoveryAnswerSchema,
  registeredSchema,
  registerSchema,
  slotSchema,
  syncId,
} from '../sync/control.ts';
import { SYNC } from '../sync/settings.ts';
import { endpoint, named } from './endpoint.ts';

const household = named(syncId, 'the household’s id: 16 random bytes as base64url', {
  type: 'unknown',
  detail: 'There can be no household under such an id.',
});
/** An offer may be named by a hash, so its id has 16 or 32 bytes. */
const offer = named(syncId.or(publicKey), 'the offer’s id: 16 or 32 unguessable bytes as base64url', {
  type: 'no-offer',
  detail: 'There can be no offer under such an id.',
});
const slot = named(z.enum(OFFER_SLOTS), OFFER_SLOTS.map((name) => `\`${name}\``).join(', '), {
  type: 'no-slot',
  detail: `An offer has the slots ${OFFER_SLOTS.join(', ')}.`,
});
const noOffer = [
  { status: 404, when: 'there is no such offer' },
  { status: 410, when: 'the offer has ended or expired' },
] as const;

export const syncEndpoints = {
  syncSocket: endpoint({
    method: 'GET',
    path: '/api/sync/socket',
    does: `The socket of a device, as a WebSocket. Text messages carry identity and membership; binary ones are frames of replication. The relay begins with \`challenge\`, the device answers \`hello\`, and \`welcome\` lets it in. Something is sent at least every ${SYNC.heartbeatMs / 1000} s.`,
    raw: true,
    headers: { Origin: 'Roost’s own page; browsers send it by themselves' },
    answers: [
      { status: 101, when: 'the connection is a WebSocket now' },
      { status: 426, when: 'the request was no WebSocket upgrade' },
      { status: 503, when: 'too many sockets are open' },
    ],
  }),
  register: endpoint({
    method: 'PUT',
    path: '/api/sync/households/{household}',
    does: 'Registers a household and one of its devices. Every device with the household’s key can do this. The relay accepts key rotations that it does not know. A repeat has no effect.',
    params: { household },
    body: registerSchema,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'the device can open the socket', body: registeredSchema },
      {
        status: 403,
        when: 'a proof of the household or the device is wrong, or the id does not belong to these keys (`bad-proof`); the device was removed (`device-removed`); or the household’s key was renewed since (`old-key`; `box` has the newest keys for this device, if any)',
      },
      {
        status: 409,
        when: 'there is no room for more households (`households-full`) or devices (`devices-full`), or the keys do not follow from each other (`bad-rotations`, `other-household`)',
      },
    ],
  }),
  openOffer: endpoint({
    method: 'PUT',
    path: '/api/sync/offers/{offer}',
    does: `Makes an offer to join. It lasts ${SYNC.offerMs / 60_000} minutes and works once.`,
    params: { offer },
    answers: [
      { status: 200, when: 'the offer exists; also answered to a repeat', body: offerSchema },
      { status: 410, when: 'the offer existed, and has ended' },
    ],
  }),
  closeOffer: endpoint({
    method: 'DELETE',
    path: '/api/sync/offers/{offer}',
    does: 'Ends an offer, and deletes the contents of its slots.',
    params: { offer },
    answers: [{ status: 204, when: 'there is no such offer any more' }],
  }),
  putSlot: endpoint({
    method: 'PUT',
    path: '/api/sync/offers/{offer}/{slot}',
    does: 'Puts data into a slot of an offer, once. The data is sealed, or a public key.',
    params: { offer, slot },
    body: slotSchema,
    answers: [
      { status: 204, when: 'stored; also answered to a repeat' },
      ...noOffer,
      { status: 409, when: 'the slot holds other data: another device was first' },
    ],
  }),
  getSlot: endpoint({
    method: 'GET',
    path: '/api/sync/offers/{offer}/{slot}',
    does: 'The data in a slot of an offer.',
    params: { offer, slot },
    answers: [
      { status: 200, when: 'the data', body: slotSchema },
      { status: 204, when: 'the slot is empty; ask again' },
      ...noOffer,
    ],
  }),
  recovery: endpoint({
    method: 'GET',
    path: '/api/sync/recoveries/{recovery}',
    does: 'The household’s keys, sealed to its recovery phrase. The relay answers a few requests a minute.',
    params: { recovery: z.string().describe('derived from the phrase: 32 bytes as base64url') },
    answers: [
      {
        status: 200,
        when: 'there is a box for this phrase; `epoch` is the newest key in it',
        body: recoveryAnswerSchema,
      },
      { status: 404, when: 'there is no box for this phrase' },
    ],
  }),
};
