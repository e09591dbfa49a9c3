/** The head of a full-page view, and the states of a value that is loaded from the relay. */
import { type KeyboardEvent, type ReactNode, useId } from 'react';
import { useLocation } from 'wouter';
import { t } from '../../language/t.ts';
import type { Query, QueryState } from '../../state/query.ts';
import { problemText } from '../../state/ports.ts';
import { useLive } from '../context.tsx';
import { useQuery, useTitle } from '../hooks.ts';
import { arrowAlong, keyOf } from './keys.ts';
import { CloseIcon } from './icons.tsx';
import './tabs.css';
import './query-view.css';
import './page-head.css';

interface TabsProps<Tab extends string> {
  /** The subject of the tabs. */
  readonly label: string;
  readonly tabs: readonly { readonly tab: Tab; readonly title: string; readonly path: string }[];
  readonly shown: Tab;
  /** Content of the selected tab. */
  readonly children: ReactNode;
}

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowRight: (at, last) => (at === last ? 0 : at + 1),
  ArrowLeft: (at, last) => (at === 0 ? last : at - 1),
  Home: () => 0,
  End: (_at, last) => last,
};

/**
 * Tabs, one of them shown. Each has an address of its own, so each is a link that can be opened
 * elsewhere.
 */
export function Tabs<Tab extends string>({ label, tabs, shown, children }: TabsProps<Tab>) {
  const [, go] = useLocation();
  const id = useId();
  const step = (event: KeyboardEvent<HTMLElement>) => {
    const { currentTarget, altKey, ctrlKey, metaKey } = event;
    // With modifiers these keys belong to the browser, for example to go back.
    if (altKey || ctrlKey || metaKey) return;
    const links = [...currentTarget.querySelectorAll<HTMLElement>('[role=tab]')];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = at < 0 ? undefined : STEPS[arrowAlong(keyOf(event), currentTarget)]?.(at, links.length - 1);
    const tab = next === undefined ? undefined : tabs[next];
    if (next === undefined || !tab) return;
    event.preventDefault();
    links[next]?.focus();
    // Moving through tabs adds nothing to the history.
    go(tab.path, { replace: true });
  };
  return (
    <>
      {/* The tabs take the focus, one at a time. */}
      {/* eslint-disable-next-line jsx-a11y/interactive-supports-focus */}
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={step}>
        {tabs.map(({ tab, title, path }) => (
          <a
            key={tab}
            id={`${id}-${tab}`}
            href={path}
            role="tab"
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
            onClick={(event) => {
              // The browser handles opening a new tab or window.
              if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
              event.preventDefault();
              go(path);
            }}
          >
            {title}
          </a>
        ))}
      </div>
      <div id={`${id}-panel`} className="tab-panel" role="tabpanel" aria-labelledby={`${id}-${shown}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}

interface QueryViewProps<Value> {
  readonly query: Query<Value>;
  /** What is shown, as a sentence begins: "The inbox". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

export function QueryLoading() {
  return <p className="query-loading" role="status">{t`Asking the relay…`}</p>;
}

/** Why something could not be read, with a retry button. `before`: an earlier value is shown. */
export function QueryProblem<Value>({
  query,
  state,
  what,
  before,
}: Pick<QueryViewProps<Value>, 'query' | 'what'> & { readonly state: QueryState<Value>; readonly before: boolean }) {
  const live = useLive(({ link }) => link.kind === 'live');
  const problem = state.kind === 'loading' ? null : state.problem;
  if (!problem) return null;
  // Without a connection to the relay, the page says so once for everything.
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

/** A value of the relay, or that it is loading, or why it is missing and what to do. */
export function QueryView<Value>({ query, what, children }: QueryViewProps<Value>) {
  const state = useQuery(query);
  if (state.kind === 'loading') return <QueryLoading />;
  return (
    <>
      <QueryProblem query={query} state={state} what={what} before={state.kind === 'ready'} />
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
    <div className="page-head">
      <h1 tabIndex={-1}>{title}</h1>
      <div className="page-ways">
        {children}
        <button type="button" className="ghost" onClick={onClose}>
          <CloseIcon /> {t`Close`}
        </button>
      </div>
    </div>
  );
}
