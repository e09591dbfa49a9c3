/** The model proxy over HTTP, with real parts behind it: credentials, sleeping flags, costs. */
import Anthropic from '@anthropic-ai/sdk';
import { createCredentials } from '../../server/access/index.ts';
import { createCosts, type OpenCosts } from '../../server/team/costs/index.ts';
import { createDirectory } from '../../server/team/directory/index.ts';
import { openEventLog } from '../../server/log/index.ts';
import { createProxy, type ProxyDeps } from '../../server/agents/proxy/index.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import { createPauses, type OpenPauses } from '../../server/team/pauses/index.ts';
import type { Store } from '../../server/store/index.ts';
import { serveRoutes } from './served-routes.ts';
import { createTestConfigs, type TestConfigs } from './test-configs.ts';

export const SESSION = 'session-1';
/** What the relay adds, and what no client may ever see. */
export const REAL_KEY = 'sk-real-key-of-the-household';

export interface Proxied {
  readonly url: string;
  readonly configs: TestConfigs;
  readonly costs: OpenCosts;
  readonly pauses: OpenPauses;
  /** A credential's secret for this agent. */
  join(agentId: string): Promise<string>;
  revoke(secret: string): Promise<void>;
  /** Errors of ours. */
  readonly errors: readonly unknown[];
  /** The agents that have called. */
  readonly joined: readonly string[];
  close(): Promise<void>;
}

export interface ProxiedOptions {
  readonly store: Store;
  /** Names the home: every test its own. */
  readonly relay: string;
  readonly upstream: ReturnType<ProxyDeps['upstream']>;
  readonly pingMs?: number;
}

export async function startProxied({ store: { db }, relay, upstream, pingMs }: ProxiedOptions): Promise<Proxied> {
  const now = () => Date.now();
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  let ids = 0;
  const newId = () => `${relay}-${++ids}`;
  const log = await openEventLog({ db, home: relay, now, newId, onListenerError: onError, retentionMs: 0 });
  const configs = createTestConfigs({ db, relay });
  const directory = createDirectory({ db, home: relay, now, tell: (event) => void log.append([event]).catch(onError) });
  await directory.set({
    agents: [
      { agentId: 'a1', name: 'Lyra', position: 0, retired: false },
      { agentId: 'a2', name: 'Orion', position: 1, retired: false },
      { agentId: 'a3', name: 'Vega', position: null, retired: true },
    ],
  });
  const credentials = createCredentials({ db, home: relay, now, newId, log });
  const costs = createCosts({ db, home: relay, configs, directory, log, now });
  const pauses = createPauses({ log, configs, now, timers: realTimers, onListenerError: onError });
  pauses.begin(SESSION);
  const joined: string[] = [];
  const proxy = createProxy({
    credentials,
    pauses,
    costs,
    configs,
    directory,
    sessionId: () => SESSION,
    async joined({ agentId }) {
      joined.push(agentId);
      await pauses.join(agentId);
    },
    clientCalls: () => () => undefined,
    upstream: () => upstream,
    now,
    onError,
    ...(pingMs === undefined ? {} : { pingMs }),
  });
  const served = await serveRoutes(proxy.endpoints);
  const made = new Map<string, string>();
  return {
    url: served.url,
    configs,
    costs,
    pauses,
    errors,
    joined,
    async join(agentId) {
      const { credential, secret } = await credentials.make(agentId, '');
      made.set(secret, credential.credentialId);
      // Whom a test sets to sleep is here already; whoever starts asleep comes with its first
      // request.
      if (!(await configs.agent(agentId)).effective.coordination.sleep_events.includes('agent_started'))
        await pauses.join(agentId);
      return secret;
    },
    async revoke(secret) {
      await credentials.revoke(made.get(secret) ?? '');
    },
    async close() {
      pauses.close();
      proxy.close();
      await served.close();
      await log.close();
    },
  };
}

/**
 * The official client as people set it up: `current` as the SDK is now, `first` with the headers of
 * the first generation.
 */
export function clientOf(
  baseURL: string,
  generation: 'current' | 'first' = 'current',
  more: { maxRetries?: number } = {},
): Anthropic {
  const first = { 'x-api-key': 'a-key-of-the-client', authorization: null, 'anthropic-version': '2023-06-01' };
  return new Anthropic({
    apiKey: 'a-key-of-the-client',
    baseURL,
    maxRetries: more.maxRetries ?? 0,
    logLevel: 'off',
    ...(generation === 'first' ? { defaultHeaders: first } : {}),
  });
}
