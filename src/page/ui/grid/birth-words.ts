/** What an egg thinks aloud: its last words, and the names that it tried and dropped. Pure. */
import type { Block } from '../../../shared/protocol/documents.ts';

const STRUCK = /~~([^~\n]{1,40})~~/g;
/** Characters of the last words. */
const WORDS = 64;

/** The names that are struck out in a text, without repetitions. */
export const triedNames = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(STRUCK)].map(([, name = '']) => name.trim()).filter((name) => name !== '')),
];

export interface BirthWords {
  readonly tried: readonly string[];
  /** The end of the text; empty: nothing was said yet. */
  readonly words: string;
}

export function birthWords(blocks: readonly Block[]): BirthWords {
  const text = blocks.map((block) => (block.kind === 'text' ? block.text : '')).join('\n');
  const refused = blocks.flatMap((block) =>
    block.kind === 'tool' && block.name === 'choose_name' && block.isError ? [nameIn(block.input)] : [],
  );
  const plain = text
    .replace(STRUCK, '$1')
    .replace(/[*_`#>]+/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  const words = plain.length <= WORDS ? plain : `…${plain.slice(-WORDS).replace(/^\S*\s/, '')}`;
  return { tried: [...new Set([...triedNames(text), ...refused.filter((name) => name !== '')])], words };
}

function nameIn(input: unknown): string {
  return typeof input === 'object' && input !== null && 'name' in input && typeof input.name === 'string'
    ? input.name
    : '';
}
