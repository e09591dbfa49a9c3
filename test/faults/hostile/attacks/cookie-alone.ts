/** What a program of another port gets: the cookie, and no page key; or a key without a cookie. */
import { PAGE_KEY } from '../../../../src/shared/protocol/page-key.ts';
import { ALL_ROUTES, filled } from '../../../support/nearly-right.ts';
import type { Attack } from '../attack.ts';

const OF_PAGES = ALL_ROUTES.filter(([, { access = 'page' }]) => access === 'page').map(([, endpoint]) => endpoint);

export const cookieAlone: Attack = {
  name: 'cookie-alone',
  async run({ target, of, int, bare, found }) {
    for (let left = int(5, 20); left > 0; left--) {
      const { method, path } = of(OF_PAGES);
      const { cookie, key } = target.second;
      const given = of<Record<string, string>>([
        { cookie },
        { [PAGE_KEY.header]: key },
        { cookie, [PAGE_KEY.header]: `${key}x` },
      ]);
      const answer = await bare(
        method,
        filled(path, () => of(['a1', 'm1', ...target.ids])),
        {
          headers: { ...given, 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { body: '{}' }),
        },
      );
      if (answer && ![401, 403, 426, 429, 503].includes(answer.status))
        found(`${answer.status} to ${method} ${path} with ${Object.keys(given).join(' and ')} alone`);
    }
  },
};
