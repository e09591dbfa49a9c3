/**
 * Text as it is may hold half a surrogate pair. JSON can carry it (`\ud800`), but some servers
 * refuse it. These have the semantics of `String.prototype.isWellFormed` and `toWellFormed`.
 */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const LONE_ALL = new RegExp(LONE.source, 'g');

export function isWellFormed(text: string): boolean {
  return !LONE.test(text);
}

export function toWellFormed(text: string): string {
  return text.replace(LONE_ALL, '\ufffd');
}

/**
 * Characters of all strings in a JSON value: about as long as the value is as text, and counted in
 * no time.
 */
export function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + charactersIn(each), 0);
}

type Change = (text: string) => string;

/** The same JSON value with `change` applied to every string in it, and `ofKey` to every key. */
export function mapStrings(value: unknown, change: Change, ofKey: Change = (key) => key): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change, ofKey));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [ofKey(key), mapStrings(item, change, ofKey)]),
    );
  return value;
}
