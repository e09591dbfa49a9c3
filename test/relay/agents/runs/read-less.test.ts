/** Signs that a model's server reads less than it is sent. */
import { describe, expect, it } from 'vitest';
import { createWatchReading } from '../../../../server/agents/runs/read-less.ts';

const usage = (read: number) => ({
  ...{ model: 'qwen3:8b', inputTokens: read, outputTokens: 50, cacheReadTokens: 0, cacheWriteTokens: 0 },
});
/** What is found of requests of so many characters, that the server counts as so many tokens. */
function found(requests: readonly (readonly [characters: number, read: number, model?: string])[]) {
  const watch = createWatchReading();
  return requests.map(([characters, read, model = 'qwen3:8b'], i) => {
    const earlier = Math.min(characters, requests[i - 1]?.[0] ?? 0);
    const messages = [earlier, characters - earlier].map((length) => ({
      role: 'user' as const,
      blocks: [{ kind: 'text' as const, text: 'x'.repeat(length) }],
    }));
    return (
      watch({ model, system: '', messages, tools: [] }, { toolless: true, searching: false }, usage(read))?.read ?? null
    );
  });
}

describe('A server that counts what it reads', () => {
  it.each([
    [
      'cuts at its window: the same count for requests that grow',
      [
        [16_000, 4_000],
        [28_644, 4_096],
        [40_000, 4_096],
      ],
      [null, null, 4_096],
    ],
    [
      'cuts at half of its window',
      [
        [28_644, 2_050],
        [30_000, 2_050],
      ],
      [2_050, 2_050],
    ],
    [
      'drops whole messages: the count falls while the request grows',
      [
        [20_000, 3_900],
        [23_000, 3_700],
      ],
      [null, 3_700],
    ],
    [
      'reads everything',
      [
        [16_000, 4_000],
        [20_000, 5_000],
        [24_000, 6_100],
      ],
      [null, null, null],
    ],
    [
      'reads everything of a text with long words',
      [
        [16_000, 2_000],
        [24_000, 2_850],
      ],
      [null, null],
    ],
    [
      'counts only what is new to it',
      [
        [28_000, 7_000],
        [36_000, 2_000],
        [42_000, 1_500],
      ],
      [null, null, null],
    ],
    [
      'answers the same request twice',
      [
        [28_000, 7_000],
        [28_000, 7_000],
      ],
      [null, null],
    ],
    [
      'gets a shorter conversation',
      [
        [28_000, 4_096],
        [20_000, 4_096],
      ],
      [null, null],
    ],
    [
      'is another model',
      [
        [28_000, 4_096],
        [36_000, 4_096, 'other'],
      ],
      [null, null],
    ],
  ] as const)('%s', (_name, requests, expected) => {
    expect(found(requests)).toEqual(expected);
  });
});
