/** The relay's calls about households: registering a device, offers to join, recovery. */
import { syncEndpoints } from '../protocol/endpoints/sync.ts';
import type { Called, SyncRelay } from '../protocol/sync/relay-connection.ts';
import { createRelayClient } from './client.ts';
import type { RelayResult } from './problem.ts';
import type { SendDeps } from './send.ts';

const PROBLEM_NAME = /^about:roost\/(.+)$/;

function called<Value>(result: RelayResult<Value>): Called<Value> {
  if (result.ok) return result;
  const { problem } = result;
  const refused = { ok: false, status: null, type: null, reason: problem.message, box: null } as const;
  switch (problem.kind) {
    case 'unreachable':
    case 'timeout':
      return refused;
    case 'locked-out':
      return { ...refused, status: 401 };
    case 'unreadable':
      return { ...refused, status: problem.status };
    case 'refused': {
      const { type, box } = problem.problem;
      return {
        ...refused,
        status: problem.status,
        type: PROBLEM_NAME.exec(type)?.[1] ?? null,
        box: typeof box === 'string' ? box : null,
      };
    }
  }
}

export function createSyncClient(deps: SendDeps): SyncRelay {
  const client = createRelayClient(syncEndpoints, deps);
  const methods = Object.entries<(said: never) => Promise<RelayResult<unknown>>>(client).map(
    ([name, call]) => [name, async (said: never) => called(await call(said))] as const,
  );
  // Each is the client's own, with its answer put in other words.
  return Object.fromEntries(methods) as unknown as SyncRelay;
}
