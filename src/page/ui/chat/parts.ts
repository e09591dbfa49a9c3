/** Splits a message into parts, and a long one into several rows of the log. Pure. */
import { textOf } from '../../../shared/domain/text-of.ts';
import { THOUGHT } from '../../../shared/domain/talk.ts';
import { thinkingApart } from '../../../shared/domain/thinking.ts';
import type { Block, MessageDoc } from '../../../shared/protocol/documents.ts';
import type { ThreadMessage } from '../../../shared/protocol/threads.ts';
import { type MarkdownPiece, markdownPieces, plainPieces } from './parser.ts';

export type ToolBlock = Extract<Block, { kind: 'tool' }>;

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** The model's reasoning before it answered. */
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'tools'; readonly tools: readonly ToolBlock[] };
/** An agent's text in pieces; a person's text as written. */
export type ShownPart = Part | { readonly kind: 'piece'; readonly piece: MarkdownPiece };

/** One row's share of a message. */
export interface Stretch {
  readonly parts: readonly ShownPart[];
  readonly first: boolean;
  readonly last: boolean;
  /** Whether a person's long text can be expanded or collapsed. */
  readonly fold: 'none' | 'open' | 'closed';
}

/** Characters in a row, after which the next begins. */
const ROW_CHARS = 3_000;
/** Characters of a person's message that are shown at first. */
const SHOWN_AT_FIRST = 4_000;
/** Texts up to this length are not collapsed: hiding less would save no one anything. */
const FOLD_FROM = SHOWN_AT_FIRST * 1.25;

const wordParts = (text: string, isGrowing: boolean): Part[] =>
  thinkingApart(text, isGrowing).map((each) => ({
    kind: each.kind === 'words' ? 'text' : 'thinking',
    text: each.text,
  }));

/**
 * Texts, reasoning and runs of tool calls, in order. Calls to the team are dividers and not part of
 * this.
 *
 * @param isGrowing More text follows at the end.
 */
export function partsOf(blocks: readonly Block[], isGrowing = false): Part[] {
  const parts: Part[] = [];
  for (const block of blocks) {
    if (block.kind === 'text') parts.push(...wordParts(block.text, isGrowing && block === blocks.at(-1)));
    else if (block.kind === 'tool' && block.name === THOUGHT) {
      if (block.result) parts.push({ kind: 'thinking', text: block.result });
    } else if (block.kind === 'tool') {
      const last = parts.at(-1);
      if (last?.kind === 'tools') parts[parts.length - 1] = { kind: 'tools', tools: [...last.tools, block] };
      else parts.push({ kind: 'tools', tools: [block] });
    }
  }
  return parts;
}

function sizeOf(part: ShownPart): number {
  if (part.kind === 'piece') return part.piece.text.length;
  return part.kind === 'text' ? part.text.length : 0;
}

function inRows(parts: readonly ShownPart[], fold: Stretch['fold']): readonly Stretch[] {
  const rows: ShownPart[][] = [[]];
  let size = 0;
  for (const part of parts) {
    if (size > 0 && size + sizeOf(part) > ROW_CHARS) {
      rows.push([]);
      size = 0;
    }
    rows.at(-1)?.push(part);
    size += sizeOf(part);
  }
  return rows.map((row, i) => ({ parts: row, first: i === 0, last: i === rows.length - 1, fold }));
}

const textParts = (pieces: readonly string[]): Part[] => pieces.map((text) => ({ kind: 'text', text }));

/** The person's message, exactly as written. A very long text is expanded on demand. */
export function ownStretches(text: string, unfolded: boolean): readonly Stretch[] {
  if (text.length <= FOLD_FROM) return inRows(textParts([text]), 'none');
  return unfolded
    ? inRows(textParts(plainPieces(text)), 'open')
    : inRows(textParts([`${text.slice(0, SHOWN_AT_FIRST)}…`]), 'closed');
}

/** An agent's message, in pieces that are rendered one by one. */
const agentStretches = (parts: readonly Part[]): readonly Stretch[] =>
  inRows(
    parts.flatMap((part): ShownPart[] =>
      part.kind === 'text' ? markdownPieces(part.text).map((piece) => ({ kind: 'piece', piece })) : [part],
    ),
    'none',
  );

// A message never changes, so its rows are computed once.
const partsCache = {
  folded: new WeakMap<MessageDoc | ThreadMessage, readonly Stretch[]>(),
  unfolded: new WeakMap<MessageDoc | ThreadMessage, readonly Stretch[]>(),
};

export function stretchesOf(message: MessageDoc | ThreadMessage, unfolded: boolean): readonly Stretch[] {
  const cache = unfolded ? partsCache.unfolded : partsCache.folded;
  const held = cache.get(message);
  if (held) return held;
  const { by, parts } =
    'blocks' in message
      ? { by: message.author, parts: partsOf(message.blocks) }
      : { by: message.from, parts: wordParts(message.text, false) };
  const text = () => ('blocks' in message ? textOf(message.blocks) : message.text);
  const stretches = by === 'human' ? ownStretches(text(), unfolded) : agentStretches(parts);
  cache.set(message, stretches);
  return stretches;
}
