/** Tells on the page what it is open for, by the system where it is out of sight, and takes away what is over. */
import { useEffect, useRef } from 'react';
import { toldOf } from '../../state/notifications.ts';
import { useRoost } from '../context.tsx';
import { useRoute } from '../routes.ts';
import { useQuery } from '../use-query.ts';

/** ms after a key or a pointer for which somebody is taken to be there. */
const THERE_MS = 60_000;

export function ToldHere() {
  const roost = useRoost();
  const told = toldOf(roost);
  const { go } = useRoute();
  const shown = useQuery(told.shown);
  const before = useRef<Set<string> | null>(null);
  const usedAt = useRef(roost.device.now());

  useEffect(() => {
    void told.renew();
    const used = () => (usedAt.current = roost.device.now());
    const hear = ({ data }: MessageEvent<{ readonly roostGo?: unknown } | null>) => {
      if (typeof data?.roostGo === 'string') go(data.roostGo);
    };
    const { serviceWorker } = navigator as Partial<Navigator>;
    for (const kind of ['pointerdown', 'keydown'] as const) addEventListener(kind, used, { passive: true });
    serviceWorker?.addEventListener('message', hear);
    return () => {
      for (const kind of ['pointerdown', 'keydown'] as const) removeEventListener(kind, used);
      serviceWorker?.removeEventListener('message', hear);
    };
  }, [told, roost, go]);

  const open = shown.kind === 'ready' ? shown.value.open : null;
  const pushedHere = shown.kind === 'ready' && shown.value.devices.some(({ here, pushed }) => here && pushed);
  useEffect(() => {
    if (open === null) return;
    const known = before.current;
    before.current = new Set(open.map(({ key }) => key));
    const { kinds } = told.choice();
    const news = open.filter(({ key, kind }) => known !== null && !known.has(key) && kinds.includes(kind));
    const visible = document.visibilityState === 'visible';
    for (const { key, title, path } of news)
      if (visible) roost.notices.info(title, { label: 'Open', run: () => go(path) });
      else if (!pushedHere && 'Notification' in globalThis && Notification.permission === 'granted')
        void navigator.serviceWorker.ready.then((own) =>
          own.showNotification(title, { tag: key, data: { path, over: false } }),
        );
    if (visible && news.length > 0 && roost.device.now() - usedAt.current < THERE_MS)
      void told.seen(news.map(({ key }) => key));
    // What is over goes from here, whoever showed it.
    const { serviceWorker } = navigator as Partial<Navigator>;
    void serviceWorker?.getRegistration().then(async (own) => {
      for (const each of (await own?.getNotifications()) ?? [])
        if (before.current?.has(each.tag) === false) each.close();
    });
  }, [open, pushedHere, told, roost, go]);
  return null;
}
