/**
 * Tells the person, while they look elsewhere, of what needs them: once for each thing, first on
 * the device that was used last, then on the others where nobody has seen it, and never in quiet
 * hours. What is answered or seen on one goes from the others by a push of its own, which shows
 * that it is over: browsers revoke a subscription whose pushes show nothing.
 */
import type { Timers } from '../../src/shared/domain/platform/timers.ts';
import { quietUntil } from '../../src/shared/domain/blackouts.ts';
import type { DeviceChoice, Notifications, RaisedNotification } from '../../src/shared/protocol/notifications.ts';
import type { Calls } from '../tools/calls/index.ts';
import type { Directory, EventLog } from '../contracts/index.ts';
import type { Logger } from '../platform/logger.ts';
import { createPushContact, NO_SUBJECT, type PushSubject } from './contact.ts';
import { createDeviceRows, type DeviceRowsDeps, type ToldDevice } from './device-rows.ts';
import type { Pusher } from './push.ts';
import { createRaised } from './raised.ts';
import { createNotificationRows, type DueSend, type NextTold, type ToTell } from './rows.ts';
import { NOTIFICATION_LIMITS as LIMITS } from './settings.ts';

export interface HomeNotifications {
  shown(browser: string): Promise<Notifications>;
  /** Why not; null: it is kept. */
  putDevice(browser: string, choice: DeviceChoice): Promise<'address' | 'too-many' | null>;
  removeDevice(deviceId: string): Promise<boolean>;
  /** By which push services reach whoever runs the relay; null: by none of the household's. */
  putContact(mail: string | null): Promise<void>;
  seen(browser: string, keys: readonly string[]): Promise<void>;
  start(): Promise<void>;
  /** Resolves when what was under way is done. */
  whenQuiet(): Promise<void>;
  close(): Promise<void>;
}

export interface NotificationsDeps extends DeviceRowsDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly calls: Pick<Calls, 'waiting'>;
  readonly directory: Pick<Directory, 'all'>;
  /** Of the household. */
  readonly readZone: () => Promise<string>;
  readonly pusher: Pusher;
  readonly subject: PushSubject;
  /** Whether a page of this sign-in is open, which can show it itself. */
  readonly hasPage: (browser: string) => boolean;
  /** ms that a device is given before the next is told. */
  readonly nextMs: number;
  /** Tells pages that there is something to ask for. */
  readonly tell: () => void;
  readonly now: () => number;
  readonly timers: Timers;
  readonly logger: Pick<Logger, 'error'>;
}

