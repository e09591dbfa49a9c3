import { lazy, memo, Suspense, useDeferredValue, useMemo, useState, startTransition, useEffect } from 'react';
import { isReady } from './parsed.ts';
import { markdownPieces } from './pieces.ts';

/** Counts up to `most`, from `first`, one a frame: for what is too long to be put on the page at once. */
function useGrowing(most: number, first: number): number {
  const [count, setCount] = useState(Math.min(most, first));
  useEffect(() => {
    if (count >= most) return undefined;
    const frame = requestAnimationFrame(() => startTransition(() => setCount(count + 1)));
    return () => cancelAnimationFrame(frame);
  }, [count, most]);
  return count;
}

/** Signs that would be set as something else than the letters they are. */
const MARKS = /[*_`#$>|[\]~\\]|^\s*(?:[-+]|\d+[.)])\s|https?:/m;

/** `waits`: it is set in a moment. Where that will change how it looks, it keeps its room and is not seen before. */
function Plain({ text, waits = false }: { text: string; waits?: boolean }) {
  return (
    <p className="plain" dir="auto" data-waits={waits && MARKS.test(text)}>
      {text}
    </p>
  );
}

// Where it cannot be fetched, because the relay is gone, words are shown as they stand until the page is loaded again.
const load = () => import('./markdown.tsx').catch(() => ({ default: memo(Plain) }));
const Markdown = lazy(load);

interface Props {
  readonly text: string;
  /** More words follow at once. */
  readonly growing?: boolean;
}

/** One piece of an agent's words, as Markdown: set a moment later where that is not loaded yet, or would hold up the page. */
export const Piece = memo(function Piece({ text, growing = false }: Props) {
  const [plainFirst] = useState(() => !growing && !isReady(text));
  const shown = useDeferredValue(text, plainFirst ? null : text);
  if (shown === null) return <Plain text={text} waits />;
  return (
    <Suspense fallback={<Plain text={text} waits />}>
      <Markdown text={shown} growing={growing} />
    </Suspense>
  );
});

/** Pieces that are set at once; the others follow frame by frame. */
const AT_ONCE = 3;

/** An agent's words, however long they are. */
export const Words = memo(function Words({ text, growing = false }: Props) {
  const pieces = useMemo(() => markdownPieces(text), [text]);
  const count = useGrowing(pieces.length, AT_ONCE);
  const shown = pieces.slice(0, count);
  return shown.map((piece, i) => (
    // Words are only ever added at the end: a piece's place is its identity.
    <Piece key={i} text={piece} growing={growing && i === pieces.length - 1} />
  ));
});
