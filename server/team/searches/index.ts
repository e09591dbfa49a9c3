/**
 * Searches of agents in past conversations. Only pages have these, so the relay asks all open pages
 * over their event streams and takes the first complete answer. The relay decides who is searching,
 * never the page or the agent, and the answer goes only to that agent.
 */
import { z } from 'zod';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId, ThreadId } from '../../../src/shared/domain/ids.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import { applicationText } from '../../../src/shared/domain/applications.ts';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { parseTranscript, type TranscriptMessage } from '../../../src/shared/domain/transcript.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { AgentSnapshot } from '../../../src/shared/protocol/snapshots.ts';
import type { SearchAnswered, SearchAsked } from '../../../src/shared/protocol/search.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { Thread } from '../../../src/shared/protocol/threads.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { searchEndpoints } from '../../../src/shared/protocol/endpoints/threads.ts';
import type { Directory } from '../directory/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { answer, browserOf, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Threads } from '../threads/index.ts';
import { withMostWords } from './words.ts';

/**
 * `no-page`: no page is open. `late`: no page answered in time. `unable`: the open pages cannot
 * search just now.
 */
export type Unanswered = 'no-page' | 'late' | 'unable' | 'too-many' | 'aborted';

export type SearchOutcome =
  | { readonly ok: true; readonly answer: SearchAnswered }
  | { readonly ok: false; readonly why: Unanswered };

export interface Searches {
  /**
   * Registers a page that answers. It receives each search and returns whether it could be reached.
   * Returns a function that unregisters it.
   */
  listen(page: (asked: SearchAsked) => boolean): () => void;
  ask(asked: Omit<SearchAsked, 'searchId'>, signal: AbortSignal): Promise<SearchOutcome>;
  /** An answer from the page of this sign-in. False: nobody waits for it. */
  answer(searchId: string, page: string, answer: SearchAnswered): boolean;
}

/** Limits of searches that are not sizes of the protocol. */
export const SEARCH_LIMITS = {
  /** ms to wait for a page. A page that was just opened may still have to read its index. */
  answerMs: 8_000,
  /** Most searches of one household that wait for pages at once. */
  atOnce: 8,
  /** Default number of passages. */
  passages: 10,
  /** Most characters of a result. */
  characters: 30_000,
} as const;
type SearchLimits = typeof SEARCH_LIMITS;

// The tool with which an agent searches conversations it took part in. Models read the
// descriptions.

/** The messages of an agent snapshot with the most of these words, newest first. */
const searchTranscript = (transcript: string, query: string): readonly TranscriptMessage[] =>
  withMostWords(parseTranscript(transcript), query, ({ text }) => text).toReversed();

interface SearchToolDeps {
  readonly searches: Pick<Searches, 'ask'>;
  readonly directory: Directory;
  readonly threads: Pick<Threads, 'list'>;
  /** Agent snapshots on the relay. */
  readonly snapshots: {
    of(agentId: AgentId): Promise<Pick<AgentSnapshot, 'transcript' | 'human' | 'name'> | undefined>;
  };
}

const input = z.object({
  query: z
    .string()
    .trim()
    .min(1)
    .max(LIMITS.searchText)
    .describe('a few words that occur together find more than a question'),
  from: z
    .string()
    .min(1)
    .max(LIMITS.id)
    .optional()
    .describe('only by this author: a name, a seat number, an id, or "human"'),
  threadId: z.string().min(1).max(LIMITS.id).optional().describe('only in this thread, if you are in it'),
  since: z
    .string()
    .regex(/^\d{4}-\d\d-\d\d$/)
    .refine((day) => Number.isFinite(Date.parse(day)), 'there is no such day')
    .optional()
    .describe('only from this day on, as 2026-11-25'),
  limit: z.number().int().min(1).max(LIMITS.searchPassages).default(SEARCH_LIMITS.passages),
});
type Input = z.infer<typeof input>;

const WHY: Readonly<Record<Exclude<Unanswered, 'aborted' | 'too-many'>, string>> = {
  'no-page': 'No page of the human’s is open',
  late: 'The human’s page did not answer in time',
  unable: 'The human’s page cannot search just now',
};
const NOTHING = 'Nothing that you took part in holds these words.';

/** Lists as many passages as fit, numbered, each quoted. */
function listed(said: readonly { readonly head: string; readonly text: string }[], above: string, more: boolean) {
  const parts: string[] = [above];
  let left = SEARCH_LIMITS.characters - above.length - MORE.length - 2;
  let shown = 0;
  for (const { head, text } of said) {
    const part = writeSaid({ head: `${shown + 1}. ${head}:`, text });
    if (part.length + 1 > left) break;
    left -= part.length + 1;
    parts.push(part);
    shown += 1;
  }
  return toolDone([...parts, ...(more || shown < said.length ? [MORE] : [])].join('\n'));
}
const MORE = 'There may be more: name other words, one voice, or a day.';

