/**
 * The maximum cost of a model request, estimated before it is sent, and the surcharges on a model's
 * plain price.
 *
 * A daily budget holds only if every request under way is counted at its maximum cost.
 */
import {
  ANY_MODEL,
  costOf,
  dearestOf,
  inputOf,
  isPriceKnown,
  isPriceOf,
  type ModelPrice,
  priceFor,
  type TokenCount,
} from './prices.ts';

/** All tokens that a request reads and writes. */
export const tokensOf = (count: TokenCount): number => inputOf(count) + count.outputTokens;

/** What is known about a request before it is sent. */
export interface RequestSize {
  readonly model: string;
  /** UTF-8 bytes of everything that the model reads, without pictures. */
  readonly bytes: number;
  readonly pictures: number;
  /**
   * The request references remote documents, or lets the server search. How much of the context
   * window that fills is unknown.
   */
  readonly openEnded: boolean;
  /** Maximum number of searches that the server may make. */
  readonly searches: number;
  /** Maximum tokens of the answer. Null: the request sets no maximum. */
  readonly maxOutputTokens: number | null;
  /** How long the model caches the marked parts. */
  readonly cached: 'not' | 'minutes' | 'hour';
  readonly terms: Terms;
}

/** Options that make a request cost more than its model's plain price. */
export interface Terms {
  readonly fast: boolean;
  /** Uses priority capacity, which is bought in advance. */
  readonly priority: boolean;
  /** Processed within one country. */
  readonly resident: boolean;
  /** Left with the server, which answers within a day. */
  readonly batch: boolean;
}
/**
 * The terms of a request that does not name any: it may use priority capacity where there is some.
 */
export const UNSAID_TERMS: Terms = { fast: false, priority: true, resident: false, batch: false };
export const PLAIN_TERMS: Terms = { fast: false, priority: false, resident: false, batch: false };

/** UTF-8. Prose has about four bytes per token, code three, and other scripts two to three. */
export const BYTES_PER_TOKEN = 2;
/** Tokens of the largest picture that a model reads. */
const TOKENS_PER_PICTURE = 5_000;
/** Tokens that the server adds to a request with tools. */
const OVERHEAD_TOKENS = 1_000;
const WINDOW_TOKENS = 200_000;
/** Length of the longest answer of any model. */
const LONGEST_ANSWER_TOKENS = 128_000;

/**
 * Anthropic's list price, https://platform.claude.com/docs/en/about-claude/pricing: $10 per
 * thousand searches.
 */
export const SEARCH_MICRO_USD = 10_000;
/**
 * By prefix of a model's name: https://platform.claude.com/docs/en/build-with-claude/fast-mode.
 * Other models are unknown, and count as the most expensive.
 */
const FAST_FACTORS: readonly (readonly [string, number])[] = [
  ['claude-opus-4-6', 6],
  ['claude-opus-4-7', 6],
  ['claude-opus-4-8', 2],
  ['claude-opus-5', 2],
  ['claude-fable-5', 2],
];
const FAST_FACTOR_MOST = 6;
const RESIDENT_FACTOR = 1.1;
/** https://platform.claude.com/docs/en/build-with-claude/batch-processing */
const BATCH_FACTOR = 0.5;
/** A guess that errs on the safe side: the price of priority capacity is negotiated. */
const PRIORITY_FACTOR = 2;
/**
 * Models that charge twice the input and one and a half times the output for requests above this
 * many tokens. Applies only if the price table has no step of its own for the model. Sources,
 * November 2026: the price page of Anthropic above;
 * https://developers.openai.com/api/docs/models/gpt-5.4;
 * https://ai.google.dev/gemini-api/docs/pricing.
 */
const STEPS: readonly (readonly [model: RegExp, above: number])[] = [
  [/(?:^|\/)claude-sonnet-4-(?:0|2|5)/, 200_000],
  [/(?:^|\/)gpt-5\.[45](?:-pro)?(?:-\d|$)/, 272_000],
  [/(?:^|\/)gemini-(?:2\.5|3|3\.1)-pro/, 200_000],
];
const STEP = { input: 2, output: 1.5 } as const;

