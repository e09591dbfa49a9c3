import { useHousehold, useLive } from '../context.tsx';
import { SEAT_ORDER } from '../../../shared/domain/seat.ts';
import { lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import { optional } from '../parts/part.tsx';
import './sky.css';

const Land = optional(() => import('./land.tsx'));

/** Light before anybody is awake but a session runs; and how much all eight give. */
const FIRST_LIGHT = 0.22;

/** The night behind everything. It dawns as the team wakes. */
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
