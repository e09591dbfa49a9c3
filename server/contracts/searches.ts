/** What agents look for, between them and the pages that answer. */
import type { SearchAnswered, SearchAsked } from '../../src/protocol/searches.ts';

/** `no-page`: none is open; `late`: none has answered in time; `unable`: those that are there cannot look just now. */
export type Unanswered = 'no-page' | 'late' | 'unable' | 'too-many' | 'aborted';
export type SearchOutcome =
  | { readonly ok: true; readonly answer: SearchAnswered }
  | { readonly ok: false; readonly why: Unanswered };

export interface Searches {
  /** A page that answers: it is told what is asked, and says whether it could be. Returns the way to stop. */
  listen(page: (asked: SearchAsked) => boolean): () => void;
  ask(asked: Omit<SearchAsked, 'searchId'>, signal: AbortSignal): Promise<SearchOutcome>;
  /** Of the page of this sign-in. False: nobody waits for it. */
  answer(searchId: string, page: string, answer: SearchAnswered): boolean;
}
