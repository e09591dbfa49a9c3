/** Tokens and money. */
import { z } from 'zod';
import {
  askRunCostSchema,
  askWakeCostSchema,
  costsSchema,
  pricesAnswerSchema,
  replyCostsSchema,
  setPricesSchema,
  wakeCostSchema,
} from '../costs.ts';
import { changedElsewhere } from '../version.ts';
import { LIMITS } from '../limits.ts';
import { endpoint, wholeNumber } from './endpoint.ts';

const MOST_REPLIES = 100;

export const costEndpoints = {
  costs: endpoint({
    method: 'GET',
    path: '/api/costs',
    does: 'Usage of models by day, agent and session, and which daily budgets are used up.',
    query: {
      days: wholeNumber({ min: 1, max: 90, otherwise: 14 }, 'how many days back, from 1 to 90; left out: 14'),
    },
    answers: [
      { status: 200, when: 'always', body: costsSchema },
      { status: 400, when: '`days` does not fit' },
    ],
  }),
  replyCosts: endpoint({
    method: 'GET',
    path: '/api/costs/replies',
    does: 'Costs of replies. Replies without counted usage are left out.',
    query: {
      ids: z
        .preprocess(
          (text) => [...new Set(typeof text === 'string' ? text.split(',').filter((id) => id !== '') : [])],
          z.array(z.string()).max(MOST_REPLIES, `must name at most ${MOST_REPLIES} replies`),
        )
        .describe(`ids of messages, separated by commas, at most ${MOST_REPLIES}`),
    },
    answers: [
      { status: 200, when: 'always', body: replyCostsSchema },
      { status: 400, when: 'too many ids' },
    ],
  }),
  wakeCost: endpoint({
    method: 'POST',
    path: '/api/costs/wake',
    does: 'Measures what a wake would send, without sending it: every request of the lead and of each agent, with tools and system prompts.',
    heavy: true,
    beginsNothing: true,
    body: askWakeCostSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 200, when: 'always', body: wakeCostSchema },
      { status: 400, when: 'the call is malformed, or wakes no agent; `detail` says where' },
      { status: 413, when: 'too large' },
    ],
  }),
  runCost: endpoint({
    method: 'POST',
    path: '/api/costs/run',
    does: 'Measures the first request of a routine’s run, without sending it, with tools and system prompt. Later requests of a run depend on what its agent does.',
    heavy: true,
    beginsNothing: true,
    body: askRunCostSchema,
    bodyBytes: LIMITS.bodyBytes,
    answers: [
      { status: 200, when: 'always', body: wakeCostSchema },
      { status: 400, when: 'the routine or the agent does not fit' },
      { status: 413, when: 'too large' },
    ],
  }),
  prices: endpoint({
    method: 'GET',
    path: '/api/prices',
    does: 'The price table by which requests are counted.',
    answers: [{ status: 200, when: 'always', body: pricesAnswerSchema }],
  }),
  putPrices: endpoint({
    method: 'PUT',
    path: '/api/prices',
    does: 'Sets the price table for later requests. An empty list restores Roost’s own prices.',
    body: setPricesSchema,
    answers: [
      { status: 200, when: 'the table is set; the body is the new table', body: pricesAnswerSchema },
      changedElsewhere,
      { status: 400, when: 'a price does not fit, or a model is named twice' },
    ],
  }),
};
