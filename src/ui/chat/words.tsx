import { lazy, memo, Suspense, useDeferredValue, useMemo, useState } from 'react';
import { isReady } from './parsed.ts';
import { markdownPieces } from './pieces.ts';
import { useGrowing } from './use-growing.ts';

function Plain({ text }: { text: string }) {
  return (
    <p className="plain" dir="auto">
      {text}
    </p>
  );
}

/** Where it cannot be fetched, because the relay is gone, words are shown as they stand until the page is loaded again. */
const Markdown = lazy(() => import('./markdown.tsx').catch(() => ({ default: memo(Plain) })));

interface Props {
  readonly text: string;
  /** More words follow at once. */
  readonly growing?: boolean;
}

/** One piece of an agent's words, as Markdown: plain until that is loaded, and where setting it now would hold up the page. */
export const Piece = memo(function Piece({ text, growing = false }: Props) {
  const [plainFirst] = useState(() => !growing && !isReady(text));
  const shown = useDeferredValue(text, plainFirst ? null : text);
  if (shown === null) return <Plain text={text} />;
  return (
    <Suspense fallback={<Plain text={text} />}>
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
