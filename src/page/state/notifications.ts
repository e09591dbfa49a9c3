/**
 * Notifications on this device. The choice is made and stored here, and sent to the relay, which
 * pushes.
 */
import { base64urlnopad } from '@scure/base';
import {
  type StoredRenewal,
  NOTIFICATION_KINDS,
  type NotificationKind,
  NOTIFIED,
  type NotificationTexts,
} from '../../shared/domain/talk.ts';
import { guessDeviceName } from '../../shared/domain/device-name.ts';
import type { DeviceChoice, Notifications } from '../../shared/protocol/notifications.ts';
import { PAGE_KEY } from '../../shared/protocol/page-key.ts';
import type { RelayProblem } from '../../shared/relay-client/index.ts';
import { t } from '../language/t.ts';
import { errorText, problemText } from './ports.ts';
import { DONE, type Done } from './attempt.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { type Query, relayQuery } from './query.ts';

// Texts of notifications in the person's language, for the page and for its service worker, which
// has no catalogue.

export function notificationTitle(kind: NotificationKind, name: string): string {
  switch (kind) {
    case 'approval':
      return t`${name} waits for your answer`;
    case 'failure':
      return t`${name} could not finish a piece of work`;
    case 'mention':
      return t`${name} has a message for you`;
    case 'answer':
      return t`${name} has answered`;
    case 'night':
      return t`Your agents were at work while you were away`;
    case 'review':
      return t`${name} asks you for a review`;
    default:
      return kind satisfies never;
  }
}

const NAME = '{name}';

/** The service worker fills in the placeholders. */
const toldTexts = (): NotificationTexts => ({
  approval: notificationTitle('approval', NAME),
  failure: notificationTitle('failure', NAME),
  mention: notificationTitle('mention', NAME),
  answer: notificationTitle('answer', NAME),
  night: notificationTitle('night', NAME),
  review: notificationTitle('review', NAME),
  over: t`Done on another device`,
  unread: t`Something waits for you in Roost`,
});

const KEPT_AT = 'roost-told';
type Choice = Pick<DeviceChoice, 'kinds' | 'quiet'> & { readonly pushed: boolean };

/** The default choice. */
const USUAL_CHOICE: Choice = { kinds: [...NOTIFICATION_KINDS], quiet: null, pushed: false };

export interface Notified {
  readonly shown: Query<Notifications>;
  /** The choice of this device. */
  choice(): Choice;
  /** Asks the browser for permission where needed. */
  choose(choice: Choice): Promise<Done>;
  remove(deviceId: string): Promise<void>;
  /** The person is here and has seen these. False: the relay does not know. */
  seen(keys: readonly string[]): Promise<boolean>;
  /** Subscribes again if the relay, the browser or its push service has lost the subscription. */
  renew(): Promise<void>;
  /** Mail address at which push services reach the operator of the relay; null: none. */
  putContact(mail: string | null): Promise<Done>;
}

/**
 * Why this browser cannot receive notifications while the page is closed, as a sentence; null: it
 * can.
 */
export function whyNoPush(): string | null {
  if (!window.isSecureContext)
    return t`A browser does this only for a page under https://, or on the relay’s own machine.`;
  if ('PushManager' in globalThis && 'serviceWorker' in navigator && 'Notification' in globalThis) return null;
  return /iPhone|iPad/.test(navigator.userAgent)
    ? t`On an iPhone or iPad, put Roost on the home screen first (Share, Add to Home Screen). Then open it there.`
    : t`This browser cannot tell you anything while Roost is closed.`;
}

const whyNot = (problem: RelayProblem) =>
  problem.kind === 'refused' ? problemText(problem) : t`The relay did not answer.`;

