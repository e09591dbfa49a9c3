/**
 * What a request may cost at most, and what comes on top of a model's plain price: never less than
 * what it then takes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { costOf, DEFAULT_PRICES } from '../../../../src/shared/domain/prices.ts';
import {
  BYTES_PER_TOKEN,
  costOfTaken,
  mostCost,
  mostTaken,
  PLAIN_TERMS,
  SEARCH_MICRO_USD,
  type RequestSize,
  type Taken,
} from '../../../../src/shared/domain/request-cost.ts';
import { sizeOf } from '../../../../server/agents/proxy/body.ts';

const taken = (model: string, more: Partial<Taken> = {}, inputTokens = 1_000): Taken => ({
  count: { model, inputTokens, outputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0 },
  hourWrites: 0,
  searches: 0,
  terms: PLAIN_TERMS,
  ...more,
});
const priceOf = (one: Taken) => costOfTaken(one, DEFAULT_PRICES).microUsd;

describe('What a request took', () => {
  it('costs its model’s plain price, and a cent for each search on top', () => {
    const plain = taken('claude-opus-5-5');
    expect(priceOf(plain)).toBe(costOf(plain.count, DEFAULT_PRICES).microUsd);
    expect(priceOf({ ...plain, searches: 3 })).toBe(priceOf(plain) + 3 * SEARCH_MICRO_USD);
    expect(SEARCH_MICRO_USD).toBe(10_000);
  });

  it.each([
    ['claude-opus-4-6', { fast: true }, 6],
    ['claude-opus-4-8', { fast: true }, 2],
    ['claude-opus-5-5', { fast: true }, 2],
    ['claude-somebody-new', { fast: true }, 6],
    ['claude-opus-5-5', { priority: true }, 2],
    ['claude-opus-5-5', { resident: true }, 1.1],
    ['claude-opus-5-5', { batch: true }, 0.5],
    ['claude-opus-5-5', { fast: true, priority: true, resident: true }, 4.4],
  ])('multiplies the cost of %s on the terms %j by %f', (model, terms, factor) => {
    const plain = taken(model);
    const cost = priceOf({ ...plain, terms: { ...PLAIN_TERMS, ...terms } });
    expect(cost).toBeGreaterThanOrEqual(priceOf(plain) * factor);
    expect(cost).toBeLessThanOrEqual(priceOf(plain) * factor + 1);
  });

  it('costs more from a length on, where its model does, in and out', () => {
    const [short, long] = [taken('claude-sonnet-4-5', {}, 200_000), taken('claude-sonnet-4-5', {}, 200_001)];
    expect(priceOf(short)).toBe(200_000 * 3 + 1_000 * 15);
    expect(priceOf(long)).toBe(200_001 * 6 + 1_000 * 22.5);
    // What was read from a cache is of the length too.
    const cached = { ...short, count: { ...short.count, inputTokens: 150_000, cacheReadTokens: 60_000 } };
    expect(priceOf(cached)).toBeGreaterThan(150_000 * 6);
  });
});

describe('A price with a step', () => {
  const flat = [{ model: '*', input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 }];
  const cost = (model: string, inputTokens: number, prices = flat as Parameters<typeof costOfTaken>[1]) =>
    costOfTaken(taken(model, {}, inputTokens), prices).microUsd;

  it.each([
    ['gpt-5.4', 272_000],
    ['openai/gpt-5.4-2026-03-05', 272_000],
    ['gpt-5.5-pro', 272_000],
    ['gemini-2.5-pro', 200_000],
    ['google/gemini-3-pro-preview', 200_000],
    ['claude-sonnet-4-5-20250929', 200_000],
  ])('prices %s at twice the input and one and a half times the output above %d tokens', (model, above) => {
    expect(cost(model, above)).toBe(above * 2 + 1_000 * 10);
    expect(cost(model, above + 1)).toBe((above + 1) * 4 + 1_000 * 15);
  });

  it.each(['gpt-5.4-mini', 'gpt-5', 'gemini-2.5-flash', 'claude-opus-5-5', 'my-gpt-5.4'])(
    'applies no step to %s',
    (model) => {
      expect(cost(model, 1_000_000)).toBe(1_000_000 * 2 + 1_000 * 10);
    },
  );

  it("prefers the table's step to the built-in one", () => {
    const own = [...flat, { model: 'gpt-5.4', above: 300_000, input: 3, output: 11, cacheRead: 1, cacheWrite: 3 }];
    expect(cost('gpt-5.4', 280_000, own)).toBe(280_000 * 2 + 10_000);
    expect(cost('gpt-5.4', 300_001, own)).toBe(300_001 * 3 + 11_000);
  });

  it('holds money at the dearest price, also when more tokens cost less', () => {
    const cheaper = [...flat, { model: 'm', above: 1_000, input: 0.1, output: 0.1, cacheRead: 0.1, cacheWrite: 0.1 }];
    const size: RequestSize = {
      ...{ model: 'm', bytes: 4_000, pictures: 0, openEnded: false, searches: 0, maxOutputTokens: 100 },
      ...{ cached: 'not', terms: PLAIN_TERMS },
    };
    expect(mostCost(size, cheaper)).toBeGreaterThanOrEqual(cost('m', 1_000, cheaper) - 900 * 10);
  });
});

describe('What a request may cost at most', () => {
  it("holds money at the table's dearest price for an unlisted model, and none when all are free", () => {
    const table = (any: number) => [
      { model: '*', input: any, output: any, cacheRead: any, cacheWrite: any },
      { model: 'dear', input: 30, output: 150, cacheRead: 3, cacheWrite: 40 },
    ];
    const size = (model: string): RequestSize => ({
      ...{ model, bytes: 4_000, pictures: 0, openEnded: false, searches: 0, maxOutputTokens: 100 },
      ...{ cached: 'not', terms: PLAIN_TERMS },
    });
    expect(mostCost(size('unheard-of'), table(1))).toBe(mostCost(size('dear'), table(1)));
    expect(mostCost(size('unheard-of'), table(0))).toBe(0);
    expect(mostCost(size('unheard-of'), [])).toBe(mostCost(size('unheard-of'), DEFAULT_PRICES));
  });
  const body = { model: 'claude-opus-5-5', max_tokens: 500, messages: [{ role: 'user', content: 'Hello.' }] };
  const sized = (more: object) => sizeOf({ ...body, ...more }, 1_000);

  it('estimates the highest cost from everything that makes a request dear', () => {
    expect(sized({})).toMatchObject({ maxOutputTokens: 500, searches: 0, cached: 'not', openEnded: false });
    expect(sized({ max_tokens: undefined }).maxOutputTokens).toBeNull();
    expect(sized({ max_tokens: 'many' }).maxOutputTokens).toBeNull();
    expect(sized({ tools: [{ type: 'web_search_20250305', max_uses: 7 }] })).toMatchObject({
      searches: 7,
      openEnded: true,
    });
    expect(sized({ tools: [{ type: 'web_search_20250305' }] }).searches).toBeGreaterThanOrEqual(10);
    expect(sized({ tools: [{ type: 'web_fetch_20250910' }] }).openEnded).toBe(true);
    expect(sized({ mcp_servers: [{}] }).openEnded).toBe(true);
    expect(sized({ tools: [{ name: 'own' }, { type: 'custom' }] }).openEnded).toBe(false);
    expect(sized({ speed: 'fast', inference_geo: 'us' }).terms).toMatchObject({ fast: true, resident: true });
    expect(sized({ system: [{ type: 'text', cache_control: { type: 'ephemeral', ttl: '1h' } }] }).cached).toBe('hour');
  });

  it('ignores claims in a request that would lower its highest cost or raise it beyond any answer', () => {
    const search = (most: unknown) => sized({ tools: [{ type: 'web_search_20250305', max_uses: most }] }).searches;
    expect([-5, -0.5, null, 'x'].map(search)).toEqual([10, 10, 10, 10]);
    expect([0, 2.5, 1e300].map(search)).toEqual([0, 3, 1_000]);
    expect(mostTaken(sized({ max_tokens: Number.MAX_SAFE_INTEGER })).count.outputTokens).toBe(128_000);
  });

  it('reckons with capacity that was bought ahead, unless that is declined', () => {
    expect(sized({}).terms.priority).toBe(true);
    expect(sized({ service_tier: 'auto' }).terms.priority).toBe(true);
    expect(sized({ service_tier: 'standard_only' }).terms.priority).toBe(false);
  });

  it('reckons with what the server runs, of which it knows no bound, for every tool that is not known to be the client’s', () => {
    const open = (type: string) => sized({ tools: [{ type, name: 'x' }] }).openEnded;
    expect(
      ['custom', 'bash_20250124', 'text_editor_20250728', 'computer_20251124', 'memory_20250818'].map(open),
    ).toEqual([false, false, false, false, false]);
    expect(['web_search_20260209', 'advisor_20260301', 'of_tomorrow'].map(open)).toEqual([true, true, true]);
    const document = (source: object) =>
      sized({ messages: [{ role: 'user', content: [{ type: 'document', source }] }] });
    // Few bytes may be many pages.
    expect(document({ type: 'base64', media_type: 'application/pdf', data: 'JVBERi0' }).openEnded).toBe(true);
    expect(document({ type: 'text', media_type: 'text/plain', data: 'Hello.' }).openEnded).toBe(false);
  });

  it('never estimates less than a request of this size can cost', () => {
    const size = fc.record({
      model: fc.constantFrom('claude-opus-5-5', 'claude-sonnet-4-5', 'claude-opus-4-6', 'claude-nobody-knows'),
      bytes: fc.nat({ max: 3_000_000 }),
      pictures: fc.nat({ max: 3 }),
      openEnded: fc.boolean(),
      searches: fc.nat({ max: 5 }),
      maxOutputTokens: fc.option(fc.integer({ min: 1, max: 128_000 })),
      cached: fc.constantFrom('not', 'minutes', 'hour'),
      terms: fc.record({ fast: fc.boolean(), priority: fc.boolean(), resident: fc.boolean(), batch: fc.boolean() }),
    });
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(
        size,
        share,
        share,
        share,
        share,
        (of: RequestSize, read: number, written: number, cached: number, searched: number) => {
          const most = mostTaken(of);
          const input = Math.floor((most.count.inputTokens + most.count.cacheWriteTokens) * read);
          const stored = of.cached === 'not' ? 0 : Math.floor(input * cached);
          const one: Taken = {
            count: {
              model: of.model,
              inputTokens: input - stored,
              outputTokens: Math.floor(most.count.outputTokens * written),
              cacheReadTokens: 0,
              cacheWriteTokens: stored,
            },
            hourWrites: of.cached === 'hour' ? stored : 0,
            searches: Math.floor(of.searches * searched),
            terms: of.terms,
          };
          expect(mostCost(of, DEFAULT_PRICES)).toBeGreaterThanOrEqual(priceOf(one));
        },
      ),
    );
  });

  it('reckons with more tokens than any text of so many bytes has, and with the longest answer where none is named', () => {
    const most = mostTaken({ ...sized({ max_tokens: undefined }), bytes: 30_000 });
    expect(most.count.inputTokens).toBeGreaterThanOrEqual(30_000 / BYTES_PER_TOKEN);
    expect(BYTES_PER_TOKEN).toBeLessThanOrEqual(2);
    expect(most.count.outputTokens).toBeGreaterThanOrEqual(128_000);
  });
});
