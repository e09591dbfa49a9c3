/**
 * Text as it is may hold half a surrogate pair. JSON can carry it (`\ud800`), but some servers refuse it.
 * These have the semantics of `String.prototype.isWellFormed` and `toWellFormed`.
 */
const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const LONE_ALL = new RegExp(LONE.source, 'g');

export function isWellFormed(text: string): boolean {
  return !LONE.test(text);
}

export function toWellFormed(text: string): string {
  return text.replace(LONE_ALL, '\ufffd');
}

/** The same JSON value with `change` applied to every string in it, keys left as they are. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item, change));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapStrings(item, change)]));
  return value;
}
