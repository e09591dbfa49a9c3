/**
 * What is found for a question: ranked by the index, then by how the words stand together in the
 * best.
 */
import type { Passage } from '../../shared/protocol/search.ts';
import { SEARCH } from './settings.ts';
import {
  beginningsIn,
  chainFrom,
  termsOf,
  type Token,
  typedTokens,
  visitTokensOf,
  visitWords,
  wantedOf,
} from './words.ts';
import type { Builder } from './builder.ts';
import { placeOf, type Searchable, searchableOf } from './documents.ts';
import { rank } from './query.ts';
import type { SearchedLedger } from './searched-ledger.ts';

// Of a text that was found: the piece that says best why, and how well it fits. Pure.

interface Mark {
  readonly from: number;
  readonly to: number;
  /** Which of the words it is. */
  readonly word: number;
}

interface Fit {
  readonly passage: Passage;
  /** How many of the words stand in it, of all: 0–1. */
  readonly covered: number;
  /**
   * The longest stretch of words that stand there as they were typed, one after the other, of all:
   * 0–1.
   */
  readonly inOrder: number;
  /** How close those of the passage stand together: 0–1. */
  readonly close: number;
}

const NOTHING: readonly Mark[] = [];

/**
 * Looks for what was typed in texts. `forms`: words that stand for each of the index's terms;
 * `room`: characters of a passage.
 */
function createFinder(
  typed: readonly Token[],
  forms: ReadonlyMap<string, ReadonlySet<string>>,
  room: number = SEARCH.passage,
) {
  /** What was typed, word by word, as it is compared with a text: a run without spaces as it is. */
  const words = [...new Map(typed.map((token) => [token.text, token])).values()].filter(({ text }) => text !== '');
  const sequence = typed.map(({ text }) => words.findIndex((word) => word.text === text));
  /** By a word as it stands in a text: what of it was looked for; most is nothing. */
  const known = new Map<string, readonly Mark[]>();

  /**
   * Plain letters, small, with which something that is looked for begins: with another, a word need
   * not be looked at.
   */
  const firsts = new Set(
    [...words.map(({ text }) => text), ...[...forms.values()].flatMap((each) => [...each])].map((word) =>
      word.charCodeAt(0),
    ),
  );
  const hasUnspaced = words.some(({ unspaced }) => unspaced);
  const mayBegin = (unit: number) =>
    hasUnspaced || unit >= 0x80 || firsts.has(unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);

  const isTermOf = (term: string, word: Token) =>
    term === word.text || forms.get([...termsOf(word)][0] ?? '')?.has(term) === true;
  /** The words that a token of a text stands for. */
  function wordsIn(token: Token): readonly number[] {
    const [term = ''] = termsOf(token);
    return words.flatMap((word, i) => {
      if (word.unspaced) return token.unspaced && token.text.includes(word.text) ? [i] : [];
      return !token.unspaced && isTermOf(term, word) ? [i] : [];
    });
  }
  /** What of a token was looked for besides the whole: words that begin inside it. */
  const insideOf = (token: Token): readonly Mark[] =>
    (token.also ?? []).flatMap(({ text, from, to }) =>
      words.flatMap((word, i) => (!word.unspaced && isTermOf(text, word) ? [{ from, to, word: i }] : [])),
    );

  /** Where in a run without spaces a word stands; all of it where folding has moved its letters. */
  function markOf(token: Token, word: number): Mark {
    const wanted = words[word]?.text ?? '';
    const isSame = token.to - token.from === token.text.length;
    if (!token.unspaced || !isSame) return { from: token.from, to: token.to, word };
    const from = token.from + token.text.indexOf(wanted);
    return { from, to: from + wanted.length, word };
  }

  /** What of one word of a text was looked for, from its beginning on. */
  function marksIn(raw: string): readonly Mark[] {
    const held = known.get(raw);
    if (held) return held;
    const marks: Mark[] = [];
    visitTokensOf(raw, 0, (token) => {
      const whole = wordsIn(token);
      for (const word of whole) marks.push(markOf(token, word));
      for (const mark of insideOf(token)) if (!whole.includes(mark.word)) marks.push(mark);
    });
    known.set(raw, marks);
    return marks;
  }

  /** What of the chain that begins with a word was looked for. */
  function marksOfChain(text: string, begin: number, end: number): readonly Mark[] {
    const chain = chainFrom(text, begin, end);
    if (!chain) return NOTHING;
    return words.flatMap((word, i) =>
      !word.unspaced && isTermOf(chain.text, word) ? [{ from: 0, to: chain.to - begin, word: i }] : [],
    );
  }

  /** `most`: characters that are read, and more only where not all words stand in them. */
  return function fitOf(text: string, most: number): Fit {
    const marks: Mark[] = [];
    const seen = new Set<number>();
    let longest = 0;
    /** By place in what was typed: how long a stretch ends there at the word before this one. */
    let runs = new Map<number, number>();
    let isBroken = true;
    for (let at = 0; at < text.length && (at < most || (at < SEARCH.readChars && seen.size < words.length));)
      at = visitWords(text, at, at + most, (begin, end) => {
        const first = mayBegin(text.charCodeAt(begin));
        const raw = text.slice(begin, end);
        const own = first || beginningsIn(raw).length > 0 ? marksIn(raw) : NOTHING;
        const found = own.length === 0 && first ? marksOfChain(text, begin, end) : own;
        if (found.length === 0) {
          if (!isBroken) runs = new Map();
          isBroken = true;
          return;
        }
        isBroken = false;
        const next = new Map<number, number>();
        for (const mark of found) {
          marks.push({ from: begin + mark.from, to: begin + mark.to, word: mark.word });
          seen.add(mark.word);
        }
        sequence.forEach((word, place) => {
          if (!found.some((mark) => mark.word === word)) return;
          const run = (runs.get(place - 1) ?? 0) + 1;
          next.set(place, run);
          if (run > longest) longest = run;
        });
        runs = next;
      });
    const [from, to, count] = densest(marks, words.length);
    const span = (marks[to]?.to ?? 0) - (marks[from]?.from ?? 0);
    return {
      passage: passageAround(text, marks, from, room),
      covered: words.length === 0 ? 0 : count / words.length,
      inOrder: sequence.length === 0 ? 0 : longest / sequence.length,
      close: 1 / (1 + span / SEARCH.passage),
    };
  };
}

