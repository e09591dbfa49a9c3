import { RAYS, SUN } from './mark-pixels.ts';

/** Roost's mark: a small sun over the edge of the night, in pixels. */
export function Mark() {
  return (
    <svg className="mark-sun" viewBox="0 0 16 16" aria-hidden="true" focusable="false" shapeRendering="crispEdges">
      {SUN.map(([y, from, to]) => (
        <rect key={y} x={from} y={y} width={to - from + 1} height={1} fill="var(--mark)" />
      ))}
      {RAYS.map(([x, y]) => (
        <rect key={`${x}.${y}`} x={x} y={y} width={1} height={1} fill="var(--mark-ray)" />
      ))}
    </svg>
  );
}
