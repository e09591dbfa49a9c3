/**
 * Whether lists and objects lie in each other more than so many levels deep. It looks no deeper
 * than that. Pure.
 */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => deeperThan(each, levels - 1));
}
