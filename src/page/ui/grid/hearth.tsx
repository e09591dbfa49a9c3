import { answeringOf, asleepFrom } from '../../../shared/domain/lifecycle.ts';
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useStore } from 'zustand';
import { Link } from 'wouter';
import { emptySeats } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useActions, useDevices, useHousehold, useLive, useRoost } from '../context.tsx';
import { optional } from '../parts/optional.tsx';
import { arrowAlong } from '../parts/reading-way.ts';
import { PATHS } from '../routes.ts';
import { ModelChip } from '../models/chip.tsx';
import { endText } from '../text/reasons.ts';
import { bytes, plural } from '../text/sizes.ts';
import { BigButton, useProgress } from './big-button.tsx';
import { useSleepers } from './use-sleepers.ts';
import './hearth.css';
import { isSeatPosition, LEAD_ID, type Position } from '../../../shared/domain/seat.ts';
import type { LiveState } from '../../state/live.ts';
import type { WakeShare } from '../../state/wake-share.ts';
import { since } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { LeadCell, SeatCell } from './seat-cell.tsx';
import { neighbour, POSITIONS, seatView } from './seat-view.ts';
import { keyOf } from '../parts/keys.ts';
import './grid.css';

/**
 * When it fell asleep, in ms: at the end of the session in which it last spoke, where that is
 * known; with its last words otherwise. A crash says nothing of when.
 */
function sleepsSince({ agent, lastSaid, lastSession, ended }: WakeShare, { lastEnd }: LiveState): number | null {
  // Nothing to remember yet, but born in the session that ended last.
  if (lastSaid === null)
    return lastEnd && lastEnd.sessionId === agent.bornSessionId && lastEnd.reason !== 'crash' ? lastEnd.endedAt : null;
  // The relay tells of an end before the ledger has it.
  return asleepFrom(lastSaid, ended ?? (lastEnd?.sessionId === lastSession ? lastEnd : null));
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
    // Without it nobody changes seats here; Settings can do it too.
    import('./seat-moves.ts').then(
      ({ watchSeatMoves }) => (stop &&= list.current ? watchSeatMoves(list.current, roost) : stop),
      () => undefined,
    );
    return () => {
      stop?.();
      stop = null;
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
    // The keys are a shortcut between buttons that are reachable all the same.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ul ref={list} className="grid" aria-label={t`The team`} onKeyDown={onKeyDown}>
      {POSITIONS.map((position) => {
        const cell = { reachable: position === chosen, onFocus: () => setReachable(position) };
        if (!isSeatPosition(position)) return <LeadCell key={position} {...cell} selected={selected === LEAD_ID} />;
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
const Morning = optional(() => import('../night/morning.tsx'));
const ClockNote = optional(() => import('../night/clock-note.tsx'));

/** How much would be remembered: kept current while anybody sleeps. */
function WakeSizesKeeper() {
  const { wakeSizes } = useRoost();
  const sleepers = useSleepers({ withPaused: false });
  const cap = useHousehold((state) => state.settings.transcriptCap);
  const { status, shares } = useStore(wakeSizes.store);
  const key = sleepers.map((agent) => agent.agentId).join();
  useEffect(() => {
    if (key !== '') void wakeSizes.refresh(sleepers);
    // The key stands for who sleeps; the list itself is new on every render.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [wakeSizes, key, cap]);
  const resting = useSleepers({ withPaused: true }).length - sleepers.length;
  const live = useLive((state) => state.live);
  const played = sleepers.filter(({ agentId }) => answeringOf(agentId, live).by === 'client').length;
  const arriving = useDevices(arrivingOf);
  const late = sleepers.filter(({ agentId }) => arriving.includes(agentId)).length;
  if (sleepers.length === 0) return resting === 0 ? null : <span>{t`${resting} set to sleep`}</span>;
  const ids = new Set(sleepers.map((agent) => agent.agentId));
  const size = shares
    .filter((share) => ids.has(share.agent.agentId))
    .reduce((sum, share) => sum + share.soulBytes + share.transcriptBytes, 0);
  const known = [
    sleepers.length > played ? t`${sleepers.length - played} sleeping` : null,
    played > 0 ? t`${played} played elsewhere` : null,
    resting > 0 ? t`${resting} set to sleep` : null,
    late > 0 ? t`${late} on the way here` : null,
    status === 'ready' ? t`${bytes(size)} to remember` : null,
    status === 'failed' ? t`what they remember cannot be read` : null,
  ];
  return (
    <>
      <span>{known.filter((part) => part !== null).join(' · ')}</span>
      <Link href={PATHS.preview}>{t`Preview the wake`}</Link>
    </>
  );
}

function Status() {
  const progress = useProgress();
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const sleepers = useSleepers({ withPaused: true });
  const born = roster.seats.size;
  // Who could not be read is not known to be nobody.
  const known = useHousehold((state) => state.status !== 'failed');
  const idle = known && sleepers.length === 0 && !progress;
  return (
    <div className="hearth-status">
      {!progress && <WakeSizesKeeper />}
      {idle && born === 0 && <span>{t`Eight seats, and nobody in them yet.`}</span>}
      {idle && born > 0 && live && (
        <span>{emptySeats(roster).length === 0 ? t`Everyone is awake.` : t`${plural(born, 'agent')} awake.`}</span>
      )}
      <span role="status" aria-live="polite" className={progress ? 'hearth-progress' : 'visually-hidden'}>
        {progress?.text ?? ''}
      </span>
    </div>
  );
}

/** Why nobody is awake. Where the header has no room to say it, it is said here. */
function WhyAsleep() {
  const link = useLive((state) => state.link);
  const lastEnd = useLive((state) => state.lastEnd);
  const asleep = useLive((state) => state.live === null);
  const somebody = useHousehold((state) => state.roster.seats.size > 0);
  if (!asleep || !somebody || !lastEnd || link.kind !== 'live') return null;
  return <p className="hearth-why">{t`Everyone sleeps: ${endText(lastEnd.reason)}.`}</p>;
}

function LoadFailed() {
  const error = useHousehold((state) => state.error);
  const actions = useActions();
  return (
    <div className="call-error" role="alert">
      <p>
        {t`${<strong>{t`The team could not be read from this device.`}</strong>} ${error} If trying again does not help, close the browser and open it once more; on another device, or in another browser, the team comes back from your relay with the recovery phrase, or from a copy.`}
      </p>
      <div className="call-error-ways">
        <button type="button" className="ghost" onClick={() => void actions.reload()}>{t`Try again`}</button>
      </div>
    </div>
  );
}

/**
 * The grid with everything that belongs to it. `morning`: what was told above it and put away
 * stands there again.
 */
export function Hearth({ selected, morning }: { selected: string | null; morning: boolean }) {
  const failed = useHousehold((state) => state.status === 'failed');
  const called = useLive((state) => state.callError !== null || state.nobodyCame !== null);
  // Where nothing was ever scheduled, nothing happened by itself.
  const scheduled = useHousehold(({ records }) => [...records.values()].some(({ type }) => type === 'schedule'));
  return (
    <section className="hearth" aria-label={t`Hearth`}>
      <h1 className="visually-hidden">{t`Your team`}</h1>
      {scheduled && <ClockNote />}
      {(scheduled || morning) && <Morning again={morning} />}
      <Grid selected={selected} />
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
