/**
 * The calls about how agents reach each other: inboxes, wakes and their limits, the sleeping flag, threads,
 * credentials, costs. Apart from `client.ts`, so that a page is painted without them.
 */
import { z } from 'zod';
import {
  agentConfigSchema,
  effectiveConfigSchema,
  householdConfigSchema,
  type AgentConfig,
  type EffectiveConfig,
  type HouseholdConfig,
} from '../protocol/config.ts';
import { costsSchema, pricesSchema, replyCostsSchema, type Costs, type Prices } from '../protocol/costs.ts';
import { roomSchema, type Room } from '../protocol/http.ts';
import { inboxSchema, unreadSchema, type InboxMessage } from '../protocol/inbox.ts';
import {
  comparedRecordsSchema,
  offeredRecordsSchema,
  type OfferedRecord,
  type RecordAnswer,
  type RecordStanding,
  type RecordVersion,
} from '../protocol/records.ts';
import {
  credentialsSchema,
  madeCredentialSchema,
  sleepingSchema,
  type Credential,
  type Sleeping,
  type Team,
} from '../protocol/team.ts';
import {
  threadMessageSchema,
  threadMessagesSchema,
  threadSchema,
  threadsSchema,
  type Thread,
  type ThreadMessage,
} from '../protocol/threads.ts';
import { wakeFeedSchema, wakeStatsSchema, type WakeFeed, type WakeStats } from '../protocol/wakes.ts';
import type { RelayResult } from './problem.ts';
import { createSender, type SendDeps, type SentCall } from './send.ts';
import { RELAY_TIMES } from './settings.ts';

/** Newest first; `before` is the id of the last one known, null for the newest. */
interface PageRequest {
  readonly before: string | null;
  readonly limit: number;
}
interface MailPage {
  readonly messages: readonly InboxMessage[];
  readonly more: boolean;
}
interface ThreadListPage {
  readonly threads: readonly Thread[];
  /** Older ones are there. */
  readonly more: boolean;
}
export interface ThreadPage {
  readonly thread: Thread;
  /** Oldest first. */
  readonly messages: readonly ThreadMessage[];
  /** Earlier ones are there. */
  readonly more: boolean;
}
/** What was set, and what holds with every default filled in. */
export interface ConfigAnswer<Own> {
  readonly own: Own;
  readonly effective: EffectiveConfig;
}

export interface ReachClient {
  putTeam(team: Team): Promise<RelayResult<null>>;

  /** How much waits for each agent, by agent id; who has nothing waiting may be missing. */
  unread(): Promise<RelayResult<Readonly<Record<string, number>>>>;
  inbox(agentId: string, page: PageRequest): Promise<RelayResult<MailPage>>;

  /** `agentId`: only wakes of this agent; null: all. */
  wakes(page: PageRequest & { readonly agentId: string | null }): Promise<RelayResult<WakeFeed>>;
  wakeStats(agentId: string): Promise<RelayResult<WakeStats>>;
  agentConfig(agentId: string): Promise<RelayResult<ConfigAnswer<AgentConfig>>>;
  putAgentConfig(agentId: string, config: AgentConfig): Promise<RelayResult<null>>;
  householdConfig(): Promise<RelayResult<ConfigAnswer<HouseholdConfig>>>;
  putHouseholdConfig(config: HouseholdConfig): Promise<RelayResult<null>>;
  /** What holds, as YAML, with a mark on what was set. `agentId` null: the household's. */
  configAsYaml(agentId: string | null): Promise<RelayResult<string>>;
  putConfigAsYaml(agentId: string | null, yaml: string): Promise<RelayResult<null>>;

  putSleeping(sessionId: string, agentId: string, sleeping: boolean): Promise<RelayResult<Sleeping>>;

  /** The newest first; `before` is the id of the last one known. */
  threads(page: PageRequest): Promise<RelayResult<ThreadListPage>>;
  /** The newest `limit` before this place, oldest first; null: the newest. */
  threadMessages(
    threadId: string,
    page: { readonly before: number | null; readonly limit: number },
  ): Promise<RelayResult<ThreadPage>>;
  createThread(thread: {
    readonly title: string;
    readonly participants: readonly string[];
  }): Promise<RelayResult<Thread>>;
  /** `clientId`: a repeat with the same one is one message. */
  sendToThread(
    threadId: string,
    message: { readonly text: string; readonly mentions: readonly string[]; readonly clientId: string },
  ): Promise<RelayResult<ThreadMessage>>;
  addToThread(threadId: string, agentId: string): Promise<RelayResult<null>>;
  removeFromThread(threadId: string, agentId: string): Promise<RelayResult<null>>;
  closeThread(threadId: string, summary: string): Promise<RelayResult<null>>;

  credentials(): Promise<RelayResult<readonly Credential[]>>;
  /** The only answer that carries the secret. */
  makeCredential(credential: {
    readonly agentId: string | null;
    readonly label: string;
    readonly readsSoul: boolean;
  }): Promise<RelayResult<{ readonly credential: Credential; readonly secret: string }>>;
  revokeCredential(credentialId: string): Promise<RelayResult<null>>;

  /** How these versions compare with what the relay has, in the same order. */
  compareRecords(
    versions: readonly (RecordVersion & { readonly messages?: number })[],
  ): Promise<RelayResult<readonly RecordStanding[]>>;
  /** Gives records back; what became of each, in the same order. */
  offerRecords(records: readonly OfferedRecord[]): Promise<RelayResult<readonly RecordAnswer[]>>;

