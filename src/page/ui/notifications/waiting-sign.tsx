/**
 * Keeps count of what waits, and shows it where the page is only a tab or an icon: a dot on it, and
 * the number where the system has a place for one.
 */
import { useEffect } from 'react';
import { TOLD, type KeptWaits } from '../../../shared/domain/told.ts';
import { callsOf } from '../../state/calls.ts';
import { waitingOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { RAYS, SUN } from '../shell/mark-pixels.ts';
import { Tray } from '../needs/tray.tsx';
import { useNewInThread, useThreads } from '../threads/use-threads.ts';
import { useQuery } from '../use-query.ts';
import { ToldHere } from './told-here.tsx';
import { useWaitingCount } from '../use-title.ts';

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
 * Installed on a home screen or in a dock. Safari and Firefox have it in part; where it is refused,
 * the title says it.
 */
function badge(count: number, at: number): void {
  const system: Pick<Partial<Navigator>, 'setAppBadge' | 'clearAppBadge'> = navigator;
  const { serviceWorker } = navigator as Partial<Navigator>;
  if (serviceWorker?.controller) {
    const kept: KeptWaits = { count, at };
    // For it: it counts on while no page is open.
    void caches
      .open(TOLD.cache)
      .then((cache) => cache.put(TOLD.waits, Response.json(kept)))
      .catch(() => undefined);
  }
  (count > 0 ? system.setAppBadge?.(count) : system.clearAppBadge?.())?.catch(() => undefined);
}

export default function WaitingSign() {
  const roost = useRoost();
  const approvals = useQuery(callsOf(roost).approvals);
  const threads = useQuery(useThreads().list);
  const newIn = useNewInThread();
  const asked = approvals.kind === 'ready' ? approvals.value.waiting.length : 0;
  const inThreads = threads.kind === 'ready' ? threads.value.reduce((sum, thread) => sum + newIn(thread), 0) : 0;
  useEffect(() => waitingOf(roost).setState({ approvals: asked, threads: inThreads }), [roost, asked, inThreads]);

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
      <Tray />
      <ToldHere />
    </>
  );
}
