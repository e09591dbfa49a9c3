/** A block of a message or an answer. */
interface SomeBlock {
  readonly kind: string;
  readonly text?: unknown;
}

/** The text of a message or an answer, without its tool calls. Each text block is a paragraph. */
export const textOf = (blocks: readonly SomeBlock[]): string =>
  blocks.flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])).join('\n\n');
