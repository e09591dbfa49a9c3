import './land.css';

/** Width of the landscape in pixels. What exceeds the window is cut off at the right. */
const LAND = { width: 240, height: 20 } as const;

/** A ridge in whole pixels, from slow waves: always the same hills. */
function ridge(base: number, waves: readonly (readonly [number, number, number])[]): string {
  let path = `M0 ${LAND.height}`;
  for (let x = 0; x < LAND.width; x++) {
    const height = waves.reduce((sum, [size, length, shift]) => sum + size * Math.sin((x + shift) / length), base);
    path += `V${LAND.height - Math.max(1, Math.round(height))}H${x + 1}`;
  }
  return `${path}V${LAND.height}Z`;
}

const FAR = ridge(7.4, [
  [2.6, 15, -8],
  [1.5, 6.1, 5],
  [0.5, 2.3, 0],
]);
const NEAR = ridge(3.4, [
  [1.9, 19, 62],
  [1.2, 7.3, 5],
  [0.7, 2.1, 1],
]);

/** Rows of the sun as [y, x, width], centred at (27, 9). */
const SUN: readonly (readonly [number, number, number])[] = [
  [4, 24, 6],
  [5, 23, 8],
  [6, 22, 10],
  [7, 22, 10],
  [8, 21, 12],
  [9, 21, 12],
  [10, 21, 12],
  [11, 21, 12],
  [12, 22, 10],
  [13, 22, 10],
  [14, 23, 8],
];

/** The hills and the sun below the sky. Drawn a moment after the page, which works without them. */
export default function Land() {
  return (
    <svg
      className="sky-land full absolute"
      viewBox={`0 0 ${LAND.width} ${LAND.height}`}
      preserveAspectRatio="xMinYMax slice"
      shapeRendering="crispEdges"
    >
      <g className="sun">
        {SUN.map(([y, x, width]) => (
          <rect key={y} x={x} y={y} width={width} height={1} />
        ))}
      </g>
      <path className="hill-far" d={FAR} />
      <path className="hill-near" d={NEAR} />
    </svg>
  );
}
