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

const household = named(syncId, 'the household: 16 random bytes as base64url', {
  type: 'unknown',
  detail: 'There can be no household under such an id.',
});
/** An offer may be named by a hash, so its id has 16 or 32 bytes. */
const offer = named(syncId.or(publicKey), 'the offer: 16 or 32 bytes as base64url, which nobody can guess', {
  type: 'no-offer',
  detail: 'There can be no offer under such an id.',
});
const slot = named(z.enum(OFFER_SLOTS), OFFER_SLOTS.map((name) => `\`${name}\``).join(', '), {
  type: 'no-slot',
  detail: `An offer has the slots ${OFFER_SLOTS.join(', ')}.`,
});
const noOffer = [
  { status: 404, when: 'there is no such offer' },
  { status: 410, when: 'it has ended, or its time is over' },
] as const;

export const syncEndpoints = {
  syncSocket: endpoint({
    method: 'GET',
    path: '/api/sync/socket',
    does: `The socket of a device, as a WebSocket. Text messages say who it is and who belongs to the household; binary ones are frames of replication. The relay begins with \`challenge\`, the device answers \`hello\`, and \`welcome\` lets it in. Something is said at least every ${SYNC.heartbeatMs / 1000} s.`,
    raw: true,
    headers: { Origin: 'Roost’s own page; browsers send it by themselves' },
    answers: [
      { status: 101, when: 'it is a socket now' },
      { status: 426, when: 'it was asked for without an upgrade' },
      { status: 503, when: 'too many sockets are open' },
    ],
  }),
  register: endpoint({
    method: 'PUT',
    path: '/api/sync/households/{household}',
    does: 'Makes a household known where it is not, and a device one of it. Whoever has the household’s key can. Rotations of the key that the relay does not know are taken from it. Harmless where it is so already.',
    params: { household },
    body: registerSchema,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'the device can open the socket', body: registeredSchema },
      {
        status: 403,
        when: 'a proof is wrong, the household’s or the device’s own, or the id is not of these keys (`bad-proof`), the device was removed (`device-removed`), or the key was renewed since (`old-key`; `box` has the newest keys for it, where there are some)',
      },
      {
        status: 409,
        when: 'there is no room for more households (`households-full`), for more devices (`devices-full`), or the keys do not follow from each other (`bad-rotations`, `other-household`)',
      },
    ],
  }),
  openOffer: endpoint({
    method: 'PUT',
    path: '/api/sync/offers/{offer}',
    does: `Makes an offer to join. It lives ${SYNC.offerMs / 60_000} minutes and works once.`,
    params: { offer },
    answers: [
      { status: 200, when: 'it is there, also where it was before', body: offerSchema },
      { status: 410, when: 'it was there, and has ended' },
    ],
  }),
  closeOffer: endpoint({
    method: 'DELETE',
    path: '/api/sync/offers/{offer}',
    does: 'Ends an offer. What lies in its slots is gone.',
    params: { offer },
    answers: [{ status: 204, when: 'there is none any more' }],
  }),
  putSlot: endpoint({
    method: 'PUT',
    path: '/api/sync/offers/{offer}/{slot}',
    does: 'Puts something into a slot of an offer, once. It is sealed, or a public key.',
    params: { offer, slot },
    body: slotSchema,
    answers: [
      { status: 204, when: 'it lies there, also where the same did before' },
      ...noOffer,
      { status: 409, when: 'something else lies there: somebody was first' },
    ],
  }),
  getSlot: endpoint({
    method: 'GET',
    path: '/api/sync/offers/{offer}/{slot}',
    does: 'What lies in a slot of an offer.',
    params: { offer, slot },
    answers: [
      { status: 200, when: 'something does', body: slotSchema },
      { status: 204, when: 'nothing does yet; ask again' },
      ...noOffer,
    ],
  }),
  recovery: endpoint({
    method: 'GET',
    path: '/api/sync/recoveries/{recovery}',
    does: 'The household’s keys, sealed to its recovery phrase. Answered a few times a minute.',
    params: { recovery: z.string().describe('what follows from the phrase: 32 bytes as base64url') },
    answers: [
      { status: 200, when: 'there is such a phrase; `epoch` is the newest key in the box', body: recoveryAnswerSchema },
      { status: 404, when: 'there is none' },
    ],
  }),
};
