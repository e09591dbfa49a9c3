/**
 * The relay's client: a method for each endpoint of a table. Each call is answered by a typed
 * value, the relay's answer, or what went wrong and what to do.
 */
import type { Callable, Endpoint, Endpoints, Heard, Said } from '../protocol/endpoints/endpoint.ts';
import type { RelayResult } from './problem.ts';
import { createSender, type SendDeps, type SentCall } from './send.ts';
import { RELAY_TIMES } from './settings.ts';

export interface RelayClientDeps extends SendDeps {
  /** Time-outs in ms; for tests. */
  readonly times?: { readonly call: number; readonly heavy: number };
}

/**
 * Parameters and query are said by name, the body as `body`; `said` is left out where there is
 * nothing to say.
 */
type Arguments<E extends Endpoint> = object extends Said<E> ? [said?: Said<E>] : [said: Said<E>];

export type RelayClient<Table extends Endpoints> = {
  readonly [Name in Callable<Table>]: (...said: Arguments<Table[Name]>) => Promise<RelayResult<Heard<Table[Name]>>>;
};

const text = (value: unknown) =>
  (Array.isArray(value) ? value : [value]).map((each) => encodeURIComponent(String(each))).join(',');

/** The address of a call, from its own origin. */
export function pathOf({ path, query = {} }: Endpoint, said: Readonly<Record<string, unknown>>): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => text(said[name]));
  const asked = Object.keys(query)
    .filter((name) => said[name] !== undefined && said[name] !== null)
    .map((name) => `${name}=${text(said[name])}`);
  return asked.length > 0 ? `${filled}?${asked.join('&')}` : filled;
}

export function createRelayClient<const Table extends Endpoints>(
  table: Table,
  { fetch, baseUrl, times = RELAY_TIMES }: RelayClientDeps,
): RelayClient<Table> {
  const sender = createSender({ fetch, baseUrl });
  const methods = Object.entries<Endpoint>(table)
    .filter(([, { raw }]) => raw !== true)
    .map(([name, endpoint]) => {
      const call = (said: Readonly<Record<string, unknown>> = {}) => {
        const { method, answers, heavy } = endpoint;
        const sent: SentCall = {
          method,
          path: pathOf(endpoint, said),
          ...(endpoint.body ? { body: said['body'] } : {}),
          timeout: heavy ? times.heavy : times.call,
        };
        return sender.answered(sent, (status) => (answers.find((each) => each.status === status) ?? answers[0])?.body);
      };
      return [name, call];
    });
  // Made from the very table that its type is.
  return Object.fromEntries(methods) as RelayClient<Table>;
}
