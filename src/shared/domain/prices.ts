/**
 * The cost of model requests, and how much a model can read.
 *
 * A price is in US dollars per million tokens, which is the same number as millionths of a dollar
 * per token. A price’s `model` is a prefix of a model’s name. The longest match wins, and `*`
 * matches every model. A price of zero is only for the model of exactly that name, so that nobody
 * gets a model for nothing by giving its name a free one’s beginning.
 */

// How much a model reads, where its name tells for certain. Sources: platform.claude.com, "Context
// windows", "PDF support" and "Images and vision", November 2026. Models of other providers are
// unknown until they are asked.

interface ModelReads {
  /** Maximum pages of all PDFs in one request. */
  readonly pdfPages: number;
  /** Maximum size of a whole request, with pictures and PDFs in base64. */
  readonly requestBytes: number;
  /** Maximum per request. */
  readonly pictures: number;
}

const CLAUDE = { pdfPages: 600, requestBytes: 32_000_000, pictures: 100 } as const;

/** The first match wins. */
const READS: readonly (readonly [name: RegExp, reads: ModelReads])[] = [
  [/^claude-(?:3-|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/, { ...CLAUDE, pdfPages: 100 }],
  [/^claude-/, CLAUDE],
];

/** Null: nothing is known about this model. */
export const readsOf = (model: string): ModelReads | null => READS.find(([name]) => name.test(model))?.[1] ?? null;

/**
 * The model name that the demo mind reports. The demo uses no model and costs nothing. No model
 * server’s model has this name: see `modelNameFault`.
 */
export const REHEARSAL_MODEL = 'rehearsal';

export interface ModelPrice {
  readonly model: string;
  /**
   * The price applies to requests that read more than this many tokens, cached ones included. The
   * largest step that fits wins. Left out: all requests.
   */
  readonly above?: number | undefined;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** For a cache entry of five minutes. An hour costs `HOUR_OF_CACHE` times as much. */
  readonly cacheWrite: number;
}

export interface TokenCount {
  readonly model: string;
  /** Without tokens that were read from or written to a cache. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Highest allowed `above`: more tokens than any model reads. */
export const PRICE_STEP_MOST = 100_000_000;
/** Matches every model. */
export const ANY_MODEL = '*';
/** A cache write is 1.25 times the input for five minutes, and twice the input for an hour. */
const WRITE = 1.25;
const READ = 0.1;
const HOUR_OF_CACHE = 2 / WRITE;

const row = (model: string, input: number, output: number, cacheRead = input * READ): ModelPrice => ({
  model,
  input,
  output,
  cacheRead,
  cacheWrite: input * WRITE,
});

const above = (tokens: number, { model, ...price }: ModelPrice): ModelPrice => ({ model, above: tokens, ...price });

/** The name of a row in a price table, for keys and for people. */
export const priceName = ({ model, above: tokens }: Pick<ModelPrice, 'model' | 'above'>): string =>
  tokens === undefined ? model : `${model} (> ${tokens})`;

/**
 * List prices of Anthropic's models, https://platform.claude.com/docs/en/about-claude/pricing,
 * November 2026.
 *
 * The row of a family covers its future models. An unknown model costs as much as the most
 * expensive one, so that a budget errs on the safe side.
 */
export const DEFAULT_PRICES: readonly ModelPrice[] = [
  row('claude-mythos-', 10, 50),
  row('claude-mythos-5-1', 10, 50, 0.25),
  row('claude-mythos-preview', 25, 125),
  row('claude-fable-', 10, 50),
  row('claude-fable-5-1', 10, 50, 0.25),
  row('claude-opus-', 5, 25),
  row('claude-opus-5-5', 4, 20, 0.2),
  row('claude-opus-4', 15, 75),
  row('claude-opus-4-5', 5, 25),
  row('claude-opus-4-6', 5, 25),
  row('claude-opus-4-7', 5, 25),
  row('claude-opus-4-8', 5, 25),
  row('claude-3-opus', 15, 75),
  row('claude-sonnet-', 3, 15),
  row('claude-sonnet-5', 2, 10),
  row('claude-sonnet-5-5', 2, 10, 0.1),
  above(200_000, row('claude-sonnet-4-0', 6, 22.5)),
  above(200_000, row('claude-sonnet-4-2', 6, 22.5)),
  above(200_000, row('claude-sonnet-4-5', 6, 22.5)),
  row('claude-3-7-sonnet', 3, 15),
  row('claude-3-5-sonnet', 3, 15),
  row('claude-3-sonnet', 3, 15),
  row('claude-haiku-', 1, 5),
  row('claude-haiku-5-5', 0.5, 2.5),
  row('claude-3-5-haiku', 0.8, 4),
  row('claude-3-haiku', 0.25, 1.25),
  row(ANY_MODEL, 25, 125),
];

/** Charged if a table has neither the model nor `*`. */
const DEAREST = row(ANY_MODEL, 25, 125);
/** Applies to the demo alone, whatever a table says. */
const OF_REHEARSAL = row(REHEARSAL_MODEL, 0, 0);

const isFree = ({ input, output }: ModelPrice) => input === 0 && output === 0;

/** Whether a row of a price table is about this model. */
export function isPriceOf(price: ModelPrice, model: string): boolean {
  if (price.model === ANY_MODEL || price.model === model) return true;
  return !isFree(price) && model.startsWith(price.model);
}

/** Whether `one` is more specific than `other`: a longer name first, then a higher step. */
function isCloser(one: ModelPrice, other: ModelPrice | null): boolean {
  if (other === null) return true;
  const [length, than] = [one, other].map((price) => (price.model === ANY_MODEL ? 0 : price.model.length));
  if (length === than) return (one.above ?? 0) > (other.above ?? 0);
  return (length ?? 0) > (than ?? 0);
}

/** `inputTokens`: all tokens that the request reads. */
export function priceFor(model: string, prices: readonly ModelPrice[], inputTokens = 0): ModelPrice {
  if (model === REHEARSAL_MODEL) return OF_REHEARSAL;
  let best: ModelPrice | null = null;
  for (const price of prices) {
    if (!isPriceOf(price, model)) continue;
    if (inputTokens <= (price.above ?? -1)) continue;
    if (isCloser(price, best)) best = price;
  }
  return best ?? DEAREST;
}

/**
 * Whether the price of a model is more than a guess: a row names it, or the table declares all
 * other models free.
 */
export function isPriceKnown(model: string, prices: readonly ModelPrice[]): boolean {
  const price = priceFor(model, prices);
  return price.model !== ANY_MODEL || isFree(price);
}

const CHARGED = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;

/** The dearest of a table in every column, as the price of all models. */
export function dearestOf(prices: readonly ModelPrice[]): ModelPrice {
  const most = (column: (typeof CHARGED)[number]) => Math.max(...prices.map((price) => price[column]));
  return {
    model: ANY_MODEL,
    input: most('input'),
    output: most('output'),
    cacheRead: most('cacheRead'),
    cacheWrite: most('cacheWrite'),
  };
}

type Table = 'before' | 'after';

/** Whether any request would cost less by the table `after` than by the table `before`. */
export function isCheaper(before: readonly ModelPrice[], after: readonly ModelPrice[]): boolean {
  const rowsOf = (table: Table, prices: readonly ModelPrice[]) => prices.map((price) => ({ table, price }));
  const stepOf = ({ price }: { readonly price: ModelPrice }) => price.above ?? 0;
  const rows = [...rowsOf('before', before), ...rowsOf('after', after)].sort((a, b) => stepOf(a) - stepOf(b));
  const isCheaperFor = (model: string): boolean => {
    const matching = rows.filter(({ price }) => isPriceOf(price, model));
    const best: Record<Table, ModelPrice | null> = { before: null, after: null };
    return matching.some((row, index) => {
      if (isCloser(row.price, best[row.table])) best[row.table] = row.price;
      const next = matching[index + 1];
      // Rows of one step apply together.
      if (next && stepOf(next) === stepOf(row)) return false;
      const [old, now] = [best.before ?? DEAREST, best.after ?? DEAREST];
      return CHARGED.some((each) => now[each] < old[each]);
    });
  };
  // Any other model costs the same as one whose name is the longest of these that begins its own,
  // and a character that none of them has.
  const names = [...new Set(rows.map(({ price }) => price.model))];
  return names.flatMap((name) => [name, `${name}\0`]).some(isCheaperFor);
}

/** All tokens that a request reads, cached or not. */
export const inputOf = (count: TokenCount): number =>
  count.inputTokens + count.cacheReadTokens + count.cacheWriteTokens;

/** Less than any price can mean: the rounding error of adding decimal fractions. */
const DUST = 1e-6;

/**
 * The cost of something. `estimated`: a token count was not reported and is counted at the maximum,
 * or a price is a guess.
 */
export interface Cost {
  /** Millionths of a dollar. */
  readonly costMicroUsd: number;
  readonly estimated: boolean;
}
export const NO_COST: Cost = { costMicroUsd: 0, estimated: false };
export const addCost = (one: Cost, other: Cost): Cost => ({
  costMicroUsd: one.costMicroUsd + other.costMicroUsd,
  estimated: one.estimated || other.estimated,
});

/**
 * `hourWrites` is the number of tokens written to a cache for an hour. The cost is rounded up to a
 * whole millionth of a dollar. `estimated`: the price is that of `*`.
 */
export function costOf(
  count: TokenCount,
  prices: readonly ModelPrice[],
  hourWrites = 0,
): { readonly microUsd: number; readonly estimated: boolean } {
  const price = priceFor(count.model, prices, inputOf(count));
  const writes = count.cacheWriteTokens + Math.min(hourWrites, count.cacheWriteTokens) * (HOUR_OF_CACHE - 1);
  const exact =
    count.inputTokens * price.input +
    count.outputTokens * price.output +
    count.cacheReadTokens * price.cacheRead +
    writes * price.cacheWrite;
  return { microUsd: Math.max(0, Math.ceil(exact - DUST)), estimated: price.model === ANY_MODEL };
}
