/** Times and spans as words for minds: they have no clock of their own. */

/** By zone: making one takes a hundred times as long as using it. */
const formatters = new Map<string, Intl.DateTimeFormat>();

function formatterOf(timeZone: string): Intl.DateTimeFormat {
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      weekday: 'long',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    });
  formatters.set(timeZone, formatter);
  return formatter;
}

/** `Monday 23 November 2026, 08:05`, by the clock on the household's wall. */
export function momentText(time: number, timeZone: string): string {
  const parts = formatterOf(timeZone).formatToParts(time);
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return `${of('weekday')} ${of('day')} ${of('month')} ${of('year')}, ${of('hour')}:${of('minute')}`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** `3 days`, `9 hours`, `1 minute`: the largest unit that fills twice or more says enough. */
export function spanText(ms: number): string {
  const [name, size] = UNITS.find(([, size]) => ms >= 2 * size) ?? UNITS[2];
  const count = Math.round(ms / size);
  return count < 1 ? 'less than a minute' : `${count} ${name}${count === 1 ? '' : 's'}`;
}
