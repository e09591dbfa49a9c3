import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { useActions, useLive, usePending } from '../context.tsx';
import { CoinIcon, GearIcon, HelpIcon, MoonIcon, ThreadsIcon, WakesIcon } from '../parts/icons.tsx';
import { optional } from '../parts/optional.tsx';
import { PATHS } from '../places.ts';
import { HeaderMenu } from './header-menu.tsx';
import { Mark } from './mark.tsx';
import { RehearsalNote } from './rehearsal-note.tsx';
import { SessionPill } from './session-pill.tsx';
import { SyncSign } from './sync-sign.tsx';
import { WakesStopped } from './wakes-switch.tsx';
import './header.css';

const ThreadsBadge = optional(() => import('../threads/threads-badge.tsx'));

function EndSession() {
  const actions = useActions();
  const running = useLive((state) => state.live !== null);
  const ending = usePending((state) => state.ending);
  if (!running) return null;
  // Nothing is asked: everybody only falls asleep, and WAKE brings them back.
  return (
    <button
      type="button"
      className="ghost"
      aria-label="End session"
      title="Everyone sleeps; WAKE brings them back"
      disabled={ending}
      onClick={() => void actions.endSession()}
    >
      <MoonIcon />
      <span className="hide-small">{ending ? 'Ending…' : 'End session'}</span>
    </button>
  );
}

/** `wide`: only where there is room; on phones another way leads there. */
function HeaderLink({
  href,
  label,
  wide = false,
  badge,
  children,
}: {
  href: string;
  label: string;
  wide?: boolean;
  badge?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Link href={href} className={wide ? 'ghost hide-small' : 'ghost'} aria-label={wide ? undefined : label}>
      {children}
      <span className="hide-small">{label}</span>
      {badge}
    </Link>
  );
}

/** `begun`: there is a team to speak of. Before, the header only says who thinks, and whether the relay is there. */
export function Header({ begun, onHelp }: { begun: boolean; onHelp: () => void }) {
  const quiet = useLive((state) => state.link.kind === 'live');
  return (
    <header className="header">
      <Link href={PATHS.hearth} className="mark" aria-label="Roost">
        <Mark />
        <span className="mark-name">Roost</span>
      </Link>
      {(begun || !quiet) && <SessionPill />}
      <RehearsalNote place="header" />
      <span className="spacer" />
      {begun && <SyncSign />}
      {begun && <WakesStopped />}
      <EndSession />
      {begun && (
        <>
          <HeaderLink href={PATHS.wakes()} label="Wakes" wide>
            <WakesIcon />
          </HeaderLink>
          <HeaderLink href={PATHS.threads} label="Threads" wide badge={<ThreadsBadge className="header-badge" />}>
            <ThreadsIcon />
          </HeaderLink>
          <HeaderLink href={PATHS.costs} label="Costs" wide>
            <CoinIcon />
          </HeaderLink>
          <HeaderLink href={PATHS.settings('people')} label="Settings">
            <GearIcon />
          </HeaderLink>
        </>
      )}
      {begun ? (
        <HeaderMenu onHelp={onHelp} />
      ) : (
        <button
          type="button"
          className="icon-button hide-small"
          aria-label="Keys and help"
          title="Keys (?)"
          onClick={onHelp}
        >
          <HelpIcon />
        </button>
      )}
    </header>
  );
}
