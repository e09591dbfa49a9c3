/** Calls of tokens and money. */
import { costsSchema, pricesSchema, replyCostsSchema } from '../costs.ts';
import type { Call } from './call.ts';

export const COST_CALLS: readonly Call[] = [
  {
    method: 'GET',
    path: '/api/costs',
    does: 'What requests to models took, by day, agent and session, and which daily budgets are used up.',
    parameters: [{ name: 'days', in: 'query', does: 'how many days back, from 1 to 90; 14 where it is left out' }],
    answers: [
      { status: 200, when: 'always', body: costsSchema },
      { status: 400, when: '`days` does not fit' },
    ],
  },
  {
    method: 'GET',
    path: '/api/costs/replies',
    does: 'What replies cost. Those of which nothing was counted are left out.',
    parameters: [{ name: 'ids', in: 'query', does: 'ids of messages, separated by commas, at most 100' }],
    answers: [
      { status: 200, when: 'always', body: replyCostsSchema },
      { status: 400, when: 'too many ids' },
    ],
  },
  {
    method: 'GET',
    path: '/api/prices',
    does: 'The table of prices by which requests are counted.',
    answers: [{ status: 200, when: 'always', body: pricesSchema }],
  },
  {
    method: 'PUT',
    path: '/api/prices',
    does: 'Sets the table of prices, for requests from now on. An empty list brings Roost’s own back.',
    body: pricesSchema,
    answers: [
      { status: 200, when: 'it holds; the table as it is now', body: pricesSchema },
      { status: 400, when: 'it does not fit, or names a model twice' },
    ],
  },
];
