/** One cell of the grid: picture, name, activity, badges and menu of a seat. */
import { lazy, memo, Suspense, useId, useRef, useState, type MouseEvent } from 'react';
import { useStore } from 'zustand';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Lifecycle } from '../../../shared/domain/lifecycle.ts';
import { LEAD_COLOR, LEAD_ID } from '../../../shared/domain/seat.ts';
import { retold, t } from '../../language/t.ts';
import { arrivingOf } from '../../state/devices.ts';
import { leadNameOf } from '../../state/household.ts';
import { useDevices, useHousehold, useLive, useRoost, useUnread } from '../context.tsx';
import { useDoingNow } from '../doing-now.ts';
import { EnvelopeIcon, MoreIcon } from '../design/icons.tsx';
import { Lasts, optional } from '../parts/part.tsx';
import { MenuButton, MenuList, type MenuItem } from '../design/menu.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { briefly, newCount } from '../text/reasons.ts';
import { asBeginning, plural } from '../text/sizes.ts';
import { clockTime } from '../text/time.ts';
import { Face, RaisedHand } from './face.tsx';
import { SeatFigure, type SeatView } from './seat-figure.tsx';
import { seatLine, type SeatLine } from './seat-line.ts';
import { useLeadMenu, useSeatMenu } from './use-seat-menu.ts';
import { focusSoon } from '../focus-soon.ts';
import { keyOf } from '../design/keys.ts';

export interface CellProps {
  /** The one cell in the tab order. */
  readonly reachable: boolean;
  readonly selected: boolean;
  readonly onFocus: () => void;
}

interface Badge {
  readonly count: string;
  readonly label: string;
  readonly kind: 'unread' | 'waiting';
}

/** Two counts on the cell: the person's unread messages, and messages in the agent's inbox. */
function useBadges(agentId: AgentId | null): readonly Badge[] {
  const { unreadMessages } = useRoost();
  const unread = useUnread((state) => (agentId === null ? 0 : (state.counts.get(agentId) ?? 0)));
  const inbox = useUnread((state) => (agentId === null ? 0 : (state.inbox.get(agentId)?.size ?? 0)));
  const waitingMessages = useStore(unreadMessages.store, (state) =>
    agentId === null || state.kind !== 'ready' ? 0 : (state.value[agentId] ?? 0),
  );
  const queued = useHousehold((state) => state.queued.filter((doc) => doc.agentId === agentId).length);
  // The relay counts the person's messages too, a moment after this page.
  const waiting = Math.max(inbox, waitingMessages) + queued;
  return [
    {
      count: newCount([unread]),
      label: plural(unread, 'new message'),
      kind: 'unread' as const,
    },
    {
      count: waiting > 0 ? `${waiting}` : '',
      label: t`${plural(waiting, 'message')} waiting to be read`,
      kind: 'waiting' as const,
    },
  ].filter(({ count }) => count !== '');
}

/** For an agent of the running session that was put to sleep. */
const RESTS = `${asBeginning(t`set to sleep`)}. ${t`Continues where it was`}`;

/** For an agent that has a mind here and an API client elsewhere. */
const playsToo = (client: string) => t`${client} drives it too`;

/** For an agent whose last session is not complete on this device. */
const ARRIVES = t`Still arriving from another device. WAKE leaves it asleep until then`;

/**
 * Characters that fit in one line below a name: “asleep since 07:54”. Longer texts take two lines,
 * with a smaller picture.
 */
const ONE_LINE = 18;
/** Characters of a duration behind an activity: “ · 12 min”. */
const LASTS_CHARS = 7;

// Not needed for the first paint.
const EggWords = optional(() => import('./egg-words.tsx'));
// Without the relay the tile has no such line.
const SeatTask = lazy(() => import('./seat-task.tsx').catch(() => ({ default: () => null })));

/** For an agent whose request is queued. */
const IN_LINE = t`Waits for its turn…`;

interface FrameProps extends CellProps {
  /** The agent and seat. The line follows it. */
  readonly label: string;
  readonly line: SeatLine;
  readonly state: Lifecycle | 'lead' | 'working';
  /** The lead sleeps while no session runs. Its dot stays gold. */
  readonly asleep?: boolean;
  readonly color: string;
  readonly agentId: AgentId | null;
  readonly name: string | null;
  readonly reason: string | null;
  /** More about the state, for screen readers. */
  readonly about?: string | null;
  readonly menu: readonly MenuItem[];
  readonly figure: React.ReactNode;
}

