/**
 * From text to the terms of an index, and back to where they stand in it. Pure.
 *
 * A word is a run of letters, digits and marks, folded: without case, accents and widths. In scripts that are written
 * without spaces a run is cut into overlapping pieces, at each character one, shorter ones at its end: whatever part of
 * the run somebody types is then found by its pieces, and a single character as the beginning of one. (Dictionaries,
 * as Intl.Segmenter has them, cut 東京都 and 京都 differently, take twenty times as long, and differ between browsers.)
 */
import { SEARCH } from './settings.ts';

const UNSPACED = /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]+/gu;
/** Alphabets, of which two letters tell little. */
const THREE = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
const PLAIN = /^[\0-\x7f]*$/;
/** The first unit of anything unspaced lies behind this. */
const LATER = /[\u0e00-\uffff]/;
/** Accents, points and signs that people leave out; not the vowels of Indic and Thai, nor the voicing of kana. */
const MARKS = /[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
/** Letters that no decomposition takes apart. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i',
  ς: 'σ',
};
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g');

/** Without case, accents and widths. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (PLAIN.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC')
    .toLowerCase();
}

/** A folded word, or a folded run without spaces, and where it stands in the text. */
export interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly unspaced: boolean;
}

const IN_WORD = /^[\p{L}\p{N}\p{M}]/u;
/** Of each UTF-16 unit: 1 in a word, 0 between words, 2 half of a sign that has to be looked at whole. Made when it is first needed. */
let units: Uint8Array | null = null;
const unitsOnce = (): Uint8Array =>
  (units ??= Uint8Array.from({ length: 0x10000 }, (_, unit) =>
    unit >= 0xd800 && unit < 0xe000 ? 2 : IN_WORD.test(String.fromCharCode(unit)) ? 1 : 0,
  ));

/**
 * Visits the runs of letters, digits and marks that begin in `text` from `from` on and before `until`: a search goes through
 * much text, and a regular expression takes five times as long. Answers where the next look begins.
 */
export function visitWords(
  text: string,
  from: number,
  until: number,
  visit: (from: number, to: number) => void,
): number {
  const kinds = unitsOnce();
  let begin = -1;
  let at = from;
  while (at < text.length) {
    const kind = kinds[text.charCodeAt(at)];
    const wide = kind === 2 ? 2 : 1;
    if (kind === 1 || (kind === 2 && IN_WORD.test(text.slice(at, at + 2)))) {
      if (begin < 0) {
        if (at >= until) return at;
        begin = at;
      }
    } else if (begin >= 0) {
      visit(begin, at);
      begin = -1;
    }
    at += wide;
  }
  if (begin >= 0) visit(begin, text.length);
  return text.length;
}

/** The tokens of one run of letters, digits and marks that begins there in its text. */
export function visitTokensOf(word: string, index: number, visit: (token: Token) => void): void {
  if (!LATER.test(word)) {
    visit({ text: fold(word), from: index, to: index + word.length, unspaced: false });
    return;
  }
  let at = 0;
  for (const run of word.matchAll(UNSPACED)) {
    if (run.index > at)
      visit({ text: fold(word.slice(at, run.index)), from: index + at, to: index + run.index, unspaced: false });
    at = run.index + run[0].length;
    visit({ text: fold(run[0]), from: index + run.index, to: index + at, unspaced: true });
  }
  if (at < word.length)
    visit({ text: fold(word.slice(at)), from: index + at, to: index + word.length, unspaced: false });
}

/** Visits the tokens of the words that begin from `from` on and before `until`. Answers where the next look begins. */
export const visitTokens = (text: string, from: number, until: number, visit: (token: Token) => void): number =>
  visitWords(text, from, until, (begin, end) => visitTokensOf(text.slice(begin, end), begin, visit));

/** All of a text. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  visitTokens(text, 0, text.length, (token) => tokens.push(token));
  return tokens;
}

/** The pieces of a run without spaces: at each character one; at the end they are shorter. */
function* piecesOf(run: string): Generator<string> {
  const size = THREE.test(run) ? 3 : 2;
  const characters = [...run];
  for (let at = 0; at < characters.length; at++) yield characters.slice(at, at + size).join('');
}

