/** Parts of the page's state that are fetched with whoever shows them first. */
import type { RoostState } from './index.ts';

/** One for each page, made when it is first asked for. */
export function onePerPage<One>(make: (state: RoostState) => One): (state: RoostState) => One {
  const made = new WeakMap<RoostState, { readonly one: One }>();
  return (state) => {
    const known = made.get(state) ?? { one: make(state) };
    made.set(state, known);
    return known.one;
  };
}