function SeatFrame({
  label,
  line,
  state,
  asleep = state === 'sleeping',
  color,
  agentId,
  name,
  reason,
  about = null,
  menu,
  figure,
  reachable,
  selected,
  onFocus,
}: FrameProps) {
  const { go } = useRoute();
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const note = useId();
  const isActive = line.from !== null;
  // The start time, which does not change while a screen reader speaks.
  const whole = line.from === null ? line.text : t`${line.text} since ${clockTime(line.from)}`;
  const shownReason = isActive ? null : reason;
  const length = line.text.length + (isActive ? LASTS_CHARS : 0);
  const badges = useBadges(agentId);
  const press = ({ nativeEvent }: MouseEvent) => {
    if (agentId === null) return setOpen(true);
    go(PATHS.agent(agentId));
    // A finger would bring up the keyboard over the conversation. By keyboard, C leads there.
    if ('pointerType' in nativeEvent && nativeEvent.pointerType === 'mouse')
      focusSoon(`.chat[data-agent="${CSS.escape(agentId)}"] .compose textarea`);
  };
  const openMenu = (event: MouseEvent) => {
    if (menu.length === 0) return;
    event.preventDefault();
    setOpen(true);
  };
  return (
    <li
      className="seat tint box narrow relative"
      data-state={state}
      data-asleep={asleep}
      data-selected={selected}
      data-line={line.state}
      style={{ '--c': color }}
    >
      <button
        ref={button}
        type="button"
        className="seat-button round no-frame no-fill no-pad absolute unselectable"
        aria-label={`${label}, ${whole}`}
        title={whole}
        aria-describedby={note}
        {...(selected ? { 'aria-current': 'true' as const } : {})}
        {...(agentId === null ? { 'aria-haspopup': 'menu' as const, 'aria-expanded': open } : {})}
        tabIndex={reachable ? 0 : -1}
        onFocus={onFocus}
        onContextMenu={openMenu}
        onKeyDown={(event) => {
          if (keyOf(event) === 'm' && menu.length > 0) setOpen(true);
        }}
        onClick={press}
      />
      {/* The button's name contains everything. This is its appearance. */}
      <span
        className="seat-look line gap-1 full centred column-wise centred-row full-height untouchable"
        data-long={shownReason !== null || length > ONE_LINE}
        aria-hidden="true"
      >
        <span className="seat-figure relative">
          {figure}
          {line.state === 'asks' && <RaisedHand />}
        </span>
        {name !== null && <span className="seat-name truncate fixed named at-most-full">{name}</span>}
        {line.state === 'hatching' && agentId !== null ? (
          <EggWords agentId={agentId} otherwise={line.text} />
        ) : (
          <span
            className={
              shownReason === null ? 'seat-sub at-most-full figures' : 'seat-sub at-most-full figures seat-reason'
            }
          >
            <span dir="auto">{shownReason === null ? line.text : briefly(shownReason)}</span>
            {line.from !== null && <Lasts from={line.from} />}
          </span>
        )}
      </span>
      <span id={note} hidden>
        {[...badges.map(({ label: text }) => text), about, reason && retold(reason)].filter(Boolean).join('. ')}
      </span>
      {state !== 'empty' && <span className="seat-dot rounded absolute untouchable" aria-hidden="true" />}
      {badges.length > 0 && (
        <span className="seat-badges flex gap-2 absolute untouchable" aria-hidden="true">
          {badges.map(({ kind, count }) => (
            <span key={kind} className="seat-badge middle inline-flex centred-row" data-kind={kind}>
              {kind === 'waiting' && <EnvelopeIcon />}
              <span>{count}</span>
            </span>
          ))}
        </span>
      )}
      {agentId !== null && (isActive || state === 'awake' || state === 'driven') && (
        <Suspense fallback={null}>
          <SeatTask agentId={agentId} tabIndex={reachable ? 0 : -1} />
        </Suspense>
      )}
      {agentId !== null && menu.length > 0 && (
        <MenuButton
          label={t`Menu of ${name ?? label}`}
          items={menu}
          className="icon-button seat-more absolute"
          tabIndex={reachable ? 0 : -1}
        >
          <MoreIcon />
        </MenuButton>
      )}
      {open && <MenuList label={label} items={menu} anchor={button} onClose={() => setOpen(false)} />}
    </li>
  );
}

export const SeatCell = memo(function SeatCell({
  seat,
  slept,
  ...cell
}: CellProps & { seat: SeatView; slept: string | null }) {
  const menu = useSeatMenu(seat);
  const { agentId, state, label, name, color, reason, paused, working, client } = seat;
  const arriving = useDevices(
    (devices) => state === 'sleeping' && agentId !== null && arrivingOf(devices).includes(agentId),
  );
  const doing = useDoingNow(agentId);
  const line = seatLine({
    ...{ doing, lifecycle: state, hasAgent: seat.agent !== null, paused, slept, client: client?.name },
    arriving,
  });
  const about =
    line.state === 'queued'
      ? IN_LINE
      : paused
        ? RESTS
        : arriving
          ? ARRIVES
          : client && state === 'awake'
            ? playsToo(client.name)
            : null;
  const isAtWork = working || (state === 'sleeping' && doing !== null);
  return (
    <SeatFrame
      {...cell}
      {...{ label, line, state: isAtWork ? 'working' : state, color, agentId, name, reason, about, menu }}
      figure={<SeatFigure seat={seat} speaks={line.state === 'writes'} />}
    />
  );
});

export const LeadCell = memo(function LeadCell({ slept, ...cell }: CellProps & { slept: string | null }) {
  const roster = useHousehold((state) => state.roster);
  const settings = useHousehold((state) => state.settings);
  const awake = useLive((state) => state.live !== null);
  const working = useLive((state) => state.live === null && state.working.has(LEAD_ID));
  const doing = useDoingNow(LEAD_ID);
  const menu = useLeadMenu();
  const name = leadNameOf(roster, settings);
  const line = seatLine({
    ...{ doing, slept, lifecycle: awake ? 'awake' : 'sleeping', hasAgent: true },
    ...{ paused: false, arriving: false, client: undefined },
  });
  return (
    <SeatFrame
      {...cell}
      label={t`${name}, lead`}
      line={line}
      state="lead"
      asleep={!awake && !working}
      color={LEAD_COLOR.color}
      agentId={LEAD_ID}
      name={name}
      reason={null}
      menu={menu}
      figure={
        <Face
          agentId={LEAD_ID}
          face={roster.lead?.face ?? name}
          color={LEAD_COLOR.color}
          awake={awake}
          speaks={line.state === 'writes'}
        />
      }
    />
  );
});
