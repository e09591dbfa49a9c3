/**
 * Text of strangers that takes long to read: whatever they write, everybody else is answered
 * meanwhile, and no key is told.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLongWords, type LongWords } from '../support/long-words.ts';

/**
 * ms. It is meant to be 50, which `npm run bench -- loop` measures; without the bounds it was
 * seconds to minutes.
 */
const HELD_MS = 500;

let words: LongWords;
beforeAll(async () => {
  words = await startLongWords();
}, 60_000);
afterAll(() => words.close());

describe('The relay', () => {
  it('answers everybody else, whatever strangers write', { timeout: 120_000 }, async () => {
    await words.longest();
    const held: Record<string, number> = {};
    for (const [what, write] of Object.entries(words.inputs)) {
      const told = await write();
      for (const secret of words.secrets) expect(told, what).not.toContain(secret);
      const ms = await words.longest();
      if (ms > HELD_MS) held[what] = Math.round(ms);
    }
    expect(held).toEqual({});
  });
});
