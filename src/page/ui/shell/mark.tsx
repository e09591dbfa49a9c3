// Roost's logo on a grid of 16 by 16.

/** Rows: y, first x, last x. */
export const SUN: readonly (readonly [number, number, number])[] = [
  [7, 6, 9],
  [8, 5, 10],
  [9, 4, 11],
  [10, 4, 11],
  [12, 1, 14],
];

/** Single pixels: x and y. */
export const RAYS: readonly (readonly [number, number])[] = [
  [7, 3],
  [8, 3],
  [7, 4],
  [8, 4],
  [3, 5],
  [2, 4],
  [12, 5],
  [13, 4],
  [1, 9],
  [2, 9],
  [13, 9],
  [14, 9],
];

/** Roost's logo: a small sun over the edge of the night, in pixels. */
export function Mark() {
  return (
    <svg
      className="mark-sun size-s"
      viewBox="0 0 16 16"
      aria-hidden="true"
      focusable="false"
      shapeRendering="crispEdges"
    >
      {SUN.map(([y, from, to]) => (
        <rect key={y} x={from} y={y} width={to - from + 1} height={1} fill="var(--mark)" />
      ))}
      {RAYS.map(([x, y]) => (
        <rect key={`${x}.${y}`} x={x} y={y} width={1} height={1} fill="var(--mark-ray)" />
      ))}
    </svg>
  );
}