export function createNotifications(deps: NotificationsDeps): HomeNotifications {
  const { log, pusher, alone, hasPage, nextMs, tell, now, timers, logger } = deps;
  const rows = createNotificationRows(deps);
  const devices = createDeviceRows(deps);
  const contact = createPushContact(deps);
  const closing = new AbortController();
  let cancel: () => void = () => undefined;
  let turn: Promise<void> = Promise.resolve();
  /** One after the other: what is raised is planned before it is sent, and closed after. */
  const inTurn = (work: () => Promise<void>): Promise<void> =>
    (turn = turn.then(work).catch((error: unknown) => {
      logger.error('A notification could not be seen to.', { error: String(error) });
    }));

  /** ms since the epoch: not before that, for its quiet hours. */
  const notBefore = ({ quiet, timeZone }: ToldDevice, at: number): number => quietUntil(quiet, timeZone, at);

  async function raise(raised: RaisedNotification): Promise<void> {
    if (await rows.raise(raised)) await rows.drop(now() - LIMITS.keptMs);
  }
  /** Which device is the next for it, as things stand now. */
  async function nextFor({ raised, first }: ToTell, known: readonly ToldDevice[]): Promise<NextTold> {
    const at = now();
    const told = await rows.toldOf(raised.key);
    const left = known.filter(
      ({ subscription, elsewhere, kinds, browser }) =>
        (subscription !== null || elsewhere) && kinds.includes(raised.kind) && !told.has(browser),
    );
    const next = left.find((device) => notBefore(device, at) === at);
    if (next === undefined)
      return {
        browser: null,
        at: left.length === 0 ? null : Math.min(...left.map((device) => notBefore(device, at))),
      };
    // Of pages at another relay nothing is known here.
    if (first && (!alone || hasPage(next.browser)) && at - next.usedAt < LIMITS.usedMs)
      return { browser: null, at: at + LIMITS.graceMs };
    return { browser: next.browser, at: left.length === 1 ? null : at + nextMs };
  }
  async function close(key: string, browser: string | null): Promise<void> {
    if (await rows.close(key, browser, now())) tell();
  }

  async function send(due: DueSend, device: ToldDevice | undefined): Promise<void> {
    const raised = await rows.get(due.key);
    const over = due.state === 'closing';
    /** It will not be had there: who is next need not wait. */
    const failed = async () => {
      await rows.became(due, over ? null : 'failed', now());
      await rows.hasten(due.key, now());
    };
    if (!raised || !device?.subscription) return await failed();
    // They may have begun, or been set, since it was planned.
    const at = over ? now() : notBefore(device, now());
    if (at > now()) return await rows.became(due, { dueAt: at, tries: due.tries }, now());
    const { key, kind, title, name, path } = raised;
    const subject = (await contact.shown()).subject ?? NO_SUBJECT;
    const pushed = await pusher.push(
      device.subscription,
      { key, kind, title, name, path, over },
      subject,
      closing.signal,
    );
    const refused = pushed.kind === 'refused' ? pushed.status : null;
    if (pushed.kind !== 'again' && refused !== device.refused) {
      await devices.refused(device.browser, refused);
      tell();
    }
    switch (pushed.kind) {
      case 'sent':
        return await rows.became(due, over ? null : 'sent', now());
      case 'gone':
        await devices.unsubscribe(device.browser);
        tell();
        return await failed();
      case 'refused':
        return await failed();
      case 'again': {
        const wait = LIMITS.retriesMs[due.tries];
        if (wait === undefined) return await failed();
        const next = { dueAt: now() + (pushed.afterMs ?? wait), tries: due.tries + 1 };
        return await rows.became(due, next, now());
      }
      default:
        return pushed satisfies never;
    }
  }

  async function sendDue(): Promise<void> {
    cancel();
    if (closing.signal.aborted) return;
    // Looked at again also where this comes to no end: the store may be out of reach for a moment.
    cancel = timers.after(LIMITS.lookMs, () => void inTurn(sendDue));
    const toTell = await rows.toTell(now(), LIMITS.claimMs);
    if (toTell.some(({ first }) => first)) tell();
    const known = await devices.all();
    for (const each of toTell) await rows.tell(each, await nextFor(each, known), now());
    const but = known.filter(({ elsewhere }) => elsewhere).map(({ browser }) => browser);
    const due = await rows.claim(now(), { claimMs: LIMITS.claimMs, most: LIMITS.atOnce, but });
    await Promise.all(
      due.map((each) =>
        send(
          each,
          known.find(({ browser }) => browser === each.browser),
        ),
      ),
    );
    const next = await rows.nextDue();
    cancel();
    // What another relay has left is nowhere told here.
    if ((next === null && alone) || closing.signal.aborted) return;
    cancel = timers.after(Math.min(Math.max(0, (next ?? Infinity) - now()), LIMITS.lookMs), () => void inTurn(sendDue));
  }
  const soon = (work: () => Promise<void>) =>
    inTurn(async () => {
      if (closing.signal.aborted) return;
      await work();
      await sendDue();
    });

  const raised = createRaised({ ...deps, rows, raise, close });
  const stop = log.subscribe(({ event }) => {
    const work = raised.of(event);
    if (work) void soon(work);
  });

  return {
    async shown(browser) {
      const all = await devices.all();
      return {
        publicKey: pusher.publicKey,
        contact: await contact.shown(),
        open: [...(await rows.open(now()))],
        devices: all.map((device) => ({
          deviceId: device.deviceId,
          name: device.name,
          here: device.browser === browser,
          pushed: device.subscription !== null || device.elsewhere,
          endpoint: device.browser === browser ? (device.subscription?.endpoint ?? null) : null,
          kinds: device.kinds,
          quiet: device.quiet,
          usedAt: device.usedAt,
          refused: device.refused,
        })),
      };
    },
    async putDevice(browser, choice) {
      if (choice.subscription !== null && !pusher.fits(choice.subscription.endpoint)) return 'address';
      const others = (await devices.all()).filter((device) => device.browser !== browser);
      if (others.length >= LIMITS.devices) return 'too-many';
      await devices.put(browser, choice, now());
      tell();
      return null;
    },
    async removeDevice(deviceId) {
      const removed = await devices.remove(deviceId);
      if (removed) tell();
      return removed;
    },
    async putContact(mail) {
      await contact.put(mail);
      tell();
    },
    seen: (browser, keys) =>
      soon(async () => {
        await devices.used(browser, now());
        const open = new Set((await rows.open(now())).map(({ key }) => key));
        // What is planned for later nobody can have seen.
        for (const key of keys.filter((each) => open.has(each))) {
          await rows.stop(key);
          if (!key.startsWith('approval:')) await close(key, browser);
        }
      }),
    start: () =>
      soon(async () => {
        await rows.drop(now() - LIMITS.keptMs);
        await raised.approvals();
      }),
    whenQuiet: () => turn,
    async close() {
      closing.abort();
      stop();
      cancel();
      await turn;
    },
  };
}
