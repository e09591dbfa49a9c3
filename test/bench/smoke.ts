/** The smoke form of every part that needs this: what `npm run verify` runs of `npm run bench`. */
import { expect, it } from 'vitest';
import { printed } from './figures.ts';
import type { Part } from './part.ts';
import { PARTS } from './parts.ts';

export function itRuns(needs: Part['needs']): void {
  const parts = PARTS.filter((part) => part.needs === needs).map((part) => [part.name, part] as const);
  it.each(parts)('%s still measures what it says', async (_name, part) => {
    const section = await part.smoke();
    const numbers = section.figures.flatMap(({ what, value, beside }) => [
      { what, number: value },
      ...(beside ? [{ what: `${what}, beside ${beside.what}`, number: beside.value }] : []),
    ]);
    expect(numbers.filter(({ number }) => !Number.isFinite(number))).toEqual([]);
    expect(numbers.length + (section.notes ?? []).length).toBeGreaterThan(0);
    expect(printed(section)).toContain(section.title);
  });
}
