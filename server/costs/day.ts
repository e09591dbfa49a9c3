/** Days of the household's zone by their dates. */
import { dayOf, wallTime, type Day } from '../../src/domain/zone-days.ts';

export interface NamedDay extends Day {
  /** `YYYY-MM-DD` */
  readonly date: string;
}

function named(zone: string, time: number): NamedDay {
  const day = dayOf(zone, time);
  return { ...day, date: new Date(wallTime(zone, day.start)).toISOString().slice(0, 'YYYY-MM-DD'.length) };
}

/** `count` days, newest first, the first of them the one of `time`. */
export function daysBack(zone: string, time: number, count: number): readonly NamedDay[] {
  const days = [named(zone, time)];
  for (let last = days[0]; last && days.length < count; last = days.at(-1)) days.push(named(zone, last.start - 1));
  return days;
}
