/**
 * Limits and prices one by one: what a record sets, as fields, and a record of which some fields
 * are another's. Pure.
 */
import { isRecord } from '../domain/platform/is-record.ts';
import { DEFAULT_PRICES, priceName } from '../domain/prices.ts';
import type { RelayRecord } from './records.ts';

/** By field: the path of a limit as JSON, or the name of a price. What is not there is not set. */
export type RecordFields = ReadonlyMap<string, unknown>;

function* leaves(value: unknown, path: readonly string[]): Generator<readonly [string, unknown]> {
  if (isRecord(value)) for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
  else if (value !== undefined) yield [JSON.stringify(path), value];
}

/**
 * A list is one field: only together do its items say something. A table without a price is Roost's
 * own.
 */
export function fieldsOf(type: 'limits' | 'prices', record: RelayRecord | null): RecordFields {
  if (type === 'limits') return new Map(record?.type === 'limits' ? leaves(record.value.config, []) : []);
  const prices = record?.type === 'prices' ? record.value.prices : [];
  return new Map((prices.length === 0 ? DEFAULT_PRICES : prices).map((price) => [priceName(price), price]));
}

/** The path of a limit's field. */
export function pathOf(field: string): readonly string[] {
  const path: unknown = JSON.parse(field);
  return Array.isArray(path) ? path.map(String) : [];
}

/** `undefined` takes it away. Never through a setter, whatever the key is called. */
function withPath(value: unknown, [key, ...rest]: readonly string[], inner: unknown): unknown {
  if (key === undefined) return inner;
  const entries = isRecord(value) ? Object.entries(value) : [];
  const set = withPath(entries.find(([name]) => name === key)?.[1], rest, inner);
  const others = entries.filter(([name]) => name !== key);
  return Object.fromEntries(set === undefined ? others : [...others, [key, set]]);
}

function nameOf(row: unknown): string {
  const { model, above } = isRecord(row) ? row : {};
  return priceName({ model: String(model), above: typeof above === 'number' ? above : undefined });
}

/**
 * The value of a record where these fields are set so, and all others stay. Whoever takes it checks
 * it.
 */
export function withFields(
  type: 'limits' | 'prices',
  value: unknown,
  fields: Iterable<readonly [field: string, value: unknown]>,
): unknown {
  if (type === 'limits') {
    let changed = value;
    for (const [field, inner] of fields) changed = withPath(changed, ['config', ...pathOf(field)], inner);
    return changed;
  }
  const own: readonly unknown[] = isRecord(value) && Array.isArray(value['prices']) ? value['prices'] : [];
  const rows = own.length === 0 ? DEFAULT_PRICES : own;
  const set = new Map(fields);
  const others = rows.filter((row) => !set.has(nameOf(row)));
  return { prices: [...others, ...[...set.values()].filter((row) => row !== undefined)] };
}