function isLong({ model, ...tokens }: TokenCount, prices: readonly ModelPrice[]): boolean {
  const above = STEPS.find(([name]) => name.test(model))?.[1] ?? Infinity;
  const hasOwn = prices.some(
    (price) => price.above !== undefined && price.model !== ANY_MODEL && isPriceOf(price, model),
  );
  return !hasOwn && inputOf({ model, ...tokens }) > above;
}

function factorOf(model: string, { fast, priority, resident, batch }: Terms): number {
  const ofFast = FAST_FACTORS.find(([name]) => model.startsWith(name))?.[1] ?? FAST_FACTOR_MOST;
  const ofPlace = (priority ? PRIORITY_FACTOR : 1) * (resident ? RESIDENT_FACTOR : 1);
  return (fast ? ofFast : 1) * ofPlace * (batch ? BATCH_FACTOR : 1);
}

/** Token counts that the model did not report. */
export interface Unreported {
  /** Input tokens. */
  readonly input: boolean;
  /** Output tokens. */
  readonly output: boolean;
}

/** The usage of a request after it ended. */
export interface Taken {
  readonly count: TokenCount;
  /** Number of the cache-write tokens that stay for an hour. */
  readonly hourWrites: number;
  readonly searches: number;
  readonly terms: Terms;
}

/** In whole millionths of a dollar, rounded up. `estimated`: it includes a guessed price. */
export function costOfTaken(
  { count, hourWrites, searches, terms }: Taken,
  prices: readonly ModelPrice[],
): { readonly microUsd: number; readonly estimated: boolean } {
  const priced = isLong(count, prices)
    ? prices.map((price) => ({
        ...price,
        input: price.input * STEP.input,
        cacheRead: price.cacheRead * STEP.input,
        cacheWrite: price.cacheWrite * STEP.input,
        output: price.output * STEP.output,
      }))
    : prices;
  const { microUsd, estimated } = costOf(count, priced, hourWrites);
  return {
    microUsd: Math.ceil(microUsd * factorOf(count.model, terms)) + searches * SEARCH_MICRO_USD,
    estimated: estimated || terms.priority,
  };
}

/**
 * The maximum usage of a request, at the most expensive rate that applies. If any input is cached,
 * all of it counts as written to the cache.
 */
export function mostTaken({
  model,
  bytes,
  pictures,
  openEnded,
  searches,
  maxOutputTokens,
  cached,
  terms,
}: RequestSize): Taken {
  const input =
    Math.ceil(bytes / BYTES_PER_TOKEN) +
    pictures * TOKENS_PER_PICTURE +
    OVERHEAD_TOKENS +
    (openEnded ? WINDOW_TOKENS : 0);
  const written = cached === 'not' ? 0 : input;
  return {
    count: {
      model,
      inputTokens: input - written,
      outputTokens: Math.min(maxOutputTokens ?? Infinity, LONGEST_ANSWER_TOKENS),
      cacheReadTokens: 0,
      cacheWriteTokens: written,
    },
    hourWrites: cached === 'hour' ? written : 0,
    searches,
    terms,
  };
}

/**
 * The maximum cost of a request. A table may be cheaper above a step than below it, so every price
 * that may apply is considered. A model without a known price may cost as much as the dearest.
 */
export function mostCost(size: RequestSize, table: readonly ModelPrice[]): number {
  const { model } = size;
  const prices = isPriceKnown(model, table) ? table : [dearestOf([...table, priceFor(model, table)])];
  const most = mostTaken(size);
  const input = inputOf(most.count);
  const steps = [...new Set(prices.map(({ above = 0 }) => above))].filter((above) => above < input);
  const ofStep = (above: number) => prices.filter((price) => (price.above ?? 0) <= above);
  return Math.max(...[...steps, Infinity].map((above) => costOfTaken(most, ofStep(above)).microUsd));
}
