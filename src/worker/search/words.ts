/**
 * Cuts text into terms of an index, and finds terms in a text. Pure.
 *
 * A word is a run of letters, digits and marks. It is folded: case, accents and widths are removed.
 * Scripts without spaces are cut into overlapping pieces, one at each character, with shorter ones
 * at the end of the run. So any part of the run that a person types is found by its pieces. A
 * single character is found as the beginning of a piece. (Dictionaries such as Intl.Segmenter's cut
 * 東京都 and 京都 differently, take twenty times as long, and differ between browsers.) Korean has
 * spaces, but builds words from words, so it is cut into pieces too.
 *
 * A word is also indexed under each word that begins inside it (`name` of `UserName`). A chain of
 * words is also indexed under its joined form (`wellknown` of `well-known`, `1234` of `1,234.56`).
 * An emoji is a word of its own.
 */
import { SEARCH } from './settings.ts';

const UNSPACED =
  /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]+/gu;
/** Alphabets, in which two letters say little. Their pieces have three. */
const THREE = /^[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tibt}]/u;
const PLAIN = /^[\0-\x7f]*$/;
/** The first character of every script without spaces is in this range. */
const LATER = /[\u0e00-\uffff]/;
/**
 * Accents, points and signs that people leave out. Vowels of Indic scripts and Thai, and the
 * voicing of kana, stay.
 */
const MARKS = /[\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]/g;
/** Variants of an emoji: presentation and skin tone. People search without them. */
const EMOJI_DRESS = /[\ufe0e\ufe0f]|\ud83c[\udffb-\udfff]/g;
/** Letters that Unicode decomposition does not split. */
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

/** Removes case, accents and widths. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (PLAIN.test(lower)) return lower;
  return lower
    .normalize('NFKD')
    .replace(MARKS, '')
    .replace(EMOJI_DRESS, '')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
    .normalize('NFC')
    .toLowerCase();
}

/** A folded word, or a folded run without spaces, and its place in the text. */
export interface Token {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly unspaced: boolean;
  /** Further terms for the index, and where they stand in the text. */
  readonly also?: readonly Inside[];
}

/**
 * A term in addition to the word itself: a word that begins inside it, or the chain that begins
 * with it.
 */
export interface Inside {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

const IN_WORD = /^[\p{L}\p{N}\p{M}]/u;
const IS_EMOJI = /^(?:\p{Extended_Pictographic}|\p{Regional_Indicator})/u;
/** An emoji with its variants, several joined into one, or a flag. */
const EMOJI =
  /(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})*(?:\u200d\p{Extended_Pictographic}(?:[\ufe0e\ufe0f]|\p{Emoji_Modifier})*)*)/uy;
/**
 * Classes of UTF-16 units: between words, in a word, half of a surrogate pair (decided by the whole
 * character), an emoji.
 */
const KIND = { between: 0, word: 1, half: 2, emoji: 3 } as const;
/** Made when it is first needed. */
let units: Uint8Array | null = null;
function kindOf(unit: number): number {
  if (unit >= 0xd800 && unit < 0xe000) return KIND.half;
  const sign = String.fromCharCode(unit);
  if (IN_WORD.test(sign)) return KIND.word;
  return IS_EMOJI.test(sign) ? KIND.emoji : KIND.between;
}
const unitsOnce = (): Uint8Array => (units ??= Uint8Array.from({ length: 0x10000 }, (_, unit) => kindOf(unit)));
function kindOfPair(pair: string): number {
  if (IN_WORD.test(pair)) return KIND.word;
  return IS_EMOJI.test(pair) ? KIND.emoji : KIND.between;
}
/** The end of the emoji that begins at `at`. Null: none begins there. */
function emojiEnd(text: string, at: number): number | null {
  EMOJI.lastIndex = at;
  return EMOJI.test(text) ? EMOJI.lastIndex : null;
}

/**
 * Visits the words and emoji that begin in `text` from `from` on and before `until`. Returns where
 * the next visit begins. It uses no regular expression, which would take five times as long.
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
    const unit = kinds[text.charCodeAt(at)];
    const kind = unit === KIND.half ? kindOfPair(text.slice(at, at + 2)) : unit;
    let next = at + (unit === KIND.half ? 2 : 1);
    if (kind === KIND.word) {
      if (begin < 0) {
        if (at >= until) return at;
        begin = at;
      }
    } else {
      if (begin >= 0) visit(begin, at);
      begin = -1;
      const end = kind === KIND.emoji ? emojiEnd(text, at) : null;
      if (end !== null) {
        if (at >= until) return at;
        visit(at, end);
        next = end;
      }
    }
    at = next;
  }
  if (begin >= 0) visit(begin, text.length);
  return text.length;
}

/**
 * Characters inside words that may be written as one: hyphens, apostrophes, points, and invisible
 * ones.
 */
