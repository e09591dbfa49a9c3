/** The words of a message or an answer, without its tool calls: what stands between two of these is a paragraph of its own. */
export const textOf = (
  blocks: readonly ({ readonly kind: 'text'; readonly text: string } | { readonly kind: string })[],
): string => blocks.flatMap((block) => ('text' in block && block.kind === 'text' ? [block.text] : [])).join('\n\n');
