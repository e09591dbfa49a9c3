/**
 * Notifications in the store. Of several relays on one store, one handles each notification. It
 * claims due work for a while, and if it dies the work passes to the next relay.
 */
import { sql } from 'kysely';
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import {
  type DeviceChoice,
  deviceChoiceSchema,
  notificationSchema,
  type PushSubscriptionJson,
  type RaisedNotification,
} from '../../src/shared/protocol/notifications.ts';
import type { Sealer } from '../platform/sealer.ts';
import { isOneOf } from '../store/dialect.ts';
import type { HomeStore } from '../store/index.ts';

// The devices to notify, in the store. A device is a sign-in. Once that has ended, nothing is
// pushed to it.

const choiceSchema = deviceChoiceSchema.omit({ subscription: true });
const subscriptionSchema = deviceChoiceSchema.shape.subscription.unwrap();

export interface NotifiedDevice extends Omit<DeviceChoice, 'subscription'> {
  readonly browser: string;
  readonly deviceId: string;
  readonly usedAt: number;
  /** Status with which its push service refused the last push. Null: the push was accepted. */
  readonly refused: number | null;
  /** Null: it receives no pushes, or none from this relay. */
  readonly subscription: PushSubscriptionJson | null;
  /**
   * Another relay on this store has sealed its subscription, with its own key, and sends its
   * pushes.
   */
  readonly elsewhere: boolean;
}

export interface DeviceRowsDeps extends HomeStore {
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
    /** Last used first. */
    async all(): Promise<readonly NotifiedDevice[]> {
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
        .values({ home, browser, device: newId(), ...values })
        .onConflict((conflict) => conflict.columns(['home', 'browser']).doUpdateSet(values))
        .execute();
    },
    async used(browser: string, now: number): Promise<void> {
      await change(browser, { used_at: now });
    },
    /** Its subscription has ended. Its choices stay. */
    async unsubscribe(browser: string): Promise<void> {
      await change(browser, { sealed: null });
    },
    /** `status` null: its push service accepts pushes. */
    async refused(browser: string, status: number | null): Promise<void> {
      await change(browser, { refused: status });
    },
    /** False: it does not exist. */
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

/** A push to one device. `state`: as claimed. */
export interface DueSend {
  readonly key: string;
  readonly browser: string;
  readonly state: string;
  readonly tries: number;
}

/** A claimed notification whose next device must be notified. */
export interface DueNotification {
  readonly raised: RaisedNotification;
  /** No device was notified of it yet. */
  readonly first: boolean;
  /** When the claim ends, which also identifies it; ms since the epoch. */
  readonly until: number;
}

/** The device to notify now (null: none), and the time for the one after that (null: none). */
export interface NextNotified {
  readonly browser: string | null;
  readonly at: number | null;
}

/** The pushes of notifications: one for each device. */
function createSendRows({ db, home }: HomeStore) {
  const removeOf = (key: string) => db.deleteFrom('notification_sends').where('home', '=', home).where('key', '=', key);

  const changeSend = ({ key, browser }: Pick<DueSend, 'key' | 'browser'>, state: string) =>
    db
      .updateTable('notification_sends')
      .where('home', '=', home)
      .where('key', '=', key)
      .where('browser', '=', browser)
      .where('state', '=', state);

  return {
    removeOf,
    /** Devices that were notified, or were planned to be. */
    async toldOf(key: string): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('notification_sends')
        .select('browser')
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      return new Set(rows.map(({ browser }) => browser));
    },
    /** Claims due pushes, except those to these devices. */
    async claim(
      now: number,
      { claimMs, most, but }: { readonly claimMs: number; readonly most: number; readonly but: readonly string[] },
    ): Promise<readonly DueSend[]> {
      let due = db
        .selectFrom('notification_sends')
        .select(['key', 'browser'])
        .where('home', '=', home)
        .where('state', 'in', ['waits', 'sending', 'closing'])
        .where('due_at', '<=', now)
        .orderBy('due_at')
        .limit(most)
        .forUpdate()
        .skipLocked();
      if (but.length > 0) due = due.where('browser', 'not in', but);
      return await db
        .updateTable('notification_sends')
        .set({ state: sql`case when state = 'waits' then 'sending' else state end`, due_at: now + claimMs })
        .where('home', '=', home)
        .where(sql<boolean>`(key, browser) in (${due})`)
        .returning(['key', 'browser', 'state', 'tries'])
        .execute();
    },
    /**
     * The result of one push: delivered and still open (`sent`), undeliverable (`failed`), to be
     * repeated, or over (null).
     */
    async became(
      due: DueSend,
      next: { readonly dueAt: number; readonly tries: number } | 'sent' | 'failed' | null,
      now: number,
    ): Promise<void> {
      const { key, browser, state } = due;
      // A push that was closed meanwhile is not changed, because closing it is due now.
      if (next === null)
        return void (await removeOf(key).where('browser', '=', browser).where('state', '=', state).execute());
      const { numUpdatedRows } = await changeSend(due, state)
        .set(
          typeof next === 'string'
            ? { state: next }
            : { state: state === 'sending' ? 'waits' : state, due_at: next.dueAt, tries: next.tries },
        )
        .executeTakeFirst();
      if (numUpdatedRows === 0n && state === 'sending') await changeSend(due, 'closing').set({ due_at: now }).execute();
    },
  };
}

