import type { ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Query, QueryState } from '../../state/query.ts';
import { problemText } from '../../state/ports.ts';
import { useLive } from '../context.tsx';
import { useQuery } from '../use-query.ts';
import './query-view.css';

interface Props<Value> {
  readonly query: Query<Value>;
  /** What is shown, as a sentence begins: "The inbox". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

export function QueryLoading() {
  return <p className="query-loading" role="status">{t`Asking the relay…`}</p>;
}

/**
 * Why something could not be read, and the way to ask for it again. `before`: what was read earlier
 * stands on the page.
 */
export function QueryProblem<Value>({
  query,
  state,
  what,
  before,
}: Pick<Props<Value>, 'query' | 'what'> & { readonly state: QueryState<Value>; readonly before: boolean }) {
  const live = useLive(({ link }) => link.kind === 'live');
  const problem = state.kind === 'loading' ? null : state.problem;
  if (!problem) return null;
  // Where there is no connection to the relay the page says so once, for everything.
  if (!live)
    return before ? null : <p className="query-quiet">{t`${what} can be read when the relay is there again.`}</p>;
  return (
    <div className="wrong-note" role="status">
      <p>
        <strong>{t`${what} could not be read.`}</strong> <span>{problemText(problem)}</span>{' '}
        {before && <span>{t`What stands here is from before.`}</span>}
      </p>
      <button type="button" className="ghost" onClick={() => void query.again()}>{t`Try again`}</button>
    </div>
  );
}

/**
 * Something the relay keeps, or that it is being asked for, or why it is not there and what to do.
 */
export function QueryView<Value>({ query, what, children }: Props<Value>) {
  const state = useQuery(query);
  if (state.kind === 'loading') return <QueryLoading />;
  return (
    <>
      <QueryProblem query={query} state={state} what={what} before={state.kind === 'ready'} />
      {state.kind === 'ready' && children(state.value)}
    </>
  );
}
