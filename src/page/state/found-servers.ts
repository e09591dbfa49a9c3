import { mapResult } from './call-relay.ts';
import { onePerPage } from './per-page.ts';
import { relayQuery } from './query.ts';

/** Model servers on the relay's machine. They are looked for when this is first shown. */
export const foundServersOf = onePerPage(({ callRelay, changes, device }) =>
  relayQuery({ callRelay, changes, device }, ['models'], async (client) =>
    mapResult(await client.findServers(), ({ found }) => found),
  ),
);
