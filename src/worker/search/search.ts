/**
 * Search over a ledger. The index is made from the views, follows new documents, and is deleted and
 * rebuilt whenever it is wrong. That costs only time. There is one index for all tabs, in the
 * worker that has the ledger.
 */
import {
  CANNOT_SEARCH,
  type Passage,
  type SearchAnswer,
  type SearchAnswered,
  type SearchAsked,
  type SearchHit,
  type SearchQuery,
  type SearchState,
} from '../../shared/protocol/search.ts';
import { createQueue } from '../../shared/domain/platform/queue.ts';
import { type After, sleep, within } from '../../shared/domain/platform/timers.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { AgentId, ThreadId } from '../../shared/domain/ids.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
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
import { type Builder, createBuilder } from './builder.ts';
import {
  authorTerm,
  conversationTerm,
  kindTerm,
  placeOf,
  rowIdOf,
  type Searchable,
  searchableOf,
  threadTerm,
} from './documents.ts';
import { rank } from './query.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import { DamagedIndexError } from './segment.ts';
import type { IndexStore } from './store.ts';

// Answers a search: the index ranks documents, and the best are ranked again by how close the words
// stand together.

// Finds the passage of a text that shows best why it matches, and how well it matches. Pure.

interface Mark {
  readonly from: number;
  readonly to: number;
  /** Index of the word that stands here. */
  readonly word: number;
}

interface Fit {
  readonly passage: Passage;
  /** Share of the words that occur in the text: 0–1. */
  readonly covered: number;
  /** The longest run of words in the typed order, as a share of all: 0–1. */
  readonly inOrder: number;
  /** How close the words of the passage stand together: 0–1. */
  readonly close: number;
}

const NO_MARKS: readonly Mark[] = [];

/**
 * Finds the typed words in texts. `forms`: words that match each of the index's terms. `room`:
 * characters of a passage.
 */
