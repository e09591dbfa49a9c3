/** Formats sizes and counts. */
import { counted, spoken } from '../../language/t.ts';

const number = new Intl.NumberFormat(spoken.locale);
const oneDigit = new Intl.NumberFormat(spoken.locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const list = new Intl.ListFormat(spoken.locale, { type: 'conjunction' });

export const count = (value: number): string => number.format(value);

/** `512 B`, `21 KB`, `1.4 MB`, `2.3 GB` */
export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1e3)} KB`;
  const [unit, size] = value < 1e9 ? ['MB', value / 1e6] : ['GB', value / 1e9];
  return `${size < 10 ? oneDigit.format(size) : number.format(Math.round(size))} ${unit}`;
}

/**
 * `1 message`, `12 messages`. The caller passes the words; other languages have plural forms of
 * their own.
 */
export const plural = (value: number, one: string, many = `${one}s`): string => counted(value, count(value), one, many);

/** `Retired`, for “retired” */
export const asBeginning = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `Lyra`, `Lyra and Wren`, `Lyra, Wren and Sable` */
export const names = (all: readonly string[]): string => list.format(all);
