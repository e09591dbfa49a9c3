import type { Run } from './pixels.ts';

export function Runs({ runs, className }: { runs: readonly Run[]; className: string }) {
  return (
    <g className={className}>
      {runs.map(({ x, y, width }) => (
        <rect key={`${x}.${y}`} x={x} y={y} width={width} height={1} />
      ))}
    </g>
  );
}
