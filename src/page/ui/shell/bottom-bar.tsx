/** The navigation bar at the bottom of narrow screens. */
import { Link } from 'wouter';
import { t } from '../../language/t.ts';
import { useUnread } from '../context.tsx';
import { HomeIcon, MoonIcon, TalkIcon, ThreadsIcon } from '../design/icons.tsx';
import { optional } from '../parts/part.tsx';
import { PATHS } from '../routes.ts';
import { newCount } from '../text/reasons.ts';

const ThreadsBadge = optional(() => import('../threads/threads-badge.tsx'));

/** Phones: the hearth and the conversation are two views. */
export function BottomBar({ at, talkTo, talkName }: { at: string; talkTo: string; talkName: string }) {
  const unread = useUnread((state) => newCount(state.counts.values()));
  return (
    <nav className="bottom-bar" aria-label={t`Views`}>
      <Link href={PATHS.hearth} aria-current={at === 'hearth' ? 'page' : undefined}>
        <HomeIcon />
        <span>{t`Hearth`}</span>
        {unread !== '' && at !== 'hearth' && (
          <span className="bar-badge">
            {unread}
            <span className="visually-hidden"> {t`new`}</span>
          </span>
        )}
      </Link>
      <Link href={PATHS.agent(talkTo)} aria-current={at === 'talk' ? 'page' : undefined}>
        <TalkIcon />
        <span className="bar-name">{talkName}</span>
      </Link>
      <Link href={PATHS.threads} aria-current={at === 'threads' ? 'page' : undefined}>
        <ThreadsIcon />
        <span>{t`Threads`}</span>
        {at !== 'threads' && <ThreadsBadge className="bar-badge" />}
      </Link>
      <Link href={PATHS.night()} aria-current={at === 'night' ? 'page' : undefined}>
        <MoonIcon />
        <span>{t`Night`}</span>
      </Link>
    </nav>
  );
}
