/**
 * An agent with hands, at work alone before a scripted model in a whole relay, and the person at
 * its questions.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import { toolCallSchema, type Answer, type ToolCall } from '../../src/shared/protocol/approvals.ts';
import { scheduledSchema } from '../../src/shared/protocol/schedules.ts';
import { createHome, startRelay, type ProcessEnd, type RelayOptions, type TestRelay } from './relay.ts';
import { SNAPSHOT } from './schedules.ts';
import { startScriptedModel, type Part, type ScriptedModel } from './scripted-model.ts';

export const calls = (name: string, input: object): readonly Part[] => [{ call: name, input }];

const callsSchema = z.object({ calls: z.array(toolCallSchema) });
const approvalsSchema = z.object({ waiting: z.array(toolCallSchema), answered: z.array(toolCallSchema) });

export interface Hands {
  readonly model: ScriptedModel;
  relay(): TestRelay;
  call(method: string, path: string, json?: unknown): Promise<Response>;
  /** The agent’s own settings. */
  grant(coordination: object): Promise<void>;
  /** It works alone once, and does this; resolves with what each of its calls answered. */
  works(...does: readonly (readonly Part[])[]): Promise<readonly string[]>;
  /** It works alone once, and that comes to nothing; resolves with why, as the person is told. */
  fails(...does: readonly (readonly Part[])[]): Promise<string>;
  /**
   * The lead is spoken to in a session and does this; resolves with what each of its calls
   * answered.
   */
  talks(...does: readonly (readonly Part[])[]): Promise<readonly string[]>;
  /**
   * It works alone once, with this for its instructions; `anew`: what it needs for that was taken
   * back, and is left again. `tools`: all that it may use.
   */
  runs(instructions: string, anew?: boolean, tools?: readonly string[]): Promise<void>;
  waiting(): Promise<readonly ToolCall[]>;
  answered(): Promise<readonly ToolCall[]>;
  account(): Promise<readonly ToolCall[]>;
  answer(callId: string, answer: Answer, words?: string): Promise<Response>;
  /** A file of its folder; null: there is none. */
  file(path: string): Promise<string | null>;
  put(path: string, body: string | Uint8Array<ArrayBuffer>): Promise<void>;
  /**
   * kill -9, and a start on the same home, with this in its environment too; resolves with what the
   * first had written.
   */
  restart(more?: Readonly<Record<string, string>>): Promise<ProcessEnd>;
  close(): Promise<void>;
}

/** ms that one run may take, and between two looks at it. */
const RUN_MS = 20_000;
const POLL_MS = 50;

const isFollowUp = (first: string) => first.includes('The human has answered');

export async function startHands(
  args: readonly string[] = [],
  {
    store,
    env: given = {},
    ...options
  }: Pick<RelayOptions, 'terminal' | 'store' | 'env' | 'inherits' | 'databaseUrl' | 'from'> = {},
): Promise<Hands> {
  let turns: readonly (readonly Part[])[] = [];
  const model = await startScriptedModel(({ first, body }) => {
    // A run that begins with a result says one word, and is over.
    const at = body.messages.filter(({ role }) => role === 'assistant').length;
    return (isFollowUp(first) ? null : turns[at]) ?? [{ say: 'Done.' }];
  });
  const env = { ...given, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' };
  const home = await createHome({ store: options.databaseUrl === undefined ? store : null });
  let relay = await startRelay({ ...options, home, env, args });
  const call: Hands['call'] = (method, path, json) =>
    relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  await call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  const leave = () => call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
  await leave();
  const fileAt = (path: string) => `/api/workspaces/a1/file?path=${encodeURIComponent(path)}`;
  let work = 0;
  async function runs(
    instructions: string,
    anew = false,
    end: 'done' | 'failed' = 'done',
    tools: readonly string[] | null = null,
  ): Promise<string> {
    const added = await call('POST', '/v1/pulse-routines', {
      kind: 'routine',
      agentId: 'a1',
      name: `Work ${++work}`,
      instructions,
      tools,
      timing: { kind: 'weekly', days: [1], time: '07:30' },
    });
    const { scheduleId } = scheduledSchema.parse(await added.json());
    if (anew) expect((await leave()).status).toBe(204);
    expect((await call('POST', `/v1/pulse-routines/${scheduleId}/trigger`)).status).toBe(202);
    const history = async () =>
      JSON.stringify(await (await call('GET', `/v1/pulse-routines/${scheduleId}/history`)).json());
    // Not by `expect.poll`: benches run without its runner.
    let ended = await history();
    for (const until = Date.now() + RUN_MS; !ended.includes(`"${end}"`); ended = await history()) {
      if (Date.now() > until) throw new Error(`the run was to be ${end}, and is ${ended}`);
      await sleep(POLL_MS);
    }
    // An agent has room for so many.
    expect((await call('DELETE', `/v1/pulse-routines/${scheduleId}`)).status).toBe(204);
    return ended;
  }
  const approvals = async () => approvalsSchema.parse(await (await call('GET', '/api/approvals')).json());

  return {
    model,
    relay: () => relay,
    call,
    async grant(coordination) {
      expect((await call('PUT', '/v1/agents/a1/config', { whole: true, coordination })).status).toBe(200);
    },
    async works(...does) {
      turns = [...does, [{ say: 'Done.' }]];
      const before = model.requests.length;
      await runs('Work.');
      const own = model.requests.slice(before).filter(({ first }) => !isFollowUp(first));
      return own.slice(1).flatMap(({ results }) => results);
    },
    async fails(...does) {
      turns = [...does, [{ say: 'Done.' }]];
      return await runs('Work.', false, 'failed');
    },
    async talks(...does) {
      turns = [...does, [{ say: 'Done.' }]];
      const before = model.requests.length;
      const lead = { name: 'Sol', soul: 'I am Sol.', transcript: null };
      const begun = await call('POST', '/api/sessions', { human: { name: 'Noa' }, lead });
      expect(begun.status, await begun.clone().text()).toBe(201);
      expect((await call('POST', '/api/messages', { text: 'Go on.', clientId: `c${before}` })).status).toBe(202);
      const own = () => model.requests.slice(before);
      await expect.poll(() => own().length, { timeout: 20_000 }).toBeGreaterThan(does.length);
      expect((await call('DELETE', '/api/sessions/current')).status).toBe(204);
      return own().flatMap(({ results }) => results);
    },
    async runs(instructions, anew, tools) {
      await runs(instructions, anew, 'done', tools);
    },
    waiting: async () => (await approvals()).waiting,
    answered: async () => (await approvals()).answered,
    account: async () => callsSchema.parse(await (await call('GET', '/api/calls')).json()).calls,
    answer: (callId, answer, words = '') => call('POST', `/api/approvals/${callId}/answer`, { answer, words }),
    async file(path) {
      const found = await call('GET', fileAt(path));
      return found.status === 200 ? await found.text() : null;
    },
    async put(path, body) {
      const headers = { 'content-type': 'application/octet-stream' };
      expect((await relay.fetch(fileAt(path), { method: 'PUT', body, headers })).status).toBe(204);
    },
    async restart(more = {}) {
      const signIn = await relay.signIn();
      const ended = await relay.kill('SIGKILL');
      relay = await startRelay({ ...options, home, signIn, env: { ...env, ...more }, args });
      return ended;
    },
    async close() {
      await relay.stop();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
