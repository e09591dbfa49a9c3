/**
 * What is told to whom, on the store. Of several relays on one store each thing is seen to by one:
 * what is due is claimed for a while, and whoever dies with it leaves it to the next.
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
import type { Db } from '../store/index.ts';

// Which devices are told, on the store. A device is a sign-in: where that has ended, nothing is
// pushed to it any more.

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
        .values({ home, browser, device: newId(), ...values })
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

/** A push to one device; `state` as it was claimed. */
export interface DueSend {
  readonly key: string;
  readonly browser: string;
  readonly state: string;
  readonly tries: number;
}

/** One of which the next device is to be told, claimed. */
export interface ToTell {
  readonly raised: RaisedNotification;
  /** Nobody was told of it. */
  readonly first: boolean;
  /** Until when it is claimed, which names the claim; ms since the epoch. */
  readonly until: number;
}

/** Who is told now (null: nobody), and when the one after that is; null: nobody more is. */
export interface NextTold {
  readonly browser: string | null;
  readonly at: number | null;
}

interface NotificationRowsDeps {
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
}

export function createNotificationRows({ db, home }: NotificationRowsDeps) {
  const read = (value: string) => notificationSchema.parse(JSON.parse(value));
  const sendsOf = (key: string) => db.deleteFrom('notification_sends').where('home', '=', home).where('key', '=', key);

  const changeSend = ({ key, browser }: Pick<DueSend, 'key' | 'browser'>, state: string) =>
    db
      .updateTable('notification_sends')
      .where('home', '=', home)
      .where('key', '=', key)
      .where('browser', '=', browser)
      .where('state', '=', state);

  return {
    /** The first device is told at `raisedAt`. False: it was raised before. */
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
    /** Claims those of which the next device is to be told. */
    async toTell(now: number, claimMs: number): Promise<readonly ToTell[]> {
      const until = now + claimMs;
      const rows = await db
        .with('due', (query) =>
          query
            .selectFrom('notifications')
            .select(['key', 'next_at'])
            .where('home', '=', home)
            .where('next_at', '<=', now)
            .forUpdate()
            .skipLocked(),
        )
        .updateTable('notifications as told')
        .from('due')
        .set({ next_at: until })
        .where('told.home', '=', home)
        .whereRef('told.key', '=', 'due.key')
        .returning(['told.value_json', 'told.raised_at', 'due.next_at as was'])
        .execute();
      return rows
        .sort((a, b) => (a.was ?? 0) - (b.was ?? 0))
        .map(({ value_json, raised_at, was }) => ({ raised: read(value_json), first: was === raised_at, until }));
    },
    /**
     * Plans the push, and says when the next device is told, as long as the claim holds: nobody has
     * seen or answered it meanwhile, and no other relay has it.
     */
    async tell({ raised: { key }, until }: ToTell, { browser, at }: NextTold, now: number): Promise<void> {
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
    /** Where more are to be told, now instead of later. */
    async hasten(key: string, now: number): Promise<void> {
      await db
        .updateTable('notifications')
        .set({ next_at: now })
        .where('home', '=', home)
        .where('key', '=', key)
        .where('next_at', '>', now)
        .execute();
    },
    /** Which devices were told, or were to be. */
    async toldOf(key: string): Promise<ReadonlySet<string>> {
      const rows = await db
        .selectFrom('notification_sends')
        .select('browser')
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      return new Set(rows.map(({ browser }) => browser));
    },
    /** It is not pushed on; what was pushed stays. */
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
     * Answered or seen, at `browser`: it goes from where it was pushed to. False: it was closed
     * before.
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
        // What is being pushed goes after it came: see `became`.
        .set({ state: 'closing', due_at: sql`case when state = 'sending' then due_at else ${now} end`, tries: 0 })
        .where('home', '=', home)
        .where('key', '=', key)
        .execute();
      return true;
    },
    /** Claims pushes that are due, but for those to these devices. */
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
     * What became of one: pushed, and not to be taken back yet (`sent`); not to be had (`failed`);
     * to be tried again; or over (null).
     */
    async became(
      due: DueSend,
      next: { readonly dueAt: number; readonly tries: number } | 'sent' | 'failed' | null,
      now: number,
    ): Promise<void> {
      const { key, browser, state } = due;
      // One that was closed meanwhile is not touched: that is what is due now.
      if (next === null)
        return void (await sendsOf(key).where('browser', '=', browser).where('state', '=', state).execute());
      const { numUpdatedRows } = await changeSend(due, state)
        .set(
          typeof next === 'string'
            ? { state: next }
            : { state: state === 'sending' ? 'waits' : state, due_at: next.dueAt, tries: next.tries },
        )
        .executeTakeFirst();
      if (numUpdatedRows === 0n && state === 'sending') await changeSend(due, 'closing').set({ due_at: now }).execute();
    },
    /** When the next is to be told or pushed; null: none waits. */
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
    /**
     * What is older and over, or was never looked at. A question waits for its answer, however
     * long.
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
