/** Are two JSON values equal? The order of an object's fields does not matter. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((value, i) => isDeepEqual(value, b[i]))
    );
  const left = new Map(Object.entries(a));
  const right = Object.entries(b);
  return (
    left.size === right.length && right.every(([key, value]) => left.has(key) && isDeepEqual(left.get(key), value))
  );
}
