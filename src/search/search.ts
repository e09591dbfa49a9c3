/**
 * The search over a ledger. Its index is made from what the views hold, follows what comes, and is thrown away and made
 * anew whenever it is not what it should be: nothing but the time that takes is lost. There is one for all tabs, where the
 * ledger is.
 */
import { createQueue } from '../domain/platform/queue.ts';
import { sleep, within, type After } from '../domain/platform/timers.ts';
import type { Doc } from '../protocol/documents.ts';
import type { SearchAnswer, SearchHit, SearchQuery, SearchState } from '../protocol/search.ts';
import { createBuilder, type Builder } from './builder.ts';
import { DamagedIndexError } from './bytes.ts';
import { authorTerm, conversationTerm, placeOf, rowIdOf, searchableOf, threadTerm } from './documents.ts';
import { createFinder } from './passage.ts';
import { rank } from './query.ts';
import { SEARCH } from './settings.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import type { IndexStore } from './store.ts';
import { tokensOf, wantedOf } from './words.ts';

export interface SearchDeps {
  readonly ledger: SearchedLedger;
  readonly openStore: () => Promise<IndexStore>;
  /** Throws away what is stored. */
  readonly dropStore: () => Promise<void>;
  /** Bytes that may still be stored; null: the browser does not say. */
  readonly room: () => Promise<number | null>;
  readonly after: After;
  /** ms since the epoch */
  readonly now: () => number;
  /** ms, only ever forward */
  readonly elapsed: () => number;
}

export interface Search {
  /** Documents that are new in the ledger. */
  hear(docs: readonly Doc[]): void;
  /** Documents have gone from the ledger for good: their words go from the index. */
  hearGone(): void;
  /** The ledger has no more room: the index gives way. */
  hearNoRoom(): void;
  find(query: SearchQuery): Promise<SearchAnswer>;
  /** Resolves when everything that was heard of stands in the index, or cannot. */
  settled(): Promise<void>;
  /** Tries now what failed. */
  again(): Promise<void>;
}

/** How well the words stand together counts as much as about this many rare words. */
const IN_ORDER = 8;
const COVERED = 4;
const CLOSE = 1;

const isQuota = (error: unknown) =>
  (error instanceof Error || error instanceof DOMException) && error.name === 'QuotaExceededError';

/** Lets others have their turn once a slice of time is over. */
function createPause({ after, elapsed }: Pick<SearchDeps, 'after' | 'elapsed'>, slice: number): () => Promise<void> {
  let began = elapsed();
  return async () => {
    if (elapsed() - began < slice) return;
    await sleep(after, 0);
    began = elapsed();
  };
}

// In one piece: what has gone wrong, what waits and what is under way are one state.
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

  async function opened(): Promise<Builder> {
    builder ??= await createBuilder({
      ledger,
      store: await deps.openStore(),
      after,
      pause: createPause(deps, SEARCH.slice),
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
      await open.compare(takeWaiting);
    } else if (waiting.length > 0) await takeWaiting();
    else if (!(await open.merge())) return false;
    return true;
  }

  /** What is stored goes: damaged it is of no worth, and where there is no room it stands in the way of what is. */
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
      // Somebody else may have closed it meanwhile.
      if (failures === before) await fail(isQuota(error) ? 'no-room' : 'broken');
    }
  }
  function begin(): Promise<void> {
    cancel?.();
    cancel = null;
    working ??= work().finally(() => {
      working = null;
      // The first time it is made anew at once; what fails again has another cause, which may pass.
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

  async function answer(query: SearchQuery): Promise<Pick<SearchAnswer, 'hits' | 'more'>> {
    const open = await inTurn(opened);
    const typed = tokensOf(query.text);
    const wanted = wantedOf(typed, /[\p{L}\p{N}\p{M}]$/u.test(query.text));
    const segments = await open.segments();
    // Whoever asks for nothing is about to ask for something: what every answer needs is read by now.
    if (wanted.length === 0) return { hits: [], more: false };
    const pause = createPause(deps, SEARCH.answerSlice);
    const { ranked, forms } = await rank({
      segments,
      wanted,
      filters: [
        ...(query.agentId === undefined ? [] : [conversationTerm(query.agentId)]),
        ...(query.threadId === undefined ? [] : [threadTerm(query.threadId)]),
        ...(query.author === undefined ? [] : [authorTerm(query.author)]),
      ],
      since: Math.floor((query.since ?? 0) / 1_000),
      now: Math.floor(now() / 1_000),
      most: Math.max(SEARCH.readMost, 2 * query.limit),
      pause,
    });
    const rowIds = await open.idsOf(ranked);
    const found = await ledger.found(rowIds.map(placeOf));
    const fitOf = createFinder(typed, forms);
    const scored: { readonly hit: SearchHit; readonly score: number }[] = [];
    for (const [i, each] of found.entries()) {
      const said = each && searchableOf(each.doc);
      if (!said) continue;
      const { text, ...about } = said;
      const fit = fitOf(text, SEARCH.readFirst);
      await pause();
      scored.push({
        hit: { id: each.doc._id, title: each.title, passage: fit.passage, ...about },
        score: (ranked[i]?.score ?? 0) + IN_ORDER * fit.inOrder + COVERED * fit.covered + CLOSE * fit.close,
      });
    }
    const best = scored.sort((a, b) => b.score - a.score || b.hit.time - a.hit.time);
    return { hits: best.slice(0, query.limit).map(({ hit }) => hit), more: best.length > query.limit };
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
      if (failures === 0 && (waiting.length > 0 || !builder)) await within(after, SEARCH.waitForNew, begin());
      for (let tries = 0; ; tries++) {
        try {
          return { ...(await answer(query)), state };
        } catch (error) {
          // A segment may have become part of another while it was read.
          if (error instanceof DamagedIndexError && tries < 2) continue;
          await fail(isQuota(error) ? 'no-room' : 'broken');
          plan(SEARCH.quiet);
          return { hits: [], more: false, state };
        }
      }
    },
    again: begin,
    async settled() {
      while (failures === 0 && (working || waiting.length > 0 || compare)) await begin();
    },
  };
}
