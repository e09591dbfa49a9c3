/** The models of a relay: what its environment names, what each home’s pages connect, and the rehearsal mind for where there is none. */
import type { MayConnect } from '../../src/protocol/models.ts';
import type { KeyHeader } from '../key-filter.ts';
import { createRehearsalMind, DEFAULT_MODELS, type RehearsalMind } from '../minds/index.ts';
import type { Rehearsal } from '../../src/protocol/http.ts';
import type { ModelAddresses } from '../model-addresses.ts';
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
  readonly modelAddresses: ModelAddresses;
  readonly rehearsal: Rehearsal;
}

export interface ModelsDeps extends Pick<
  HomeModelsDeps,
  'db' | 'sealer' | 'isOwn' | 'onKey' | 'now' | 'elapsed' | 'newId'
> {
  readonly config: ModelConfig;
  /** The first home: of whoever runs the relay. */
  readonly first: string;
}

export interface Models {
  readonly rehearsal: RehearsalMind;
  /** A model is set where the relay is started. */
  readonly fromEnvironment: boolean;
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
  const { config, first, ...rest } = deps;
  const environment = environmentModel(deps);
  const rehearsal = await createRehearsalMind(config.rehearsal);
  const mayOf = (home: string): MayConnect =>
    config.modelAddresses === 'own' ? (home === first ? 'any' : 'public') : config.modelAddresses;
  return {
    rehearsal,
    fromEnvironment: environment !== null,
    open: (home, onChange) =>
      openHomeModels({
        ...rest,
        home,
        environment,
        rehearsal,
        may: mayOf(home),
        maxRequests: config.modelRequests,
        onChange,
      }),
    async close() {
      await rehearsal.close();
      await environment?.line.close();
    },
  };
}
