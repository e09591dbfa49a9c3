/**
 * The relay's MCP server over HTTP, with everything around it real but the session: two agents, and
 * tools that tell what they did.
 */
import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport, type ClientOptions } from '@modelcontextprotocol/client';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { z } from 'zod';
import {
  createAccess,
  createCredentials,
  createOrigins,
  createRateLimit,
  createSignIn,
  type Credentials,
} from '../../server/access/index.ts';
import type { Caller, TeamTool } from '../../server/tools/index.ts';
import { createDirectory } from '../../server/team/directory/index.ts';
import { openEventLog } from '../../server/log/index.ts';
import { createInbox } from '../../server/team/inbox/index.ts';
import { listen } from '../../server/http/listen.ts';
import { createMcp, type McpSettings } from '../../server/mcp/server/index.ts';
import { mount, type Env } from '../../server/http/endpoint.ts';
import { createPauses, type OpenPauses } from '../../server/team/pauses/index.ts';
import type { Store } from '../../server/store/index.ts';
import { createThreads, type Threads } from '../../server/team/threads/index.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { TeamMember } from '../../src/shared/protocol/team.ts';
import type { WakeStats } from '../../src/shared/protocol/wakes.ts';
import { effectiveConfig } from './effective-config.ts';
import { createManualTimers, type ManualTimers } from './manual-timers.ts';

export const LYRA: TeamMember = { agentId: 'agent-lyra', name: 'Lyra', position: 1, retired: false };
export const VEGA: TeamMember = { agentId: 'agent-vega', name: 'Vega', position: 2, retired: false };
export const MIRA: TeamMember = { agentId: 'agent-mira', name: 'Mira', position: null, retired: true };

export const STATS: WakeStats = {
  wakesToday: 2,
  maxWakesPerDay: 12,
  cooldownSeconds: 300,
  lastWakeTime: 5,
  maxDailySessionMinutes: 120,
  minutesToday: 1.5,
  bySource: { person: 2 },
  running: 0,
  nextWakeTime: 300_005,
  stoppedBy: 'cooldown',
};

export interface TestMcp {
  readonly url: string;
  readonly port: number;
  readonly credentials: Credentials;
  /** The same, as another process of this relay has them. */
  readonly credentialsElsewhere: Credentials;
  readonly pauses: OpenPauses;
  readonly threads: Threads;
  /** Moves the longest wait of a sleeping agent's call. */
  readonly timers: ManualTimers;
  /** Every run of the tool `note`, in order. */
  readonly notes: { readonly text: string; readonly caller: Caller }[];
  readonly joined: readonly string[];
  readonly problems: { readonly message: string; readonly fields: unknown }[];
  /** Begins a session; the one before it ends. */
  session(id: string | null): Promise<void>;
  sleep(agent: TeamMember): Promise<void>;
  wake(agent: TeamMember): Promise<void>;
  /** Lets the tool `linger` go on; resolves when it runs. */
  lingering(): Promise<() => void>;
  secret(agent: TeamMember): Promise<string>;
  /** The official client, in the seat of this secret's agent. Closed with the server. */
  client(secret: string, options?: ClientOptions): Promise<Client>;
  close(): Promise<void>;
}

export const ERAS = ['legacy', 'modern'] as const;
export type Era = (typeof ERAS)[number];
/** How the official client is told to speak only this generation of the protocol. */
export const speaking = (era: Era): ClientOptions =>
  era === 'modern' ? { versionNegotiation: { mode: { pin: '2026-07-28' } } } : {};

