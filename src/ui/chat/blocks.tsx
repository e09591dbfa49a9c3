import type { Block } from '../../protocol/documents.ts';
import { ToolLines, type ToolBlock } from './tool-lines.tsx';
import { Words } from './words.tsx';

type Part = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'tools'; readonly tools: readonly ToolBlock[] };

/** Texts and runs of tool calls, in order. Calls to the team are dividers, and not shown here. */
function partsOf(blocks: readonly Block[]): Part[] {
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

export function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return partsOf(blocks).map((part, i) =>
    // Parts are only ever added at the end: their place is their identity.
    part.kind === 'text' ? <Words key={i} text={part.text} /> : <ToolLines key={i} tools={part.tools} />,
  );
}
