/** What a message is made of, and how a long one is laid over several rows of the log. Pure. */
import { textOf } from '../../domain/text-of.ts';
import type { Block, MessageDoc } from '../../protocol/documents.ts';
import type { ThreadMessage } from '../../protocol/threads.ts';
import { markdownPieces, plainPieces } from './pieces.ts';

export type ToolBlock = Extract<Block, { kind: 'tool' }>;

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tools'; readonly tools: readonly ToolBlock[] };

/** One row's share of a message. */
export interface Stretch {
  readonly parts: readonly Part[];
  readonly first: boolean;
  readonly last: boolean;
  /** What a long text of a person's does: it can be opened, or closed again. */
  readonly fold: 'none' | 'open' | 'closed';
}

/** Characters in a row, after which the next begins. */
const ROW_CHARS = 3_000;
/** Characters of a person's own message that are shown at first. */
const SHOWN_AT_FIRST = 4_000;
/** Folding away less than this part more would save nobody anything. */
const FOLD_FROM = SHOWN_AT_FIRST * 1.25;

/** Texts and runs of tool calls, in order. Calls to the team are dividers, and not shown here. */
export function partsOf(blocks: readonly Block[]): Part[] {
  const parts: Part[] = [];
  for (const block of blocks) {
    if (block.kind === 'text' && block.text !== '') parts.push({ kind: 'text', text: block.text });
    else if (block.kind === 'tool') {
      const last = parts.at(-1);
      if (last?.kind === 'tools') parts[parts.length - 1] = { kind: 'tools', tools: [...last.tools, block] };
      else parts.push({ kind: 'tools', tools: [block] });
    }
  }
  return parts;
}

const sizeOf = (part: Part) => (part.kind === 'text' ? part.text.length : 0);

function inRows(parts: readonly Part[], fold: Stretch['fold']): readonly Stretch[] {
  const rows: Part[][] = [[]];
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

/** What a person wrote, exactly as it was written; a very long text opens on demand. */
export function ownStretches(text: string, unfolded: boolean): readonly Stretch[] {
  if (text.length <= FOLD_FROM) return inRows(textParts([text]), 'none');
  return unfolded
    ? inRows(textParts(plainPieces(text)), 'open')
    : inRows(textParts([`${text.slice(0, SHOWN_AT_FIRST)}…`]), 'closed');
}

/** What an agent said, in pieces that are set one by one. */
const agentStretches = (parts: readonly Part[]): readonly Stretch[] =>
  inRows(
    parts.flatMap((part) => (part.kind === 'text' ? textParts(markdownPieces(part.text)) : [part])),
    'none',
  );

// A message never changes: its rows are worked out once.
const known = {
  folded: new WeakMap<MessageDoc | ThreadMessage, readonly Stretch[]>(),
  unfolded: new WeakMap<MessageDoc | ThreadMessage, readonly Stretch[]>(),
};

export function stretchesOf(message: MessageDoc | ThreadMessage, unfolded: boolean): readonly Stretch[] {
  const cache = unfolded ? known.unfolded : known.folded;
  const held = cache.get(message);
  if (held) return held;
  const { by, parts } =
    'blocks' in message
      ? { by: message.author, parts: partsOf(message.blocks) }
      : { by: message.from, parts: textParts([message.text]) };
  const text = () => ('blocks' in message ? textOf(message.blocks) : message.text);
  const stretches = by === 'human' ? ownStretches(text(), unfolded) : agentStretches(parts);
  cache.set(message, stretches);
  return stretches;
}
