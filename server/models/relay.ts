/** The models of a relay: what its environment names, what each home’s pages connect, and the rehearsal mind for where there is none. */
import type { KeyHeader } from '../key-filter.ts';
import { createRehearsalMind, DEFAULT_MODELS, type RehearsalMind } from '../minds/index.ts';
import type { Rehearsal } from '../../src/protocol/http.ts';
import type { OwnerRights } from '../owner-rights.ts';
import { createLine } from './connection.ts';
import { openHomeModels, type EnvironmentModel, type HomeModels, type HomeModelsDeps } from './index.ts';

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

export interface ModelsDeps extends Pick<
  HomeModelsDeps,
  'db' | 'sealer' | 'isOwn' | 'onKey' | 'now' | 'elapsed' | 'newId'
> {
  readonly config: ModelConfig;
  readonly rights: OwnerRights;
}

export interface Models {
  readonly rehearsal: RehearsalMind;
  open(home: string, onChange: () => void): Promise<HomeModels>;
  close(): Promise<void>;
}

function environmentModel({ config, now, elapsed }: ModelsDeps): EnvironmentModel | null {
  const { messagesApi, leadModel, agentModel, modelRequests: maxRequests } = config;
  if (messagesApi === null) return null;
  const { key, baseUrl: address, keyHeader } = messagesApi;
  const models = { lead: leadModel || DEFAULT_MODELS.lead, agent: agentModel || DEFAULT_MODELS.agent };
  return {
    kept: {
      kind: address === null ? 'claude' : 'server',
      address,
      key,
      models: [],
      leadModel: models.lead,
      agentModel: models.agent,
    },
    line: createLine({ key, address, keyHeader, models, maxRequests, guard: null, now, elapsed }),
  };
}

export async function createModels(deps: ModelsDeps): Promise<Models> {
  const { config, rights, ...rest } = deps;
  const environment = environmentModel(deps);
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
