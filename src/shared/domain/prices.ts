/**
 * What a request to a model costs, and what is left of a day's budget. A price is US dollars for a
 * million tokens, which is the same number as millionths of a dollar for one token.
 */
/**
 * `model` matches a model's name from its beginning; the longest match holds, and `*` matches all.
 */

// How much a model reads, as far as its name tells it for sure. Sources: platform.claude.com,
// "Context windows", "PDF support" and "Images and vision", November 2026. Of models of other
// servers nothing is known before they are asked.

interface ModelReads {
  /** Of a request and its answer together; null: the name does not tell. */
  readonly windowTokens: number | null;
  /** Of all PDFs in one request. */
  readonly pdfPages: number;
  /** Of a whole request, in bytes, pictures and PDFs as base64. */
  readonly requestBytes: number;
  /** In one request. */
  readonly pictures: number;
}

const CLAUDE = { pdfPages: 600, requestBytes: 32_000_000, pictures: 100, windowTokens: null } as const;

/** The first that fits holds. */
const READS: readonly (readonly [name: RegExp, reads: ModelReads])[] = [
  [
    /^claude-(?:3-|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)/,
    { ...CLAUDE, pdfPages: 100, windowTokens: 200_000 },
  ],
  [/^claude-/, CLAUDE],
];

/** Null: nothing is known of it. */
export const readsOf = (model: string): ModelReads | null => READS.find(([name]) => name.test(model))?.[1] ?? null;

/** What the demo calls itself where a model's name stands: it thinks nothing and costs nothing. */
export const REHEARSAL_MODEL = 'rehearsal';

export interface ModelPrice {
  readonly model: string;
  /**
   * It holds for requests that read more than so many tokens, with those of the cache; the largest
   * that fits. Left out: for all.
   */
  readonly above?: number | undefined;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  /** Kept for five minutes; an hour costs `HOUR_OF_CACHE` times as much. */
  readonly cacheWrite: number;
}

export interface TokenCount {
  readonly model: string;
  /** Without those that were read from a cache or written to one. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Tokens above which a row may hold at most: more than any model reads. */
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

/** Names a row of a table among the others, for people too. */
export const priceName = ({ model, above: tokens }: Pick<ModelPrice, 'model' | 'above'>): string =>
  tokens === undefined ? model : `${model} (> ${tokens})`;

/**
 * List prices of Anthropic's models, https://platform.claude.com/docs/en/about-claude/pricing,
 * November 2026. A family's own row stands for those to come. What nobody knows costs as much as
 * the dearest, so that a budget errs on the safe side.
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
  row('rehearsal', 0, 0),
  row(ANY_MODEL, 25, 125),
];

/** What is charged where a table has neither the model nor `*`. */
const DEAREST = row(ANY_MODEL, 25, 125);

/**
 * Whether a row says more of a model than another one does: of more of its name, then of more
 * tokens.
 */
function isCloser(one: ModelPrice, other: ModelPrice | null): boolean {
  if (other === null) return true;
  const [length, than] = [one, other].map((price) => (price.model === ANY_MODEL ? 0 : price.model.length));
  if (length === than) return (one.above ?? 0) > (other.above ?? 0);
  return (length ?? 0) > (than ?? 0);
}

/** `inputTokens`: all that the request reads. */
export function priceFor(model: string, prices: readonly ModelPrice[], inputTokens = 0): ModelPrice {
  let best: ModelPrice | null = null;
  for (const price of prices) {
    if (price.model !== ANY_MODEL && !model.startsWith(price.model)) continue;
    if (inputTokens <= (price.above ?? -1)) continue;
    if (isCloser(price, best)) best = price;
  }
  return best ?? DEAREST;
}

const CHARGED = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
type Table = 'before' | 'after';

/** Whether some request would cost less by the table `after` than by the table `before`. */
export function isCheaper(before: readonly ModelPrice[], after: readonly ModelPrice[]): boolean {
  const rowsOf = (table: Table, prices: readonly ModelPrice[]) => prices.map((price) => ({ table, price }));
  const stepOf = ({ price }: { readonly price: ModelPrice }) => price.above ?? 0;
  const rows = [...rowsOf('before', before), ...rowsOf('after', after)].sort((a, b) => stepOf(a) - stepOf(b));
  const isCheaperFor = (model: string): boolean => {
    const matching = rows.filter(({ price }) => price.model === ANY_MODEL || model.startsWith(price.model));
    const best: Record<Table, ModelPrice | null> = { before: null, after: null };
    return matching.some((row, index) => {
      if (isCloser(row.price, best[row.table])) best[row.table] = row.price;
      const next = matching[index + 1];
      // Rows of one step hold together.
      if (next && stepOf(next) === stepOf(row)) return false;
      const [old, now] = [best.before ?? DEAREST, best.after ?? DEAREST];
      return CHARGED.some((each) => now[each] < old[each]);
    });
  };
  // Every other model costs what one of these names costs: the longest that its own name begins
  // with.
  return [...new Set(rows.map(({ price }) => price.model))].some(isCheaperFor);
}

/** All that a request reads, from its cache or not. */
export const inputOf = (count: TokenCount): number =>
  count.inputTokens + count.cacheReadTokens + count.cacheWriteTokens;

/** Less than any price can mean: what is left over when decimal fractions are added. */
const DUST = 1e-6;

/**
 * What something cost. `estimated`: some of it was not told, and is counted at the most, or by a
 * price that is a guess.
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
 * `hourWrites`: how many of the tokens written to a cache stay there for an hour. Rounded up to a
 * whole millionth; `estimated`: by the row for all models.
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

export const MICRO_USD = 1_000_000;

/** All in millionths of a dollar; `held` is what requests under way may cost at most. */
export interface BudgetState {
  /** Null: no limit. 0: never. */
  readonly budget: number | null;
  readonly spent: number;
  readonly held: number;
}

/**
 * Whether one more that may cost `most` may be sent. `open`: it fits, or it would be the only one
 * under way: so a budget is overrun by one request at most, and never stands unused because nothing
 * fits. `held`: not before one of those under way is done. `spent`: not today.
 */
export function roomIn({ budget, spent, held }: BudgetState, most: number): 'open' | 'held' | 'spent' {
  if (budget === null) return 'open';
  if (spent >= budget) return 'spent';
  return held > 0 && spent + held + most > budget ? 'held' : 'open';
}

/** A budget in dollars as whole millionths. */
export const microUsdOf = (usd: number | null): number | null => (usd === null ? null : Math.round(usd * MICRO_USD));

/** As people read it: `$5.00`, and more places below a cent. */
export function usdText(microUsd: number): string {
  const usd = microUsd / MICRO_USD;
  return `$${microUsd > 0 && usd < 0.01 ? usd.toFixed(6).replace(/0+$/, '') : usd.toFixed(2)}`;
}
