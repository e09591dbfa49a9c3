/** Models that a page connects. */
import {
  changeKeySchema,
  connectionIdText,
  connectModelSchema,
  connectionSchema,
  foundServersSchema,
  modelsSchema,
} from '../models.ts';
import { endpoint, named } from './endpoint.ts';

const params = { connectionId: named(connectionIdText, 'of a connection') };
const refused = [
  { status: 403, when: '`model-address`: this household may not connect that address' },
  { status: 409, when: '`too-many-models`' },
  {
    status: 422,
    when: '`no-answer`: it was tried and did not answer; the detail says why. `choose-model`: it has several, and what is asked there may cost money: `models` has them, and nothing was asked. Nothing is kept',
  },
] as const;

export const modelEndpoints = {
  models: endpoint({
    method: 'GET',
    path: '/api/models',
    does: 'Which models are connected, and whether they answer. Asks none of them.',
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  listModels: endpoint({
    method: 'POST',
    path: '/api/models/list',
    does: 'The same, after each server was asked for its models. No model is asked for words.',
    beginsNothing: true,
    heavy: true,
    answers: [{ status: 200, when: 'always', body: modelsSchema }],
  }),
  findServers: endpoint({
    method: 'POST',
    path: '/api/models/find',
    does: 'Asks the usual ports of model servers on the relay’s own machine which models are there.',
    beginsNothing: true,
    heavy: true,
    answers: [
      { status: 200, when: 'always', body: foundServersSchema },
      { status: 403, when: '`model-address`: this household may not connect addresses of the relay’s machine' },
    ],
  }),
  connectModel: endpoint({
    method: 'POST',
    path: '/api/models',
    does: 'Connects a model: it is tried with one short request, and kept, sealed, where it answers. Sessions that run go on with what they have.',
    heavy: true,
    body: connectModelSchema,
    answers: [{ status: 201, when: 'it answers, and is kept', body: connectionSchema }, ...refused],
  }),
  changeModelKey: endpoint({
    method: 'PUT',
    path: '/api/models/{connectionId}/key',
    does: 'Tries another key, and keeps it in place of the one before where it answers.',
    heavy: true,
    params,
    body: changeKeySchema,
    answers: [
      { status: 200, when: 'it answers', body: connectionSchema },
      { status: 404, when: 'no such connection of a page' },
      ...refused,
    ],
  }),
  tryModel: endpoint({
    method: 'POST',
    path: '/api/models/{connectionId}/try',
    does: 'Asks it for a word, now.',
    beginsNothing: true,
    heavy: true,
    params,
    answers: [
      { status: 200, when: 'it was tried; `state` says how that went', body: connectionSchema },
      { status: 404, when: 'no such connection' },
    ],
  }),
  removeModel: endpoint({
    method: 'DELETE',
    path: '/api/models/{connectionId}',
    does: 'Removes it, and its key.',
    beginsNothing: true,
    params,
    answers: [
      { status: 204, when: 'it is gone' },
      { status: 404, when: 'no such connection of a page' },
    ],
  }),
};
