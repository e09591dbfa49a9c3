import { memo } from 'react';
import type { Block } from '../../protocol/documents.ts';
import { partsOf, type Part } from './parts.ts';
import { ToolLines } from './tool-lines.tsx';
import { Piece, Words } from './words.tsx';

/** A row's share of what an agent said. */
export const ShownParts = memo(function ShownParts({ parts }: { parts: readonly Part[] }) {
  return parts.map((part, i) =>
    part.kind === 'text' ? <Piece key={i} text={part.text} /> : <ToolLines key={i} tools={part.tools} />,
  );
});

/** What an agent is saying now. Parts are only ever added at the end: their place is their identity. */
export function GrowingParts({ blocks }: { blocks: readonly Block[] }) {
  return partsOf(blocks).map((part, i, all) =>
    part.kind === 'text' ? (
      <Words key={i} text={part.text} growing={i === all.length - 1} />
    ) : (
      <ToolLines key={i} tools={part.tools} />
    ),
  );
}
