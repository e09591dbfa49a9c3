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
import type { Segment, Term } from './segment.ts';
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
  readonly lists: readonly Uint32Array[];
}

async function placesIn(segment: Segment, found: readonly Form[]): Promise<Places> {
  const forms = found.toSorted((a, b) => b.quality - a.quality);
  return { forms, lists: await segment.lists(forms) };
}

/** For one segment: the number of words that each document has, and their weight. */
async function scoresIn(
  segment: Segment,
  places: readonly Places[],
  weights: readonly number[],
  { filters, since, pause }: RankDeps,
): Promise<{ readonly held: Uint8Array; readonly scores: Float32Array }> {
  const { documents } = segment.info;
  const termCounts = new Uint8Array(documents);
  const scores = new Float32Array(documents);
  const seen = new Uint8Array(documents);
  for (const [word, { forms, lists }] of places.entries()) {
    for (const [i, list] of lists.entries()) {
      const worth = (weights[word] ?? 0) * (forms[i]?.quality ?? 0);
      for (const document of list) {
        if (seen[document] === word + 1) continue;
        seen[document] = word + 1;
        termCounts[document] = (termCounts[document] ?? 0) + 1;
        scores[document] = (scores[document] ?? 0) + worth;
      }
      await pause();
    }
  }
  for (const filter of filters) {
    seen.fill(0);
    for (const term of filter) {
      const [found] = await formsIn(segment, { term, asPrefix: false, forgiving: false });
      const [list] = found ? await segment.lists([found]) : [];
      for (const document of list ?? []) seen[document] = 1;
      await pause();
    }
    for (let document = 0; document < documents; document++) if (seen[document] === 0) termCounts[document] = 0;
  }
  if (since > 0)
    for (let document = 0; document < documents; document++)
      if ((segment.times[document] ?? 0) < since) termCounts[document] = 0;
  return { held: termCounts, scores };
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
  const isTelling = (_each: unknown, word: number) => telling?.has(word) ?? true;
  const [wanted, forms, weights] = [
    deps.wanted.filter(isTelling),
    formsOfAll.filter(isTelling),
    weightsOfAll.filter(isTelling),
  ];
  // All in parallel. Otherwise the disk would be awaited once for each segment and word.
  const places = await Promise.all(
    segments.map((segment, n) => Promise.all(forms.map((bySegment) => placesIn(segment, bySegment[n] ?? [])))),
  );
  const scored = [];
  for (const [n, segment] of segments.entries())
    scored.push({ segment, ...(await scoresIn(segment, places[n] ?? [], weights, deps)) });
  const least = asSentence ? 1 : wanted.length - Math.floor(wanted.length / SEARCH.oneWrongOf);
  const leastScore = asSentence ? SEARCH.leastOfSentence * weights.reduce((sum, weight) => sum + weight, 0) : 0;
  for (let needed = asSentence ? 1 : wanted.length; needed >= Math.max(1, least); needed--) {
    const best = createBest(most);
    for (const { segment, held, scores } of scored) {
      for (let document = 0; document < held.length; document++) {
        if ((held[document] ?? 0) < needed || (scores[document] ?? 0) < leastScore) continue;
        const age = Math.max(0, now - (segment.times[document] ?? 0));
        const words = (scores[document] ?? 0) * (asSentence ? (held[document] ?? 0) / wanted.length : 1);
        const score = words + NEWNESS / (1 + age / HALF_AS_NEW);
        if (best.isGood(score)) best.add({ segment, document, score });
      }
      await pause();
    }
    const ranked = best.sorted();
    if (ranked.length > 0)
      return {
        ranked,
        forms: new Map(wanted.map(({ term }, i) => [term, new Set((forms[i] ?? []).flat().map(({ text }) => text))])),
      };
  }
  return { ranked: [], forms: new Map() };
}
