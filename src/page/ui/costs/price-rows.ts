/** The table of prices while it is edited: texts, and what is wrong with them. Pure. */
import { ANY_MODEL, DEFAULT_PRICES, PRICE_STEP_MOST } from '../../../shared/domain/prices.ts';
import { t } from '../../language/t.ts';
import type { Price } from '../../../shared/protocol/costs.ts';

export const AMOUNTS = ['input', 'output', 'cacheRead', 'cacheWrite'] as const;
export type Amount = (typeof AMOUNTS)[number];
export interface PriceRow extends Readonly<Record<Amount, string>> {
  /** Names the row while it is edited. */
  readonly key: number;
  readonly model: string;
  /** Tokens; empty: for all requests. */
  readonly above: string;
}

/** US dollars for a million tokens, and characters of a model’s name, as the relay takes them. */
const MOST = 10_000;
const LONGEST = 200;
export const MOST_ROWS = 200;

export const rowsOf = (prices: readonly Price[]): readonly PriceRow[] =>
  prices.map(({ model, above, input, output, cacheRead, cacheWrite }, key) => ({
    key,
    model,
    above: above === undefined ? '' : String(above),
    input: String(input),
    output: String(output),
    cacheRead: String(cacheRead),
    cacheWrite: String(cacheWrite),
  }));

function amountOf(text: string): number | null {
  const plain = text.trim().replace(',', '.');
  const value = /^\d+(\.\d*)?$|^\.\d+$/.test(plain) ? Number(plain) : NaN;
  return value >= 0 && value <= MOST ? value : null;
}

/** `null`: it is no number of tokens. `undefined`: there is none. */
function stepOf(text: string): number | null | undefined {
  const plain = text.replaceAll(/[\s,.]/g, '');
  if (plain === '') return undefined;
  return /^\d{1,9}$/.test(plain) && Number(plain) >= 1 && Number(plain) <= PRICE_STEP_MOST ? Number(plain) : null;
}

export type PriceField = 'model' | 'above' | Amount;

/** What is wrong, by row and field: the first of each row. */
export function wrongIn(
  rows: readonly PriceRow[],
): ReadonlyMap<number, { readonly field: PriceField; readonly message: string }> {
  const wrong = new Map<number, { field: PriceField; message: string }>();
  const names = new Set<string>();
  for (const row of rows) {
    const model = row.model.trim();
    const above = stepOf(row.above);
    const name = `${above ?? 0} ${model}`;
    const amount = AMOUNTS.find((name) => amountOf(row[name]) === null);
    if (model === '')
      wrong.set(row.key, {
        field: 'model',
        message: t`A row needs the beginning of a model’s name, or * for all others.`,
      });
    else if (model.length > LONGEST)
      wrong.set(row.key, { field: 'model', message: t`A model’s name has at most 200 characters.` });
    else if (above === null)
      wrong.set(row.key, {
        field: 'above',
        message: t`${model}: a number of tokens is whole, or left out for all requests.`,
      });
    else if (names.has(name)) wrong.set(row.key, { field: 'model', message: t`${model} stands in two rows.` });
    else if (amount) wrong.set(row.key, { field: amount, message: t`${model}: a price is a number from 0 to 10,000.` });
    names.add(name);
  }
  return wrong;
}

/** Only for rows in which nothing is wrong. */
export const pricesOf = (rows: readonly PriceRow[]): readonly Price[] =>
  rows.map((row) => ({
    model: row.model.trim(),
    ...(typeof stepOf(row.above) === 'number' ? { above: stepOf(row.above) ?? undefined } : {}),
    input: amountOf(row.input) ?? 0,
    output: amountOf(row.output) ?? 0,
    cacheRead: amountOf(row.cacheRead) ?? 0,
    cacheWrite: amountOf(row.cacheWrite) ?? 0,
  }));

const lineOf = ({ model, above = 0, input, output, cacheRead, cacheWrite }: Price) =>
  JSON.stringify([model, above, input, output, cacheRead, cacheWrite]);
/** Are these Roost's own, in whatever order? */
export function areOwn(prices: readonly Price[]): boolean {
  const own = new Set(DEFAULT_PRICES.map(lineOf));
  return prices.length === own.size && prices.every((price) => own.has(lineOf(price)));
}

export const hasAny = (rows: readonly PriceRow[]): boolean => rows.some(({ model }) => model.trim() === ANY_MODEL);
