import { useHousehold, useLive } from '../context.tsx';
import { SEAT_ORDER } from '../../domain/seat.ts';
import { lifecycleOf } from '../../domain/lifecycle.ts';
import './sky.css';

/** Light before anybody is awake but a session runs; and how much all eight give. */
const FIRST_LIGHT = 0.22;

/** Steps of the hills, as heights in pixels of 8, from the left. */
const FAR = [3, 3, 4, 5, 5, 6, 7, 7, 8, 8, 7, 6, 6, 5, 5, 4, 4, 5, 6, 6, 7, 8, 9, 9, 8, 7, 7, 6, 5, 5, 4, 4, 3, 3, 4, 5, 6, 6, 7, 7, 6, 5, 4, 4, 3, 3, 2, 2];
const NEAR = [5, 5, 4, 4, 3, 3, 2, 2, 2, 3, 3, 4, 4, 4, 3, 3, 2, 2, 1, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 5, 5, 4, 3, 3, 2, 2, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5, 6];

function hill(heights: readonly number[]): string {
  return `M0 16${heights.map((height, x) => `V${16 - height}H${x + 1}`).join('')}V16Z`;
}

/** The night behind everything. It dawns as the team wakes. */
export function Sky() {
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const awake = SEAT_ORDER.filter((position) => lifecycleOf(roster.seats.get(position), position, live) === 'awake').length;
  const dawn = live ? FIRST_LIGHT + ((1 - FIRST_LIGHT) * awake) / SEAT_ORDER.length : 0;
  return (
    <div className="sky" style={{ '--dawn': dawn }} aria-hidden="true">
      <i className="sky-stars" />
      <i className="sky-glow" />
      <svg className="sky-land" viewBox="0 0 48 16" preserveAspectRatio="none" shapeRendering="crispEdges">
        <path className="hill-far" d={hill(FAR)} />
        <path className="hill-near" d={hill(NEAR)} />
      </svg>
    </div>
  );
}
