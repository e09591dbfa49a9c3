/** The pages' answers to what agents look for. */
import { searchEndpoints } from '../../src/protocol/endpoints/searches.ts';
import { answer, browserOf, type Handled } from '../endpoint.ts';
import { problem } from '../problem.ts';
import type { Searches } from '../contracts.ts';

export const createSearchRoutes = ({ searches }: { readonly searches: Searches }): readonly Handled[] =>
  answer(searchEndpoints, {
    answerSearch({ searchId, body }, context) {
      if (!searches.answer(searchId, browserOf(context), body))
        throw problem(404, 'no-search', 'Nobody waits for an answer to this: it was given, or came too late.');
      return null;
    },
  });
