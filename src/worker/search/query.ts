/**
 * Finds documents for typed words, by the index alone.
 *
 * Each typed word may be the beginning of a word in a document. Rare words count more than common
 * ones, and whole words more than beginnings. Matches with a typing error count least, and are only
 * tried for a word that is found nowhere. If no document has all words, one in `oneWrongOf` may be
 * missing.
 *
 * An agent asks in whole sentences (`asSentence`). Of those only the words that tell documents
 * apart are looked for, and a document needs a part of their weight: what was said once is asked
 * for in other words.
 */
import type { DocumentList, Segment, Term } from './segment.ts';
import { SEARCH } from './settings.ts';
import { distance, type Wanted } from './words.ts';

/** A word of the index that matches a typed word. `quality`: 0–1. */
interface Form extends Term {
  readonly quality: number;
}

export interface Ranked {
  readonly segment: Segment;
  readonly document: number;
  readonly score: number;
}

export interface RankedList {
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** For each typed word, the other words that matched it. */
  readonly forms: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface RankDeps {
  readonly segments: readonly Segment[];
  readonly wanted: readonly Wanted[];
  /** A document must have one term of each list. */
  readonly filters: readonly (readonly string[])[];
  /** s since the epoch. Older documents are left out. */
  readonly since: number;
  /** s since the epoch */
  readonly now: number;
  readonly most: number;
  /** The words are a sentence, and a document may lack many of them. */
  readonly asSentence: boolean;
  /** Yields to other work when it is time. */
  readonly pause: () => Promise<void>;
}

const QUALITY = { whole: 1, beginning: 0.7, wrong: 0.4 } as const;
/**
 * `NEWNESS`: the weight of being new, relative to the weight of a word. `HALF_AS_NEW`: the age in s
 * that halves it.
 */
const NEWNESS = 0.6;
const HALF_AS_NEW = 30 * 24 * 60 * 60;

async function formsIn(segment: Segment, { term, asPrefix }: Wanted): Promise<Form[]> {
  const forms: Form[] = [];
  for await (const terms of segment.terms(term)) {
    for (const found of terms) {
      if (found.text !== term && !(asPrefix && found.text.startsWith(term))) return forms;
      forms.push({ ...found, quality: found.text === term ? QUALITY.whole : QUALITY.beginning });
    }
  }
  return forms;
}

/** Similar words, with the same first letter or with the term's second letter first. */
async function similarIn(segment: Segment, term: string, pause: () => Promise<void>): Promise<Form[]> {
  const most = term.length >= SEARCH.forgiveTwoFrom ? 2 : 1;
  const forms: Form[] = [];
  for (const first of new Set([term.charAt(0), term.charAt(1)])) {
    for await (const terms of segment.terms(first)) {
      let over = false;
      for (const found of terms) {
        over = !found.text.startsWith(first);
        if (over) break;
        const wrong = distance(term, found.text, most);
        if (wrong <= most) forms.push({ ...found, quality: QUALITY.wrong / wrong });
      }
      if (over) break;
      await pause();
    }
  }
  return forms;
}

/** Collects the best of many without sorting all of them. */
function createBest(most: number) {
  /** A heap with the worst first. */
  const heap: Ranked[] = [];
  const scoreAt = (i: number) => heap[i]?.score ?? Infinity;
  const swap = (a: number, b: number) => {
    const held = heap[a];
    const other = heap[b];
    if (held && other) [heap[a], heap[b]] = [other, held];
  };
  return {
    isGood: (score: number) => heap.length < most || score > scoreAt(0),
    add(ranked: Ranked) {
      if (heap.length < most) {
        heap.push(ranked);
        for (let at = heap.length - 1; at > 0;) {
          const above = (at - 1) >> 1;
          if (scoreAt(above) <= scoreAt(at)) break;
          swap(at, above);
          at = above;
        }
        return;
      }
      heap[0] = ranked;
      for (let at = 0; ;) {
        const left = 2 * at + 1;
        const least = scoreAt(left + 1) < scoreAt(left) ? left + 1 : left;
        if (scoreAt(least) >= scoreAt(at)) break;
        swap(at, least);
        at = least;
      }
    },
    sorted: () => [...heap].sort((a, b) => b.score - a.score),
  };
}

/** The matches of a word in one segment: the best forms first, with the documents of each. */
interface Places {
  readonly forms: readonly Form[];
  readonly lists: readonly DocumentList[];
}

async function placesIn(segment: Segment, found: readonly Form[]): Promise<Places> {
  const forms = found.toSorted((a, b) => b.quality - a.quality);
  return { forms, lists: await segment.lists(forms) };
}

/** What a document must have to be found. */
interface Needed {
  readonly words: number;
  readonly score: number;
}

/** Of each document of a segment. */
interface Scores {
  /** How many of the words it has. */
  readonly termCounts: Uint8Array;
  readonly scores: Float32Array;
  /** The last word that was counted for it, plus 1: a document may have several forms of one. */
  readonly counted: Uint8Array;
}

/**
 * Counts a form of a word for the documents that have it. `onlyWithTerms`: for those that have a
 * word already. Indexed access: an iterator takes three times as long.
 */
function countForm(
  documents: Uint32Array,
  word: number,
  worth: number,
  onlyWithTerms: boolean,
  { termCounts, scores, counted }: Scores,
): void {
  for (let n = 0; n < documents.length; n++) {
    const document = documents[n] ?? 0;
    const words = termCounts[document] ?? 0;
    if ((onlyWithTerms && words === 0) || counted[document] === word + 1) continue;
    counted[document] = word + 1;
    termCounts[document] = words + 1;
    scores[document] = (scores[document] ?? 0) + worth;
  }
}

/** Documents that are counted before time is looked at. */
const COUNTED_AT_ONCE = 20_000;

/**
 * For one segment: the number of words that each document has, and their weight. The words come
 * rarest first. A document that has none of them so far, and could not reach what is needed with
 * those that follow, is skipped: most documents have the common words.
 */
async function scoresIn(
  segment: Segment,
  places: readonly Places[],
  weights: readonly number[],
  needed: Needed,
  { filters, since, pause }: RankDeps,
): Promise<Scores> {
  const { documents } = segment.info;
  const scored: Scores = {
    termCounts: new Uint8Array(documents),
    scores: new Float32Array(documents),
    counted: new Uint8Array(documents),
  };
  const { termCounts, counted: seen } = scored;
  let weightLeft = weights.reduce((sum, weight) => sum + weight, 0);
  let counted = 0;
  for (const [word, { forms, lists }] of places.entries()) {
    const onlyWithTerms = places.length - word < needed.words || weightLeft < needed.score;
    const weight = weights[word] ?? 0;
    weightLeft -= weight;
    for (const [i, decode] of lists.entries()) {
      const list = decode();
      countForm(list, word, weight * (forms[i]?.quality ?? 0), onlyWithTerms, scored);
      counted += list.length;
      if (counted < COUNTED_AT_ONCE) continue;
      counted = 0;
      await pause();
    }
  }
  for (const filter of filters) {
    seen.fill(0);
    for (const term of filter) {
      const [found] = await formsIn(segment, { term, asPrefix: false, forgiving: false });
      const [list] = found ? await segment.lists([found]) : [];
      for (const document of list?.() ?? []) seen[document] = 1;
      await pause();
    }
    for (let document = 0; document < documents; document++) if (seen[document] === 0) termCounts[document] = 0;
  }
  if (since > 0)
    for (let document = 0; document < documents; document++)
      if ((segment.times[document] ?? 0) < since) termCounts[document] = 0;
  return scored;
}

const newestIn = ({ times }: Segment) => times.reduce((newest, time) => Math.max(newest, time), 0);

/**
 * For a single short word the newest segments suffice, because it occurs nearly everywhere. With a
 * filter all segments are needed.
 */
async function enoughFor({ segments, wanted: [word, ...more], filters }: RankDeps): Promise<readonly Segment[]> {
  if (filters.length > 0 || !word || more.length > 0 || !word.asPrefix || word.term.length >= SEARCH.wordFrom)
    return segments;
  const taken: Segment[] = [];
  let documents = 0;
  for (const segment of segments.toSorted((a, b) => newestIn(b) - newestIn(a))) {
    taken.push(segment);
    for (const form of await formsIn(segment, word)) documents += form.documents;
    if (documents >= SEARCH.enough) break;
  }
  return taken;
}

/**
 * The words of a sentence that tell documents apart: without common ones, and without those that
 * nobody ever said. Where all are common, the rarest. `weights`: by word.
 */
function tellingWords(weights: readonly number[], all: number): ReadonlySet<number> {
  const common = weightOf(Math.min(all, Math.max(SEARCH.commonLeast, all * SEARCH.commonShare)), all);
  const words = [...weights.keys()];
  const telling = words.filter((word) => (weights[word] ?? 0) >= common);
  if (telling.length > 0 || weights.includes(0)) return new Set(telling);
  return new Set(words.sort((a, b) => (weights[b] ?? 0) - (weights[a] ?? 0)).slice(0, SEARCH.tellingLeast));
}

/** The weight of a word that so many of all documents have. */
const weightOf = (documents: number, all: number): number => Math.log(1 + (all - documents + 0.5) / (documents + 0.5));

export async function rank(deps: RankDeps): Promise<RankedList> {
  const { now, most, asSentence, pause } = deps;
  const segments = await enoughFor(deps);
  const all = segments.reduce((sum, { info }) => sum + info.documents, 0);
  const exact = await Promise.all(
    deps.wanted.map((word) => Promise.all(segments.map((segment) => formsIn(segment, word)))),
  );
  const isSaid = (bySegment: readonly Form[][]) => bySegment.some((some) => some.length > 0);
  // A sentence has words that were never said, which are no typing errors.
  const forgives = !asSentence || exact.filter(isSaid).length < SEARCH.tellingLeast;
  /** The forms of each word in each segment. */
  const formsOfAll = await Promise.all(
    deps.wanted.map(async (word, i) => {
      const forms = exact[i] ?? [];
      if (!word.forgiving || !forgives || isSaid(forms)) return forms;
      const similar: Form[][] = [];
      for (const segment of segments) similar.push(await similarIn(segment, word.term, pause));
      return similar;
    }),
  );
  const weightsOfAll = formsOfAll.map((bySegment) => {
    const documents = bySegment.flat().reduce((sum, form) => sum + form.documents, 0);
    // A word that nobody ever said tells nothing.
    return documents === 0 ? 0 : weightOf(Math.min(all, documents), all);
  });
  const telling = asSentence ? tellingWords(weightsOfAll, all) : null;
  const words = deps.wanted
    .map((word, i) => ({ term: word.term, forms: formsOfAll[i] ?? [], weight: weightsOfAll[i] ?? 0 }))
    .filter((_word, i) => telling?.has(i) ?? true)
    .sort((a, b) => b.weight - a.weight);
  const weights = words.map(({ weight }) => weight);
  // All in parallel. Otherwise the disk would be awaited once for each segment and word.
  const places = await Promise.all(
    segments.map((segment, n) => Promise.all(words.map(({ forms }) => placesIn(segment, forms[n] ?? [])))),
  );
  const least = asSentence ? 1 : Math.max(1, words.length - Math.floor(words.length / SEARCH.oneWrongOf));
  const leastScore = asSentence ? SEARCH.leastOfSentence * weights.reduce((sum, weight) => sum + weight, 0) : 0;
  const scored = [];
  for (const [n, segment] of segments.entries())
    scored.push({
      segment,
      ...(await scoresIn(segment, places[n] ?? [], weights, { words: least, score: leastScore }, deps)),
    });
  for (let needed = asSentence ? 1 : words.length; needed >= least; needed--) {
    const best = createBest(most);
    for (const { segment, termCounts, scores } of scored) {
      for (let document = 0; document < termCounts.length; document++) {
        if ((termCounts[document] ?? 0) < needed || (scores[document] ?? 0) < leastScore) continue;
        const age = Math.max(0, now - (segment.times[document] ?? 0));
        const said = (scores[document] ?? 0) * (asSentence ? (termCounts[document] ?? 0) / words.length : 1);
        const score = said + NEWNESS / (1 + age / HALF_AS_NEW);
        if (best.isGood(score)) best.add({ segment, document, score });
      }
      await pause();
    }
    const ranked = best.sorted();
    if (ranked.length > 0)
      return {
        ranked,
        forms: new Map(words.map(({ term, forms }) => [term, new Set(forms.flat().map(({ text }) => text))])),
      };
  }
  return { ranked: [], forms: new Map() };
}
