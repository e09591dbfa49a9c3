/** The smoke form of every part that needs this: what `npm run verify` runs of `npm run bench`. */
import { expect, it } from 'vitest';
import { printed } from './figures.ts';
import type { Part } from './part.ts';
import { PARTS } from './parts.ts';
import type { Register } from '../support/long-tests.ts';

/** `quick`: parts that run each time. The others are registered by `itLong`. */
export function itRuns(needs: Part['needs'], quick: readonly string[] = [], itLong: Register = it): void {
  for (const part of PARTS) {
    if (part.needs !== needs) continue;
    const register = quick.includes(part.name) ? it : itLong;
    register(`${part.name} still measures what it says`, async () => {
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
}
