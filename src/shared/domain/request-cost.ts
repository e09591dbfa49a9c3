/**
 * What a request to a model may cost at most, reckoned before it is sent, and what comes on top of
 * a model's plain price. A daily budget holds only where every request under way is held at the
 * most that it may come to.
 */
import { ANY_MODEL, costOf, inputOf, type ModelPrice, type TokenCount } from './prices.ts';

/** What is known of a request before it is sent. */
export interface RequestSize {
  readonly model: string;
  /** Bytes of all that is read, in UTF-8, without pictures. */
  readonly bytes: number;
  readonly pictures: number;
  /**
   * It names documents elsewhere, or lets the server search: nobody knows how much of the model's
   * window that fills.
   */
  readonly openEnded: boolean;
  /** Searches that the server may make. */
  readonly searches: number;
  /** The answer’s; null where none is named. */
  readonly maxOutputTokens: number | null;
  /** How long what it marks is kept in the model's cache. */
  readonly cached: 'not' | 'minutes' | 'hour';
  readonly terms: Terms;
}

/** Terms by which a request costs more than its model's plain price. */
export interface Terms {
  readonly fast: boolean;
  /** Of capacity that was bought ahead. */
  readonly priority: boolean;
  /** Kept within one country. */
  readonly resident: boolean;
}
/**
 * What a request that says nothing of it may be taken on: capacity that was bought ahead, where
 * there is any.
 */
export const UNSAID_TERMS: Terms = { fast: false, priority: true, resident: false };
export const PLAIN_TERMS: Terms = { fast: false, priority: false, resident: false };

/**
 * UTF-8. Prose has about four bytes to a token, code three, and what is written in other scripts
 * two to three.
 */
export const BYTES_PER_TOKEN = 2;
/** Of the largest picture that a model reads. */
const TOKENS_PER_PICTURE = 5_000;
/** What the server puts before a request with tools by itself. */
const OVERHEAD_TOKENS = 1_000;
const WINDOW_TOKENS = 200_000;
/** Of the longest answer that any model gives. */
const LONGEST_ANSWER_TOKENS = 128_000;

/**
 * Anthropic's list prices, https://platform.claude.com/docs/en/about-claude/pricing: $10 for a
 * thousand searches.
 */
export const SEARCH_MICRO_USD = 10_000;
/**
 * https://platform.claude.com/docs/en/build-with-claude/fast-mode: by the beginning of a model's
 * name; the others' is not known, and taken to be the dearest.
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
/**
 * What capacity bought ahead costs is between its buyer and the seller: a guess that errs on the
 * safe side.
 */
const PRIORITY_FACTOR = 2;
/**
 * Models that cost twice the input, and one and a half times the output, where a request reads more
 * than so many tokens. They hold where a table of prices has no step of its own for the model.
 * Sources, November 2026: the price page of Anthropic above;
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
    (price) => price.above !== undefined && price.model !== ANY_MODEL && model.startsWith(price.model),
  );
  return !hasOwn && inputOf({ model, ...tokens }) > above;
}

function factorOf(model: string, { fast, priority, resident }: Terms): number {
  const ofFast = FAST_FACTORS.find(([name]) => model.startsWith(name))?.[1] ?? FAST_FACTOR_MOST;
  return (fast ? ofFast : 1) * (priority ? PRIORITY_FACTOR : 1) * (resident ? RESIDENT_FACTOR : 1);
}

/** Of what a request took, that its model said nothing of. */
export interface Untold {
  /** What was read. */
  readonly input: boolean;
  /** What was written. */
  readonly output: boolean;
}

/** What was counted of a request when it was over. */
export interface Taken {
  readonly count: TokenCount;
  /** Of the tokens written to a cache, those that stay for an hour. */
  readonly hourWrites: number;
  readonly searches: number;
  readonly terms: Terms;
}

/** In whole millionths of a dollar, rounded up. `estimated`: a price in it is a guess. */
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
 * The tokens that it may come to at most, at the dearest rate that applies: all of the input
 * written to a cache where any of it is.
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
 * A table may be cheaper above a step than below it: every price is reckoned with that may hold.
 */
export function mostCost(size: RequestSize, prices: readonly ModelPrice[]): number {
  const most = mostTaken(size);
  const input = inputOf(most.count);
  const steps = [...new Set(prices.map(({ above = 0 }) => above))].filter((above) => above < input);
  const ofStep = (above: number) => prices.filter((price) => (price.above ?? 0) <= above);
  return Math.max(...[...steps, Infinity].map((above) => costOfTaken(most, ofStep(above)).microUsd));
}
