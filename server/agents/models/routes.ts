/** Endpoints with which a page connects models. */
import { modelEndpoints } from '../../../src/shared/protocol/endpoints/models.ts';
import type { Connection } from '../../../src/shared/protocol/models.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { Connecting, HomeModels } from './index.ts';

function connectionIn(result: Connecting): Connection {
  if (result.ok) return result.connection;
  switch (result.reason) {
    case 'address':
      throw problem(403, 'model-address', result.detail);
    case 'unknown':
      throw problem(404, 'no-connection', result.detail);
    case 'too-many':
      throw problem(409, 'too-many-models', result.detail);
    case 'no-answer':
      throw problem(422, 'no-answer', result.detail);
    case 'choose':
      throw problem(422, 'choose-model', result.detail, { fields: { models: [...result.models] } });
    default:
      return result satisfies never;
  }
}

const unknown = () => problem(404, 'no-connection', 'There is no such connection.');

export function createModelRoutes({ models }: { readonly models: HomeModels }): readonly Handled[] {
  return answer(modelEndpoints, {
    models: () => models.shown(),
    listModels: () => models.list(),
    connectModel: async ({ body }) => connectionIn(await models.connect(body)),
    changeModelKey: async ({ connectionId, body }) => connectionIn(await models.changeKey(connectionId, body.key)),
    async tryModel({ connectionId }) {
      const connection = await models.try(connectionId);
      if (connection === null) throw unknown();
      return connection;
    },
    async removeModel({ connectionId }) {
      if (!(await models.remove(connectionId))) throw unknown();
      return null;
    },
    async findServers() {
      const found = await models.find();
      if (found === null)
        throw problem(
          403,
          'model-address',
          'This household may not connect models on the relay’s own machine. Whoever runs the relay can allow it (--model-addresses any).',
        );
      return { found };
    },
  });
}
