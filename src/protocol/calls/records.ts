/** Calls of records: what a page gives back to a relay that has lost them. */
import { comparedRecordsSchema, compareRecordsSchema, offeredRecordsSchema, offerRecordsSchema } from '../records.ts';
import type { Call } from './call.ts';

export const RECORD_CALLS: readonly Call[] = [
  {
    method: 'POST',
    path: '/api/records/compare',
    does: 'How versions of records that a page has compare with those of the relay. Changes nothing.',
    body: compareRecordsSchema,
    answers: [
      { status: 200, when: 'always', body: comparedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  },
  {
    method: 'POST',
    path: '/api/records',
    does: 'Gives records back to a relay that has lost them. Those that are newer than the relay’s are taken; nobody is woken or told by it.',
    body: offerRecordsSchema,
    answers: [
      { status: 200, when: 'what became of each', body: offeredRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  },
];
