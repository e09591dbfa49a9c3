/** Chance that can be repeated: the same seed gives the same draws. */

export interface Chance {
  /** 0 ≤ n < limit */
  below(limit: number): number;
  pick<T>(list: readonly [T, ...T[]]): T;
}

/** FNV-1a over UTF-16 code units: a number from any text. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 2166136261;
  for (const char of parts.join('\n')) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 16777619);
  return hash >>> 0;
}

/** mulberry32 (Tommy Ettinger, public domain algorithm). */
export function createChance(seed: number): Chance {
  let state = seed >>> 0;
  const below = (limit: number) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
  };
  return { below, pick: (list) => list[below(list.length)] ?? list[0] };
}

/** All of `list` in another order. */
export function shuffled<T>(list: readonly T[], chance: Chance): T[] {
  const from = [...list];
  const out: T[] = [];
  while (from.length > 0) out.push(...from.splice(chance.below(from.length), 1));
  return out;
}