/**
 * The shortest stretch of marks of about a passage's length with the most different words: its
 * first, its last, and how many.
 */
function densest(marks: readonly Mark[], words: number): readonly [from: number, to: number, count: number] {
  let best: readonly [number, number, number] = [0, 0, marks.length > 0 ? 1 : 0];
  let span = Infinity;
  const times = new Array<number>(words).fill(0);
  let count = 0;
  let from = 0;
  for (const [to, mark] of marks.entries()) {
    if (times[mark.word] === 0) count += 1;
    times[mark.word] = (times[mark.word] ?? 0) + 1;
    for (;;) {
      const first = marks[from];
      if (!first || from >= to) break;
      const isTooWide = mark.to - first.from > SEARCH.passage;
      if (!isTooWide && (times[first.word] ?? 0) < 2) break;
      times[first.word] = (times[first.word] ?? 0) - 1;
      if (times[first.word] === 0) count -= 1;
      from += 1;
    }
    const wide = mark.to - (marks[from]?.from ?? 0);
    if (count > best[2] || (count === best[2] && wide < span)) {
      best = [from, to, count];
      span = wide;
    }
  }
  return best;
}

/**
 * A piece of the text that begins shortly before this mark, on one line, with what of the marks
 * lies in it.
 */
function passageAround(text: string, marks: readonly Mark[], at: number, room: number): Passage {
  const first = marks[at]?.from ?? 0;
  let begin = Math.max(0, first - Math.floor((room * SEARCH.passageBefore) / SEARCH.passage));
  // A sentence's or a line's beginning, where one is near; else a word's.
  const before = text.slice(begin, first);
  const sentence = Math.max(before.lastIndexOf('\n'), before.search(/[.!?…。！？]\s+[^.!?…。！？]*$/u));
  if (begin > 0) {
    const word = before.search(/\s/);
    if (sentence >= 0) begin += sentence + 1;
    else if (word >= 0) begin += word;
  } else if (sentence >= 0 && before.lastIndexOf('\n') >= 0) begin += before.lastIndexOf('\n') + 1;
  let end = Math.min(text.length, begin + room);
  if (end < text.length) {
    const word = text.slice(begin, end).search(/\s\S*$/);
    if (word > room / 2) end = begin + word;
    else if (/[\ud800-\udbff]/.test(text.charAt(end - 1))) end -= 1;
  }
  let line = begin > 0 && text.slice(0, begin).trim() !== '' ? '… ' : '';
  const placed: [number, number][] = [];
  const inside = marks.filter(({ from, to }) => from >= begin && to <= end);
  let next = 0;
  let open = -1;
  for (let i = begin; i <= end; i++) {
    if (open >= 0 && i >= (inside[open]?.to ?? 0)) {
      const last = placed.at(-1);
      if (last) last[1] = line.length;
      open = -1;
    }
    while (open < 0 && next < inside.length && i >= (inside[next]?.from ?? 0)) {
      if ((inside[next]?.to ?? 0) > i) {
        open = next;
        placed.push([line.length, line.length]);
      }
      next += 1;
    }
    if (i === end) break;
    const unit = text.charAt(i);
    if (!/\s/.test(unit)) line += unit;
    else if (line !== '' && !line.endsWith(' ')) line += ' ';
  }
  return { text: end < text.length ? `${line.trimEnd()} …` : line.trimEnd(), marks: placed };
}

