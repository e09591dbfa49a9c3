/** The relay's calls as the page holds them: what makes and reads them is fetched beside the page, not with it. */
import type { RelayClient, RelayResult } from '../relay/index.ts';
import type { ReachClient } from '../relay/reach-client.ts';
import type { RelayPort } from './ports.ts';

const MISSING = 'A part of the page could not be fetched. Start the relay again with "npm start", then reload the page.';

/** Makes one call. An expected failure is a value. */
export type CallOf<Client> = <Value>(call: (client: Client) => Promise<RelayResult<Value>>) => Promise<RelayResult<Value>>;

/** How agents reach each other. */
export type ReachPort = CallOf<ReachClient>;

/** `load` rejects where the part does not come; it is asked again with the next call. */
function createCalls<Client>(load: () => Promise<Client>): CallOf<Client> {
  let loading: Promise<Client> | null = null;
  return async (call) => {
    loading ??= load();
    const client = await loading.catch(() => null);
    if (client) return call(client);
    loading = null;
    return { ok: false, problem: { kind: 'unreachable', message: MISSING } };
  };
}

export const createReachPort = (load: () => Promise<ReachClient>): ReachPort => createCalls(load);

export function createRelayPort(load: () => Promise<RelayClient>): RelayPort {
  const call = createCalls(load);
  return {
    health: () => call((client) => client.health()),
    startSession: (request) => call((client) => client.startSession(request)),
    endSession: () => call((client) => client.endSession()),
    postMessage: (message) => call((client) => client.postMessage(message)),
    stop: (agentId) => call((client) => client.stop(agentId)),
    sleep: (agentId) => call((client) => client.sleep(agentId)),
    getRehearsal: () => call((client) => client.getRehearsal()),
    putRehearsal: (rehearsal) => call((client) => client.putRehearsal(rehearsal)),
  };
}
