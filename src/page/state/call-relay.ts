/** The relay's calls as the page uses them. Loaded while the page is painted, or after. */
import { t } from '../language/t.ts';
import type { PageClient, RelayResult } from '../../shared/relay-client/index.ts';
import type { DeferredClient } from '../../shared/relay-client/deferred-client.ts';
import type { RelayPort } from './ports.ts';

const MISSING = t`Could not load a part of the page. Check the connection to the relay.`;

/** Makes one call. An expected failure is a value. */
type Port<Client> = <Value>(call: (client: Client) => Promise<RelayResult<Value>>) => Promise<RelayResult<Value>>;

/** Maps the value of a successful answer. */
export const mapResult = <Value, Part>(result: RelayResult<Value>, pick: (value: Value) => Part): RelayResult<Part> =>
  result.ok ? { ok: true, value: pick(result.value) } : result;

/** Makes calls of the client that is loaded after the first paint. */
export type CallRelay = Port<DeferredClient>;

/** `load` rejects if the module cannot be loaded. The next call tries again. */
export function createCallRelay<Client = DeferredClient>(load: () => Promise<Client>): Port<Client> {
  let loading: Promise<Client> | null = null;
  return async (call) => {
    loading ??= load();
    const client = await loading.catch(() => null);
    if (client) return call(client);
    loading = null;
    return { ok: false, problem: { kind: 'unreachable', message: MISSING } };
  };
}

/** As `createCallRelay`, for the calls of a session, each under its own name. */
export function createRelayPort(load: () => Promise<PageClient>): RelayPort {
  const ask = createCallRelay(load);
  const call =
    (name: keyof PageClient) =>
    (...said: readonly unknown[]) =>
      // Calls the method of this name with the same arguments.
      ask((client) => (client[name] as (...said: readonly unknown[]) => Promise<RelayResult<unknown>>)(...said));
  // Its methods belong to a client that is not loaded yet.
  return new Proxy({} as RelayPort, { get: (_, name) => call(name as keyof PageClient) });
}
