/**
 * Search over a ledger. The index is made from the views, follows new documents, and is deleted and
 * rebuilt whenever it is wrong. That costs only time. There is one index for all tabs, in the
 * worker that has the ledger.
 */
import { createQueue } from '../../shared/domain/platform/queue.ts';
import { sleep, within, type After } from '../../shared/domain/platform/timers.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { AgentId, ThreadId } from '../../shared/domain/ids.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import type { SearchAnswer, SearchHit, SearchQuery, SearchState } from '../../shared/protocol/search.ts';
import { CANNOT_SEARCH, type SearchAnswered, type SearchAsked } from '../../shared/protocol/searches.ts';
import { answerTo, type Found, type Question } from './answer.ts';
import { createBuilder, type Builder } from './builder.ts';
import { DamagedIndexError } from './segment.ts';
import { authorTerm, conversationTerm, kindTerm, rowIdOf, threadTerm, type Searchable } from './documents.ts';
import { SEARCH } from './settings.ts';
import type { SearchedLedger } from './searched-ledger.ts';
import type { IndexStore } from './store.ts';

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

  async function opened(): Promise<Builder> {
    builder ??= await createBuilder({
      ledger,
      store: await deps.openStore(),
      after,
      pause: createPause(deps, SEARCH.slice, () => (deps.isTalking() ? SEARCH.restWhileTalking : 0)),
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
    if (failures === 0 && (waiting.length > 0 || !builder)) await within(after, SEARCH.waitForNew, begin());
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
