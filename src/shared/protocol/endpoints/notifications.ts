/** Notifications for a person who is looking elsewhere. */
import { z } from 'zod';
import { deviceChoiceSchema, mail, notificationsSchema } from '../notifications.ts';
import { endpoint, idText, named } from './endpoint.ts';

export const notificationEndpoints = {
  notifications: endpoint({
    method: 'GET',
    path: '/api/notifications',
    does: 'Notifications that the person has neither seen nor answered, and what each device is notified about.',
    answers: [{ status: 200, when: 'always', body: notificationsSchema }],
  }),
  putNotificationDevice: endpoint({
    method: 'PUT',
    path: '/api/notifications/device',
    does: 'Sets what this device is notified about, its quiet hours and its push subscription. It replaces the earlier settings.',
    beginsNothing: true,
    body: deviceChoiceSchema,
    answers: [
      { status: 204, when: 'the settings are stored' },
      { status: 400, when: '`push-address`: the relay pushes to no such address' },
      { status: 409, when: '`too-many-devices`' },
    ],
  }),
  removeNotificationDevice: endpoint({
    method: 'DELETE',
    path: '/api/notifications/devices/{deviceId}',
    does: 'Removes a device from notifications.',
    beginsNothing: true,
    params: { deviceId: named(idText, 'the device’s id, as in the list') },
    answers: [
      { status: 204, when: 'the device is no longer notified' },
      { status: 404, when: 'there is no such device' },
    ],
  }),
  putPushContact: endpoint({
    method: 'PUT',
    path: '/api/notifications/contact',
    does: 'Sets the mail address by which push services reach the operator of the relay. `--push-subject` takes precedence.',
    beginsNothing: true,
    body: z.strictObject({ mail: mail.nullable().describe('null: none') }),
    answers: [{ status: 204, when: 'the address is stored' }],
  }),
  seeNotifications: endpoint({
    method: 'POST',
    path: '/api/notifications/seen',
    does: 'Reports that the person is at this device, and has seen these notifications. Other devices then withdraw them. A question stays until it is answered, but is not pushed again.',
    beginsNothing: true,
    body: z.strictObject({ keys: z.array(z.string().max(300)).max(100) }),
    answers: [{ status: 204, when: 'always' }],
  }),
};
