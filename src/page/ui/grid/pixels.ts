/** Pixel art on the 16 × 16 grid, as runs that one rectangle each can draw. */
import { HEAD_ROWS } from '../../../shared/domain/face.ts';

export interface Run {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The outline of one-pixel-high rectangles, as the `d` of an SVG path. */
export const pathOf = (runs: readonly Run[]): string =>
  runs.map(({ x, y, width }) => `M${x} ${y}h${width}v1h${-width}z`).join('');

/** Rows as `[y, first x, last x]`. */
type Rows = readonly (readonly [number, number, number])[];

const runs = (rows: Rows): Run[] => rows.map(([y, from, to]) => ({ x: from, y, width: to - from + 1 }));

/** The head behind every face: a pebble, lit from above. */
export const HEAD = {
  body: runs(HEAD_ROWS),
  light: runs([
    [1, 5, 10],
    [2, 3, 5],
    [3, 2, 3],
    [2, 10, 12],
  ]),
  shade: runs([
    [12, 11, 13],
    [11, 13, 13],
    [13, 9, 12],
    [13, 3, 5],
    [14, 5, 10],
  ]),
} as const;

/** An egg, whole; it breaks along the zigzag. */
export const EGG = {
  top: runs([
    [1, 6, 9],
    [2, 5, 10],
    [3, 4, 11],
    [4, 4, 11],
    [5, 3, 12],
    [6, 3, 12],
    [7, 3, 12],
    [8, 2, 3],
    [8, 5, 6],
    [8, 8, 9],
    [8, 11, 12],
  ]),
  bottom: runs([
    [8, 4, 4],
    [8, 7, 7],
    [8, 10, 10],
    [8, 13, 13],
    [9, 2, 13],
    [10, 2, 13],
    [11, 2, 13],
    [12, 3, 12],
    [13, 4, 11],
    [14, 6, 9],
  ]),
  lightTop: runs([
    [2, 6, 7],
    [3, 5, 6],
    [4, 5, 5],
    [5, 4, 4],
  ]),
  shadeTop: runs([
    [3, 11, 11],
    [4, 11, 11],
    [5, 12, 12],
    [6, 11, 12],
    [7, 11, 12],
    [8, 11, 12],
  ]),
  shadeBottom: runs([
    [8, 13, 13],
    [9, 12, 13],
    [10, 11, 13],
    [11, 11, 13],
    [12, 9, 12],
    [13, 6, 11],
    [14, 6, 9],
  ]),
} as const;

const zigzag = (from: number, to: number): Run[] => {
  const heights = [8, 9, 8, 7];
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    x: from + i,
    y: heights[(from + i + 1) % 4] ?? 8,
    width: 1,
  }));
};

/** Cracks, by how far the egg is: none, begun, all around. */
export const CRACKS: readonly (readonly Run[])[] = [
  [],
  zigzag(7, 11),
  [...zigzag(2, 13), { x: 6, y: 6, width: 1 }, { x: 9, y: 10, width: 1 }],
];

/** Speckles that tell eggs apart besides their colour. */
export function speckles(position: number): Run[] {
  const places: Run[] = [
    [7, 4],
    [9, 6],
    [5, 6],
    [6, 11],
    [9, 12],
    [4, 11],
    [9, 11],
    [7, 5],
    [10, 4],
    [7, 2],
  ].map(([x = 0, y = 0]) => ({ x, y, width: 1 }));
  return places.filter((_, i) => (i * 5 + position * 3) % 10 < 4);
}