function createFinder(
  typed: readonly Token[],
  forms: ReadonlyMap<string, ReadonlySet<string>>,
  room: number = SEARCH.passage,
) {
  /** The typed words, as they are compared with a text. A run without spaces stays whole. */
  const words = [...new Map(typed.map((token) => [token.text, token])).values()].filter(({ text }) => text !== '');
  const sequence = typed.map(({ text }) => words.findIndex((word) => word.text === text));
  /** Cache: the marks of a word of a text. Most words have none. */
  const marksByWord = new Map<string, readonly Mark[]>();

  /**
   * First letters (plain, lower case) of everything searched. A word with another first letter is
   * skipped.
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
  /** The searched words that a token of a text matches. */
  function wordsIn(token: Token): readonly number[] {
    const [term = ''] = termsOf(token);
    return words.flatMap((word, i) => {
      if (word.unspaced) return token.unspaced && token.text.includes(word.text) ? [i] : [];
      return !token.unspaced && isTermOf(term, word) ? [i] : [];
    });
  }
  /** Marks of words that begin inside a token. */
  const insideOf = (token: Token): readonly Mark[] =>
    (token.also ?? []).flatMap(({ text, from, to }) =>
      words.flatMap((word, i) => (!word.unspaced && isTermOf(text, word) ? [{ from, to, word: i }] : [])),
    );

  /**
   * The place of a word in a run without spaces. The whole run where folding has moved its letters.
   */
  function markOf(token: Token, word: number): Mark {
    const wanted = words[word]?.text ?? '';
    const isSame = token.to - token.from === token.text.length;
    if (!token.unspaced || !isSame) return { from: token.from, to: token.to, word };
    const from = token.from + token.text.indexOf(wanted);
    return { from, to: from + wanted.length, word };
  }

  /** Marks in one word of a text, from its beginning on. */
  function marksIn(raw: string): readonly Mark[] {
    const cached = marksByWord.get(raw);
    if (cached) return cached;
    const marks: Mark[] = [];
    visitTokensOf(raw, 0, (token) => {
      const whole = wordsIn(token);
      for (const word of whole) marks.push(markOf(token, word));
      for (const mark of insideOf(token)) if (!whole.includes(mark.word)) marks.push(mark);
    });
    marksByWord.set(raw, marks);
    return marks;
  }

  /** Marks in the chain that begins with a word. */
  function marksOfChain(text: string, begin: number, end: number): readonly Mark[] {
    const chain = chainFrom(text, begin, end);
    if (!chain) return NO_MARKS;
    return words.flatMap((word, i) =>
      !word.unspaced && isTermOf(chain.text, word) ? [{ from: 0, to: chain.to - begin, word: i }] : [],
    );
  }

  /** `most`: characters to read. More are read only if some words are not found in them. */
  return function fitOf(text: string, most: number): Fit {
    const marks: Mark[] = [];
    const seen = new Set<number>();
    let longest = 0;
    /** By place in the typed text: the length of the run that ends there at the previous word. */
    let runs = new Map<number, number>();
    let isBroken = true;
    for (let at = 0; at < text.length && (at < most || (at < SEARCH.readChars && seen.size < words.length));)
      at = visitWords(text, at, at + most, (begin, end) => {
        const first = mayBegin(text.charCodeAt(begin));
        const raw = text.slice(begin, end);
        const own = first || beginningsIn(raw).length > 0 ? marksIn(raw) : NO_MARKS;
        const ownMarks = own.length === 0 && first ? marksOfChain(text, begin, end) : own;
        if (ownMarks.length === 0) {
          if (!isBroken) runs = new Map();
          isBroken = true;
          return;
        }
        isBroken = false;
        const next = new Map<number, number>();
        for (const mark of ownMarks) {
          marks.push({ from: begin + mark.from, to: begin + mark.to, word: mark.word });
          seen.add(mark.word);
        }
        sequence.forEach((word, place) => {
          if (!ownMarks.some((mark) => mark.word === word)) return;
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
 * The shortest stretch of marks, about as long as a passage, with the most different words: its
 * first mark, its last, and the number of words.
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

/** A one-line piece of the text that begins shortly before this mark, with the marks inside it. */
function passageAround(text: string, marks: readonly Mark[], at: number, room: number): Passage {
  const first = marks[at]?.from ?? 0;
  let begin = Math.max(0, first - Math.floor((room * SEARCH.passageBefore) / SEARCH.passage));
  // Begin at a sentence or line where one is near, otherwise at a word.
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

interface Question {
  /** The question as it was typed. */
  readonly text: string;
  /** Index terms. A document must have one term of each list. */
  readonly filters: readonly (readonly string[])[];
  /** ms since the epoch. Older documents are left out. 0: no limit. */
  readonly since: number;
  readonly limit: number;
  /** It may be a whole sentence; see `query.ts`. Left out: words that stand in one document. */
  readonly asSentence?: boolean;
  /** Characters of a passage. Left out: the number that people are shown. */
  readonly room?: number;
  /** Which documents may be found. Left out: all. */
  readonly admits?: (said: Searchable) => boolean;
}

interface Found {
  /** The document's. */
  readonly id: string;
  readonly said: Searchable;
  /** The title of the thread, or the name of the schedule. Null: not known here. */
  readonly title: string | null;
  readonly passage: Passage;
}

interface AnswerDeps {
  readonly ledger: Pick<SearchedLedger, 'found'>;
  readonly index: Pick<Builder, 'segments' | 'idsOf'>;
  /** ms since the epoch */
  readonly now: number;
  /** Yields to other work when it is time. */
  readonly pause: () => Promise<void>;
}

/** Weights. How well the words stand together counts as much as about this many rare words. */
const IN_ORDER = 8;
const COVERED = 4;
const CLOSE = 1;

/** The best first. */
async function answerTo(
  { text, filters, since, limit, asSentence = false, room, admits }: Question,
  { ledger, index, now, pause }: AnswerDeps,
): Promise<{ readonly found: readonly Found[]; readonly more: boolean }> {
  const typed = typedTokens(text);
  // A sentence is complete; a person may be typing the last word.
  const wanted = wantedOf(typed, !asSentence && /[\p{L}\p{N}\p{M}]$/u.test(text));
  const segments = await index.segments();
  // An empty query comes just before a real one. By now everything that each answer needs is
  // loaded.
  if (wanted.length === 0) return { found: [], more: false };
  const most = Math.max(SEARCH.readMost, 2 * limit);
  const { ranked, forms } = await rank({
    segments,
    wanted,
    filters,
    since: Math.floor(since / 1_000),
    now: Math.floor(now / 1_000),
    most,
    asSentence,
    pause,
  });
  const rowIds = await index.idsOf(ranked);
  const documents = await ledger.found(rowIds.map(placeOf));
  const isLookedFor = (token: Token) => [...termsOf(token)].some((term) => forms.has(term));
  const fitOf = createFinder(asSentence ? typed.filter(isLookedFor) : typed, forms, room);
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
  // If the reading limit was reached, documents beyond it may match too.
  return { found: best.slice(0, limit).map(({ found }) => found), more: best.length > limit || ranked.length >= most };
}

export interface SearchDeps {
  readonly ledger: SearchedLedger;
  readonly openStore: () => Promise<IndexStore>;
  /** Deletes the stored index. */
  readonly dropStore: () => Promise<void>;
  /** Bytes that may still be stored. Null: the browser does not say. */
  readonly room: () => Promise<number | null>;
  readonly after: After;
  /** An agent is answering now, and each word must reach the screen at once. */
  readonly isTalking: () => boolean;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms that only move forward. */
  readonly elapsed: () => number;
}

export interface Search {
  /** Adds documents that are new in the ledger. */
  hear(docs: readonly Doc[]): void;
  /** Documents were deleted from the ledger for good. Deletes their words from the index. */
  hearGone(): void;
  /** The ledger has no space left. Deletes the index. */
  hearNoRoom(): void;
  find(query: SearchQuery): Promise<SearchAnswer>;
  /** A search by an agent. It covers only what the agent took part in. */
  findFor(asked: SearchAsked): Promise<SearchAnswered>;
  /** Resolves when everything received is in the index, or cannot be. */
  settled(): Promise<void>;
  /** Tries failed work again now. */
  again(): Promise<void>;
}

/** The person has typed on, so this answer is not needed any more. */
class Superseded extends Error {}
const NOTHING = { found: [], more: false } as const;
/** Characters that a passage may have in addition to its text. */
const MARKS_OF_CUT = 4;

/**
 * Did the agent take part: in messages of its own conversation and in threads? Queued messages do
 * not count, because the agent has not received them yet. Souls do not count.
 */
const tookPart = (
  { kind, agentId, messageId, threadId }: Searchable,
  asks: AgentId,
  conversation: boolean,
  threads: ReadonlySet<ThreadId>,
) =>
  kind === 'message'
    ? conversation && messageId !== null && agentId === asks
    : kind === 'thread-message' && threadId !== null && threads.has(threadId);

const hitOf = ({ id, title, passage, said }: Found): SearchHit => {
  const { kind, agentId, author, time, messageId, threadId } = said;
  return { id, title, passage, kind, agentId, author, time, messageId, threadId };
};

const isQuota = (error: unknown) =>
  (error instanceof Error || error instanceof DOMException) && error.name === 'QuotaExceededError';

/** Yields to other work once a slice of time is over. `rest`: the least ms of the pause. */
function createPause(
  { after, elapsed }: Pick<SearchDeps, 'after' | 'elapsed'>,
  slice: number,
  rest = () => 0,
): () => Promise<void> {
  let began = elapsed();
  return async () => {
    if (elapsed() - began < slice) return;
    await sleep(after, rest());
    began = elapsed();
  };
}

export function createSearch(deps: SearchDeps): Search {
  const { ledger, after, now } = deps;
  const inTurn = createQueue();
  let builder: Builder | null = null;
  let state: SearchState = { kind: 'building', done: 0, of: 0 };
  let waiting: Doc[] = [];
  let compare = true;
  let working: Promise<void> | null = null;
  let cancel: (() => void) | null = null;
  let failures = 0;
  /** Searches that wait for the newest documents. For them the index is written without rests. */
  let hurried = 0;

  async function opened(): Promise<Builder> {
    builder ??= await createBuilder({
      ledger,
      store: await deps.openStore(),
      after,
      pause: createPause(deps, SEARCH.slice, () => (deps.isTalking() && hurried === 0 ? SEARCH.restWhileTalking : 0)),
      onProgress(done, of) {
        state = { kind: 'building', done, of };
      },
    });
    return builder;
  }

  async function step(): Promise<boolean> {
    const open = await inTurn(opened);
    const takeWaiting = async () => {
      const docs = waiting;
      waiting = [];
      if (docs.length > 0) await open.take(docs);
    };
    if (compare) {
      compare = false;
      await open.compare(takeWaiting, () => waiting.length);
    } else if (waiting.length > 0) await takeWaiting();
    else if (!(await open.merge())) return false;
    return true;
  }

  /**
   * Deletes the stored index. A damaged one is useless, and on a full disk it takes space from the
   * ledger.
   */
  async function fail(why: 'no-room' | 'broken') {
    compare = true;
    failures += 1;
    state = { kind: 'unavailable', why };
    builder?.close();
    builder = null;
    await deps.dropStore().catch(() => undefined);
  }

  async function work() {
    const before = failures;
    try {
      if (before > 0 && ((await deps.room()) ?? Infinity) < SEARCH.roomLeast) {
        state = { kind: 'unavailable', why: 'no-room' };
        return;
      }
      while (await step());
      failures = 0;
      state = { kind: 'ready' };
    } catch (error) {
      // Another task may have closed the index meanwhile.
      if (failures === before) await fail(isQuota(error) ? 'no-room' : 'broken');
    }
  }
  function begin(): Promise<void> {
    cancel?.();
    cancel = null;
    working ??= work().finally(() => {
      working = null;
      // The first failure leads to a rebuild at once. A repeated failure has another cause, which
      // may pass.
      if (waiting.length > 0 || compare)
        plan(failures > 1 || (state.kind === 'unavailable' && state.why === 'no-room') ? SEARCH.retry : SEARCH.quiet);
    });
    return working;
  }
  function plan(ms: number) {
    cancel ??= after(ms, () => {
      cancel = null;
      void begin();
    });
  }
  plan(SEARCH.startAfter);

  /** Never rejects. A broken index is rebuilt, and finds nothing until then. */
  async function ask(question: Question, pause: () => Promise<void>): Promise<Awaited<ReturnType<typeof answerTo>>> {
    if (failures === 0 && (waiting.length > 0 || !builder)) {
      hurried += 1;
      await within(after, SEARCH.waitForNew, begin());
      hurried -= 1;
    }
    for (let tries = 0; ; tries++) {
      try {
        return await answerTo(question, { ledger, index: await inTurn(opened), now: now(), pause });
      } catch (error) {
        if (error instanceof Superseded) return NOTHING;
        // A segment may have been merged into another while it was read.
        if (error instanceof DamagedIndexError && tries < 2) continue;
        await fail(isQuota(error) ? 'no-room' : 'broken');
        plan(SEARCH.quiet);
        return NOTHING;
      }
    }
  }

  /** The newest question of each search field. */
  const newest = new Map<string, object>();
  /** As `createPause`, but throws once the same field has asked a newer question. */
  function pauseOf(line: string | undefined, question: object): () => Promise<void> {
    const pause = createPause(deps, SEARCH.answerSlice);
    if (line === undefined) return pause;
    newest.set(line, question);
    return async () => {
      await pause();
      if (newest.get(line) !== question) throw new Superseded();
    };
  }

  return {
    hear(docs) {
      const searched = docs.filter((doc) => rowIdOf(doc) !== null);
      if (searched.length === 0) return;
      if (waiting.length + searched.length > SEARCH.waitingMost) {
        waiting = [];
        compare = true;
      } else waiting.push(...searched);
      plan(SEARCH.quiet);
    },
    hearGone() {
      compare = true;
      plan(SEARCH.quiet);
    },
    hearNoRoom: () => void fail('no-room'),
    async find(query) {
      const { text, agentId, threadId, author, kinds, since = 0, limit, line } = query;
      const filters = [
        ...(agentId === undefined ? [] : [[conversationTerm(agentId)]]),
        ...(threadId === undefined ? [] : [[threadTerm(threadId)]]),
        ...(author === undefined ? [] : [[authorTerm(author)]]),
        ...(kinds === undefined ? [] : [kinds.map(kindTerm)]),
      ];
      const { found, more } = await ask({ text, filters, since, limit }, pauseOf(line, query));
      if (line !== undefined && newest.get(line) === query) newest.delete(line);
      return { hits: found.map(hitOf), more, state };
    },
    async findFor({ agentId, text, conversation, threads, author, since, limit }) {
      const within = new Set<ThreadId>(threads);
      const places = [...(conversation ? [conversationTerm(agentId)] : []), ...threads.map(threadTerm)];
      const { found, more } = await ask(
        {
          text,
          filters: [places, ...(author === null ? [] : [[authorTerm(author)]])],
          since: since ?? 0,
          limit,
          asSentence: true,
          room: LIMITS.searchPassage - MARKS_OF_CUT,
          admits: (said) => tookPart(said, agentId, conversation, within),
        },
        createPause(deps, SEARCH.answerSlice),
      );
      const passages = found.map(({ said: { author: by, time, threadId, sequence, kind }, passage }) => ({
        author: by,
        time,
        ...(kind === 'message' ? { threadId: null, sequence: null } : { threadId, sequence }),
        text: passage.text,
      }));
      return state.kind === 'unavailable' ? CANNOT_SEARCH : { state: state.kind, passages, more };
    },
    again: begin,
    async settled() {
      while (failures === 0 && (working || waiting.length > 0 || compare)) await begin();
    },
  };
}
