/** Searches of agents, answered by a page. */
import { searchAnsweredSchema } from '../searches.ts';
import { endpoint, idText, named } from './endpoint.ts';

export const searchEndpoints = {
  answerSearch: endpoint({
    method: 'POST',
    path: '/api/searches/{searchId}',
    does: 'Answers what an agent of this household looks for, as `search` on the event stream asked. The first page that has everything is heard; the answer goes to that agent alone.',
    beginsNothing: true,
    params: { searchId: named(idText, 'as it was asked') },
    body: searchAnsweredSchema,
    answers: [
      { status: 204, when: 'taken' },
      { status: 404, when: '`no-search`: it was never asked of this household, is answered, or was given up' },
    ],
  }),
};
