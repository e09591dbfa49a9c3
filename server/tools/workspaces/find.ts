/**
 * Where a text stands in another, in a time that grows with their lengths alone
 * (Knuth–Morris–Pratt). The search of the engine takes their product at worst: an agent that was
 * talked into it would hold the relay for hours with one file and one call.
 */
import { createPace } from '../../platform/pace.ts';

/** Characters that are looked through in one step. */
const STEP_CHARS = 65_536;

/**
 * By length of a beginning of `wanted`: how long the longest beginning is with which it ends too,
 * itself aside.
 */
function fallbacksOf(wanted: string): Uint32Array {
  const back = new Uint32Array(wanted.length + 1);
  let length = 0;
  for (let i = 1; i < wanted.length; i++) {
    const code = wanted.charCodeAt(i);
    while (length > 0 && wanted.charCodeAt(length) !== code) length = back[length] ?? 0;
    if (wanted.charCodeAt(length) === code) length += 1;
    back[i + 1] = length;
  }
  return back;
}

/**
 * The places at which `wanted` begins, in order, as many at once as one step has found. Those that
 * lie over each other count once. `wanted` has a character at least.
 */
export async function* placesIn(text: string, wanted: string): AsyncGenerator<readonly number[], void, undefined> {
  const back = fallbacksOf(wanted);
  const pace = createPace();
  let length = 0;
  for (let from = 0; from < text.length; from += STEP_CHARS) {
    await pace();
    const found: number[] = [];
    for (let i = from; i < Math.min(text.length, from + STEP_CHARS); i++) {
      const code = text.charCodeAt(i);
      while (length > 0 && wanted.charCodeAt(length) !== code) length = back[length] ?? 0;
      if (wanted.charCodeAt(length) === code) length += 1;
      if (length < wanted.length) continue;
      found.push(i + 1 - length);
      length = 0;
    }
    if (found.length > 0) yield found;
  }
}
