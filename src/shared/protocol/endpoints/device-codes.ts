/** A second device by one code. */
import { DEVICE_CODES } from '../device-code-settings.ts';
import { deviceCodeSchema, deviceCodeStateSchema, joinOfferSchema } from '../device-codes.ts';
import { endpoint, idText, named } from './endpoint.ts';

const params = { id: named(idText, 'of a code that this browser made') };
const unknown = { status: 404, when: 'this browser has made no such code, or it is over' } as const;

export const deviceCodeEndpoints = {
  makeDeviceCode: endpoint({
    method: 'POST',
    path: '/api/device-codes',
    does: `Makes a code that lets one more browser in, as a guest: it may join the household and nothing else. It can be opened once, for ${DEVICE_CODES.openMs / 60_000} minutes.`,
    beginsNothing: true,
    answers: [
      { status: 201, when: 'it is made', body: deviceCodeSchema },
      { status: 409, when: `\`too-many-codes\`: ${DEVICE_CODES.most} of this browser are open` },
    ],
  }),
  deviceCode: endpoint({
    method: 'GET',
    path: '/api/device-codes/{id}',
    does: 'What became of a code.',
    params,
    answers: [{ status: 200, when: 'it is known', body: deviceCodeStateSchema }, unknown],
  }),
  letDeviceIn: endpoint({
    method: 'PUT',
    path: '/api/device-codes/{id}/guest',
    does: 'The person has compared the words: whoever came by the code stays let in.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'it is no guest any more' }, unknown],
  }),
  endDeviceCode: endpoint({
    method: 'DELETE',
    path: '/api/device-codes/{id}',
    does: 'Ends a code that made nobody a device. Who was let in by nothing else is out.',
    beginsNothing: true,
    params,
    answers: [{ status: 204, when: 'it is over' }, unknown],
  }),
  leaveJoinOffer: endpoint({
    method: 'POST',
    path: '/api/join-offer',
    does: 'Leaves the offer to join of a browser that came by a code, for the page that shows the code.',
    beginsNothing: true,
    body: joinOfferSchema,
    answers: [
      { status: 204, when: 'it lies there, instead of an earlier one' },
      { status: 409, when: '`no-code`: this browser came by no code, or the code is over' },
    ],
  }),
};
