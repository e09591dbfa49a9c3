/** Sizes and counts as people read them. */

const number = new Intl.NumberFormat('en-GB');

export const count = (value: number): string => number.format(value);

/** `512 B`, `21 KB`, `1.4 MB`, `2.3 GB` */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1e3)} KB`;
  const [unit, size] = value < 1e9 ? ['MB', value / 1e6] : ['GB', value / 1e9];
  return `${size.toFixed(size < 10 ? 1 : 0)} ${unit}`;
}

export const plural = (value: number, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 ? one : many}`;

/** `Lyra`, `Lyra and Wren`, `Lyra, Wren and Sable` */
export function names(list: readonly string[]): string {
  if (list.length < 2) return list[0] ?? '';
  return `${list.slice(0, -1).join(', ')} and ${list.at(-1)}`;
}
