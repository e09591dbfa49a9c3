/** What was forgotten for good. */
import { forgetBodySchema, knownForgetsSchema, sentenceBodySchema, sentencePlacesSchema } from '../forgets.ts';
import { endpoint } from './endpoint.ts';

export const forgetEndpoints = {
  forgets: endpoint({
    method: 'GET',
    path: '/api/forgets',
    does: 'Lists the final requests to forget that the relay has carried out.',
    answers: [{ status: 200, when: 'always', body: knownForgetsSchema }],
  }),
  forget: endpoint({
    method: 'POST',
    path: '/api/forgets',
    does: 'Removes what these final requests cover from everything that the relay stores, and keeps it out. Repeating a request has no effect.',
    body: forgetBodySchema,
    answers: [{ status: 200, when: 'carried out', body: knownForgetsSchema }],
  }),
  findSentence: endpoint({
    method: 'POST',
    path: '/api/sentences',
    does: 'Searches everything that the relay stores of this household for a sentence, and says where it stands. Sealed entries and the history of files are not searched.',
    body: sentenceBodySchema,
    answers: [{ status: 200, when: 'searched', body: sentencePlacesSchema }],
  }),
};
