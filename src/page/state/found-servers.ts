import { mapResult } from './reach.ts';
import { onePerPage } from './per-page.ts';
import { createQuery } from './query.ts';

/** Model servers on the relay's machine. They are looked for when this is first shown. */
export const foundServersOf = onePerPage(({ reach, changes, device }) =>
  createQuery({
    ask: async () => mapResult(await reach((client) => client.findServers()), ({ found }) => found),
    changes,
    device,
    what: ['models'],
  }),
);
