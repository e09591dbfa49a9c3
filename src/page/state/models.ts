/** The connected models, and the calls that change them. */
import type { ListedModel, Models } from '../../shared/protocol/models.ts';
import type { ReachClient } from '../../shared/relay-client/reach-client.ts';
import type { RelayResult } from '../../shared/relay-client/index.ts';
import { problemText } from './ports.ts';
import { createQuery, type Query, type QueryDeps } from './query.ts';
import type { ReachPort } from './reach.ts';

export type ModelCalls = Pick<
  ReachClient,
  'connectModel' | 'changeModelKey' | 'tryModel' | 'removeModel' | 'findServers' | 'listModels'
>;
/** `models`: the server offers several, and one must be chosen first. */
type Done<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string; readonly models: readonly ListedModel[] };

export interface ConnectedModels {
  readonly query: Query<Models>;
  /** Makes one of these calls and then shows the new state. */
  change<Value>(call: (calls: ModelCalls) => Promise<RelayResult<Value>>): Promise<Done<Value>>;
}

export function createConnectedModels(
  deps: Pick<QueryDeps<Models>, 'changes' | 'device'> & {
    readonly reach: ReachPort;
    /** The answering model may have changed. */
    readonly onChange: () => Promise<unknown>;
  },
): ConnectedModels {
  const { reach, changes, device } = deps;
  const query = createQuery({ ask: () => reach((client) => client.models()), changes, device, what: ['models'] });
  // Another page or a failed answer may have changed it.
  changes.subscribe(({ what }) => void (what === 'models' && deps.onChange()));
  return {
    query,
    async change(call) {
      const result = await reach(call);
      await Promise.all([query.again(), deps.onChange()]);
      if (result.ok) return result;
      const { problem } = result;
      const models = problem.kind === 'refused' ? (problem.problem.models ?? []) : [];
      return { ok: false, reason: problemText(problem), models };
    },
  };
}
