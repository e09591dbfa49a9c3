/**
 * What the service worker does with a push: it always shows something, as browsers revoke a subscription whose pushes show
 * nothing; a thing has one notification on a device, whoever shows it, by its tag; a click leads to the very place.
 */
import type { KeptForRenewal } from '../domain/told.ts';

/** What a click tells a page that is open. */
export interface GoTo {
  readonly roostGo: string;
}
interface Shown {
  readonly path: string;
  readonly over: boolean;
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
}

const isPath = (path: unknown): path is string => typeof path === 'string' && /^\/(?!\/)/.test(path);

/** What came, as far as it can be read: something is shown of it in any case. */
function read(text: string | null): {
  readonly key: string;
  readonly title: string;
  readonly path: string;
  readonly over: boolean;
} {
  const unread = { key: 'unread', title: 'Something waits for you in Roost', path: '/', over: false };
  try {
    const { key, title, path, over } = JSON.parse(text ?? 'null') as Record<string, unknown>;
    return typeof key === 'string' && typeof title === 'string' && isPath(path)
      ? { key, title, path, over: over === true }
      : unread;
  } catch {
    return unread;
  }
}

export function createTold({ registration, windows, openWindow, kept, keep, fetch }: ToldDeps) {
  return {
    async pushed(text: string | null): Promise<void> {
      const { key, title, path, over } = read(text);
      const data: Shown = { path, over };
      await registration.showNotification(over ? 'Done on another device' : title, {
        tag: key,
        ...(over ? { body: title, silent: true } : {}),
        data,
      });
      // What is over has been said, and makes room.
      for (const each of await registration.getNotifications())
        if (each.tag !== key && (each.data as Shown | null)?.over === true) each.close();
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