export interface Question {
  /** As it was typed. */
  readonly text: string;
  /** Terms: a document must stand under one of each of these. */
  readonly filters: readonly (readonly string[])[];
  /** ms since the epoch: not earlier than that; 0: whenever. */
  readonly since: number;
  readonly limit: number;
  /** Characters of a passage; left out: as many as people are shown. */
  readonly room?: number;
  /** What may be found; left out: all. */
  readonly admits?: (said: Searchable) => boolean;
}

export interface Found {
  /** The document's. */
  readonly id: string;
  readonly said: Searchable;
  /** Of the thread, or the name of what is planned; null: not known here. */
  readonly title: string | null;
  readonly passage: Passage;
}

interface AnswerDeps {
  readonly ledger: Pick<SearchedLedger, 'found'>;
  readonly index: Pick<Builder, 'segments' | 'idsOf'>;
  /** ms since the epoch */
  readonly now: number;
  /** Lets others have their turn, where it is time. */
  readonly pause: () => Promise<void>;
}

/** How well the words stand together counts as much as about this many rare words. */
const IN_ORDER = 8;
const COVERED = 4;
const CLOSE = 1;

/** The best first. */
export async function answerTo(
  { text, filters, since, limit, room, admits }: Question,
  { ledger, index, now, pause }: AnswerDeps,
): Promise<{ readonly found: readonly Found[]; readonly more: boolean }> {
  const typed = typedTokens(text);
  const wanted = wantedOf(typed, /[\p{L}\p{N}\p{M}]$/u.test(text));
  const segments = await index.segments();
  // Whoever asks for nothing is about to ask for something: what every answer needs is read by now.
  if (wanted.length === 0) return { found: [], more: false };
  const most = Math.max(SEARCH.readMost, 2 * limit);
  const { ranked, forms } = await rank({
    segments,
    wanted,
    filters,
    since: Math.floor(since / 1_000),
    now: Math.floor(now / 1_000),
    most,
    pause,
  });
  const rowIds = await index.idsOf(ranked);
  const documents = await ledger.found(rowIds.map(placeOf));
  const fitOf = createFinder(typed, forms, room);
  const scored: { readonly found: Found; readonly score: number }[] = [];
  for (const [i, each] of documents.entries()) {
    const said = each && searchableOf(each.doc);
    if (!said || admits?.(said) === false) continue;
    const fit = fitOf(said.text, SEARCH.readFirst);
    await pause();
    scored.push({
      found: { id: each.doc._id, said, title: each.title, passage: fit.passage },
      score: (ranked[i]?.score ?? 0) + IN_ORDER * fit.inOrder + COVERED * fit.covered + CLOSE * fit.close,
    });
  }
  const best = scored.sort((a, b) => b.score - a.score || b.found.said.time - a.found.said.time);
  // Where as many were read as are, what was not read may be admitted too.
  return { found: best.slice(0, limit).map(({ found }) => found), more: best.length > limit || ranked.length >= most };
}
