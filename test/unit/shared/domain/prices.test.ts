import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { microUsdOf, roomIn, usdText } from '../../../../src/shared/domain/money.ts';
import {
  ANY_MODEL,
  costOf,
  DEFAULT_PRICES,
  isCheaper,
  priceFor,
  REHEARSAL_MODEL,
  type ModelPrice,
} from '../../../../src/shared/domain/prices.ts';
import { DEFAULT_MODELS } from '../../../../server/agents/minds/settings.ts';
import { pricesSchema } from '../../../../src/shared/protocol/costs.ts';

const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const million = 1_000_000;
const usd = (dollars: number) => dollars * million;
const table: readonly ModelPrice[] = [
  { model: 'big', input: 10, output: 50, cacheRead: 1, cacheWrite: 12.5 },
  { model: 'big-2', input: 4, output: 20, cacheRead: 0.4, cacheWrite: 5 },
  { model: ANY_MODEL, input: 100, output: 500, cacheRead: 10, cacheWrite: 125 },
];

describe('a table of prices', () => {
  const cheap = { input: 1, output: 1, cacheRead: 0.1, cacheWrite: 1 };

  it('calls a table cheaper when a single request would cost less: by a row, a step, or a missing row', () => {
    expect(isCheaper(table, table)).toBe(false);
    expect(isCheaper(table, [...table, { model: 'big-2', above: 200_000, ...cheap }])).toBe(true);
    expect(isCheaper(table, [...table, { model: 'small', ...cheap }])).toBe(true);
    expect(isCheaper(table, table.slice(1))).toBe(false);
    const dear = { model: 'dear', input: 900, output: 900, cacheRead: 900, cacheWrite: 900 };
    expect(isCheaper([...table, dear], table)).toBe(true);
    expect(isCheaper([], [{ model: ANY_MODEL, ...cheap }])).toBe(true);
  });

  it('compares two tables as pricing every request by both would', () => {
    const amount = fc.integer({ min: 1, max: 3 });
    const row = fc.record({
      model: fc.constantFrom('a', 'ab', 'b', ANY_MODEL),
      above: fc.constantFrom(undefined, 1, 2),
      ...{ input: amount, output: fc.constant(1), cacheRead: fc.constant(1), cacheWrite: fc.constant(1) },
    });
    const rows = fc.uniqueArray(row, { selector: ({ model, above }) => `${above} ${model}`, maxLength: 6 });
    const requests = ['a', 'ab', 'abc', 'b', 'c'].flatMap((model) =>
      [0, 1, 2, 3].map((size) => [model, size] as const),
    );
    fc.assert(
      fc.property(rows, rows, (before, after) => {
        const cheaper = requests.some(
          ([model, size]) => priceFor(model, after, size).input < priceFor(model, before, size).input,
        );
        expect(isCheaper(before, after)).toBe(
          cheaper ||
            requests.some(
              ([model, size]) => priceFor(model, after, size).output < priceFor(model, before, size).output,
            ),
        );
      }),
    );
  });

  it('compares tables with the most rows at once', () => {
    const rows = (input: number) =>
      Array.from({ length: 200 }, (_, i) => ({ model: 'm'.repeat(i + 1), above: i + 1, ...cheap, input }));
    const began = performance.now();
    expect(isCheaper(rows(1), rows(2))).toBe(false);
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe('a price', () => {
  it('uses the row with the longest prefix of the model’s name', () => {
    expect(priceFor('big-1', table).model).toBe('big');
    expect(priceFor('big-2-20261121', table).model).toBe('big-2');
    expect(priceFor('bi', table).model).toBe(ANY_MODEL);
    expect(priceFor('big-2', [...table].reverse()).model).toBe('big-2');
  });

  it("uses the largest step below the request's size", () => {
    const steps: readonly ModelPrice[] = [
      ...table,
      { model: 'big-2', above: 200_000, input: 8, output: 30, cacheRead: 0.8, cacheWrite: 10 },
      { model: 'big-2', above: 1_000_000, input: 16, output: 60, cacheRead: 1.6, cacheWrite: 20 },
    ];
    const inputOf = (tokens: number) => priceFor('big-2', steps, tokens).input;
    expect([0, 200_000, 200_001, 1_000_000, 1_000_001].map(inputOf)).toEqual([4, 4, 8, 8, 16]);
    expect(priceFor('big-1', steps, 500_000).input).toBe(10);
    // What was read from a cache is of the length too.
    const count = { model: 'big-2', ...none, inputTokens: 150_000, cacheReadTokens: 60_000 };
    expect(costOf(count, steps).microUsd).toBe(150_000 * 8 + 60_000 * 0.8);
    // A step of a longer name does not hold below it.
    const own = [{ model: 'big-2x', above: 10, input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }, ...table];
    expect([10, 11].map((tokens) => priceFor('big-2x', own, tokens).model)).toEqual(['big-2', 'big-2x']);
  });

  it('uses the dearest known price for a model without a row', () => {
    const dearest = Math.max(...DEFAULT_PRICES.map((price) => price.output));
    expect(priceFor('unheard-of', []).output).toBe(dearest);
    expect(costOf({ model: 'unheard-of', ...none, outputTokens: 1 }, [])).toEqual({
      microUsd: dearest,
      estimated: true,
    });
  });

  it.each([
    ['claude-opus-4-20250514', 15, 75],
    ['claude-opus-4-1', 15, 75],
    ['claude-opus-4-5-20251101', 5, 25],
    ['claude-opus-5-5', 4, 20],
    ['claude-opus-9', 5, 25],
    ['claude-sonnet-4-6', 3, 15],
    ['claude-sonnet-5-5', 2, 10],
    ['claude-haiku-4-5', 1, 5],
    ['claude-3-5-haiku-20241022', 0.8, 4],
  ])('prices %s at %d and %d dollars for a million tokens in and out', (model, input, output) => {
    expect(priceFor(model, DEFAULT_PRICES)).toMatchObject({ input, output });
  });

  it('prices every model that Roost names, and makes the demo free', () => {
    const priced = (model: string) =>
      costOf({ model, inputTokens: 1, outputTokens: 1, cacheReadTokens: 1, cacheWriteTokens: 1 }, DEFAULT_PRICES);
    for (const model of Object.values(DEFAULT_MODELS)) expect(priced(model).estimated).toBe(false);
    expect(priced(REHEARSAL_MODEL)).toEqual({ microUsd: 0, estimated: false });
  });

  it('prices an unknown model like the dearest one in every column', () => {
    const any = priceFor('unheard-of', DEFAULT_PRICES);
    for (const price of DEFAULT_PRICES)
      for (const column of ['input', 'output', 'cacheRead', 'cacheWrite'] as const)
        expect(price[column]).toBeLessThanOrEqual(any[column]);
  });

  it('table of Roost’s own is one that a person could have sent', () => {
    expect(pricesSchema.parse({ prices: [...DEFAULT_PRICES] }).prices).toEqual(DEFAULT_PRICES);
  });
});

describe('the cost of a request', () => {
  it('counts tokens in, out, read from a cache and written to one, each at its own price', () => {
    const model = 'big';
    expect(costOf({ model, ...none, inputTokens: million }, table).microUsd).toBe(usd(10));
    expect(costOf({ model, ...none, outputTokens: million }, table).microUsd).toBe(usd(50));
    expect(costOf({ model, ...none, cacheReadTokens: million }, table).microUsd).toBe(usd(1));
    expect(costOf({ model, ...none, cacheWriteTokens: million }, table).microUsd).toBe(usd(12.5));
    expect(
      costOf({ model, inputTokens: 3, outputTokens: 2, cacheReadTokens: 10, cacheWriteTokens: 4 }, table).microUsd,
    ).toBe(30 + 100 + 10 + 50);
  });

  it('charges an hour in the cache at twice the input’s price', () => {
    expect(costOf({ model: 'big', ...none, cacheWriteTokens: million }, table, million).microUsd).toBe(usd(20));
    expect(costOf({ model: 'big', ...none, cacheWriteTokens: 8 }, table, 4).microUsd).toBe(4 * 12.5 + 4 * 20);
  });

  it('rounds a cost up to a whole number of millionths', () => {
    expect(costOf({ model: 'big-2', ...none, cacheReadTokens: 1 }, table).microUsd).toBe(1);
    // 0.1 has no exact form in binary: ten times it must not become two.
    expect(
      costOf({ model: 'x', ...none, inputTokens: 10 }, [
        { model: 'x', input: 0.1, output: 0, cacheRead: 0, cacheWrite: 0 },
      ]).microUsd,
    ).toBe(1);
    const count = fc.nat(10 * million);
    fc.assert(
      fc.property(count, count, count, count, (inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens) => {
        const { microUsd } = costOf(
          { model: 'big-2', inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens },
          table,
        );
        // The prices in tenths, so that the sum to compare with is whole.
        const tenths = inputTokens * 40 + outputTokens * 200 + cacheReadTokens * 4 + cacheWriteTokens * 50;
        expect(microUsd).toBe(Math.ceil(tenths / 10));
      }),
    );
  });

  it('says where it is only estimated', () => {
    expect(costOf({ model: 'big-1', ...none }, table).estimated).toBe(false);
    expect(costOf({ model: 'other', ...none }, table).estimated).toBe(true);
  });
});

describe('a budget', () => {
  it('admits requests that fit beside spent and held money, and a single one while anything is left', () => {
    expect(roomIn({ budget: 100, spent: 60, held: 30 }, 10)).toBe('open');
    expect(roomIn({ budget: 100, spent: 60, held: 30 }, 11)).toBe('held');
    expect(roomIn({ budget: 100, spent: 99, held: 0 }, 1_000)).toBe('open');
    expect(roomIn({ budget: 100, spent: 100, held: 0 }, 0)).toBe('spent');
  });

  it('refuses everything with a budget of 0, and nothing without a budget', () => {
    expect(roomIn({ budget: 0, spent: 0, held: 0 }, 0)).toBe('spent');
    expect(roomIn({ budget: null, spent: 1e12, held: 1e12 }, 1e12)).toBe('open');
  });

  it('converts a budget in dollars to whole millionths', () => {
    expect(microUsdOf(0.29)).toBe(290_000);
    expect(microUsdOf(null)).toBeNull();
  });
});

describe('money as text', () => {
  it('shows money in cents, and with more places below one cent', () => {
    expect(usdText(5_000_000)).toBe('$5.00');
    expect(usdText(12_345_678)).toBe('$12.35');
    expect(usdText(0)).toBe('$0.00');
    expect(usdText(640)).toBe('$0.00064');
  });
});
