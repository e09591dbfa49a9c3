/** The four places of the page, in the header and in the bar of narrow screens. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { waitingOf } from '../../state/waiting.ts';
import { useRoost } from '../context.tsx';
import { waitsText } from '../inbox/words.ts';
import { newCount } from '../text/reasons.ts';
import { BoardIcon, ClockIcon, EnvelopeIcon, HomeIcon } from '../design/icons.tsx';
import { PATHS, type Route } from '../routes.ts';
import './places.css';

type Place = 'team' | 'projects' | 'inbox' | 'schedule';

const PLACES: readonly { readonly place: Place; readonly path: string; readonly name: string; icon(): ReactNode }[] = [
  { place: 'team', path: PATHS.hearth, name: t`Team`, icon: HomeIcon },
  { place: 'projects', path: PATHS.projects, name: t`Projects`, icon: BoardIcon },
  { place: 'inbox', path: PATHS.inbox, name: t`Inbox`, icon: EnvelopeIcon },
  { place: 'schedule', path: PATHS.schedule(), name: t`Schedule`, icon: ClockIcon },
];

/** The place of a page; null: it is in the menu. */
export function placeOf({ kind }: Pick<Route, 'kind'>): Place | null {
  switch (kind) {
    case 'projects':
    case 'project':
      return 'projects';
    case 'inbox':
    case 'threads':
      return 'inbox';
    case 'schedule':
      return 'schedule';
    case 'activity':
    case 'settings':
      return null;
    default:
      return 'team';
  }
}

export function Places({ route, className }: { route: Route; className: string }) {
  const here = placeOf(route);
  const { waits, unread } = useStore(waitingOf(useRoost()));
  const news = newCount(unread.map(({ count }) => count));
  return (
    <nav className={className} aria-label={t`Places`}>
      {PLACES.map(({ place, path, name, icon: PlaceIcon }) => (
        <Link key={place} href={path} aria-current={place === here ? 'page' : undefined}>
          <PlaceIcon />
          <span>{name}</span>
          {place === 'inbox' && waits.length > 0 && (
            <b className="waits-badge text-1 rounded centred" title={waitsText(waits)}>
              {waits.length}
              <span className="visually-hidden"> {t`wait for you`}</span>
            </b>
          )}
          {place === 'inbox' && news !== '' && (
            <small className="unread-badge figures text-1" title={t`Unread`}>
              {news}
              <span className="visually-hidden"> {t`unread`}</span>
            </small>
          )}
        </Link>
      ))}
    </nav>
  );
}
