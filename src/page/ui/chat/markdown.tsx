/**
 * A piece of Markdown. What is set once is kept, and what grows is set anew only where it grows.
 */
import { memo, use, type ReactNode } from 'react';
import { Mentioned } from './mentioned.tsx';
import { createKept } from './parsed.ts';
import { NOTHING_AROUND, parsed, type Around } from './parser.ts';
import { setBlocks, setInline } from './set.tsx';
import './markdown.css';

export { safeUrl } from './set.tsx';

/**
 * Characters of pieces that are kept set, and of parts of pieces that grow: paragraphs, cells,
 * items and rows.
 */
const KEPT_CHARS = { pieces: 1_500_000, parts: 300_000 } as const;

const pieces = createKept<ReactNode>(KEPT_CHARS.pieces);
const parts = createKept<ReactNode>(KEPT_CHARS.parts);

interface Props {
  readonly text: string;
  /** What the piece must know of the message that it is a piece of. */
  readonly around?: Around;
  /** The number of its first item, where the piece goes on with a list. */
  readonly start?: number | null;
  /** It is part of an answer that is being written. */
  readonly growing?: boolean;
  /**
   * A line that ends in the source ends on the page, as in a chat; in a file, lines only end where
   * its writer's window did.
   */
  readonly breaks?: boolean;
}

const keyOf = ({ text, around = NOTHING_AROUND, start = null, breaks = true }: Props, chips: boolean) =>
  JSON.stringify([chips, breaks, start, around.key]) + text;

/** Was this text set before, so that it can be shown at once? */
export const isKept = (props: Props): boolean => pieces.has(keyOf(props, false)) || pieces.has(keyOf(props, true));

function set(props: Props, chips: boolean): ReactNode {
  const { text, around = NOTHING_AROUND, start = null, growing = false, breaks = true } = props;
  const { blocks, inline } = parsed(text, around);
  const [first] = blocks;
  if (start !== null && first?.type === 'ordered_list_open') first.attrSet('start', start);
  const make = (content: string) => setInline(inline(content), { chips, breaks, grows: growing });
  if (!growing) return setBlocks(blocks, { inline: make, kept: (_text, set) => set(), lines: null });
  const prefix = keyOf({ ...props, text: '' }, chips);
  return setBlocks(blocks, {
    inline: (content) => parts.get(prefix + content, () => make(content)),
    kept: (part, set) => parts.get(prefix + part, set),
    lines: text.split('\n'),
  });
}

const Markdown = memo(function Markdown(props: Props) {
  // The same text with chips is set by itself. Whom they stand for they find out where they stand.
  const chips = use(Mentioned).length > 0;
  return (
    <div className="md" dir="auto">
      {props.growing ? set(props, chips) : pieces.get(keyOf(props, chips), () => set(props, chips))}
    </div>
  );
});
export default Markdown;
