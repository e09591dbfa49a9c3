/**
 * Opens the page when its relay is unreachable. One service worker belongs to one build and stores
 * that build completely.
 *
 * A page gets the relay's own document whenever there is one. All other files have their content in
 * their names, so a page and its parts are always of one build, whichever service worker serves
 * them. A new service worker can therefore start at once, and an open page goes on unchanged until
 * it is reloaded.
 */
import { realTimers } from '../shared/domain/platform/timers.ts';
import { createAnswer, createPrecache } from './precache.ts';
import { type StoredRenewal, type StoredWaits, NOTIFIED } from '../shared/domain/talk.ts';
import { createPushHandler, type GoTo } from './push-handler.ts';
import { OFFLINE, type Build, type BuildNews } from './settings.ts';

/**
 * The parts of the service worker's global scope that are used here. TypeScript's types for it
 * conflict with those of the page.
 */
interface LongEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends LongEvent {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
}
interface PushEvent extends LongEvent {
  readonly data: { text(): string } | null;
}
interface NotificationEvent extends LongEvent {
  readonly notification: Notification;
}
interface SubscriptionEvent extends LongEvent {
  readonly oldSubscription?: PushSubscription | null;
  readonly newSubscription?: PushSubscription | null;
}
interface WindowClient {
  focus(): Promise<unknown>;
  postMessage(message: BuildNews | GoTo): void;
}
interface ServiceWorkerScope {
  addEventListener(type: 'install' | 'activate', listener: (event: LongEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  addEventListener(type: 'push', listener: (event: PushEvent) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: NotificationEvent) => void): void;
  addEventListener(type: 'pushsubscriptionchange', listener: (event: SubscriptionEvent) => void): void;
  readonly registration: ServiceWorkerRegistration;
  skipWaiting(): Promise<void>;
  readonly clients: {
    claim(): Promise<void>;
    matchAll(options: { type: 'window' }): Promise<readonly WindowClient[]>;
    openWindow(path: string): Promise<unknown>;
  };
  readonly location: Location;
  readonly navigator: Pick<Partial<Navigator>, 'locks' | 'setAppBadge' | 'clearAppBadge'>;
}
declare const self: ServiceWorkerScope;
/** Inserted by the build. */
declare const ROOST_BUILD: Build;
const build = ROOST_BUILD;

/**
 * Without Web Locks the open pages are unknown. A page of an old build then asks the relay for what
 * it lacks.
 */
async function openPages(): Promise<string[]> {
  const held = (await self.navigator.locks?.query())?.held ?? [];
  return held.flatMap(({ name }) => (name?.startsWith(OFFLINE.lock) ? [name.slice(OFFLINE.lock.length)] : []));
}

const precache = createPrecache({ build, caches, fetch: (path, init) => fetch(path, init), openPages });
const answer = createAnswer({
  precache,
  origin: self.location.origin,
  fetch: (request: Request) => fetch(request),
  after: realTimers.after,
});

async function begin(): Promise<void> {
  await self.clients.claim();
  await precache.dropOld();
  for (const page of await self.clients.matchAll({ type: 'window' })) page.postMessage({ roostEntry: build.entry });
}

self.addEventListener('install', (event) => event.waitUntil(precache.fill().then(() => self.skipWaiting())));
self.addEventListener('activate', (event) => event.waitUntil(begin()));
self.addEventListener('fetch', (event) => {
  const response = answer(event.request);
  if (!response) return;
  event.respondWith(response);
  if (event.request.mode === 'navigate') event.waitUntil(response.then(() => precache.dropOld()));
});

const told = createPushHandler({
  registration: self.registration,
  windows: () => self.clients.matchAll({ type: 'window' }),
  openWindow: (path) => self.clients.openWindow(path),
  async kept() {
    const kept = await (await caches.open(NOTIFIED.cache)).match(NOTIFIED.kept);
    return kept ? ((await kept.json()) as StoredRenewal) : null;
  },
  keep: async (kept) => (await caches.open(NOTIFIED.cache)).put(NOTIFIED.kept, Response.json(kept)),
  fetch: (...args) => fetch(...args),
  async waits() {
    const waits = await (await caches.open(NOTIFIED.cache)).match(NOTIFIED.waits);
    return waits ? ((await waits.json()) as StoredWaits) : null;
  },
  badge: async (count) => await (count > 0 ? self.navigator.setAppBadge?.(count) : self.navigator.clearAppBadge?.()),
  now: Date.now,
});
self.addEventListener('push', (event) => event.waitUntil(told.pushed(event.data?.text() ?? null)));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(told.clicked(event.notification.data));
});
self.addEventListener('pushsubscriptionchange', (event) =>
  event.waitUntil(told.renewed(event.oldSubscription ?? null, event.newSubscription ?? null)),
);
