/** The hearth: the grid of seats, the big button, and the notes around them. */
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react';
import { useStore } from 'zustand';
import { Link } from 'wouter';
import {
  asleepFrom,
  bigButton,
  type BigButton as Button,
  canBeWoken,
  lifecycleOf,
} from '../../../shared/domain/lifecycle.ts';
import { isSeatPosition, LEAD_ID, type Position } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { callProgress, type LiveState } from '../../state/live.ts';
import { waitingOf } from '../../state/waiting.ts';
import { writingStopped } from '../../state/relay-info.ts';
import type { WakeShare } from '../../state/wake-sizes.ts';
import { menuItem } from '../commands/command.ts';
import { useCommands } from '../commands/later.ts';
import { useActions, useHousehold, useInfo, useLive, usePending, useRoost } from '../context.tsx';
import { CaretIcon } from '../design/icons.tsx';
import { MenuButton, type MenuItem } from '../design/menu.tsx';
import { PATHS, useRoute } from '../routes.ts';
import { useNow } from '../hooks.ts';
import { optional } from '../parts/part.tsx';
import { arrowAlong, keyOf } from '../design/keys.ts';
import { ModelChip } from '../models/chip.tsx';
import { endText } from '../text/reasons.ts';
import { plural } from '../text/sizes.ts';
import { since } from '../text/time.ts';
import { neighbour, POSITIONS, seatView } from './seat-figure.tsx';
import { LeadCell, SeatCell } from './seat-cell.tsx';
import './big-button.css';
import './hearth.css';
import './grid.css';

/** The action in progress in words, for the button's line and for screen readers. */
function useProgress(): { text: string; part: number } | null {
  const progress = useLive((state) => state);
  const step = usePending((state) => state.step);
  const call = usePending((state) => state.call);
  const now = callProgress(progress);
  if (now) {
    const word = now.call === 'summon' ? t`hatching` : t`waking`;
    if (now.total === null) return { text: t`${word}: ${now.left} to go`, part: 0 };
    return { text: t`${word} ${now.done} of ${now.total}`, part: now.done / now.total };
  }
  if (call) return { text: step ?? t`The lead calls the team…`, part: 0 };
  return null;
}

/**
 * Items of the small menu beside the button: the kinds of wake that the big button does not offer.
 */
function useMoreWays(): MenuItem[] {
  const roost = useRoost();
  const { go } = useRoute();
  // Dependencies of the commands besides the roster and the awake agents, to which the button
  // itself subscribes.
  useHousehold((state) => state.settingDocs);
  return (useCommands()?.wakeWays({ roost, go }) ?? []).map(menuItem);
}

/** WAKE and SUMMON have the same name in every language. */
function labelOf(button: Exclude<Button, { readonly kind: 'none' }>): string {
  if (button.kind === 'busy') return button.label === 'WAKING…' ? t`WAKING…` : t`SUMMONING…`;
  return button.kind === 'summon' && button.label !== 'SUMMON' ? t`SUMMON ${button.seats.length} MORE` : button.label;
}

/** The one big button, as the domain defines it. */
function BigButton() {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const failed = useHousehold((state) => state.status === 'failed');
  const live = useLive((state) => state.live);
  const pending = usePending((state) => state.call);
  const blocked = useInfo(writingStopped);
  const progress = useProgress();
  const more = useMoreWays();
  const button = bigButton(roster, live, pending);
  const busy = button.kind === 'busy';
  // While the ledger is being read, the button accepts the press. The call starts once it is read.
  const isDisabled = busy || failed || blocked;

  if (button.kind === 'none') return null;
  return (
    <div className="big flex gap-1" data-busy={busy}>
      <button
        type="button"
        className="big-button relative no-frame round-l clip text-5 bold fill"
        disabled={isDisabled}
        aria-disabled={isDisabled}
        style={{ '--part': progress?.part ?? 0 }}
        onClick={() => void (button.kind === 'wake' ? actions.wake() : actions.summon())}
      >
        {labelOf(button)}
      </button>
      {button.kind === 'wake' && !isDisabled && (
        <MenuButton label={t`More ways to wake`} items={more} className="big-more stack both-centred no-frame round-xs">
          <CaretIcon />
        </MenuButton>
      )}
    </div>
  );
}

