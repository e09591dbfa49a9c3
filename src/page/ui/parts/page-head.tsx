/** The head of a full-page view, and the states of a value that is loaded from the relay. */
import type { ReactNode } from 'react';
import { t } from '../../language/t.ts';
import type { Query, QueryState } from '../../state/query.ts';
import { problemText } from '../../state/ports.ts';
import { useLive } from '../context.tsx';
import { useQuery, useTitle } from '../hooks.ts';
import { CloseIcon } from '../design/icons.tsx';
import './query-view.css';
import './page-head.css';

interface QueryViewProps<Value> {
  readonly query: Query<Value>;
  readonly children: (value: Value) => ReactNode;
}

export function QueryLoading() {
  return <p className="query-loading ink-3 text-3" role="status">{t`Loading…`}</p>;
}

/** Why something could not be read, with a retry button. `before`: an earlier value is shown. */
export function QueryProblem<Value>({
  query,
  state,
  before,
}: Pick<QueryViewProps<Value>, 'query'> & { readonly state: QueryState<Value>; readonly before: boolean }) {
  const live = useLive(({ link }) => link.kind === 'live');
  const problem = state.kind === 'loading' ? null : state.problem;
  if (!problem) return null;
  // Without a connection to the relay, the page says so once for everything.
  if (!live)
    return before ? null : <p className="query-quiet ink-3 text-3">{t`This appears when the relay is back.`}</p>;
  return (
    <div className="wrong-note" role="status">
      <p>
        <strong>{t`Could not load this.`}</strong> <span>{problemText(problem)}</span>{' '}
        {before && <span>{t`What you see is from before.`}</span>}
      </p>
      <button type="button" className="ghost" onClick={() => void query.again()}>{t`Try again`}</button>
    </div>
  );
}

/** A value of the relay, or that it is loading, or why it is missing and what to do. */
export function QueryView<Value>({ query, children }: QueryViewProps<Value>) {
  const state = useQuery(query);
  if (state.kind === 'loading') return <QueryLoading />;
  return (
    <>
      <QueryProblem query={query} state={state} before={state.kind === 'ready'} />
      {state.kind === 'ready' && children(state.value)}
    </>
  );
}

interface Props {
  readonly title: string;
  /** A more specific title for the browser. */
  readonly pageTitle?: string;
  readonly onClose: () => void;
  /** Links to related pages. */
  readonly children?: ReactNode;
}

/** The head of a full-page view: its title, and how to leave it. */
export function PageHead({ title, pageTitle = title, onClose, children }: Props) {
  useTitle(pageTitle);
  return (
    <div className="page-head under-6 whole-row gap-4 cluster apart">
      <h1 className="bold" tabIndex={-1}>
        {title}
      </h1>
      <div className="flex wrap gap-4">
        {children}
        <button type="button" className="ghost" onClick={onClose}>
          <CloseIcon /> {t`Close`}
        </button>
      </div>
    </div>
  );
}
