/** The header: the places, the session, the model, the cost of today, and the page's menu. */
import { Link } from 'wouter';
import { useStore } from 'zustand';
import { t } from '../../language/t.ts';
import { useActions, useLive, usePending, useRoost } from '../context.tsx';
import { FindIcon, HelpIcon, MoonIcon, MoreIcon } from '../design/icons.tsx';
import { PATHS } from '../routes.ts';
import { optional } from '../parts/part.tsx';
import { ModelChip } from '../models/chip.tsx';
import { type Around, keyNames, menuItem } from '../commands/command.ts';
import { useCommands } from '../commands/later.ts';
import { MenuButton } from '../design/menu.tsx';
import { endText, linkTrouble } from '../text/reasons.ts';
import { clockTime, dayWithin, shortDuration } from '../text/time.ts';
import { useLeaving, useNow } from '../hooks.ts';
import { Mark } from './mark.tsx';
import { Places } from './places.tsx';
import './header.css';

/** Are wakes allowed by the household's switch? null: unknown yet. */
export function useWakesOn(): boolean | null {
  const { limits } = useRoost();
  return useStore(limits.query.store, (state) => (state.kind === 'ready' ? state.value.effective.wakes_enabled : null));
}

/** ms between updates of the session's age. */
const AGE_EVERY = 15_000;

/** The session and its age, or why there is none, and what to do. */
function SessionPill() {
  const link = useLive((state) => state.link);
  const startedAt = useLive((state) => (state.live ? (state.session?.startedAt ?? null) : null));
  const lastEnd = useLive((state) => state.lastEnd);
  const model = useLive((state) => (state.live ? state.session?.mind.leadModel : undefined));
  const now = useNow(AGE_EVERY);
  const heardUntil = useLive((state) => state.heardUntil);
  const heard = heardUntil === null ? '' : t` · last heard ${dayWithin(heardUntil, now)} ${clockTime(heardUntil)}`;
  const trouble = linkTrouble(link);

  if (startedAt !== null)
    return (
      <div className="pill pill-session" title={t`Running since ${clockTime(startedAt)}${model ? ` · ${model}` : ''}`}>
        <i className="dot dot-live" aria-hidden="true" />
        <b className="fixed ink">{t`Session`}</b> <span>{shortDuration(now - startedAt)}</span>
        <EndSession />
      </div>
    );
  if (trouble && link.kind !== 'live')
    return (
      <div className="pill danger-box" role="status">
        <i className="dot dot-lost" aria-hidden="true" />
        {/* The banner says why, and what to do. */}
        <b className="ink clip shrink-only ellipsis">{t`Not connected`}</b>
        <span className="pill-more">{`${t`everyone sleeps`}${heard}`}</span>
      </div>
    );
  if (link.kind === 'connecting')
    return (
      <p className="pill" role="status">
        <i className="dot" aria-hidden="true" />
        <span>{t`Connecting…`}</span>
      </p>
    );
  // A crash has the time of the next start. Each agent shows since when it sleeps.
  const isDated = lastEnd !== null && lastEnd.reason !== 'crash';
  const since = isDated ? ` ${t`since ${`${dayWithin(lastEnd.endedAt, now)} ${clockTime(lastEnd.endedAt)}`}`}` : '';
  // A person who ended it knows the reason.
  const why = lastEnd && lastEnd.reason !== 'ended' ? `: ${endText(lastEnd.reason)}` : '';
  return (
    <p className="pill">
      <i className="dot dot-asleep" aria-hidden="true" />
      <b className="fixed ink">{t`No session`}</b>
      <span className={why === '' ? 'pill-more' : 'pill-why'}>{`${t`everyone sleeps`}${since}${why}`}</span>
    </p>
  );
}

/** The menu of everything besides the four places. */
export function MoreMenu({ around }: { around: Around }) {
  // The labels depend on this.
  useWakesOn();
  const items = (useCommands()?.commandsOf(around) ?? []).flatMap((command) =>
    command.menu === true ? [menuItem(command)] : [],
  );
  return (
    <MenuButton label={t`More places`} items={items} className="icon-button more-places">
      <MoreIcon />
    </MenuButton>
  );
}

const WakesStopped = optional(() => import('./wakes-stopped.tsx'));
/** The state of the other devices. */
const SyncSign = optional(() => import('./sync-sign.tsx'));
const CostChip = optional(() => import('../costs/cost-chip.tsx'));

function EndSession() {
  const actions = useActions();
  const running = useLive((state) => state.live !== null);
  const ending = usePending((state) => state.ending);
  // A person who leaves the page cannot undo the ending any more, so it takes effect.
  useLeaving(() => {
    if (ending === 'soon') void actions.endSession('now');
  });
  if (!running) return null;
  const label = ending === false ? t`End session` : ending === 'soon' ? t`End now` : t`Ending…`;
  // No confirmation: it can be undone for a while, all agents only fall asleep, and WAKE brings
  // them back.
  return (
    <button
      type="button"
      className="end-session lights middle gap-3 ink text-2 rounded inline-flex no-frame pad-0-4"
      aria-label={label}
      disabled={ending === 'now'}
      onClick={() => void actions.endSession()}
    >
      <MoonIcon />
      <span>{ending === false ? t`End` : label}</span>
    </button>
  );
}

/**
 * `begun`: there is a team. Before that, the header only shows the model and the connection to the
 * relay.
 */
export function Header({ begun, around }: { begun: boolean; around: Around }) {
  const quiet = useLive((state) => state.link.kind === 'live');
  return (
    <header className="header middle gap-5 narrow flex ruled-below">
      <Link href={PATHS.hearth} className="mark touchable unlined gap-4 line ink" aria-label="Roost">
        <Mark />
        <span className="mark-name">Roost</span>
      </Link>
      {begun && <Places route={around.route} className="places flex gap-1" />}
      <span className="fill" />
      {begun && <SyncSign />}
      {begun && <WakesStopped />}
      {/* What comes later moves only what is before it, and never a button under the pointer. */}
      {begun && <CostChip />}
      <ModelChip where="header" />
      {(begun || !quiet) && <SessionPill />}
      {begun && (
        <button
          type="button"
          className="find-field lifts middle gap-4 ink-3 text-2 framed round-s inline-flex"
          onClick={() => around.open('palette')}
        >
          <FindIcon />
          <span>{t`Find`}</span>
          <kbd className="nowrap ink-2 ground-3 no-frame round-xs" aria-hidden="true">
            {keyNames(['Ctrl', 'K']).join(' ')}
          </kbd>
        </button>
      )}
      {begun ? (
        <MoreMenu around={around} />
      ) : (
        <button
          type="button"
          className="icon-button hide-small"
          aria-label={t`Keys and help`}
          title={t`Keys`}
          onClick={() => around.open('keys')}
        >
          <HelpIcon />
        </button>
      )}
    </header>
  );
}