export function createSearchTool({ searches, directory, threads: all, snapshots }: SearchToolDeps): TeamTool {
  const nameIn = (team: readonly TeamMember[], caller: Caller) => (id: string) => {
    if (id === PERSON) return 'the human';
    if (id === 'relay') return 'the relay';
    if (!team.some(({ agentId }) => agentId === id)) return applicationText(id) ?? 'somebody who lived here';
    return `${withSeatWhereAlike(team, id as AgentId)}${id === caller.agentId ? ' (you)' : ''}`;
  };

  /** The result from a page. Threads that were not asked about are dropped. */
  function pageOutcome(
    { passages, more, state }: SearchAnswered,
    { agentId }: Caller,
    nameOf: (id: string) => string,
    threads: readonly Thread[],
    moreThreads: boolean,
  ): ToolOutcome {
    const titles = new Map(threads.map(({ threadId, title }) => [threadId, title]));
    const quoted = passages.flatMap(({ author, time, threadId, sequence, text }) => {
      const title = threadId === null ? undefined : titles.get(threadId);
      if (threadId !== null && title === undefined) return [];
      const where =
        title === undefined
          ? 'in your conversation'
          : `message ${sequence ?? '?'} of the thread ${titled(title)}, id ${threadId ?? ''}`;
      return [{ head: `${nameOf(author)}, ${new Date(time).toISOString()}, ${where}`, text }];
    });
    const unfinished = [
      ...(state === 'building' ? [' The page is still making its index: what is not here may be found later.'] : []),
      ...(moreThreads
        ? [` Of your threads only the newest ${LIMITS.searchedThreads} were searched. Name an older one by its id.`]
        : []),
    ].join('');
    if (quoted.length === 0) return toolDone(`${NOTHING}${unfinished}`);
    const found = listed(quoted, `Found in what you took part in, the best first.${unfinished}`, more);
    const ofOthers = passages.some(({ author }) => author !== agentId && author !== PERSON);
    return ofOthers ? { ...found, isOfOthers: true } : found;
  }

  /** The result from the agent snapshot, with the reason why no page was searched. */
  async function snapshotOutcome(
    { query, from, threadId, since, limit }: Input,
    why: string,
    { agentId }: Caller,
    voice: string | null,
  ): Promise<ToolOutcome> {
    const snapshot = await snapshots.of(agentId);
    if (threadId !== undefined)
      return toolDone(`${why}, and only pages search threads. read_thread reads what was said there.`);
    if (!snapshot?.transcript)
      return toolDone(`${why}, and the relay has no conversation of yours, so nothing could be searched.`);
    const above = `${why}: only your last conversation was searched, as the relay has it.`;
    const earliest = since === undefined ? 0 : Date.parse(since);
    const name = from === undefined ? null : voice === PERSON ? snapshot.human : voice;
    const hits = searchTranscript(snapshot.transcript, query).filter(
      ({ author, time }) => time >= earliest && (name === null || author === name),
    );
    if (hits.length === 0) return toolDone(`${above} It does not hold these words.`);
    const shown = listed(
      hits.slice(0, limit).map(({ author, time, text }) => ({
        head: `${author}, ${new Date(time).toISOString()}, in your last conversation`,
        text: cutMiddle(text, LIMITS.searchPassage),
      })),
      above,
      hits.length > limit,
    );
    const ofOthers = hits.some(({ author }) => author !== snapshot.name && author !== snapshot.human);
    return ofOthers ? { ...shown, isOfOthers: true } : shown;
  }

  /**
   * The agent's newest threads, or only this one, however old. `more`: there are older threads,
   * which are not searched.
   */
  async function threadsOf(
    agentId: AgentId,
    only: string | undefined,
  ): Promise<{ readonly threads: readonly Thread[]; readonly more: boolean }> {
    for (let before: ThreadId | null = null; ;) {
      const page: Awaited<ReturnType<Threads['list']>> = await all.list(agentId, {
        before,
        limit: LIMITS.searchedThreads,
        closedToo: true,
      });
      if (only === undefined) return page;
      const found = page.threads.filter(({ threadId }) => threadId === only);
      before = page.threads.at(-1)?.threadId ?? null;
      if (found.length > 0 || !page.more || before === null) return { threads: found, more: false };
    }
  }

  async function search(input: Input, caller: Caller): Promise<ToolOutcome> {
    const { query, from, threadId, since, limit } = input;
    const { agentId, signal } = caller;
    const team = await directory.all();
    const isPerson = from?.trim().toLowerCase() === PERSON;
    const who = from !== undefined && !isPerson ? await directory.find(from) : null;
    if (who && !who.ok) return toolError(who.reason);
    const { threads, more } = await threadsOf(agentId, threadId);
    if (threadId !== undefined && threads.length === 0) return toolError('You are in no thread with this id.');
    const author = isPerson ? PERSON : (who?.agent.agentId ?? null);
    const outcome = await searches.ask(
      {
        agentId,
        text: query,
        conversation: threadId === undefined,
        threads: threads.map((thread): ThreadId => thread.threadId),
        author,
        since: since === undefined ? null : Date.parse(since),
        limit,
      },
      signal,
    );
    if (outcome.ok) return pageOutcome(outcome.answer, caller, nameIn(team, caller), threads, more);
    if (outcome.why === 'aborted') return toolError('The search was cancelled.');
    if (outcome.why === 'too-many') return toolError('Too many searches are under way. Try again in a moment.');
    const voice = isPerson ? PERSON : author === null ? null : withSeatWhereAlike(team, author as AgentId);
    return snapshotOutcome(input, WHY[outcome.why], caller, voice);
  }

  return defineTool({
    name: 'search_conversations',
    description:
      'Searches for words in what you took part in: your conversation with the human, including messages that you read in your inbox, and your threads. Beginnings of words match, and small typing errors are forgiven. An open page of the human answers. If none does, the relay searches only your last conversation, and the answer says so. What was forgotten is not found.',
    input,
    readOnly: true,
    // A client may read at most the last conversation.
    allowed: ({ kind }) => Promise.resolve(kind !== 'client'),
    run: search,
  });
}

