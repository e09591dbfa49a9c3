/** The relay's calls, as the page holds them: fetched while the page is painted, or after. */
import type { RelayClient, RelayResult } from '../relay/index.ts';
import type { ReachClient } from '../relay/reach-client.ts';
import type { RelayPort } from './ports.ts';

const MISSING =
  'A part of the page could not be fetched. Start the relay again with "npm start", then reload the page.';

/** Makes one call. An expected failure is a value. */
type Port<Client> = <Value>(call: (client: Client) => Promise<RelayResult<Value>>) => Promise<RelayResult<Value>>;

/** The calls about how agents reach each other. */
export type ReachPort = Port<ReachClient>;

/** `load` rejects where the part does not come; it is asked again with the next call. */
export function createReachPort<Client = ReachClient>(load: () => Promise<Client>): Port<Client> {
  let loading: Promise<Client> | null = null;
  return async (call) => {
    loading ??= load();
    const client = await loading.catch(() => null);
    if (client) return call(client);
    loading = null;
    return { ok: false, problem: { kind: 'unreachable', message: MISSING } };
  };
}

/** As `createReachPort`, for the calls of a session. */
export function createRelayPort(load: () => Promise<RelayClient>): RelayPort {
  const ask = createReachPort(load);
  return {
    health: () => ask((client) => client.health()),
    startSession: (request) => ask((client) => client.startSession(request)),
    endSession: () => ask((client) => client.endSession()),
    postMessage: (message) => ask((client) => client.postMessage(message)),
    stop: (agentId) => ask((client) => client.stop(agentId)),
    sleep: (agentId) => ask((client) => client.sleep(agentId)),
    getRehearsal: () => ask((client) => client.getRehearsal()),
    home: () => ask((client) => client.home()),
    beginHome: (how) => ask((client) => client.beginHome(how)),
    lookedAt: () => ask((client) => client.lookedAt()),
    look(listener) {
      let stop: (() => void) | null = null;
      let over = false;
      void ask(async (client) => {
        if (!over) stop = client.look(listener);
        return await Promise.resolve({ ok: true, value: null } as const);
      });
      return () => {
        over = true;
        stop?.();
      };
    },
    putRehearsal: (rehearsal) => ask((client) => client.putRehearsal(rehearsal)),
  };
}