/**
 * Seated agents that WAKE would wake, in seat order: sleeping ones, and those driven only by an API
 * client. `withPaused`: with those of the running session that were put to sleep.
 */
export function useSleepers({ withPaused }: { readonly withPaused: boolean }) {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  return [...roster.seats]
    .filter(
      ([position, agent]) =>
        isSeatPosition(position) &&
        canBeWoken(lifecycleOf(agent, position, live)) &&
        (withPaused || !live?.awake.has(agent.agentId)),
    )
    .sort(([a], [b]) => a - b)
    .map(([, agent]) => agent);
}

/**
 * When it fell asleep, in ms: the end of the session of its last message if known, otherwise the
 * time of that message. After a crash the end is unknown.
 */
function sleepsSince(
  { agent, lastSaid, lastSession, ended }: WakeShare,
  { lastEnd, ranUntil }: LiveState,
): number | null {
  const ran = ranUntil.get(agent.agentId) ?? null;
  // It has no memories yet, but was born in the session that ended last.
  const born =
    lastEnd && lastEnd.sessionId === agent.bornSessionId && lastEnd.reason !== 'crash' ? lastEnd.endedAt : null;
  // The relay announces an end before the ledger has it.
  const slept =
    lastSaid === null ? born : asleepFrom(lastSaid, ended ?? (lastEnd?.sessionId === lastSession ? lastEnd : null));
  return slept === null || ran === null ? (slept ?? ran) : Math.max(slept, ran);
}

/**
 * The hearth: nine named seats. Arrow keys move between them, Enter opens, M opens a seat's menu.
 */
function Grid({ selected }: { selected: string | null }) {
  const roost = useRoost();
  const { wakeSizes } = roost;
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state);
  const shares = useStore(wakeSizes.store, (state) => state.shares);
  const now = useNow();
  const list = useRef<HTMLUListElement>(null);
  const [reachable, setReachable] = useState<Position | null>(null);
  useEffect(() => {
    let stop: (() => void) | null = () => undefined;
    // Without it, seats cannot be changed here. Settings can do it too.
    let stopLetters: (() => void) | null = () => undefined;
    import('./seat-moves.ts').then(
      ({ watchSeatMoves }) => (stop &&= list.current ? watchSeatMoves(list.current, roost) : stop),
      () => undefined,
    );
    import('./letters.ts').then(
      ({ watchLetters }) => (stopLetters &&= list.current ? watchLetters(list.current, roost) : stopLetters),
      () => undefined,
    );
    return () => {
      stop?.();
      stop = null;
      stopLetters?.();
      stopLetters = null;
    };
  }, [roost]);

  const seats = useMemo(
    () => POSITIONS.flatMap((position) => (isSeatPosition(position) ? [seatView(position, roster, live)] : [])),
    [roster, live],
  );
  const chosen: Position =
    reachable ??
    seats.find((seat) => seat.agentId === selected && selected !== null)?.position ??
    (selected === LEAD_ID ? 4 : 0);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = neighbour(chosen, arrowAlong(keyOf(event), event.currentTarget));
    if (to === chosen) return;
    event.preventDefault();
    setReachable(to);
    list.current?.children[to]?.querySelector('button')?.focus();
  };

  return (
    // The keys are shortcuts between buttons that are reachable without them.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ul ref={list} className="grid relative stack gap-5" aria-label={t`The team`} onKeyDown={onKeyDown}>
      {POSITIONS.map((position) => {
        const cell = { reachable: position === chosen, onFocus: () => setReachable(position) };
        if (!isSeatPosition(position))
          return (
            <LeadCell
              key={position}
              {...cell}
              selected={selected === LEAD_ID}
              slept={live.lastEnd && live.lastEnd.reason !== 'crash' ? since(live.lastEnd.endedAt, now) : null}
            />
          );
        const seat = seats.find((view) => view.position === position);
        if (!seat) return null;
        const share = shares.find(({ agent }) => agent.agentId === seat.agentId);
        const from = share ? sleepsSince(share, live) : null;
        const slept = from === null ? null : since(from, now);
        return (
          <SeatCell
            key={position}
            {...cell}
            seat={seat}
            slept={slept}
            selected={selected !== null && seat.agentId === selected}
          />
        );
      })}
    </ul>
  );
}

