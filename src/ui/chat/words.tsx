import { memo, useDeferredValue, useMemo, useState, startTransition, useEffect } from 'react';
import Markdown, { isKept } from './markdown.tsx';
import { isTimeLeft } from './parsed.ts';
import { markdownPieces, type MarkdownPiece } from './pieces.ts';

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

/** What is set in a moment. Where that will change how it looks, it keeps its room and is not seen before. */
const Plain = ({ text }: { text: string }) => (
  <p className="plain" dir="auto" data-waits={MARKS.test(text)}>
    {text}
  </p>
);

interface PieceProps {
  readonly piece: MarkdownPiece;
  /** More words follow at once. */
  readonly growing?: boolean;
  /** A line that ends in the source ends on the page. */
  readonly breaks?: boolean;
}

/** One piece of an agent's words, as Markdown: set a moment later where that would hold up the page. */
export const Piece = memo(function Piece({ piece, growing = false, breaks = true }: PieceProps) {
  const { text, around, start, notes } = piece;
  const [plainFirst] = useState(() => !growing && !isTimeLeft() && !isKept({ text, around, start, breaks }));
  const isShown = useDeferredValue(true, !plainFirst);
  if (!isShown) return <Plain text={text} />;
  const set = <Markdown text={text} around={around} start={start} growing={growing} breaks={breaks} />;
  return notes ? <div className="md-notes">{set}</div> : set;
});

/** Pieces that are set at once; the others follow frame by frame. */
const AT_ONCE = 3;

interface Props {
  readonly text: string;
  readonly growing?: boolean;
  readonly breaks?: boolean;
}

/** An agent's words, however long they are. */
export const Words = memo(function Words({ text, growing = false, breaks = true }: Props) {
  const pieces = useMemo(() => markdownPieces(text), [text]);
  const count = useGrowing(pieces.length, AT_ONCE);
  const shown = pieces.slice(0, count);
  return shown.map((piece, i) => (
    // Words are only ever added at the end: a piece's place is its identity.
    <Piece key={i} piece={piece} growing={growing && i === pieces.length - 1} breaks={breaks} />
  ));
});
