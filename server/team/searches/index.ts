/**
 * What agents look for in what was said. Only pages have that: those that are open are asked over
 * their event streams, and the first that has everything is heard. Who asks is the relay's to say,
 * never the page's or the agent's, and an answer goes to the one who asked.
 */
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import { searchEndpoints } from '../../../src/shared/protocol/endpoints/searches.ts';
import type { SearchAnswered, SearchAsked } from '../../../src/shared/protocol/searches.ts';
import type { SearchOutcome, Searches, Unanswered } from '../../contracts/index.ts';
import { answer, browserOf, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { SEARCH_LIMITS, type SearchLimits } from './settings.ts';

// The pages' answers to what agents look for.

export const createSearchRoutes = ({ searches }: { readonly searches: Searches }): readonly Handled[] =>
  answer(searchEndpoints, {
    answerSearch({ searchId, body }, context) {
      if (!searches.answer(searchId, browserOf(context), body))
        throw problem(404, 'no-search', 'Nobody waits for an answer to this: it was given, or came too late.');
      return null;
    },
  });

export { createSearchTools } from './tools.ts';

export interface SearchesDeps {
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
    ask(asked, signal) {
      if (signal.aborted) return Promise.resolve({ ok: false, why: 'aborted' });
      if (waiting.size >= limits.atOnce) return Promise.resolve({ ok: false, why: 'too-many' });
      const searchId = newId();
      const told = [...pages].filter((page) => page({ ...asked, searchId })).length;
      if (told === 0) return Promise.resolve({ ok: false, why: 'no-page' });
      return new Promise((resolve) => {
        /** Of pages that have not everything, by sign-in; null: it cannot look. */
        const others = new Map<string, SearchAnswered | null>();
        const end = (result: SearchOutcome) => {
          waiting.delete(searchId);
          cancel();
          signal.removeEventListener('abort', abort);
          resolve(result);
        };
        /** What was found by the page that has the most. */
        const best = (why: Unanswered): SearchOutcome => {
          const [answer] = [...others.values()]
            .flatMap((each) => each ?? [])
            .sort((a, b) => b.passages.length - a.passages.length);
          return answer ? { ok: true, answer } : { ok: false, why };
        };
        const abort = () => end({ ok: false, why: 'aborted' });
        const cancel = timers.after(limits.answerMs, () => end(best(others.size < told ? 'late' : 'unable')));
        signal.addEventListener('abort', abort, { once: true });
        waiting.set(searchId, (page, answer) => {
          if (answer.state === 'ready') return end({ ok: true, answer });
          others.set(page, answer.state === 'unavailable' ? null : answer);
          if (others.size >= told) end(best('unable'));
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