/** The terms under which a token stands in the index. */
export function* termsOf({ text, unspaced }: Token): Generator<string> {
  if (unspaced) yield* piecesOf(text);
  else if (text !== '') yield text.slice(0, SEARCH.termChars);
}

/** Something that a document must hold. */
export interface Wanted {
  readonly term: string;
  /** Other words that begin with it will do. */
  readonly asPrefix: boolean;
  /** A typing error in it is forgiven. */
  readonly forgiving: boolean;
}

/**
 * What somebody typed, as what a document must hold; each once. `typing`: the last word may go on. Nearly every document has
 * a word that begins with one letter or two: those only count where they are all there is, or a word of their own.
 */
export function wantedOf(tokens: readonly Token[], typing: boolean): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const [i, { text, unspaced }] of tokens.entries()) {
    const isOpen = typing && i === tokens.length - 1;
    if (unspaced) {
      const pieces = [...piecesOf(text)];
      const [first = ''] = pieces;
      const full = pieces.filter((piece) => [...piece].length === [...first].length);
      // Shorter than a piece: as the beginning of one. Else its whole pieces say all there is.
      const short = full.length === 1 && pieces.length > 0 && [...text].length < (THREE.test(text) ? 3 : 2);
      for (const term of full) wanted.set(term, { term, asPrefix: short, forgiving: false });
    } else if (text !== '') {
      const term = text.slice(0, SEARCH.termChars);
      if (term.length < SEARCH.wordFrom && isOpen && tokens.length > 1) continue;
      const asPrefix = term.length > (isOpen ? 1 : SEARCH.wordFrom);
      wanted.set(term, { term, asPrefix, forgiving: term.length >= SEARCH.forgiveFrom && !/\d/.test(term) });
    }
  }
  return [...wanted.values()].slice(0, SEARCH.wordsMost);
}

/** Rows of the table below, used again: a search compares tens of thousands of words. */
const ROWS = [0, 1, 2].map(() => new Uint8Array(SEARCH.termChars + 8));

/**
 * How many letters of `word` must be changed, added, left out or swapped with their neighbour to make it a beginning of
 * `term`; more than `most` (at most 4): at least that many. Of the table of Damerau and Levenshtein only the band is filled
 * in which the answer can lie (Ukkonen 1985).
 */
export function distance(word: string, term: string, most: number): number {
  const long = Math.min(word.length, SEARCH.termChars);
  const wide = Math.min(term.length, long + most);
  const over = most + 1;
  if (long - wide > most) return over;
  let [before, last, row] = ROWS as [Uint8Array, Uint8Array, Uint8Array];
  for (let j = 0; j <= wide; j++) last[j] = Math.min(j, over);
  for (let i = 1; i <= long; i++) {
    const from = Math.max(1, i - most);
    const to = Math.min(wide, i + most);
    const letter = word.charCodeAt(i - 1);
    let least = from === 1 ? Math.min(i, over) : over;
    row[from - 1] = least;
    for (let j = from; j <= to; j++) {
      const other = term.charCodeAt(j - 1);
      let cost = (last[j - 1] ?? over) + (letter === other ? 0 : 1);
      if (j < i + most) cost = Math.min(cost, (last[j] ?? over) + 1);
      cost = Math.min(cost, (row[j - 1] ?? over) + 1);
      if (i > 1 && j > 1 && letter === term.charCodeAt(j - 2) && word.charCodeAt(i - 2) === other)
        cost = Math.min(cost, (before[j - 2] ?? over) + 1);
      row[j] = cost;
      if (cost < least) least = cost;
    }
    if (to < wide) row[to + 1] = over;
    if (least > most) return over;
    [before, last, row] = [last, row, before];
  }
  let best = over;
  for (let j = Math.max(0, long - most); j <= wide; j++) best = Math.min(best, last[j] ?? over);
  return best;
}
