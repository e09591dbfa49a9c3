import { useMemo, useRef, useState, type KeyboardEvent } from 'react';
import { useStore } from 'zustand';
import { isSeatPosition, LEAD_ID, type Position } from '../../domain/seat.ts';
import { useHousehold, useLive, useRoost } from '../context.tsx';
import { shortDuration } from '../text/time.ts';
import { useNow } from '../use-now.ts';
import { LeadCell, SeatCell } from './seat-cell.tsx';
import { neighbour, POSITIONS, seatView } from './seat-view.ts';
import './grid.css';

/** The hearth: nine named seats. Arrow keys move between them, Enter opens, M opens a seat's menu. */
export function Grid({ selected }: { selected: string | null }) {
  const { remember } = useRoost();
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state);
  const shares = useStore(remember.store, (state) => state.shares);
  const now = useNow();
  const list = useRef<HTMLUListElement>(null);
  const [reachable, setReachable] = useState<Position | null>(null);

  const seats = useMemo(() => POSITIONS.flatMap((position) => (isSeatPosition(position) ? [seatView(position, roster, live)] : [])), [roster, live]);
  const chosen: Position = reachable ?? seats.find((seat) => seat.agentId === selected && selected !== null)?.position ?? (selected === LEAD_ID ? 4 : 0);

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
        const said = shares.find((share) => share.agent.agentId === seat.agentId)?.lastSaid ?? null;
        const slept = said === null ? null : shortDuration(now - said);
        return <SeatCell key={position} {...cell} seat={seat} slept={slept} selected={selected !== null && seat.agentId === selected} />;
      })}
    </ul>
  );
}
