import { useHousehold, useLive } from '../context.tsx';
import { SEAT_ORDER } from '../../../shared/domain/seat.ts';
import { lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { optional } from '../parts/part.tsx';
import './sky.css';

const Land = optional(() => import('./land.tsx'));

/** Brightness while a session runs and nobody is awake; the rest comes from all eight agents. */
const FIRST_LIGHT = 0.22;

/** The night sky behind everything. It dawns as the team wakes. */
export function Sky() {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const awake = SEAT_ORDER.filter(
    (position) => lifecycleOf(roster.seats.get(position), position, live) === 'awake',
  ).length;
  const dawn = live ? FIRST_LIGHT + ((1 - FIRST_LIGHT) * awake) / SEAT_ORDER.length : 0;
  return (
    <div className="sky" style={{ '--dawn': dawn }} aria-hidden="true">
      <i className="sky-stars" />
      <i className="sky-glow" />
      <Land />
    </div>
  );
}
