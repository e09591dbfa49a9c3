/**
 * Two signs of what waits for the person. A dot on the icon and a badge show the count where the
 * page is only a tab or an icon. Notifications show each item while the page is open.
 */
import { useEffect, useRef } from 'react';
import { quietUntil } from '../../../shared/domain/blackouts.ts';
import type { RaisedNotification } from '../../../shared/protocol/notifications.ts';
import { chosenKind, type StoredWaits, NOTIFIED } from '../../../shared/domain/talk.ts';
import { t } from '../../language/t.ts';
import { approvalsOf } from '../../state/approvals.ts';
import { notificationsOf, notificationTitle } from '../../state/notifications.ts';
import { useRoost, useUnread } from '../context.tsx';
import { type Route, routeOf, useRoute } from '../routes.ts';
import { useNames } from '../use-somebody.ts';
import { useQuery, useWaitingCount } from '../hooks.ts';
import { RAYS, SUN } from '../shell/mark.tsx';
import AskBar from '../approvals/approval-bar.tsx';
import { useKeptInbox } from '../inbox/use-inbox.ts';

// Shows notifications while the page is open: by the system if the page is out of view. Removes
// those that were read or are obsolete.

/** Times in ms. */
const SHOWN_HERE = {
  /**
   * For this long after a key, a pointer event or a look at the page, the person counts as present.
   */
  there: 60_000,
  /** While the page is used, it tells the relay this often that this device was used last. */
  sayUsed: 60_000,
  /**
   * What another tab or device shows to a present person within this time is not shown by the
   * system as well.
   */
  grace: 2_000,
} as const;

/**
 * Does the page show the target of the notification already? `looking`: the agent of the open
 * conversation.
 */
function isOnScreen({ path, agentId }: RaisedNotification, here: Route, looking: string | null): boolean {
  const to = routeOf(path);
  switch (to.kind) {
    case 'agent':
      return to.agentId === looking;
    case 'threads':
      return here.kind === 'threads' && here.threadId === to.threadId;
    case 'inbox':
      // The conversation shows its question too.
      return here.kind === to.kind || (agentId !== null && agentId === looking);
    case 'project':
      return (
        here.kind === to.kind &&
        here.projectId === to.projectId &&
        here.over?.kind === 'review' &&
        to.over?.kind === 'review' &&
        here.over.taskNumber === to.over.taskNumber
      );
    case 'schedule':
      return here.kind === to.kind && (here.agentId ?? to.agentId) === to.agentId;
    default:
      return here.kind === to.kind;
  }
}

