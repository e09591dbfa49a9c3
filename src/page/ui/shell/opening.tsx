/** The first seconds of the page: the sky, the arrival of the team, and the loading message. */
import { type RefObject, useEffect, useState } from 'react';
import { SEAT_ORDER } from '../../../shared/domain/seat.ts';
import { lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import type { Awaited } from '../../state/last-team.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { optional } from '../parts/part.tsx';
import './sky.css';

const Land = optional(() => import('./land.tsx'));

/** Brightness while a session runs and nobody is awake; the rest comes from all eight agents. */
const FIRST_LIGHT = 0.22;

/** The night sky behind everything. It dawns as the team wakes. */
export function Sky() {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const awake = SEAT_ORDER.filter(
    (position) => lifecycleOf(roster.seats.get(position), position, live) === 'awake',
  ).length;
  const dawn = live ? FIRST_LIGHT + ((1 - FIRST_LIGHT) * awake) / SEAT_ORDER.length : 0;
  return (
    <div className="sky clip" style={{ '--dawn': dawn }} aria-hidden="true">
      <i className="sky-stars absolute" />
      <i className="sky-glow absolute" />
      <Land />
    </div>
  );
}

/**
 * If the focused element disappeared with its view, moves the focus to the heading of the new view,
 * once that is there. `begunRef`: false until something was shown. A newly opened page starts at
 * its top.
 */
export function Arrival({ at, begunRef }: { at: string; begunRef: RefObject<boolean> }) {
  useEffect(() => {
    if (begunRef.current && document.activeElement === document.body)
      for (const head of document.querySelectorAll<HTMLElement>('#main :is(h1, h2)[tabindex]')) {
        head.focus();
        // A hidden element cannot take the focus.
        if (document.activeElement === head) break;
      }
    begunRef.current = true;
  }, [at, begunRef]);
  return null;
}

/** ms after which the page says what it is waiting for. */
const LONG_MS = 8_000;

const wordsOf = (awaited: Awaited) => {
  switch (awaited) {
    case 'ledger':
      return t`Opening your team takes longer than usual. Nothing is lost.`;
    case 'devices':
      return t`Opening your team takes longer than usual. Nothing is lost.`;
    case 'relay':
      return t`The relay does not answer yet. Reload to try again.`;
    default:
      return awaited satisfies never;
  }
};

/** Shown while the household is loading, and only if that takes noticeably long. */
export function Opening({ awaited }: { awaited: Awaited | null }) {
  const { device } = useRoost();
  const [long, setLong] = useState(false);
  useEffect(() => device.after(LONG_MS, () => setLong(true)), [device]);
  const words = long && awaited !== null ? wordsOf(awaited) : null;
  return (
    <main id="main" className="opening rows-top stack at-start gap-5 shrinks" aria-busy="true">
      <div role="status">
        {words === null ? <p className="visually-hidden">{t`Opening your team…`}</p> : <p>{words}</p>}
      </div>
      {words !== null && <button type="button" className="ghost" onClick={() => location.reload()}>{t`Reload`}</button>}
      <div className="opening-grid stack gap-5 full" aria-hidden="true">
        {Array.from({ length: 9 }, (_, i) => (
          <i className="box ground-1" key={i} />
        ))}
      </div>
    </main>
  );
}
