/**
 * What the service worker does with a push: it always shows something, as browsers revoke a
 * subscription whose pushes show nothing; a thing has one notification on a device, whoever shows
 * it, by its tag; a click leads to the very place.
 */
import { NOTIFICATION_KINDS, type KeptForRenewal, type KeptWaits, type ToldTexts } from '../shared/domain/told.ts';

/** What a click tells a page that is open. */
export interface GoTo {
  readonly roostGo: string;
}
interface Shown {
  readonly path: string;
  readonly over: boolean;
  /** When it was pushed; ms since the epoch. */
  readonly at: number;
}
interface Window {
  focus(): Promise<unknown>;
  postMessage(message: GoTo): void;
}
export interface ToldDeps {
  readonly registration: Pick<ServiceWorkerRegistration, 'showNotification' | 'getNotifications'> & {
    readonly pushManager: Pick<PushManager, 'subscribe'>;
  };
  readonly windows: () => Promise<readonly Window[]>;
  readonly openWindow: (path: string) => Promise<unknown>;
  readonly kept: () => Promise<KeptForRenewal | null>;
  readonly keep: (kept: KeptForRenewal) => Promise<void>;
  readonly fetch: typeof globalThis.fetch;
  readonly waits: () => Promise<KeptWaits | null>;
  /** Shows on the icon how much waits; 0: nothing. */
  readonly badge: (count: number) => Promise<void>;
  readonly now: () => number;
}

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/(?!\/)/.test(path);

/**
 * What came, as far as it can be read: something is shown of it in any case. `texts` null: no page
 * has left any.
 */
function read(
  text: string | null,
  texts: ToldTexts | null,
): {
  readonly key: string;
  readonly title: string;
  readonly path: string;
  readonly over: boolean;
} {
  const unread = { key: 'unread', title: texts?.unread ?? 'Something waits for you in Roost', path: '/', over: false };
  try {
    const { key, kind, title, name, path, over } = JSON.parse(text ?? 'null') as Record<string, unknown>;
    if (typeof key !== 'string' || typeof title !== 'string' || !isPath(path)) return unread;
    const known = NOTIFICATION_KINDS.find((each) => each === kind);
    const said = (known && texts?.[known]) ?? title;
    const named = typeof name === 'string' ? said.replace('{name}', () => name) : said;
    return { key, title: named.includes('{name}') ? title : named, path, over: over === true };
  } catch {
    return unread;
  }
}

export function createTold({ registration, windows, openWindow, kept, keep, fetch, waits, badge, now }: ToldDeps) {
  /**
   * While no page is open, which counts by itself: what waited when one was, and what was pushed
   * since.
   */
  async function count(): Promise<void> {
    if ((await windows()).length > 0) return;
    const before = await waits();
    const since = (await registration.getNotifications())
      .map(({ data }) => data as Partial<Shown> | null)
      .filter((shown) => shown?.over === false && (shown.at ?? 0) > (before?.at ?? 0));
    await badge((before?.count ?? 0) + since.length);
  }

  return {
    async pushed(text: string | null): Promise<void> {
      // Where they cannot be read it says it in English.
      const texts = (await kept().catch(() => null))?.texts ?? null;
      const { key, title, path, over } = read(text, texts);
      const data: Shown = { path, over, at: now() };
      await registration.showNotification(over ? (texts?.over ?? 'Done on another device') : title, {
        tag: key,
        ...(over ? { body: title, silent: true } : {}),
        data,
      });
      // What is over has been said, and makes room.
      for (const each of await registration.getNotifications())
        if (each.tag !== key && (each.data as Shown | null)?.over === true) each.close();
      // A number that has no place here takes nothing from what was shown.
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
    /** The browser has ended its subscription: the relay is given the next one. */
    async renewed(old: PushSubscription | null, next: PushSubscription | null): Promise<void> {
      const last = await kept();
      if (last === null) return;
      const key = old?.options.applicationServerKey ?? null;
      const subscription =
        next ??
        (key === null
          ? null
          : await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key }));
      // Without one the page sees to it when it is opened.
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
