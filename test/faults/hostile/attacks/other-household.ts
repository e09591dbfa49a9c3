/**
 * Whatever the first household has, by its id: a second one gets nothing of it, and changes
 * nothing.
 */
import { ALL_ROUTES, filled } from '../../../support/nearly-right.ts';
import type { Attack } from '../attack.ts';

const NAMING = ALL_ROUTES.filter(
  ([, { access = 'page', path, raw }]) =>
    access !== 'anyone' && access !== 'credential' && raw !== true && path.includes('{'),
).map(([, endpoint]) => endpoint);

export const otherHousehold: Attack = {
  name: 'other-household',
  async run({ target, of, int, call }) {
    for (let left = int(10, 30); left > 0; left--) {
      const { method, path } = of(NAMING);
      // What is said in the answer is looked through for words of the first household.
      await call(
        method,
        filled(path, () => encodeURIComponent(of(target.ids))),
        method === 'GET' ? {} : { json: {} },
      );
    }
  },
};
