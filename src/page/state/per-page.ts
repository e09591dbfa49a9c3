/** Parts of the page's state that are loaded with their first view. */
import type { RoostState } from './index.ts';

/** One instance per page, created on first use. */
export function onePerPage<One>(make: (state: RoostState) => One): (state: RoostState) => One {
  const made = new WeakMap<RoostState, { readonly one: One }>();
  return (state) => {
    const known = made.get(state) ?? { one: make(state) };
    made.set(state, known);
    return known.one;
  };
}
