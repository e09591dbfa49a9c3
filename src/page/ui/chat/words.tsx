import {
  Fragment,
  memo,
  startTransition,
  useDeferredValue,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import { useRoom } from '../parts/near.ts';
import { isPrinting } from '../parts/printing.ts';
import Markdown, { isKept } from './markdown.tsx';
import { isTimeLeft } from './parsed.ts';
import { markdownPieces, type MarkdownPiece } from './pieces.ts';

/**
 * Counts up to `most`, from `first`, one a frame: for what is too long to be put on the page at
 * once.
 */
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

/**
 * What is set in a moment. Where that will change how it looks, it keeps its room and is not seen
 * before.
 */
const Plain = ({ text }: { text: string }) => (
  <p className="plain" dir="auto" data-waits={MARKS.test(text)}>
    {text}
  </p>
);

interface PieceProps {
  readonly piece: MarkdownPiece;
  /** It is part of an answer that is being written. */
  readonly growing?: boolean;
  /** A line that ends in the source ends on the page. */
  readonly breaks?: boolean;
}

/**
 * One piece of an agent's words, as Markdown: set a moment later where that would hold up the page.
 */
export const Piece = memo(function Piece({ piece, growing = false, breaks = true }: PieceProps) {
  const { text, around, start, notes } = piece;
  const [plainFirst] = useState(
    () => !growing && !isPrinting() && !isTimeLeft() && !isKept({ text, around, start, breaks }),
  );
  const isShown = useDeferredValue(true, !plainFirst);
  if (!isShown) return <Plain text={text} />;
  const set = <Markdown text={text} around={around} start={start} growing={growing} breaks={breaks} />;
  return notes ? <div className="md-notes">{set}</div> : set;
});

/**
 * px above and below what is in sight in which pieces of an answer that is being written are on the
 * page.
 */
const AROUND = 2_000;

/**
 * A piece that is done while the answer goes on. Far from what is in sight, only its room stays.
 */
function Done({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const room = useRoom(ref, { around: AROUND, wherein: '.log' });
  return (
    <div ref={ref} className="md-done" style={room === null ? undefined : { height: room }}>
      {room === null && children}
    </div>
  );
}

/** Pieces that are set at once; the others follow frame by frame. */
const AT_ONCE = 3;

interface Props {
  readonly text: string;
  readonly growing?: boolean;
  readonly breaks?: boolean;
  /** It is part of an answer that is being written, perhaps behind it. */
  readonly ofAnswer?: boolean;
}

/** An agent's words, however long they are. */
export const Words = memo(function Words({ text, growing = false, breaks = true, ofAnswer = false }: Props) {
  // Where words come in faster than they are set, those between are passed over.
  const shownText = useDeferredValue(text);
  const pieces = useMemo(() => markdownPieces(shownText), [shownText]);
  const count = useGrowing(pieces.length, isPrinting() ? Infinity : AT_ONCE);
  const shown = pieces.slice(0, count);
  return shown.map((piece, i) => {
    const isGrowing = ofAnswer || (growing && i === pieces.length - 1);
    const set = <Piece piece={piece} growing={isGrowing} breaks={breaks} />;
    // Words are only ever added at the end: a piece's place is its identity.
    return ofAnswer ? <Done key={i}>{set}</Done> : <Fragment key={i}>{set}</Fragment>;
  });
});
