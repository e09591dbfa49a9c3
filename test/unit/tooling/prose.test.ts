/** How comments, documentation and texts of the page are written: what a machine can tell of it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--deduplicate'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => path !== '');
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

/** Characters of a line that is nothing but a comment. */
const COMMENT_WIDTH = 100;
const SENTENCE_WORDS = 35;
const COMMENT = /^\s*(\/\/ |\/\*\*? |\* )/;
/** What lint is told, in one line; and code or a drawing within a comment. */
const AS_IT_IS = /(ox|es)lint-disable|^\s*\* {4,}/;

/** What was made from something else, or tells what was. */
const NO_PROSE = ['docs/wire.md', 'CHANGELOG.md'];
/**
 * Words of our own for which the field has one (`docs/developing/words.md`). People would have to
 * learn them first.
 */
const PRIVATE = ['tool server', 'agent program', 'played by', 'let go of', 'left copy', 'keeper'];

const documents = tracked.filter(
  (path) => path.endsWith('.md') && !path.startsWith('test/') && !NO_PROSE.includes(path),
);

/** Sentences of a Markdown text, without its code; of a table, those of each cell. */
function sentencesOf(markdown: string): string[] {
  const paragraphs = markdown.replaceAll(/```[\s\S]*?```/g, '').split(/\n\s*\n|\n(?=\s*[-*|#\d])/);
  return paragraphs
    .flatMap((text) => (text.startsWith('|') ? text.split('|') : [text]))
    .flatMap((text) => text.replaceAll(/\s+/g, ' ').split(/(?<=[.!?:;])\s/));
}
const wordsIn = (sentence: string) => sentence.split(' ').filter((word) => word !== '').length;

/** English texts of the page: the keys of the catalogue. */
const texts = Object.keys(z.record(z.string(), z.unknown()).parse(JSON.parse(read('src/page/language/de.json'))));

describe('Prose', () => {
  it('has comments of at most 100 characters in a line', () => {
    const code = tracked.filter((path) => /\.(ts|tsx|mts|js|mjs)$/.test(path) && existsSync(`${root}${path}`));
    expect(code.length).toBeGreaterThan(1_000);
    const wide = code.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, at) =>
          line.length > COMMENT_WIDTH && COMMENT.test(line) && !AS_IT_IS.test(line) ? [`${path}:${at + 1}`] : [],
        ),
    );
    expect(wide).toEqual([]);
  });

  it('has sentences of at most 35 words in documentation, and on the page', () => {
    const long = [
      ...documents.flatMap((path) => sentencesOf(read(path)).map((sentence) => [path, sentence] as const)),
      ...texts.flatMap((text) => sentencesOf(text).map((sentence) => ['the page', sentence] as const)),
    ].filter(([, sentence]) => wordsIn(sentence) > SENTENCE_WORDS);
    expect(long).toEqual([]);
  });

  it('has the words of the field on the page and in the guides, and none of our own', () => {
    const guides = documents.filter((path) => path.startsWith('docs/') || path === 'README.md').map(read);
    const found = [...texts, ...guides].filter((text) => PRIVATE.some((word) => text.toLowerCase().includes(word)));
    expect(found).toEqual([]);
  });
});
