/** Records: what a page gives back to a relay that has lost them. */
import { comparedRecordsSchema, compareRecordsSchema, offeredRecordsSchema, offerRecordsSchema } from '../records.ts';
import { endpoint } from './endpoint.ts';

export const recordEndpoints = {
  compareRecords: endpoint({
    method: 'POST',
    path: '/api/records/compare',
    does: 'How versions of records that a page has compare with those of the relay. Changes nothing.',
    beginsNothing: true,
    body: compareRecordsSchema,
    answers: [
      { status: 200, when: 'always', body: comparedRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
  offerRecords: endpoint({
    method: 'POST',
    path: '/api/records',
    does: 'Gives records back to a relay that has lost them. Those that are newer than the relay’s are taken; nobody is woken or told by it.',
    body: offerRecordsSchema,
    answers: [
      { status: 200, when: 'what became of each', body: offeredRecordsSchema },
      { status: 403, when: 'it is no browser that asks' },
    ],
  }),
};
