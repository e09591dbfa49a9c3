/**
 * Whether lists and objects are nested more than `levels` deep. Does not look deeper than that.
 * Pure.
 */
export function deeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((each) => deeperThan(each, levels - 1));
}