export function createNotificationRows({ db, home }: HomeStore) {
  const read = (value: string) => notificationSchema.parse(JSON.parse(value));
  const { removeOf: sendsOf, ...sends } = createSendRows({ db, home });

  return {
    ...sends,
    /** The first device is notified at `raisedAt`. False: it was raised before. */
    async raise(raised: RaisedNotification): Promise<boolean> {
      const { numInsertedOrUpdatedRows = 0n } = await db
        .insertInto('notifications')
        .values({
          home,
          key: raised.key,
          value_json: JSON.stringify(raised),
          raised_at: raised.raisedAt,
          next_at: raised.raisedAt,
        })
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      return numInsertedOrUpdatedRows > 0n;
    },
    /** Without those whose time has not come. */
    async open(now: number): Promise<readonly RaisedNotification[]> {
      const rows = await db
        .selectFrom('notifications')
        .select('value_json')
        .where('home', '=', home)
        .where('closed_at', 'is', null)
        .where('raised_at', '<=', now)
        .orderBy('raised_at')
        .execute();
      return rows.map(({ value_json }) => read(value_json));
    },
    async get(key: string): Promise<RaisedNotification | null> {
      const row = await db
        .selectFrom('notifications')
        .select('value_json')
        .where('home', '=', home)
        .where('key', '=', key)
        .executeTakeFirst();
      return row ? read(row.value_json) : null;
    },
    /** Claims notifications whose next device must be notified. */
    async toTell(now: number, claimMs: number): Promise<readonly DueNotification[]> {
      const until = now + claimMs;
      const rows = await db.transaction().execute(async (trx) => {
        const due = await trx
          .selectFrom('notifications')
          .select(['key', 'value_json', 'raised_at', 'next_at as was'])
          .where('home', '=', home)
          .where('next_at', '<=', now)
          .forUpdate()
          .skipLocked()
          .execute();
        if (due.length > 0)
          await trx
            .updateTable('notifications')
            .set({ next_at: until })
            .where('home', '=', home)
            .where(
              isOneOf(
                'key',
                due.map(({ key }) => key),
              ),
            )
            .execute();
        return due;
      });
      return rows
        .sort((a, b) => (a.was ?? 0) - (b.was ?? 0))
        .map(({ value_json, raised_at, was }) => ({ raised: read(value_json), first: was === raised_at, until }));
    },
    /**
     * Plans the push, and the time for the next device, while the claim holds. It holds if nobody
     * has seen or answered the notification meanwhile, and no other relay has it.
     */
    async tell({ raised: { key }, until }: DueNotification, { browser, at }: NextNotified, now: number): Promise<void> {
      await db.transaction().execute(async (trx) => {
        const { numUpdatedRows } = await trx
          .updateTable('notifications')
          .set({ next_at: at })
          .where('home', '=', home)
          .where('key', '=', key)
          .where('next_at', '=', until)
          .executeTakeFirst();
        if (numUpdatedRows === 0n || browser === null) return;
        await trx
          .insertInto('notification_sends')
          .values({ home, key, browser, state: 'waits', due_at: now, tries: 0 })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      });
    },
    /** Notifies the next device now instead of later, if there is one. */
    async hasten(key: string, now: number): Promise<void> {
      await db
        .updateTable('notifications')
        .set({ next_at: now })
        .where('home', '=', home)
        .where('key', '=', key)
        .where('next_at', '>', now)
        .execute();
    },
    /** No further pushes. Earlier ones stay. */
    async stop(key: string): Promise<void> {
      await db
        .updateTable('notifications')
        .set({ next_at: null })
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      await sendsOf(key).where('state', '=', 'waits').execute();
    },
    /**
     * It was answered or seen, at `browser`, and is removed from the devices that it was pushed to.
     * False: it was closed before.
     */
    async close(key: string, browser: string | null, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('notifications')
        .set({ closed_at: now, next_at: null })
        .where('home', '=', home)
        .where('key', '=', key)
        .where('closed_at', 'is', null)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) return false;
      await sendsOf(key)
        .where((or) => or.or([or('state', 'in', ['waits', 'failed']), or('browser', '=', browser ?? '')]))
        .execute();
      await db
        .updateTable('notification_sends')
        // A push in progress is removed after it has arrived: see `became`.
        .set({ state: 'closing', due_at: sql`case when state = 'sending' then due_at else ${now} end`, tries: 0 })
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      return true;
    },
    /** When the next device or push is due. Null: none waits. */
    async nextDue(): Promise<number | null> {
      const pushed = db
        .selectFrom('notification_sends')
        .select('due_at as at')
        .where('home', '=', home)
        .where('state', 'in', ['waits', 'sending', 'closing']);
      const told = db
        .selectFrom('notifications')
        .select(sql<number>`next_at`.as('at'))
        .where('home', '=', home)
        .where('next_at', 'is not', null);
      const { at } = await db
        .selectFrom(pushed.unionAll(told).as('due'))
        .select((eb) => eb.fn.min<number | null>('at').as('at'))
        .executeTakeFirstOrThrow();
      return at === null ? null : Number(at);
    },
    /** Deletes notifications about these agents, with their pushes. */
    async forget(agentIds: readonly string[]): Promise<void> {
      const rows = await db
        .selectFrom('notifications')
        .select(['key', 'value_json'])
        .where('home', '=', home)
        .execute();
      for (const { key, value_json } of rows) {
        const { agentId } = read(value_json);
        if (agentId === null || !agentIds.includes(agentId)) continue;
        await sendsOf(key).execute();
        await db.deleteFrom('notifications').where('home', '=', home).where('key', '=', key).execute();
      }
    },
    /**
     * Deletes old notifications that are over or were never seen. A question waits for its answer,
     * however long.
     */
    async drop(before: number): Promise<void> {
      const old = db
        .deleteFrom('notifications')
        .where('home', '=', home)
        .where('raised_at', '<', before)
        .where((or) => or.or([or('closed_at', 'is not', null), or('key', 'not like', 'approval:%')]))
        .returning('key');
      for (const { key } of await old.execute()) await sendsOf(key).execute();
    },
  };
}
export type NotificationRows = ReturnType<typeof createNotificationRows>;