  /** How much room the relay's home takes. */
  room(): Promise<RelayResult<Room>>;

  /** The last `days` days, 1 to 90. */
  costs(days: number): Promise<RelayResult<Costs>>;
  prices(): Promise<RelayResult<Prices>>;
  /** An empty list brings Roost's own back. */
  putPrices(prices: Prices): Promise<RelayResult<Prices>>;
  /** What these replies cost, by message id; at most 100 ids. */
  replyCosts(
    messageIds: readonly string[],
  ): Promise<RelayResult<Readonly<Record<string, { readonly costMicroUsd: number; readonly estimated: boolean }>>>>;
}

const agentAnswer = z.object({ own: agentConfigSchema, effective: effectiveConfigSchema });
const householdAnswer = z.object({ own: householdConfigSchema, effective: effectiveConfigSchema });
const YAML = 'application/yaml';

const part = encodeURIComponent;
const configPath = (agentId: string | null) => (agentId === null ? '/v1/config' : `/v1/agents/${part(agentId)}/config`);
const threadPath = (threadId: string) => `/api/threads/${part(threadId)}`;
const pageQuery = ({ before, limit }: { readonly before: string | number | null; readonly limit: number }) =>
  `limit=${limit}${before === null ? '' : `&before=${part(String(before))}`}`;

/** As `read`, with what the answer carries under a name of its own. */
async function inner<Whole, Value>(
  read: Promise<RelayResult<Whole>>,
  pick: (whole: Whole) => Value,
): Promise<RelayResult<Value>> {
  const result = await read;
  return result.ok ? { ok: true, value: pick(result.value) } : result;
}

export function createReachClient(deps: SendDeps): ReachClient {
  const sender = createSender(deps);
  const timeout = RELAY_TIMES.call;
  const get = <Value>(path: string, schema: z.ZodType<Value>) =>
    sender.answered({ method: 'GET', path, timeout }, schema);
  const answered = <Value>(method: SentCall['method'], path: string, body: unknown, schema: z.ZodType<Value>) =>
    sender.answered({ method, path, body, timeout }, schema);
  const done = (method: SentCall['method'], path: string, body?: unknown) =>
    sender.done({ method, path, body, timeout });

  return {
    putTeam: (team) => done('PUT', '/api/team', team),

    unread: () => inner(get('/api/inbox', unreadSchema), ({ unread }) => unread),
    inbox: (agentId, page) => get(`/api/agents/${part(agentId)}/inbox?${pageQuery(page)}`, inboxSchema),

    wakes: ({ agentId, ...page }) =>
      get(`/api/wakes?${pageQuery(page)}${agentId === null ? '' : `&agent=${part(agentId)}`}`, wakeFeedSchema),
    wakeStats: (agentId) => get(`/v1/agents/${part(agentId)}/wake-stats`, wakeStatsSchema),
    agentConfig: (agentId) => get(configPath(agentId), agentAnswer),
    putAgentConfig: (agentId, config) => done('PUT', configPath(agentId), config),
    householdConfig: () => get(configPath(null), householdAnswer),
    putHouseholdConfig: (config) => done('PUT', configPath(null), config),
    configAsYaml: (agentId) => sender.words({ method: 'GET', path: configPath(agentId), accept: YAML, timeout }),
    putConfigAsYaml: (agentId, yaml) =>
      sender.done({ method: 'PUT', path: configPath(agentId), text: { type: YAML, body: yaml }, timeout }),

    putSleeping: (sessionId, agentId, sleeping) =>
      answered('PUT', `/api/v1/sessions/${part(sessionId)}/${part(agentId)}/sleeping`, { sleeping }, sleepingSchema),

    threads: (page) => get(`/api/threads?${pageQuery(page)}`, threadsSchema),
    threadMessages: (threadId, page) =>
      get(`${threadPath(threadId)}/messages?${pageQuery(page)}`, threadMessagesSchema),
    createThread: (thread) => answered('POST', '/api/threads', thread, threadSchema),
    sendToThread: (threadId, message) =>
      answered('POST', `${threadPath(threadId)}/messages`, message, threadMessageSchema),
    addToThread: (threadId, agentId) => done('POST', `${threadPath(threadId)}/participants`, { agentId }),
    removeFromThread: (threadId, agentId) => done('DELETE', `${threadPath(threadId)}/participants/${part(agentId)}`),
    closeThread: (threadId, summary) => done('POST', `${threadPath(threadId)}/close`, { summary }),

    credentials: () => inner(get('/api/credentials', credentialsSchema), ({ credentials }) => credentials),
    makeCredential: (credential) => answered('POST', '/api/credentials', credential, madeCredentialSchema),
    revokeCredential: (credentialId) => done('DELETE', `/api/credentials/${part(credentialId)}`),

    compareRecords: (records) =>
      inner(answered('POST', '/api/records/compare', { records }, comparedRecordsSchema), ({ standings }) => standings),
    offerRecords: (records) =>
      inner(answered('POST', '/api/records', { records }, offeredRecordsSchema), ({ answers }) => answers),

    room: () => get('/api/room', roomSchema),

    costs: (days) => get(`/api/costs?days=${days}`, costsSchema),
    prices: () => get('/api/prices', pricesSchema),
    putPrices: (prices) => answered('PUT', '/api/prices', prices, pricesSchema),
    replyCosts: (messageIds) =>
      inner(
        get(`/api/costs/replies?ids=${messageIds.map(part).join(',')}`, replyCostsSchema),
        ({ replies }) => replies,
      ),
  };
}
