/**
 * Which devices are told, on the store. A device is a sign-in: where that has ended, nothing is
 * pushed to it any more.
 */
import { randomUUID } from 'node:crypto';
import {
  deviceChoiceSchema,
  type DeviceChoice,
  type PushSubscriptionJson,
} from '../../src/shared/protocol/notifications.ts';
import type { Sealer } from '../platform/sealer.ts';
import type { Db } from '../store/index.ts';

const choiceSchema = deviceChoiceSchema.omit({ subscription: true });
const subscriptionSchema = deviceChoiceSchema.shape.subscription.unwrap();

export interface ToldDevice extends Omit<DeviceChoice, 'subscription'> {
  readonly browser: string;
  readonly deviceId: string;
  readonly usedAt: number;
  /** Status with which its push service refused the last push; null: it took it. */
  readonly refused: number | null;
  /** Null: it is not pushed, or not by this relay. */
  readonly subscription: PushSubscriptionJson | null;
  /**
   * Another relay on this store has sealed its subscription, with a key of its own: that one pushes
   * to it.
   */
  readonly elsewhere: boolean;
}

export interface DeviceRowsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly sealer: Sealer;
  /** No other process can have this store open. */
  readonly alone: boolean;
}

export function createDeviceRows({ db, home, sealer, alone }: DeviceRowsDeps) {
  const about = (browser: string) => JSON.stringify(['push subscription', home, browser]);
  const change = (
    browser: string,
    values: { readonly used_at: number } | { readonly sealed: null } | { readonly refused: number | null },
  ) =>
    db
      .updateTable('notification_devices')
      .set(values)
      .where('home', '=', home)
      .where('browser', '=', browser)
      .execute();

  return {
    /** The one used last first. */
    async all(): Promise<readonly ToldDevice[]> {
      const rows = await db
        .selectFrom('notification_devices as device')
        .selectAll('device')
        .where('device.home', '=', home)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('browsers')
              .select('browsers.token_hash')
              .whereRef('browsers.token_hash', '=', 'device.browser')
              .whereRef('browsers.home', '=', 'device.home'),
          ),
        )
        .orderBy('device.used_at', 'desc')
        .execute();
      return rows.map(({ browser, device, choice_json, sealed, used_at, refused }) => {
        const text = sealed === null ? null : sealer.open(sealed, about(browser));
        return {
          ...choiceSchema.parse(JSON.parse(choice_json)),
          browser,
          deviceId: device,
          usedAt: used_at,
          refused,
          subscription: text === null ? null : subscriptionSchema.parse(JSON.parse(text)),
          elsewhere: !alone && sealed !== null && text === null,
        };
      });
    },
    async put(browser: string, { subscription, ...choice }: DeviceChoice, now: number): Promise<void> {
      const values = {
        choice_json: JSON.stringify(choice),
        sealed: subscription === null ? null : sealer.seal(JSON.stringify(subscription), about(browser)),
        used_at: now,
      };
      await db
        .insertInto('notification_devices')
        .values({ home, browser, device: randomUUID(), ...values })
        .onConflict((conflict) => conflict.columns(['home', 'browser']).doUpdateSet(values))
        .execute();
    },
    async used(browser: string, now: number): Promise<void> {
      await change(browser, { used_at: now });
    },
    /** Its subscription is over; what it chose stays. */
    async unsubscribe(browser: string): Promise<void> {
      await change(browser, { sealed: null });
    },
    /** `status` null: its push service takes what is pushed. */
    async refused(browser: string, status: number | null): Promise<void> {
      await change(browser, { refused: status });
    },
    /** False: there is none. */
    async remove(deviceId: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('notification_devices')
        .where('home', '=', home)
        .where('device', '=', deviceId)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