const JOINS = new Set("-'._\u2019\u2010\u2011\u00ad\u200b\u200c\u200d\u2060");
/** Thousands separators of all countries. */
const THOUSANDS = new Set(",.'\u2019\u00a0\u2009\u202f");
const GROUP = 3;
const isDigits = (text: string) => /^[0-9]+$/.test(text);

/** The end of the word that begins at `at`. `at` itself where none begins. */
function wordEnd(text: string, at: number): number {
  const kinds = unitsOnce();
  let end = at;
  while (end < text.length && kinds[text.charCodeAt(end)] === KIND.word) end += 1;
  return end;
}
const isWordAt = (text: string, at: number) => at >= 0 && unitsOnce()[text.charCodeAt(at)] === KIND.word;

export interface Chain {
  readonly to: number;
  /** The words of the chain, joined and folded. */
  readonly text: string;
}

/**
 * The chain whose first word is between `from` and `to`. Null: the word is not the first of a
 * chain.
 */
export function chainFrom(text: string, from: number, to: number): Chain | null {
  const sign = text.charAt(to);
  if (!(JOINS.has(sign) || THOUSANDS.has(sign)) || !isWordAt(text, to + 1)) return null;
  const first = text.slice(from, to);
  const isNumber = isDigits(first);
  const joins = isNumber && THOUSANDS.has(sign) ? THOUSANDS : JOINS;
  // Points separate the numbers of a version and of a date.
  if (isNumber && joins === JOINS && sign === '.') return null;
  if (joins.has(text.charAt(from - 1)) && isWordAt(text, from - 2)) return null;
  let joined = first;
  let at = to;
  while (joined.length < SEARCH.termChars && joins.has(text.charAt(at)) && isWordAt(text, at + 1)) {
    const end = wordEnd(text, at + 1);
    const word = text.slice(at + 1, end);
    if (joins === THOUSANDS && (first.length > GROUP || word.length !== GROUP || !isDigits(word))) break;
    joined += word;
    at = end;
  }
  return at === to ? null : { to: at, text: fold(joined).slice(0, SEARCH.termChars) };
}

const LOWER = 1;
const UPPER = 2;
const DIGIT = 3;
function caseOf(sign: string): number {
  if (/[0-9]/.test(sign)) return DIGIT;
  const lower = sign.toLowerCase();
  if (lower === sign.toUpperCase()) return 0;
  return sign === lower ? LOWER : UPPER;
}

/**
 * Where further words begin inside a word: at a capital, and between letters and digits. In
 * `HTTPRequest` at the R.
 */
export function beginningsIn(word: string): readonly number[] {
  // People do not search for the middle of a key or a hash.
  if (word.length > SEARCH.termChars) return [];
  const rest = word.slice(1);
  if (rest === rest.toLowerCase() && !/[0-9]/.test(word)) return [];
  const begins: number[] = [];
  let before = caseOf(word.charAt(0));
  for (let at = 1; at < word.length; at++) {
    const now = caseOf(word.charAt(at));
    const isNew =
      (now === UPPER && (before !== UPPER || caseOf(word.charAt(at + 1)) === LOWER)) ||
      (before === DIGIT) !== (now === DIGIT);
    if (isNew) begins.push(at);
    before = now;
  }
  return begins.slice(0, SEARCH.wordsInside).filter((begin) => word.length - begin >= SEARCH.insideLeast);
}

/** The token of a word with spaces around it, with the words that begin inside it. */
function spacedToken(word: string, from: number): Token {
  const to = from + word.length;
  const begins = beginningsIn(word);
  const token = { text: fold(word), from, to, unspaced: false };
  if (begins.length === 0) return token;
  return { ...token, also: begins.map((begin) => ({ text: fold(word.slice(begin)), from: from + begin, to })) };
}

