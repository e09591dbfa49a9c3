/** The models that are connected, and the calls that change them. */
import type { Models } from '../protocol/models.ts';
import type { ReachClient } from '../relay/reach-client.ts';
import type { RelayResult } from '../relay/index.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';
import type { ReachPort } from './reach.ts';

export type ModelCalls = Pick<
  ReachClient,
  'connectModel' | 'changeModelKey' | 'tryModel' | 'removeModel' | 'findServers' | 'listModels'
>;
type Done<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly reason: string };

export interface ConnectedModels {
  readonly query: Query<Models>;
  /** Makes one of these calls, and shows how it stands after it. */
  change<Value>(call: (calls: ModelCalls) => Promise<RelayResult<Value>>): Promise<Done<Value>>;
}

export function createConnectedModels(
  deps: Pick<QueryDeps<Models>, 'changes' | 'device'> & {
    readonly reach: ReachPort;
    /** What answers may be another now. */
    readonly onChange: () => Promise<unknown>;
  },
): ConnectedModels {
  const { reach, changes, device } = deps;
  const query = createQuery({ ask: () => reach((client) => client.models()), changes, device, what: ['models'] });
  // Another page, or an answer that failed, may be what changed it.
  changes.subscribe(({ what }) => void (what === 'models' && deps.onChange()));
  return {
    query,
    async change(call) {
      const result = await reach(call);
      await Promise.all([query.again(), deps.onChange()]);
      return result.ok ? result : { ok: false, reason: problemText(result.problem) };
    },
  };
}
