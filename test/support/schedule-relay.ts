/**
 * A relay whose agents can be at work alone, with the calls that tests of the night make over and
 * over.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  occurrenceSchema,
  scheduledSchema,
  type Occurrence,
  type Scheduled,
} from '../../src/shared/protocol/schedules.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { wakeFeedSchema, wakeStatsSchema, type WakeDecision, type WakeStats } from '../../src/shared/protocol/wakes.ts';
import { type Browser, openTestRelay, type OpenRelay } from './open-relay.ts';
import { SNAPSHOT } from './schedules.ts';
import { startScriptedModel, type Script, type ScriptedModel } from './scripted-model.ts';

export interface ScheduleRelay {
  readonly relay: OpenRelay;
  readonly model: ScriptedModel;
  /** The person's, which makes the calls. */
  readonly browser: Browser;
  call(method: string, path: string, json?: unknown): Promise<Response>;
  /** A call, with its answer as JSON. */
  ask(method: string, path: string, json?: unknown): Promise<{ readonly status: number; readonly body: unknown }>;
  /** A call that succeeds. */
  good(method: string, path: string, json?: unknown): Promise<unknown>;
  /** A call of the page whose body is no JSON. */
  raw(method: string, path: string, init: RequestInit): Promise<Response>;
  /** Lets the relay's clock go on, and has it look at what is due. */
  pass(ms: number): Promise<void>;
  restart(): Promise<void>;
  /** Calls a tool of the team as a client of this agent. */
  tool(agentId: string, name: string, input: object): Promise<string>;
  /** A client of this agent, connected by MCP. */
  client(agentId: string): Promise<Client>;
  secret(agentId: string | null): Promise<string>;
  remind(agentId: string, name: string, at: number): Promise<void>;
  scheduled(agentId: string): Promise<Scheduled[]>;
  history(agentId: string): Promise<Occurrence[]>;
  stats(agentId: string): Promise<WakeStats>;
  wakes(agentId?: string): Promise<WakeDecision[]>;
  now(): number;
  close(): Promise<void>;
}

/** `agents`: ids by seat. Each can be at work alone. `options`: of the relay. */
export async function openScheduleRelay(
  agents: readonly string[],
  script: Script = () => [{ say: 'Done.' }],
  { args = [], ...options }: Pick<Parameters<typeof openTestRelay>[0] & object, 'store' | 'args'> = {},
) {
  const model = await startScriptedModel(script);
  const relay = await openTestRelay({
    ...options,
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
    args: ['--rate', '100000', '--burst', '1000000', ...args],
  });
  const browser = await relay.signIn();
  let ahead = 0;
  let nudges = 0;
  const clients: Client[] = [];
  const byAgent = new Map<string, Client>();
  const call = async (method: string, path: string, json?: unknown) =>
    await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  async function ask(method: string, path: string, json?: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await call(method, path, json);
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
  }
  async function good(method: string, path: string, json?: unknown): Promise<unknown> {
    const { status, body } = await ask(method, path, json);
    expect(status, `${method} ${path}: ${JSON.stringify(body)}`).toBeLessThan(300);
    return body;
  }
  const now = () => Date.now() + ahead;
  async function remind(agentId: string, name: string, at: number): Promise<void> {
    const timing = { kind: 'once', at };
    await good('POST', '/v1/pulse-routines', { kind: 'reminder', agentId, name, message: `About ${name}.`, timing });
  }
  async function secret(agentId: string | null): Promise<string> {
    return madeCredentialSchema.parse(await good('POST', '/api/credentials', { agentId, label: 'elsewhere' })).secret;
  }
  async function client(agentId: string): Promise<Client> {
    const made = new Client({ name: 'a-client', version: '1.0.0' });
    const headers = { authorization: `Bearer ${await secret(agentId)}` };
    await made.connect(new StreamableHTTPClientTransport(new URL('/mcp', relay.url), { requestInit: { headers } }));
    clients.push(made);
    return made;
  }
  await good('PUT', '/api/team', {
    agents: [
      { agentId: 'lead', name: 'Julian', position: 4, retired: false },
      ...agents.map((agentId, at) => ({
        agentId,
        name: `Name of ${agentId}`,
        position: at < 4 ? at : at + 1,
        retired: false,
      })),
    ],
  });
  for (const agentId of agents)
    await good('PUT', `/api/agent-snapshots/${agentId}`, {
      version: 'v1',
      snapshot: { ...SNAPSHOT, name: `Name of ${agentId}` },
    });
  const scheduleRelay: ScheduleRelay = {
    relay,
    model,
    browser,
    call,
    ask,
    good,
    raw: (method, path, init) => browser.fetch(path, { ...init, method }),
    async pass(ms) {
      relay.pass(ms);
      ahead += ms;
      // Whatever is scheduled has the clock look.
      await remind('lead', `Never ${++nudges}`, now() + 300 * 86_400_000);
    },
    restart: () => relay.restart(),
    async tool(agentId, name, input) {
      const own = byAgent.get(agentId) ?? (await client(agentId));
      byAgent.set(agentId, own);
      return JSON.stringify(await own.callTool({ name, arguments: { ...input } }));
    },
    client,
    secret,
    remind,
    scheduled: async (agentId) =>
      z.object({ schedules: z.array(scheduledSchema) }).parse(await good('GET', `/v1/agents/${agentId}/schedule`))
        .schedules,
    history: async (agentId) =>
      z.object({ occurrences: z.array(occurrenceSchema) }).parse(await good('GET', `/v1/agents/${agentId}/schedule`))
        .occurrences,
    stats: async (agentId) => wakeStatsSchema.parse(await good('GET', `/v1/agents/${agentId}/wake-stats`)),
    wakes: async (agentId) =>
      wakeFeedSchema.parse(await good('GET', `/api/wakes?limit=200${agentId === undefined ? '' : `&agent=${agentId}`}`))
        .wakes,
    now,
    async close() {
      for (const each of clients) await each.close().catch(() => undefined);
      await relay.close();
      await model.close();
    },
  };
  return scheduleRelay;
}
