/** Words and long sentences that make a text hard to read. Their number may only go down. */
import { describe, expect, it } from 'vitest';
import { textsOfPage } from '../../support/texts.ts';

const WORDS = /\b(?:stands?|lies|whoever|of (?:its|their|your) own|anew|by itself|any more|goes on|holds?)\b/i;

/**
 * Texts with such a word, by folder of the page. Lower a number with each text that you reword. A
 * folder that is not listed has none.
 */
const TODAY: Readonly<Record<string, number>> = {};

/** A sentence of more words is hard to read. */
const MOST_WORDS = 20;

/** Texts with a longer sentence, by folder. As above: a number may only go down. */
const LONG_TODAY: Readonly<Record<string, number>> = {};

const isLong = (text: string) =>
  text.split(/[.!?]\s|[\n|]/).some((sentence) => sentence.trim().split(/\s+/).length > MOST_WORDS);

const MARKED = textsOfPage().marked;
const folderOf = (at: string) => /^(?:src\/page\/(?:ui\/)?[^/:]+|[^/]+\/[^/:]+)/.exec(at)?.[0] ?? at;

function countedByFolder(isBad: (text: string) => boolean): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { key, at } of MARKED) {
    if (!isBad(key)) continue;
    const folder = folderOf(at);
    counts[folder] = (counts[folder] ?? 0) + 1;
  }
  return counts;
}

describe('Texts of the page', () => {
  it('finds the words in a text', () => {
    const texts = ['What stands here', 'Whoever serves it', 'It goes on', 'A name of its own', 'It holds at once'];
    expect(texts.filter((text) => !WORDS.test(text))).toEqual([]);
    expect(WORDS.test('A standard household on its own')).toBe(false);
  });

  it('use no more of these words in any folder than the list says', () => {
    const counts = Object.entries(countedByFolder((text) => WORDS.test(text)));
    expect(counts.filter(([folder, count]) => count > (TODAY[folder] ?? 0))).toEqual([]);
  });

  it('counts the words of each sentence', () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    expect(isLong(`${words(MOST_WORDS)}. ${words(MOST_WORDS)}|${words(MOST_WORDS)}.`)).toBe(false);
    expect(isLong(`One. ${words(MOST_WORDS + 1)}.`)).toBe(true);
  });

  it('have no more long sentences in any folder than the list says', () => {
    const counts = Object.entries(countedByFolder(isLong));
    expect(counts.filter(([folder, count]) => count > (LONG_TODAY[folder] ?? 0))).toEqual([]);
  });
});