export async function openMcp(
  store: Store,
  settings: Partial<McpSettings> = {},
  more: readonly TeamTool[] = [],
): Promise<TestMcp> {
  const { db } = store;
  const relay = randomUUID();
  const now = () => Date.now();
  const problems: { message: string; fields: unknown }[] = [];
  const keep = (message: string, fields?: unknown) => void problems.push({ message, fields });
  const failed = (error: unknown) => keep('a listener failed', error);
  const logger = { debug: keep, info: keep, warn: keep, error: keep };
  const log = await openEventLog({ db, home: relay, now, newId: randomUUID, onListenerError: failed });
  const tell = (event: Parameters<typeof log.append>[0][number]) => void log.append([event]).catch(failed);
  const openCredentials = () => createCredentials({ db, home: relay, now, newId: randomUUID, log });
  const credentials = openCredentials();
  const directory = createDirectory({ db, home: relay, tell, now });
  await directory.set({ agents: [LYRA, VEGA, MIRA] });
  const inbox = createInbox({ db, home: relay, retentionMs: 1_000_000, tell, now });
  const timers = createManualTimers();
  const configs = {
    agent: () => Promise.resolve(effectiveConfig()),
    household: () => Promise.resolve({ own: { coordination: {} }, effective: effectiveConfig().effective, version: 0 }),
  };
  const pauses = createPauses({ log, configs, now, timers, onListenerError: failed });

  const untold = () => Promise.resolve(null);
  const threads = createThreads({
    db,
    home: relay,
    directory,
    tell,
    now,
    newId: randomUUID,
    timers: realTimers,
    hooks: {
      added: untold,
      mentioned: untold,
      leftLast: () => Promise.resolve(),
      mentionsRead: () => Promise.resolve(),
    },
  });

  const notes: { text: string; caller: Caller }[] = [];
  const joined: string[] = [];
  const lingering: ((release: () => void) => void)[] = [];
  let sessionId: string | null = null;
  const done = (text: string) => ({ text, isError: false });
  const noteInput = z.strictObject({
    text: z.string().max(100).describe('what to note'),
    loud: z.boolean().default(false),
  });
  const tools: readonly TeamTool[] = [
    {
      name: 'note',
      description: 'Notes something.',
      input: noteInput,
      readOnly: false,
      run(input, caller) {
        const { text } = noteInput.parse(input);
        notes.push({ text, caller });
        return Promise.resolve(done(`noted ${text}`));
      },
    },
    {
      name: 'look',
      description: 'Looks.',
      input: z.strictObject({}),
      readOnly: true,
      run: () => Promise.resolve({ text: 'there is nothing to see', isError: true }),
    },
    {
      name: 'break',
      description: 'Breaks.',
      input: z.strictObject({}),
      readOnly: true,
      run: () => Promise.reject(new Error('a fault of ours')),
    },
    {
      name: 'linger',
      description: 'Takes its time.',
      input: z.strictObject({}),
      readOnly: true,
      run: () => new Promise((resolve) => lingering.shift()?.(() => resolve(done('lingered')))),
    },
    ...more,
    {
      name: 'vegas_own',
      description: 'Is for Vega.',
      input: z.strictObject({}),
      readOnly: true,
      allowed: ({ agentId }) => Promise.resolve(agentId === VEGA.agentId),
      run: () => Promise.resolve(done('yours')),
    },
  ];

  const mcp = createMcp({
    tools,
    credentials,
    directory,
    pauses,
    configs,
    inbox,
    log,
    stateOf: () => 'driven',
    clientCalls: () => () => undefined,
    threads,
    gate: { stats: () => Promise.resolve(STATS) },
    sessionId: () => sessionId,
    async joined(agent) {
      joined.push(agent.agentId);
      await pauses.join(agent.agentId);
    },
    version: '1.2.3',
    newId: randomUUID,
    now,
    logger,
    settings,
  });

  const http = await listen({ host: '127.0.0.1', port: 0 });
  const access = createAccess({
    origins: createOrigins({ port: http.port, host: '127.0.0.1', publicUrl: null, tls: false, proxied: false }),
    signIn: createSignIn({
      db,
      relay,
      now,
      linkMs: 1_000_000,
      cookieMs: 1_000_000,
      deviceCodes: { take: () => Promise.resolve(null) },
    }),
    rate: createRateLimit({ perSecond: 1_000, burst: 1_000, elapsed: now }),
    port: http.port,
    secure: false,
    proxied: false,
    cookieMs: 1_000_000,
    credentials,
  });
  const app = new Hono<Env>();
  app.onError((error) => {
    if (error instanceof HTTPException) return error.getResponse();
    throw error;
  });
  app.use(access.own);
  mount(app, mcp.endpoints);
  http.serve(getRequestListener((request, env) => app.fetch(request, env)));
  const url = `http://127.0.0.1:${http.port}/mcp`;
  const clients: Client[] = [];

  async function flag(agent: TeamMember, sleeping: boolean): Promise<void> {
    await pauses.join(agent.agentId);
    if (sessionId === null || (await pauses.set(sessionId, agent.agentId, sleeping, 'human')) !== sleeping)
      throw new Error(`${agent.name} is in no session`);
  }

  return {
    url,
    port: http.port,
    credentials,
    credentialsElsewhere: openCredentials(),
    pauses,
    threads,
    timers,
    notes,
    joined,
    problems,
    session(id) {
      if (sessionId !== null) pauses.end(sessionId);
      sessionId = id;
      if (id !== null) pauses.begin(id);
      return Promise.resolve();
    },
    sleep: (agent) => flag(agent, true),
    wake: (agent) => flag(agent, false),
    lingering: () => new Promise((resolve) => lingering.push(resolve)),
    secret: async (agent) => (await credentials.make(agent.agentId, '')).secret,
    async client(secret, options = {}) {
      const client = new Client({ name: 'a-visitor', version: '1.0.0' }, options);
      await client.connect(
        new StreamableHTTPClientTransport(new URL(url), {
          requestInit: { headers: { authorization: `Bearer ${secret}` } },
        }),
      );
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) await client.close();
      pauses.close();
      await mcp.close();
      await http.close();
      await log.close();
    },
  };
}
