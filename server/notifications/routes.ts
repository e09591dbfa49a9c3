/** Endpoints for the notification choices of a device. */
import { notificationEndpoints } from '../../src/shared/protocol/endpoints/notifications.ts';
import { answer, browserOf, type Handled } from '../http/endpoint.ts';
import type { HomeRights } from '../access/owner-rights.ts';
import { problem } from '../http/problem.ts';
import type { HomeNotifications } from './index.ts';

export function createNotificationRoutes({
  notifications,
  rights,
}: {
  readonly notifications: HomeNotifications;
  readonly rights: HomeRights;
}): readonly Handled[] {
  return answer(notificationEndpoints, {
    notifications: async (_, context) => await notifications.shown(browserOf(context)),
    async putNotificationDevice({ body }, context) {
      const refused = await notifications.putDevice(browserOf(context), body);
      if (refused === 'address')
        throw problem(400, 'push-address', `subscription.endpoint: ${rights.refusal('inner-pushes')}`);
      if (refused === 'too-many')
        throw problem(409, 'too-many-devices', 'No more devices can be told. Remove one that is not used any more.');
      return null;
    },
    async removeNotificationDevice({ deviceId }) {
      if (!(await notifications.removeDevice(deviceId))) throw problem(404, 'unknown', 'There is no such device.');
      return null;
    },
    async putPushContact({ body }) {
      await notifications.putContact(body.mail);
      return null;
    },
    async seeNotifications({ body }, context) {
      await notifications.seen(browserOf(context), body.keys);
      return null;
    },
  });
}