function NotifiedHere() {
  const roost = useRoost();
  const { device, notices } = roost;
  const notified = notificationsOf(roost);
  const { route, go } = useRoute();
  const looking = useUnread((state) => state.looking);
  const shown = useQuery(notified.shown);
  const open = shown.kind === 'ready' ? shown.value.open : null;
  const mine = shown.kind === 'ready' ? shown.value.devices.find((each) => each.here) : undefined;
  const pushed = mine?.pushed === true && mine.refused === null;

  /**
   * Keys that were open at the last check; null: not checked yet, and existing ones are no news.
   */
  const before = useRef<ReadonlySet<string> | null>(null);
  /** Notifications that were not shown yet, with the earliest time for each. */
  const waits = useRef(new Map<string, number>());
  /** What notices on this page tell of, by the id of the notice. */
  const noticed = useRef(new Map<string, RaisedNotification>());
  const announcedKeys = useRef(new Set<string>());
  const usedAt = useRef(device.now());
  const saidUsedAt = useRef(device.now());
  const cancel = useRef<() => void>(() => undefined);
  const nameOf = useNames();
  const titleOf = ({ kind, agentId, title }: RaisedNotification) =>
    agentId === null ? title : notificationTitle(kind, nameOf(agentId));

  /** Whether the bar below the header shows the question itself, with its answers. */
  const isInBar = ({ kind, key }: RaisedNotification): boolean => {
    const approvals = approvalsOf(roost).approvals.store.getState();
    return (
      kind === 'approval' &&
      approvals.kind === 'ready' &&
      approvals.value.waiting.some(({ callId }) => key.endsWith(`:${callId}`))
    );
  };

  function update(): void {
    cancel.current();
    if (open === null) return;
    const now = device.now();
    const visible = document.visibilityState === 'visible';
    const { kinds, quiet } = notified.choice();
    const quietUntilMs = quietUntil(quiet, Intl.DateTimeFormat().resolvedOptions().timeZone, now);
    const isThere = visible && now - usedAt.current < SHOWN_HERE.there;
    const onScreen = visible ? open.filter((each) => isOnScreen(each, route, looking)) : [];
    const seen = new Set(onScreen.map(({ key }) => key));
    // The relay closes a notification once it was told here, so `open` has no more of these.
    for (const [noticeId, each] of noticed.current) {
      if (!visible || !isOnScreen(each, route, looking)) continue;
      notices.dismiss(noticeId);
      noticed.current.delete(noticeId);
    }
    let next = Infinity;
    for (const each of open) {
      const from = waits.current.get(each.key);
      if (from === undefined) continue;
      const { key, path } = each;
      const at = Math.max(from, quietUntilMs);
      if (!visible && at > now) {
        next = Math.min(next, at - now);
        continue;
      }
      waits.current.delete(key);
      // If the person is absent, a push notifies them, which is enough.
      if (!kinds.includes(chosenKind(each.kind)) || seen.has(key) || (pushed && !isThere)) continue;
      const title = titleOf(each);
      if (visible) {
        // If the person is absent, it stays until they are back.
        const tell = isThere ? notices.info : notices.offer;
        if (!isInBar(each)) noticed.current.set(tell(title, { label: t`Open`, run: () => go(path) }), each);
        seen.add(key);
      } else if ('Notification' in globalThis && Notification.permission === 'granted')
        void navigator.serviceWorker.ready.then((own) =>
          own.showNotification(title, { tag: key, data: { path, over: false } }),
        );
    }
    if (next < Infinity) cancel.current = device.after(next, () => latest.current());
    const unsaid = [...seen].filter((key) => !announcedKeys.current.has(key));
    if (unsaid.length === 0 || !isThere) return;
    for (const key of unsaid) announcedKeys.current.add(key);
    void notified.seen(unsaid).then((known) => {
      if (!known) for (const key of unsaid) announcedKeys.current.delete(key);
    });
  }
  const latest = useRef(update);
  useEffect(() => {
    latest.current = update;
  });

  useEffect(() => {
    const used = () => {
      if (document.visibilityState !== 'visible') return latest.current();
      usedAt.current = device.now();
      latest.current();
      if (!pushed || device.now() - saidUsedAt.current < SHOWN_HERE.sayUsed) return;
      saidUsedAt.current = device.now();
      void notified.seen([]);
    };
    const hear = ({ data }: MessageEvent<{ readonly roostGo?: unknown } | null>) => {
      if (typeof data?.roostGo !== 'string') return;
      usedAt.current = device.now();
      go(data.roostGo);
    };
    const { serviceWorker } = navigator as Partial<Navigator>;
    for (const kind of ['pointerdown', 'keydown'] as const) addEventListener(kind, used, { passive: true });
    document.addEventListener('visibilitychange', used);
    serviceWorker?.addEventListener('message', hear);
    return () => {
      for (const kind of ['pointerdown', 'keydown'] as const) removeEventListener(kind, used);
      document.removeEventListener('visibilitychange', used);
      serviceWorker?.removeEventListener('message', hear);
    };
  }, [notified, device, go, pushed]);
  useEffect(() => () => cancel.current(), []);
  const lost = mine?.pushed === false;
  useEffect(() => void notified.renew(), [notified, lost]);

  useEffect(() => {
    if (open === null) return;
    const shownBefore = before.current;
    before.current = new Set(open.map(({ key }) => key));
    const visible = document.visibilityState === 'visible';
    for (const { key } of open)
      if (shownBefore?.has(key) === false) waits.current.set(key, device.now() + (visible ? 0 : SHOWN_HERE.grace));
    // Removes obsolete notifications, also those of other tabs.
    const { serviceWorker } = navigator as Partial<Navigator>;
    void serviceWorker?.getRegistration().then(async (own) => {
      for (const each of (await own?.getNotifications()) ?? [])
        if (before.current?.has(each.tag) === false) each.close();
    });
  }, [open, device]);
  const { pathname } = location;
  useEffect(() => latest.current(), [open, pathname, looking, pushed]);
  return null;
}

const pixels = (x: number, y: number, width: number, fill: string) =>
  `<rect x="${x}" y="${y}" width="${width}" height="1" fill="${fill}"/>`;
/** The page's icon (favicon.svg), with a dot in its corner. */
const WITH_DOT = `data:image/svg+xml,${encodeURIComponent(
  [
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#10131f"/>',
    '<g shape-rendering="crispEdges">',
    ...SUN.map(([y, from, to]) => pixels(from, y, to - from + 1, '#ff9d6c')),
    ...RAYS.map(([x, y]) => pixels(x, y, 1, '#f7c873')),
    '</g><circle cx="12.5" cy="3.5" r="3.5" fill="#ff5d5d" stroke="#10131f"/></svg>',
  ].join(''),
)}`;

/**
 * For apps on a home screen or in a dock. Safari and Firefox support it in part. Where it fails,
 * the title shows the count.
 */
function badge(count: number, at: number): void {
  const system: Pick<Partial<Navigator>, 'setAppBadge' | 'clearAppBadge'> = navigator;
  const { serviceWorker } = navigator as Partial<Navigator>;
  if (serviceWorker?.controller) {
    const kept: StoredWaits = { count, at };
    // For the service worker, which continues the count while no page is open.
    void caches
      .open(NOTIFIED.cache)
      .then((cache) => cache.put(NOTIFIED.waits, Response.json(kept)))
      .catch(() => undefined);
  }
  (count > 0 ? system.setAppBadge?.(count) : system.clearAppBadge?.())?.catch(() => undefined);
}

export default function WaitingSign() {
  const roost = useRoost();
  useKeptInbox();
  const count = useWaitingCount();
  useEffect(() => {
    badge(parseInt(count || '0', 10), roost.device.now());
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon === null || count === '') return;
    const plain = icon.href;
    icon.href = WITH_DOT;
    return () => {
      icon.href = plain;
    };
  }, [roost, count]);
  return (
    <>
      <AskBar />
      <NotifiedHere />
    </>
  );
}
