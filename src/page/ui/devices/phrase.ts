/** The recovery phrase as a person handles it. */

/** Words that are asked for in the drill. */
const DRILL_WORDS = 3;

/** Different places (1 to `of`) to be asked for, in ascending order. `random`: from 0 up to 1. */
export function drillPositions(of: number, random: () => number): readonly number[] {
  const left = Array.from({ length: of }, (_, i) => i + 1);
  const drawn = Array.from({ length: Math.min(DRILL_WORDS, of) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
  return drawn.sort((a, b) => a - b);
}

/** Is this the word, as people type it? */
export const sameWord = (typed: string, word: string | undefined): boolean => typed.trim().toLowerCase() === word;

/** How many words a text has; numbers before them, as on a list, are none. */
export const countWords = (text: string): number =>
  text.split(/[\s,;|]+/u).filter((piece) => /\p{L}/u.test(piece)).length;
