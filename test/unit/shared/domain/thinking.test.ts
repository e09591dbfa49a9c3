import { expect, test } from 'vitest';
import { thinkingApart, withoutThinking } from '../../../../src/shared/domain/thinking.ts';

const apart = (text: string, isGrowing = false) =>
  thinkingApart(text, isGrowing).map((each) => `${each.kind === 'words' ? '' : '? '}${each.text}`);

test.each([
  ['Just words about <think> in a line.', ['Just words about <think> in a line.']],
  ['<think>\nHm.\n</think>\n\nAnswer.', ['? Hm.', 'Answer.']],
  ['<thinking>Hm. **So**</thinking>Answer.', ['? Hm. **So**', 'Answer.']],
  ['<THINK>\nHm.\n</Think>\nAnswer.', ['? Hm.', 'Answer.']],
  [
    'First.\n\n<think>\nHm.\n</think>\n\nThen.\n<think>More</think>\nLast.',
    ['First.', '? Hm.', 'Then.', '? More', 'Last.'],
  ],
  ['<think>\n\n</think>\n\nAnswer.', ['Answer.']],
  ['<think>\nNever closed', ['? Never closed']],
  ['Opened before.\n</think>\n\nAnswer.', ['? Opened before.', 'Answer.']],
  ['```xml\n<think>\nx\n</think>\n```', ['```xml\n<think>\nx\n</think>\n```']],
  ['Write `<think>` or\n`</think>` then.', ['Write `<think>` or\n`</think>` then.']],
  [
    '<think>\nUse `</think>` and\n```\n</think>\n```\n</think>\nAnswer.',
    ['? Use `</think>` and\n```\n</think>\n```', 'Answer.'],
  ],
  ['<think>\n```js\nnever closed\n</think>\nAnswer.', ['? ```js\nnever closed', 'Answer.']],
  ['', []],
] as const)('%j is taken apart', (text, stretches) => {
  expect(apart(text)).toEqual(stretches);
  expect(withoutThinking(text)).toBe(stretches.filter((each) => !each.startsWith('? ')).join('\n\n'));
});

test('keeps thinking open until its end tag while words arrive, and hides half a tag', () => {
  const text = 'Well.\n<think>\nHm.\n</think>\n\nAnswer.';
  const seen = Array.from(text, (_sign, i) => apart(text.slice(0, i + 1), true));
  for (const stretches of seen) {
    expect(stretches.filter((each) => !each.startsWith('? ')).join(' ')).not.toMatch(/</);
    expect(stretches.filter((each) => !each.startsWith('? ')).join(' ')).not.toContain('Hm');
  }
  expect(seen.at(-1)).toEqual(['Well.', '? Hm.', 'Answer.']);
});
