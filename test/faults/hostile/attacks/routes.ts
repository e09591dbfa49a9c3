/** Calls at every route that are nearly right, as a second household. */
import { createNearlyRight } from '../../../support/nearly-right.ts';
import type { Attack } from '../attack.ts';

export const routes: Attack = {
  name: 'routes',
  async run({ target, random, int, call }) {
    const next = createNearlyRight(random, [...target.ids, 'm1', 'lead']);
    for (let left = int(10, 40); left > 0; left--) {
      const { method, path, type, body } = next();
      await call(method, path, { ...(body === undefined ? {} : { body }), headers: { 'content-type': type } });
    }
  },
};
