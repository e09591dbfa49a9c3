/** Roost's mark on a field of 16 by 16. */
/** Rows: y, and from which x to which. */
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
