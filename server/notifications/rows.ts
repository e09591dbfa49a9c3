/** What is told to whom, on the store. A device is a sign-in: where that has ended, nothing is pushed to it any more. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import {
  deviceChoiceSchema,
  notificationSchema,
  type DeviceChoice,
  type PushSubscriptionJson,
  type RaisedNotification,
} from '../../src/protocol/notifications.ts';
import type { Sealer } from '../schedules/index.ts';
import type { Db } from '../store/index.ts';

const choiceSchema = deviceChoiceSchema.omit({ subscription: true });
const subscriptionSchema = deviceChoiceSchema.shape.subscription.unwrap();

export interface ToldDevice extends Omit<DeviceChoice, 'subscription'> {
  readonly browser: string;
  readonly deviceId: string;
  readonly usedAt: number;
  /** Null: it is not pushed. */
  readonly subscription: PushSubscriptionJson | null;
}
export interface DueSend {
  readonly key: string;
  readonly browser: string;
  readonly state: string;
  readonly tries: number;
}

export interface NotificationRowsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly sealer: Sealer;
}

// In one piece: the statements on three tables.
export function createNotificationRows({ db, home, sealer }: NotificationRowsDeps) {
  const about = (browser: string) => JSON.stringify(['push subscription', home, browser]);
  const change = (browser: string, values: { readonly used_at: number } | { readonly sealed: null }) =>
    db
      .updateTable('notification_devices')
      .set(values)
      .where('home', '=', home)
      .where('browser', '=', browser)
      .execute();
  const sendsOf = (key: string) => db.deleteFrom('notification_sends').where('home', '=', home).where('key', '=', key);

  return {
    /** The one used last first. */
    async devices(): Promise<readonly ToldDevice[]> {
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
      return rows.map(({ browser, device, choice_json, sealed, used_at }) => {
        const text = sealed === null ? null : sealer.open(sealed, about(browser));
        return {
          ...choiceSchema.parse(JSON.parse(choice_json)),
          browser,
          deviceId: device,
          usedAt: used_at,
          subscription: text === null ? null : subscriptionSchema.parse(JSON.parse(text)),
        };
      });
    },
    async putDevice(browser: string, { subscription, ...choice }: DeviceChoice, now: number): Promise<void> {
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
    /** False: there is none. */
    async removeDevice(deviceId: string): Promise<boolean> {
      const { numDeletedRows } = await db
        .deleteFrom('notification_devices')
        .where('home', '=', home)
        .where('device', '=', deviceId)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
    /** False: it was raised before. */
    async raise(raised: RaisedNotification): Promise<boolean> {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('notifications')
        .values({ home, key: raised.key, value_json: JSON.stringify(raised), raised_at: raised.raisedAt })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    async open(): Promise<readonly RaisedNotification[]> {
      const rows = await db
        .selectFrom('notifications')
        .select('value_json')
        .where('home', '=', home)
        .where('closed_at', 'is', null)
        .orderBy('raised_at')
        .execute();
      return rows.map(({ value_json }) => notificationSchema.parse(JSON.parse(value_json)));
    },
    async get(key: string): Promise<RaisedNotification | null> {
      const row = await db
        .selectFrom('notifications')
        .select('value_json')
        .where('home', '=', home)
        .where('key', '=', key)
        .executeTakeFirst();
      return row ? notificationSchema.parse(JSON.parse(row.value_json)) : null;
    },
    async plan(key: string, browser: string, dueAt: number): Promise<void> {
      await db
        .insertInto('notification_sends')
        .values({ home, key, browser, state: 'waits', due_at: dueAt, tries: 0 })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
    /** It is not pushed on; what was pushed stays. */
    async stop(key: string): Promise<void> {
      await sendsOf(key).where('state', '=', 'waits').execute();
    },
    /** Answered or seen, at `browser`: it goes from where it was pushed to. False: it was closed before. */
    async close(key: string, browser: string | null, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('notifications')
        .set({ closed_at: now })
        .where('home', '=', home)
        .where('key', '=', key)
        .where('closed_at', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await sendsOf(key)
        .where((or) => or.or([or('state', '=', 'waits'), or('browser', '=', browser ?? '')]))
        .execute();
      await db
        .updateTable('notification_sends')
        .set({ state: 'closing', due_at: now, tries: 0 })
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      return true;
    },
    /** Those that are due, each for one relay: whoever dies with one leaves it to be claimed again after `leaseMs`. */
    async claim(now: number, leaseMs: number, most: number): Promise<readonly DueSend[]> {
      const due = db
        .selectFrom('notification_sends')
        .select(['key', 'browser'])
        .where('home', '=', home)
        .where('state', '!=', 'sent')
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(most)
        .forUpdate()
        .skipLocked();
      return await db
        .updateTable('notification_sends')
        .set({ due_at: now + leaseMs })
        .where('home', '=', home)
        .where(sql<boolean>`(key, browser) in (${due})`)
        .returning(['key', 'browser', 'state', 'tries'])
        .execute();
    },
    /** What became of one: pushed, and not to be taken back yet (`sent`); to be tried again; or over (null). */
    async became(
      { key, browser, state }: DueSend,
      next: { readonly dueAt: number; readonly tries: number } | 'sent' | null,
    ): Promise<void> {
      // One that was closed meanwhile is not touched: that is what is due now.
      const same = sendsOf(key).where('browser', '=', browser).where('state', '=', state);
      if (next === null) return void (await same.execute());
      await db
        .updateTable('notification_sends')
        .set(next === 'sent' ? { state: 'sent' } : { due_at: next.dueAt, tries: next.tries })
        .where('home', '=', home)
        .where('key', '=', key)
        .where('browser', '=', browser)
        .where('state', '=', state)
        .execute();
    },
    /** When the next is due; null: none waits. */
    async nextDue(): Promise<number | null> {
      const { at } = await db
        .selectFrom('notification_sends')
        .select((eb) => eb.fn.min<number | null>('due_at').as('at'))
        .where('home', '=', home)
        .where('state', '!=', 'sent')
        .executeTakeFirstOrThrow();
      return at === null ? null : Number(at);
    },
    async drop(before: number): Promise<void> {
      const old = db
        .deleteFrom('notifications')
        .where('home', '=', home)
        .where('raised_at', '<', before)
        .where('closed_at', 'is not', null)
        .returning('key');
      for (const { key } of await old.execute()) await sendsOf(key).execute();
    },
  };
}
export type NotificationRows = ReturnType<typeof createNotificationRows>;
