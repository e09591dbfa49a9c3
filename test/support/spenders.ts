/**
 * A household that spends: its session, and the proxy beside it, with one account of costs for
 * both.
 */
import { randomUUID } from 'node:crypto';
import { createCredentials } from '../../server/access/index.ts';
import { openEventLog } from '../../server/log/index.ts';
import { createAnthropicMind, type Mind } from '../../server/agents/minds/index.ts';
import { createProxy } from '../../server/agents/proxy/index.ts';
import { SESSION_LIMITS } from '../../server/agents/session/settings.ts';
import type { Store } from '../../server/store/index.ts';
import { createSealer } from '../../server/platform/sealer.ts';
import { SETS_NOTHING_ASIDE } from '../../server/platform/set-aside.ts';
import { openTeam, type Team } from '../../server/households/team.ts';
import { writeWake } from '../../src/shared/domain/wake-payload.ts';
import { REAL_KEY } from './proxied.ts';
import { serveRoutes } from './served-routes.ts';
import { payload, PROTOCOL } from './session.ts';

const POSITIONS = [0, 1, 2] as const;

export interface Spenders {
  readonly team: Team;
  readonly mind: Mind;
  /** Who sits here, as the session knows them. */
  readonly agentIds: readonly string[];
  /** Base addresses of the proxy: two credentials for each of two agents. */
  readonly bases: readonly string[];
  /** Errors of ours. */
  readonly errors: readonly unknown[];
  budget(usd: number): Promise<void>;
  agentBudget(agentId: string, usd: number): Promise<void>;
  /** Begins a session, with everybody awake in it as far as the model has them so. */
  start(model: string, maxAnswerTokens: number): Promise<void>;
  say(text: string, to?: string): Promise<void>;
  close(): Promise<void>;
}

export async function openSpenders(
  store: Store,
  modelUrl: string,
  { stopsWhenLeft }: { readonly stopsWhenLeft: boolean },
): Promise<Spenders> {
  const { db } = store;
  const relay = randomUUID();
  const [now, newId] = [Date.now, randomUUID];
  const errors: unknown[] = [];
  const onError = (error: unknown) => void errors.push(error);
  const log = await openEventLog({ db, home: relay, now, newId, onListenerError: onError });
  const queue = { backoffFirst: 5, backoffMost: 20 };
  const mind = createAnthropicMind({ key: REAL_KEY, baseUrl: modelUrl, queue, stopsWhenLeft });
  const logger = { warn: () => undefined, error: (message: string, fields?: unknown) => onError([message, fields]) };
  const limits = { ...SESSION_LIMITS, secondTryMs: 20 };
  const alone = store.kind === 'sqlite';
  const team = openTeam({
    db,
    home: relay,
    alone,
    log,
    mind,
    protocol: PROTOCOL,
    now,
    newId,
    logger,
    retentionMs: 0,
    sealer: createSealer(new Uint8Array(32)),
    limits,
  });
  await SETS_NOTHING_ASIDE.run(team.recovery);
  const agents = POSITIONS.map((position) => payload(position));
  await team.directory.set({
    agents: agents.map(({ id, name, position }) => ({ agentId: id, name, position, retired: false })),
  });
  const credentials = createCredentials({ db, home: relay, now, newId, log });
  const { pauses, costs, configs, directory, host } = team;
  const upstream = { baseUrl: modelUrl, key: REAL_KEY, keyHeader: null, stopsWhenLeft };
  const proxy = createProxy({
    credentials,
    pauses,
    costs,
    configs,
    directory,
    sessionId: () => host.sessionId(),
    joined: host.joined,
    clientCalls: host.clientCalls,
    upstream: () => upstream,
    now,
    onError,
  });
  const served = await serveRoutes(proxy.endpoints);
  const bases: string[] = [];
  for (const { id } of [agents[0], agents[0], agents[1], agents[1]].flatMap((agent) => agent ?? []))
    bases.push(`${served.url}/llm/${(await credentials.make(id, '')).secret}`);
  const say: Spenders['say'] = async (text, to) =>
    void (await host.post({ clientId: newId(), text, ...(to === undefined ? {} : { to }) }));
  return {
    team,
    mind,
    agentIds: agents.map(({ id }) => id),
    bases,
    errors,
    async budget(usd) {
      await configs.setHousehold({ ...(await configs.household()).own, daily_budget_usd: usd });
    },
    async agentBudget(agentId, usd) {
      await configs.setAgent(agentId, { coordination: { daily_budget_usd: usd } });
    },
    async start(model, maxAnswerTokens) {
      await host.start({
        human: { name: 'Ada' },
        lead: { name: 'Julian', soul: 'I keep the door.', transcript: null },
        settings: { leadModel: model, agentModel: model, maxAnswerTokens },
      });
      await say(writeWake(agents));
    },
    say,
    async close() {
      await host.end('shutdown');
      proxy.close();
      await served.close();
      await team.close();
      await log.close();
      await mind.close();
    },
  };
}
