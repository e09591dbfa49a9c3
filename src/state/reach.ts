/** The calls about how agents reach each other, as the page holds them: fetched after the page is painted. */
import type { RelayResult } from '../relay/index.ts';
import type { ReachClient } from '../relay/reach-client.ts';

const MISSING = 'A part of the page could not be fetched. Start the relay again with "npm start", then reload the page.';

/** Makes one call. An expected failure is a value. */
export type ReachPort = <Value>(call: (client: ReachClient) => Promise<RelayResult<Value>>) => Promise<RelayResult<Value>>;

/** `load` rejects where the part does not come; it is asked again with the next call. */
export function createReachPort(load: () => Promise<ReachClient>): ReachPort {
  let loading: Promise<ReachClient> | null = null;
  return async (call) => {
    loading ??= load();
    const client = await loading.catch(() => null);
    if (client) return call(client);
    loading = null;
    return { ok: false, problem: { kind: 'unreachable', message: MISSING } };
  };
}
