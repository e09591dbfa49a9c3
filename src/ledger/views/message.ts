/** Pure facts about a message. */
import type { MessageDoc } from '../../protocol/documents.ts';

/** Did the agent whose conversation this is say something in it? */
export function hasSpoken(doc: MessageDoc): boolean {
  return doc.role === 'assistant' && doc.blocks.some((block) => block.kind === 'text' && block.text.trim() !== '');
}

/** Characters of text that people and agents read. */
export function textLength(doc: MessageDoc): number {
  return doc.blocks.reduce((sum, block) => sum + (block.kind === 'text' ? block.text.length : 0), 0);
}
