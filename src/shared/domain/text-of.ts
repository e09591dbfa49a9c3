/** As blocks of messages and answers are. */
interface SomeBlock {
  readonly kind: string;
  readonly text?: unknown;
}

/**
 * The words of a message or an answer, without its tool calls: what stands between two of these is
 * a paragraph of its own.
 */
export const textOf = (blocks: readonly SomeBlock[]): string =>
  blocks.flatMap(({ kind, text }) => (kind === 'text' ? [text] : [])).join('\n\n');
