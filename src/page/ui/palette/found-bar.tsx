import { useSyncExternalStore } from 'react';
import { useLocation } from 'wouter';
import { t } from '../../language/t.ts';
import { BackIcon, ChevronIcon, CloseIcon } from '../parts/icons.tsx';
import { dropFound, nextFound, shownFound, watchFound } from './last-found.ts';
import './found-bar.css';

/**
 * The position of the shown search result, and links to the others. Visible while one of them is
 * shown.
 */
export function FoundBar() {
  const [path, go] = useLocation();
  const found = useSyncExternalStore(watchFound, shownFound);
  if (found === null || found.path !== path) return null;
  const to = (step: 1 | -1) => {
    const next = nextFound(step);
    if (next !== null) go(next);
  };
  const { at, of, more } = found;
  return (
    <div className="found-bar" role="group" aria-label={t`What was found`}>
      <span role="status">{more ? t`${at} of more than ${of}` : t`${at} of ${of}`}</span>
      {of > 1 && (
        <>
          <button type="button" className="icon-button" aria-label={t`The one before`} title="P" onClick={() => to(-1)}>
            <BackIcon />
          </button>
          <button type="button" className="icon-button" aria-label={t`The next one`} title="N" onClick={() => to(1)}>
            <ChevronIcon />
          </button>
        </>
      )}
      <button type="button" className="icon-button" aria-label={t`Done with what was found`} onClick={dropFound}>
        <CloseIcon />
      </button>
    </div>
  );
}
