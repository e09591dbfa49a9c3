import type { ReactNode } from 'react';
import type { Kept, KeptState } from '../../state/kept.ts';
import { problemText } from '../../state/ports.ts';
import { useLive } from '../context.tsx';
import { useKept } from '../use-kept.ts';
import './kept-view.css';

interface Props<Value> {
  readonly kept: Kept<Value>;
  /** What is shown, as a sentence begins: "The inbox". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

export function KeptLoading() {
  return (
    <p className="kept-loading" role="status">
      Asking the relay…
    </p>
  );
}

/** Why something could not be read, and the way to ask for it again. `before`: what was read earlier stands on the page. */
export function KeptProblem<Value>({
  kept,
  state,
  what,
  before,
}: Pick<Props<Value>, 'kept' | 'what'> & { readonly state: KeptState<Value>; readonly before: boolean }) {
  const live = useLive(({ link }) => link.kind === 'live');
  const problem = state.kind === 'loading' ? null : state.problem;
  if (!problem) return null;
  // Where there is no line to the relay the page says so once, for everything.
  if (!live) return before ? null : <p className="kept-quiet">{what} can be read when the relay is there again.</p>;
  return (
    <div className="wrong-note" role="status">
      <p>
        <strong>{what} could not be read.</strong> {problemText(problem)} {before && 'What stands here is from before.'}
      </p>
      <button type="button" className="ghost" onClick={() => void kept.again()}>
        Try again
      </button>
    </div>
  );
}

/** Something the relay keeps, or that it is being asked for, or why it is not there and what to do. */
export function KeptView<Value>({ kept, what, children }: Props<Value>) {
  const state = useKept(kept);
  if (state.kind === 'loading') return <KeptLoading />;
  return (
    <>
      <KeptProblem kept={kept} state={state} what={what} before={state.kind === 'ready'} />
      {state.kind === 'ready' && children(state.value)}
    </>
  );
}
