import { type RefObject, useEffect, useState } from 'react';
import { t } from '../../language/t.ts';
import type { Awaited } from '../../state/last-team.ts';
import { useRoost } from '../context.tsx';

/**
 * Where what had the focus is gone with the view it was in, it goes on at the head of the new one,
 * once that is there. `begunRef`: false until something was shown: whoever opens the page begins at
 * its top.
 */
export function Arrival({ at, begunRef }: { at: string; begunRef: RefObject<boolean> }) {
  useEffect(() => {
    if (begunRef.current && document.activeElement === document.body)
      for (const head of document.querySelectorAll<HTMLElement>('#main :is(h1, h2)[tabindex]')) {
        head.focus();
        // What is out of sight takes no focus.
        if (document.activeElement === head) break;
      }
    begunRef.current = true;
  }, [at, begunRef]);
  return null;
}

/** ms after which somebody who waits is told for what. */
const LONG_MS = 8_000;

const wordsOf = (awaited: Awaited) => {
  switch (awaited) {
    case 'ledger':
      return t`It takes longer than usual to open what this browser keeps. It goes on by itself, and nothing is lost.`;
    case 'devices':
      return t`It takes longer than usual to find out whether a team lived in this browser. It goes on by itself, and nothing is lost.`;
    case 'relay':
      return t`The relay has not said yet who lives there. It is asked again when you reload the page.`;
    default:
      return awaited satisfies never;
  }
};

/** Drawn while it is found out who lives here, and only if that takes long enough to be noticed. */
export function Opening({ awaited }: { awaited: Awaited | null }) {
  const { device } = useRoost();
  const [long, setLong] = useState(false);
  useEffect(() => device.after(LONG_MS, () => setLong(true)), [device]);
  const words = long && awaited !== null ? wordsOf(awaited) : null;
  return (
    <main id="main" className="opening" aria-busy="true">
      <div role="status">
        {words === null ? <p className="visually-hidden">{t`Opening what is stored here…`}</p> : <p>{words}</p>}
      </div>
      {words !== null && <button type="button" className="ghost" onClick={() => location.reload()}>{t`Reload`}</button>}
      <div className="opening-grid" aria-hidden="true">
        {Array.from({ length: 9 }, (_, i) => (
          <i key={i} />
        ))}
      </div>
    </main>
  );
}
