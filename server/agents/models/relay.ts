/**
 * All models of a relay: those in its environment, those that each home's pages connect, and the
 * demo mind where there is none.
 */
import { modelEndpoints } from '../../../src/shared/protocol/endpoints/models.ts';
import type { Connection, ListedModel } from '../../../src/shared/protocol/models.ts';
import type { Rehearsal } from '../../../src/shared/protocol/http.ts';
import type { SessionHost } from '../session/contract.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import type { KeyHeader } from '../../platform/key-filter.ts';
import type { OwnerRights } from '../../access/owner-rights.ts';
import { createRehearsalMind, DEFAULT_MODELS, type RehearsalMind } from '../minds/index.ts';
import {
  type Connecting,
  type EnvironmentModel,
  type HomeModels,
  type HomeModelsDeps,
  openHomeModels,
} from './index.ts';
import { createServerConnection, type ServerConnection, modelsIn, usualModels } from './connection.ts';
import { CONNECT_LIMITS } from './settings.ts';

// Endpoints with which a page connects models.

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

export function createModelRoutes({
  models,
  host,
}: {
  readonly models: HomeModels;
  readonly host: Pick<SessionHost, 'changeSettings'>;
}): readonly Handled[] {
  return answer(modelEndpoints, {
    async changeSession({ body }) {
      if (!host.changeSettings(body)) throw problem(409, 'no-session', 'No session is running.');
      return null;
    },
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
      const servers = await models.find();
      if (servers === null)
        throw problem(
          403,
          'model-address',
          'This household may not connect models on the relay’s own machine. The relay’s owner can allow it (--model-addresses any).',
        );
      return { found: servers };
    },
  });
}

interface ModelConfig {
  readonly messagesApi: {
    readonly key: string | null;
    readonly baseUrl: string | null;
    readonly keyHeader: KeyHeader | null;
  } | null;
  /** Empty: the default. */
  readonly leadModel: string;
  readonly agentModel: string;
  readonly modelRequests: number;
  readonly rehearsal: Rehearsal;
}

interface ModelsDeps extends Pick<
  HomeModelsDeps,
  'db' | 'sealer' | 'isOwn' | 'onKey' | 'onError' | 'now' | 'elapsed' | 'newId'
> {
  readonly config: ModelConfig;
  readonly rights: OwnerRights;
}

interface Models {
  readonly rehearsal: RehearsalMind;
  open(home: string, onChange: () => void): Promise<HomeModels>;
  close(): Promise<void>;
}

/**
 * The model where only an address is configured, chosen as the page does. With a key a request may
 * cost money.
 */
async function pickedBy(
  line: ServerConnection,
): Promise<{ readonly models: ListedModel[]; readonly picked: string | null }> {
  const models = modelsIn(await line.list(CONNECT_LIMITS.findMs)) ?? [];
  await line.close();
  return { models: [...models], picked: usualModels('server', models, '').lead || null };
}

async function environmentModel({ config, now, elapsed }: ModelsDeps): Promise<EnvironmentModel | null> {
  const { messagesApi, leadModel, agentModel, modelRequests: maxRequests } = config;
  if (messagesApi === null) return null;
  const { key, baseUrl: address, keyHeader } = messagesApi;
  const lineTo = (models: { readonly lead: string; readonly agent: string }) =>
    createServerConnection({
      protocol: 'messages',
      key,
      address,
      keyHeader,
      models,
      maxRequests,
      guard: null,
      now,
      elapsed,
    });
  const isNamed = leadModel !== '' || agentModel !== '' || key !== null || address === null;
  const { models: listed, picked } = isNamed ? { models: [], picked: null } : await pickedBy(lineTo(DEFAULT_MODELS));
  const models = {
    lead: leadModel || picked || DEFAULT_MODELS.lead,
    agent: agentModel || picked || DEFAULT_MODELS.agent,
  };
  return {
    kept: {
      kind: address === null ? 'claude' : 'server',
      protocol: 'messages',
      address,
      key,
      models: listed,
      leadModel: models.lead,
      agentModel: models.agent,
      windows: {},
    },
    line: lineTo(models),
  };
}

export async function createModels(deps: ModelsDeps): Promise<Models> {
  const { config, rights, ...rest } = deps;
  const environment = await environmentModel(deps);
  const rehearsal = await createRehearsalMind(config.rehearsal);
  return {
    rehearsal,
    open(home, onChange) {
      const own = rights.of(home);
      return openHomeModels({
        ...rest,
        home,
        environment: own.has('environment-model') ? environment : null,
        rehearsal,
        rights: own,
        maxRequests: config.modelRequests,
        onChange,
      });
    },
    async close() {
      await rehearsal.close();
      await environment?.line.close();
    },
  };
}