const CallTrouble = optional(() => import('./call-trouble.tsx'));
const MorningLine = optional(() => import('../schedule/morning.tsx'));
const Now = optional(() => import('./now.tsx'));
const Sleepers = optional(() => import('./sleepers.tsx'));
const ClockNote = optional(() => import('../schedule/clock-note.tsx'));

function Status() {
  const progress = useProgress();
  const goOn = usePending((state) => state.goOn);
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const sleepers = useSleepers({ withPaused: true });
  const born = roster.seats.size;
  // A team that could not be read is not known to be empty.
  const known = useHousehold((state) => state.status !== 'failed');
  const idle = known && sleepers.length === 0 && !progress;
  const { waits } = useStore(waitingOf(useRoost()));
  const asking = new Set(waits.flatMap((wait) => (wait.kind === 'question' ? [wait.call.agentId] : []))).size;
  return (
    <div className="hearth-status flex apart wrap ink-3">
      {!progress && <Sleepers />}
      {idle && born === 0 && <span>{t`Eight empty seats. Press SUMMON to hatch your team.`}</span>}
      {asking > 0 && <Link href={PATHS.inbox}>{plural(asking, 'agent asks you', 'agents ask you')}</Link>}
      {idle && born > 0 && live && <span>{t`${plural(born, 'agent')} awake.`}</span>}
      <span role="status" aria-live="polite" className={progress ? 'hearth-progress' : 'visually-hidden'}>
        {progress?.text ?? ''}
      </span>
      {progress && goOn && <button type="button" className="link-button" onClick={goOn}>{t`Continue`}</button>}
    </div>
  );
}

/** Why nobody is awake. Shown here where the header has no room for it. */
function WhyAsleep() {
  const link = useLive((state) => state.link);
  const lastEnd = useLive((state) => state.lastEnd);
  const asleep = useLive((state) => state.live === null);
  const somebody = useHousehold((state) => state.roster.seats.size > 0);
  if (!asleep || !somebody || !lastEnd || link.kind !== 'live') return null;
  return <p className="hearth-why ink-3">{t`Everyone sleeps: ${endText(lastEnd.reason)}.`}</p>;
}

function LoadFailed() {
  const error = useHousehold((state) => state.error);
  const actions = useActions();
  return (
    <div className="call-error flex round" role="alert">
      <p className="grow ink-2">
        {t`${<strong className="danger">{t`The team could not be read from this device.`}</strong>} ${error} Try again, or restart the browser. Elsewhere your recovery phrase or an export restores the team.`}
      </p>
      <div className="call-error-ways flex wrap">
        <button type="button" className="ghost" onClick={() => void actions.reload()}>{t`Try again`}</button>
      </div>
    </div>
  );
}

/** The grid with everything around it. */
export function Hearth({ selected }: { selected: string | null }) {
  const failed = useHousehold((state) => state.status === 'failed');
  const called = useLive((state) => state.callError !== null || state.nobodyCame !== null);
  // Without any schedule, nothing happened by itself.
  const scheduled = useHousehold(({ records }) => [...records.values()].some(({ type }) => type === 'schedule'));
  return (
    <section className="hearth flex scroll shrinks column-wise" aria-label={t`The team`}>
      <h1 className="visually-hidden">{t`The team`}</h1>
      {scheduled && <ClockNote />}
      {scheduled && <MorningLine />}
      <Grid selected={selected} />
      <Now />
      {failed && <LoadFailed />}
      {called && <CallTrouble />}
      <div className="hearth-action">
        <BigButton />
        <Status />
        <WhyAsleep />
        <ModelChip where="hearth" />
      </div>
    </section>
  );
}
