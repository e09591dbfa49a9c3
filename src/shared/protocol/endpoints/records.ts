/** Records: what a page gives back to a relay that has lost them. */
import { LIMITS } from '../limits.ts';
import {
  answerAskedSchema,
  askedOutcomesSchema,
  askedRecordsSchema,
  comparedRecordsSchema,
  compareRecordsSchema,
  offeredRecordsSchema,
  offerRecordsSchema,
} from '../records.ts';
import { endpoint } from './endpoint.ts';

export const recordEndpoints = {
  compareRecords: endpoint({
    method: 'POST',
    path: '/api/records/compare',
    does: 'How versions of records that a page has compare with those of the relay. Changes nothing.',
    beginsNothing: true,
    body: compareRecordsSchema,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'always', body: comparedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  offerRecords: endpoint({
    method: 'POST',
    path: '/api/records',
    does: 'Gives records back to a relay that has lost them. Those that are newer than the relay’s are taken; nobody is woken or told by it, and what would act by itself waits for the person’s yes.',
    body: offerRecordsSchema,
    bodyBytes: LIMITS.bodyBytes,
    bodyValues: LIMITS.listValues,
    answers: [
      { status: 200, when: 'what became of each', body: offeredRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  askedRecords: endpoint({
    method: 'GET',
    path: '/api/records/asked',
    does: 'What of the records that were given back waits for the person’s yes: servers, what is due, and wider limits. Nothing of it acts before.',
    answers: [
      { status: 200, when: 'always', body: askedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  answerAsked: endpoint({
    method: 'POST',
    path: '/api/records/asked',
    does: 'Says yes or no to what waits, one by one. It holds for this relay, and for exactly what was shown.',
    body: answerAskedSchema,
    answers: [
      { status: 200, when: 'what became of each', body: askedOutcomesSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
};
