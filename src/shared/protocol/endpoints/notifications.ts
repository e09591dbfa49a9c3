/** Notifications for a person who is looking elsewhere. */
import { z } from 'zod';
import { deviceChoiceSchema, mail, notificationsSchema } from '../notifications.ts';
import { endpoint, idText, named } from './endpoint.ts';

export const notificationEndpoints = {
  notifications: endpoint({
    method: 'GET',
    path: '/api/notifications',
    does: 'What the person was to be told and has neither seen nor answered, and which devices are told what.',
    answers: [{ status: 200, when: 'always', body: notificationsSchema }],
  }),
  putNotificationDevice: endpoint({
    method: 'PUT',
    path: '/api/notifications/device',
    does: 'What this device is told, when not, and its push subscription. Instead of what it said before.',
    beginsNothing: true,
    body: deviceChoiceSchema,
    answers: [
      { status: 204, when: 'it is kept' },
      { status: 400, when: '`push-address`: the relay pushes to no such address' },
      { status: 409, when: '`too-many-devices`' },
    ],
  }),
  removeNotificationDevice: endpoint({
    method: 'DELETE',
    path: '/api/notifications/devices/{deviceId}',
    does: 'Tells a device nothing any more.',
    beginsNothing: true,
    params: { deviceId: named(idText, 'as the list says it') },
    answers: [
      { status: 204, when: 'it is told nothing' },
      { status: 404, when: 'there is no such device' },
    ],
  }),
  putPushContact: endpoint({
    method: 'PUT',
    path: '/api/notifications/contact',
    does: 'By which mail address push services reach whoever runs the relay. `--push-subject` counts before it.',
    beginsNothing: true,
    body: z.strictObject({ mail: mail.nullable().describe('null: none') }),
    answers: [{ status: 204, when: 'it is kept' }],
  }),
  seeNotifications: endpoint({
    method: 'POST',
    path: '/api/notifications/seen',
    does: 'The person is at this device now, and has seen these there: they go from the other devices. A question stays until it is answered, and is not pushed on.',
    beginsNothing: true,
    body: z.strictObject({ keys: z.array(z.string().max(300)).max(100) }),
    answers: [{ status: 204, when: 'always' }],
  }),
};
