/** Groups items by day, in the reader's zone. Pure. */
import { dayName } from './time.ts';

export interface Day<Item> {
  readonly day: string;
  readonly items: readonly Item[];
}

/** `items`: newest first, and so are the days. `timeOf`: ms since the epoch. */
export function byDay<Item>(items: readonly Item[], now: number, timeOf: (item: Item) => number): Day<Item>[] {
  const days: { day: string; items: Item[] }[] = [];
  for (const item of items) {
    const day = dayName(timeOf(item), now);
    const last = days.at(-1);
    if (last?.day === day) last.items.push(item);
    else days.push({ day, items: [item] });
  }
  return days;
}
