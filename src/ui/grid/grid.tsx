import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useStore } from 'zustand';
import { isSeatPosition, LEAD_ID, type Position } from '../../domain/seat.ts';
import type { LiveState } from '../../state/live.ts';
import type { WakeShare } from '../../state/wake-material.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { since } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { LeadCell, SeatCell } from './seat-cell.tsx';
import { neighbour, POSITIONS, seatView } from './seat-view.ts';
import './grid.css';

/** When it fell asleep, in ms: at the end of the session in which it last spoke, where that is known; with its last words otherwise. A crash says nothing of when. */
function sleepsSince({ agent, lastSaid, lastSession }: WakeShare, { lastEnd }: LiveState): number | null {
  // Nothing to remember yet, but born in the session that ended last.
  if (lastSaid === null)
    return lastEnd && lastEnd.sessionId === agent.bornSessionId && lastEnd.reason !== 'crash' ? lastEnd.endedAt : null;
  if (!lastEnd || lastEnd.sessionId !== lastSession || lastEnd.reason === 'crash') return lastSaid;
  return Math.max(lastSaid, lastEnd.endedAt);
}

/** The hearth: nine named seats. Arrow keys move between them, Enter opens, M opens a seat's menu. */
export function Grid({ selected }: { selected: string | null }) {
  const { wakeSizes } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state);
  const shares = useStore(wakeSizes.store, (state) => state.shares);
  const now = useNow();
  const list = useRef<HTMLUListElement>(null);
  const [reachable, setReachable] = useState<Position | null>(null);

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
    const digit = /^[1-9]$/.test(event.key) ? POSITIONS[Number(event.key) - 1] : undefined;
    const to = digit ?? neighbour(chosen, event.key);
    if (to === chosen && digit === undefined) return;
    event.preventDefault();
    setReachable(to);
    list.current?.children[to]?.querySelector('button')?.focus();
  };

  return (
    // The keys are a shortcut between buttons that are reachable all the same.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <ul ref={list} className="grid" aria-label="The team" onKeyDown={onKeyDown}>
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
