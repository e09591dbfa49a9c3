/** How much room the relay's home takes, for whoever shows it. */
import type { Room } from '../../shared/protocol/http.ts';
import { createQuery } from './query.ts';
import { onePerPage } from './per-page.ts';

/** One for each page. Asked for whenever somebody looks. */
export const relayRoom = onePerPage(({ reach, changes, device }) =>
  createQuery<Room>({ ask: () => reach((client) => client.room()), changes, device, what: [] }),
);