function createNotifications({ callRelay, changes, device, notices }: RoostState): Notified {
  const shown = relayQuery<Notifications>({ callRelay, changes, device }, ['notifications'], (client) =>
    client.notifications(),
  );
  function choice(): Choice {
    try {
      return { ...USUAL_CHOICE, ...(JSON.parse(device.browser.read(KEPT_AT) ?? '{}') as Partial<Choice>) };
    } catch {
      return USUAL_CHOICE;
    }
  }

  /** `isOver`: the push service no longer knows the browser's subscription. */
  async function subscription(publicKey: string, isOver: boolean): Promise<PushSubscription> {
    // `ready` would wait forever where there is no service worker: in development, or where the
    // browser blocks it.
    if (!(await navigator.serviceWorker.getRegistration()))
      throw new Error('the part of Roost that listens while it is closed is not installed here');
    const { pushManager } = await navigator.serviceWorker.ready;
    const existing = await pushManager.getSubscription();
    const key = existing?.options.applicationServerKey;
    // The relay may have lost its keys. A subscription for other keys receives nothing.
    if (!isOver && existing && key && base64urlnopad.encode(new Uint8Array(key)) === publicKey) return existing;
    await existing?.unsubscribe();
    return await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  }

  let renewing = false;
  async function say({ kinds, quiet, pushed }: Choice): Promise<Done> {
    let made: PushSubscription | null = null;
    if (pushed) {
      const answer = await callRelay((client) => client.notifications());
      if (!answer.ok) return { ok: false, reason: t`The relay did not answer.` };
      try {
        const isOver = answer.value.devices.some(({ here, pushed }) => here && !pushed);
        made = await subscription(answer.value.publicKey, isOver);
      } catch (error) {
        return {
          ok: false,
          reason: t`Could not do this. ${errorText(error)}`,
        };
      }
    } else if ('serviceWorker' in navigator)
      await (await (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription())?.unsubscribe();
    const json = made?.toJSON();
    const body: DeviceChoice = {
      name: guessDeviceName(navigator.userAgent),
      kinds: [...kinds],
      quiet,
      timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      subscription: json
        ? {
            endpoint: json.endpoint ?? '',
            keys: { p256dh: json.keys?.['p256dh'] ?? '', auth: json.keys?.['auth'] ?? '' },
          }
        : null,
    };
    const put = await callRelay((client) => client.putNotificationDevice({ body }));
    if (!put.ok) return { ok: false, reason: whyNot(put.problem) };
    if ('caches' in globalThis) {
      const kept: StoredRenewal = {
        path: '/api/notifications/device',
        headers: { [PAGE_KEY.header]: device.browser.read(PAGE_KEY.stored) ?? '' },
        choice: body,
        texts: toldTexts(),
      };
      await (await caches.open(NOTIFIED.cache)).put(NOTIFIED.kept, Response.json(kept));
    }
    return DONE;
  }

  return {
    shown,
    choice,
    async choose(next) {
      if (
        next.pushed &&
        Notification.permission !== 'granted' &&
        (await Notification.requestPermission()) !== 'granted'
      )
        return { ok: false, reason: t`The browser does not allow it. Its settings for this address can.` };
      const said = await say(next);
      if (said.ok) device.browser.write(KEPT_AT, JSON.stringify(next));
      await shown.again();
      return said;
    },
    async remove(deviceId) {
      const removed = await callRelay((client) => client.removeNotificationDevice({ deviceId }));
      if (!removed.ok) notices.refused(removed.problem);
      await shown.again();
    },
    async seen(keys) {
      // If this fails, the other devices are notified as well, which does no harm.
      return (await callRelay((client) => client.seeNotifications({ body: { keys: [...keys] } }))).ok;
    },
    async putContact(mail) {
      const put = await callRelay((client) => client.putPushContact({ body: { mail } }));
      await shown.again();
      return put.ok ? DONE : { ok: false, reason: whyNot(put.problem) };
    },
    async renew() {
      if (
        renewing ||
        device.browser.read(KEPT_AT) === null ||
        !choice().pushed ||
        whyNoPush() !== null ||
        Notification.permission !== 'granted'
      )
        return;
      renewing = true;
      await say(choice()).finally(() => (renewing = false));
    },
  };
}

/** One instance per page. */
export const notificationsOf = onePerPage(createNotifications);
