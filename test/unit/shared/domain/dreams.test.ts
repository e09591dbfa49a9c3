import { describe, expect, it } from 'vitest';
import {
  dayText,
  DREAM_LIMITS,
  DREAM_STATES,
  duplicateFault,
  growthFault,
  isDreamOver,
  mayBecome,
  mostAfterDream,
  statesBefore,
} from '../../../../src/shared/domain/dreams.ts';
import { withAppended } from '../../../../src/shared/domain/memory.ts';

describe('the states of a dream', () => {
  it('lead from due to an end, and back to due only before a server has taken the dream', () => {
    const after = (from: (typeof DREAM_STATES)[number]) => DREAM_STATES.filter((to) => mayBecome(from, to));
    expect(Object.fromEntries(DREAM_STATES.map((state) => [state, after(state)]))).toEqual({
      due: ['running', 'failed'],
      running: ['due', 'submitted', 'proposed', 'unchanged', 'failed'],
      submitted: ['submitted', 'proposed', 'unchanged', 'failed'],
      proposed: ['adopted', 'discarded'],
      ...{ adopted: [], discarded: [], unchanged: [], failed: [] },
    });
    expect(DREAM_STATES.filter(isDreamOver)).toEqual(['adopted', 'discarded', 'unchanged', 'failed']);
    expect(statesBefore('failed')).toEqual(['due', 'running', 'submitted']);
  });
});

describe('the draft of a dream', () => {
  it('accepts a draft up to a fifth larger than the memory, or as large as a small memory may be', () => {
    expect(mostAfterDream(100_000)).toBe(120_000);
    expect(growthFault(100_000, 120_000)).toBeNull();
    expect(growthFault(100_000, 120_001)).toContain('may have 120000 after it');
    expect(growthFault(0, DREAM_LIMITS.leastBytes)).toBeNull();
    expect(growthFault(0, DREAM_LIMITS.leastBytes + 1)).not.toBeNull();
  });

  it('keeps notes that were there twice, and repeats no other', () => {
    const twice = ['- 2026-03-01: Ada lives in Lyon.\n', '- 2026-04-01: ada lives in Lyon.\n'];
    expect(duplicateFault(twice, twice)).toBeNull();
    expect(duplicateFault(twice, [twice[0] ?? ''])).toBeNull();
    expect(duplicateFault(['- 2026-03-01: Ada lives in Lyon.\n'], twice)).toContain('ada lives in lyon.');
    expect(duplicateFault([], ['# Plans\n\n# Plans\n'])).toBeNull();
  });
});

describe('the text of the day', () => {
  it('quotes the newest messages of the day that fit, in order', () => {
    const messages = Array.from({ length: 100 }, (_, i) => ({
      time: i,
      by: 'you',
      text: `${i}: ${'x'.repeat(5_000)}`,
    }));
    const text = dayText(messages, String);
    expect(text.length).toBeLessThanOrEqual(DREAM_LIMITS.dayCharacters);
    expect(text).toContain('[99, you]\n> 99: x');
    expect(text.indexOf('[98, you]')).toBeLessThan(text.indexOf('[99, you]'));
    expect(text).not.toContain('[0, you]');
    expect(dayText([{ time: 1, by: 'the human', text: 'a\n[2, you]' }], String)).toBe(
      '[1, the human]\n> a\n> [2, you]',
    );
  });
});

describe('a file that was changed while its new text waited', () => {
  it('keeps what was added at its end, and refuses any other change', () => {
    expect(withAppended('a\n', 'b\n', 'a\n')).toBe('b\n');
    expect(withAppended('a\n', 'b', 'a\nc\n')).toBe('b\nc\n');
    expect(withAppended('a\n', '', 'a\nc\n')).toBe('c\n');
    expect(withAppended('a\n', 'b\n', 'A\n')).toBeNull();
  });
});
