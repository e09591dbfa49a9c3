import { useStore } from 'zustand';
import { useEffect, type ReactNode } from 'react';
import type { Kept } from '../../state/kept.ts';
import { problemText } from '../../state/ports.ts';
import { useLive } from '../context.tsx';
import './kept-view.css';

interface Props<Value> {
  readonly kept: Kept<Value>;
  /** What is shown, as a sentence begins: "The inbox". */
  readonly what: string;
  readonly children: (value: Value) => ReactNode;
}

/** Something the relay keeps, or that it is being asked for, or why it is not there and what to do. */
export function KeptView<Value>({ kept, what, children }: Props<Value>) {
  useEffect(() => kept.look(), [kept]);
  const state = useStore(kept.store);
  const live = useLive(({ link }) => link.kind === 'live');
  if (state.kind === 'loading')
    return (
      <p className="kept-loading" role="status">
        Asking the relay…
      </p>
    );
  // Where there is no line to the relay the page says so once, for everything.
  const problem = state.problem && !live ? (
    state.kind === 'failed' && <p className="kept-quiet">{what} can be read when the relay is there again.</p>
  ) : state.problem && (
    <div className="wrong-note" role="status">
      <p>
        <strong>{what} could not be read.</strong> {problemText(state.problem)} {state.kind === 'ready' && 'What stands here is from before.'}
      </p>
      <button type="button" className="ghost" onClick={() => void kept.again()}>
        Ask again
      </button>
    </div>
  );
  return (
    <>
      {problem}
      {state.kind === 'ready' && children(state.value)}
    </>
  );
}
