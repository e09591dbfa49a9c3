/**
 * Handles pushes in the service worker. A push always shows a notification, since browsers revoke a
 * subscription whose pushes show nothing. Each subject has one notification per device, identified
 * by its tag, whether the page or the service worker shows it. A click opens the subject.
 */
import {
  type StoredRenewal,
  type StoredWaits,
  NOTIFICATION_KINDS,
  type NotificationTexts,
} from '../shared/domain/talk.ts';

/** Sent to an open page on a click. */
export interface GoTo {
  readonly roostGo: string;
}
interface Shown {
  readonly path: string;
  readonly over: boolean;
  /** It waits for the person, as the inbox of the page counts. */
  readonly waits: boolean;
  /** When it was pushed; ms since the epoch. */
  readonly at: number;
}
interface Window {
  focus(): Promise<unknown>;
  postMessage(message: GoTo): void;
}
export interface PushHandlerDeps {
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification' | 'getNotifications'> & {
    readonly pushManager: Pick<PushManager, 'subscribe'>;
  };
  readonly windows: () => Promise<readonly Window[]>;
  readonly openWindow: (path: string) => Promise<unknown>;
  readonly kept: () => Promise<StoredRenewal | null>;
  readonly keep: (kept: StoredRenewal) => Promise<void>;
  readonly fetch: typeof globalThis.fetch;
  readonly waits: () => Promise<StoredWaits | null>;
  /** Shows the count on the icon; 0: none. */
  readonly badge: (count: number) => Promise<void>;
  readonly now: () => number;
}

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/(?!\/)/.test(path);

/**
 * The content of a push, as far as it can be read. Something is shown in any case. `texts` null: no
 * page has stored any.
 */
function read(
  text: string | null,
  texts: NotificationTexts | null,
): {
  readonly key: string;
  readonly title: string;
  readonly path: string;
  readonly over: boolean;
  readonly waits: boolean;
} {
  const unread = {
    key: 'unread',
    title: texts?.unread ?? 'Something waits for you in Roost',
    path: '/',
    over: false,
    waits: true,
  };
  try {
    const { key, kind, title, name, path, over } = JSON.parse(text ?? 'null') as Record<string, unknown>;
    if (typeof key !== 'string' || typeof title !== 'string' || !isPath(path)) return unread;
    const kindHere = NOTIFICATION_KINDS.find((each) => each === kind);
    const said = (kindHere && texts?.[kindHere]) ?? title;
    const named = typeof name === 'string' ? said.replace('{name}', () => name) : said;
    return {
      key,
      title: named.includes('{name}') ? title : named,
      path,
      over: over === true,
      // An answer or a mention is unread, and waits for nobody.
      waits: kindHere === 'approval' || kindHere === 'failure' || kindHere === 'review',
    };
  } catch {
    return unread;
  }
}

export function createPushHandler({
  registration,
  windows,
  openWindow,
  kept,
  keep,
  fetch,
  waits,
  badge,
  now,
}: PushHandlerDeps) {
  /**
   * Used while no page is open; an open page counts by itself. The last page's count, plus what was
   * pushed since.
   */
  async function count(): Promise<void> {
    if ((await windows()).length > 0) return;
    const before = await waits();
    const since = (await registration.getNotifications())
      .map(({ data }) => data as Partial<Shown> | null)
      .filter((shown) => shown?.over === false && shown.waits !== false && (shown.at ?? 0) > (before?.at ?? 0));
    await badge((before?.count ?? 0) + since.length);
  }

  return {
    async pushed(text: string | null): Promise<void> {
      // If they cannot be read, the notification is in English.
      const texts = (await kept().catch(() => null))?.texts ?? null;
      const { key, title, path, over, waits: isWaiting } = read(text, texts);
      const data: Shown = { path, over, waits: isWaiting, at: now() };
      await registration.showNotification(over ? (texts?.over ?? 'Done on another device') : title, {
        tag: key,
        ...(over ? { body: title, silent: true } : {}),
        data,
      });
      // Removes notifications that are obsolete.
      for (const each of await registration.getNotifications())
        if (each.tag !== key && (each.data as Shown | null)?.over === true) each.close();
      // A failing badge must not affect the notification.
      await count().catch(() => undefined);
    },
    async clicked(data: unknown): Promise<void> {
      const path = (data as Partial<Shown> | null)?.path;
      const to = isPath(path) ? path : '/';
      const [open] = await windows();
      if (!open) return void (await openWindow(to));
      open.postMessage({ roostGo: to });
      await open.focus();
    },
    /** The browser has ended its subscription. The relay receives the new one. */
    async renewed(old: PushSubscription | null, next: PushSubscription | null): Promise<void> {
      const last = await kept();
      if (last === null) return;
      const key = old?.options.applicationServerKey ?? null;
      const subscription =
        next ??
        (key === null
          ? null
          : await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
      // Without one, the page subscribes again when it is opened.
      if (subscription === null) return;
      const { endpoint, keys } = subscription.toJSON();
      const choice = { ...last.choice, subscription: { endpoint, keys } };
      await fetch(last.path, {
        method: 'PUT',
        headers: { ...last.headers, 'content-type': 'application/json' },
        body: JSON.stringify(choice),
      });
      await keep({ ...last, choice });
    },
  };
}