// HTTP route with which pages answer searches.

export const createSearchRoutes = ({ searches }: { readonly searches: Searches }): readonly Handled[] =>
  answer(searchEndpoints, {
    answerSearch({ searchId, body }, context) {
      if (!searches.answer(searchId, browserOf(context), body))
        throw problem(404, 'no-search', 'No search waits for this answer: another page answered, or it came too late.');
      return null;
    },
  });

interface SearchesDeps {
  readonly timers: Timers;
  readonly newId: () => string;
  readonly limits?: Pick<SearchLimits, 'answerMs' | 'atOnce'>;
}

export function createSearches({ timers, newId, limits = SEARCH_LIMITS }: SearchesDeps): Searches {
  const pages = new Set<(asked: SearchAsked) => boolean>();
  const waiting = new Map<string, (page: string, answer: SearchAnswered) => void>();

  return {
    listen(page) {
      pages.add(page);
      return () => void pages.delete(page);
    },
    ask(request, signal) {
      if (signal.aborted) return Promise.resolve({ ok: false, why: 'aborted' });
      if (waiting.size >= limits.atOnce) return Promise.resolve({ ok: false, why: 'too-many' });
      const searchId = newId();
      const askedPages = [...pages].filter((page) => page({ ...request, searchId })).length;
      if (askedPages === 0) return Promise.resolve({ ok: false, why: 'no-page' });
      return new Promise((resolve) => {
        /** Incomplete answers of pages, by browser. Null: the page cannot search. */
        const others = new Map<string, SearchAnswered | null>();
        const end = (result: SearchOutcome) => {
          waiting.delete(searchId);
          cancel();
          signal.removeEventListener('abort', abort);
          resolve(result);
        };
        /** The answer with the most passages. */
        const best = (why: Unanswered): SearchOutcome => {
          const [answer] = [...others.values()]
            .flatMap((each) => each ?? [])
            .sort((a, b) => b.passages.length - a.passages.length);
          return answer ? { ok: true, answer } : { ok: false, why };
        };
        const abort = () => end({ ok: false, why: 'aborted' });
        const cancel = timers.after(limits.answerMs, () => end(best(others.size < askedPages ? 'late' : 'unable')));
        signal.addEventListener('abort', abort, { once: true });
        waiting.set(searchId, (page, answer) => {
          if (answer.state === 'ready') return end({ ok: true, answer });
          others.set(page, answer.state === 'unavailable' ? null : answer);
          if (others.size >= askedPages) end(best('unable'));
        });
      });
    },
    answer(searchId, page, answer) {
      const take = waiting.get(searchId);
      take?.(page, answer);
      return take !== undefined;
    },
  };
}