/** Visits the tokens of one word at this place of its text, or of one emoji. */
export function visitTokensOf(word: string, index: number, visit: (token: Token) => void): void {
  if (!LATER.test(word)) {
    visit(spacedToken(word, index));
    return;
  }
  let at = 0;
  for (const run of word.matchAll(UNSPACED)) {
    if (run.index > at) visit(spacedToken(word.slice(at, run.index), index + at));
    at = run.index + run[0].length;
    visit({ text: fold(run[0]), from: index + run.index, to: index + at, unspaced: true });
  }
  if (at < word.length) visit(spacedToken(word.slice(at), index + at));
}

/**
 * Visits the tokens of the words that begin from `from` on and before `until`. Returns where the
 * next visit begins.
 */
export const visitTokens = (text: string, from: number, until: number, visit: (token: Token) => void): number =>
  visitWords(text, from, until, (begin, end) => {
    visitTokensOf(text.slice(begin, end), begin, visit);
    const chain = chainFrom(text, begin, end);
    if (chain) visit({ text: chain.text, from: begin, to: chain.to, unspaced: false });
  });

/** The tokens of a typed text. A number is one token, whatever its thousands separators. */
export function typedTokens(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let after = 0;
  visitWords(text, 0, text.length, (begin, end) => {
    if (begin < after) return;
    const chain = isDigits(text.slice(begin, end)) ? chainFrom(text, begin, end) : null;
    if (chain && THOUSANDS.has(text.charAt(end))) {
      after = chain.to;
      tokens.push({ text: chain.text, from: begin, to: chain.to, unspaced: false });
    } else visitTokensOf(text.slice(begin, end), begin, (token) => tokens.push(token));
  });
  return tokens;
}

/** The pieces of a run without spaces: one at each character, shorter at the end. */
function* piecesOf(run: string): Generator<string> {
  const size = THREE.test(run) ? 3 : 2;
  const characters = [...run];
  for (let at = 0; at < characters.length; at++) yield characters.slice(at, at + size).join('');
}

/** The terms under which a token is indexed. */
export function* termsOf({ text, unspaced, also = [] }: Token): Generator<string> {
  if (unspaced) yield* piecesOf(text);
  else if (text !== '') yield text.slice(0, SEARCH.termChars);
  for (const inside of also) yield inside.text;
}

/** A term that a document must have. */
export interface Wanted {
  readonly term: string;
  /** Longer words that begin with it match too. */
  readonly asPrefix: boolean;
  /** A typing error in it is forgiven. */
  readonly forgiving: boolean;
}

/**
 * Turns typed tokens into the terms that a document must have, each once. `typing`: the last word
 * may be incomplete. Nearly every document has a word that begins with a given letter or two. So
 * such short beginnings count only where nothing else was typed, or as whole words.
 */
export function wantedOf(tokens: readonly Token[], typing: boolean): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const [i, { text, unspaced }] of tokens.entries()) {
    const isOpen = typing && i === tokens.length - 1;
    if (unspaced) {
      const pieces = [...piecesOf(text)];
      const [first = ''] = pieces;
      const full = pieces.filter((piece) => [...piece].length === [...first].length);
      // A text shorter than a piece matches as the beginning of one. Otherwise the full pieces
      // suffice.
      const short = full.length === 1 && pieces.length > 0 && [...text].length < (THREE.test(text) ? 3 : 2);
      for (const term of full) wanted.set(term, { term, asPrefix: short, forgiving: false });
    } else if (text !== '') {
      const term = text.slice(0, SEARCH.termChars);
      if (term.length < SEARCH.wordFrom && isOpen && tokens.length > 1) continue;
      const asPrefix = term.length > (isOpen ? 1 : SEARCH.wordFrom);
      wanted.set(term, {
        term,
        asPrefix,
        forgiving: term.length >= SEARCH.forgiveFrom && !/\d/.test(term) && !IS_EMOJI.test(term),
      });
    }
  }
  return [...wanted.values()].slice(0, SEARCH.wordsMost);
}

/** Rows of the table below, reused: a search compares tens of thousands of words. */
const ROWS = [0, 1, 2].map(() => new Uint8Array(SEARCH.termChars + 8));

/**
 * The edit distance between `word` and the nearest beginning of `term`: letters changed, added,
 * left out or swapped with their neighbour. Above `most` (at most 4), the result is only a lower
 * bound. Of the Damerau-Levenshtein table only the band is filled that can hold the answer (Ukkonen
 * 1985).
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
