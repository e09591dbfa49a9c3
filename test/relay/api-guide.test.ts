/**
 * The script in the guide to the API, taken out of the document and run as a program of its own
 * against a real relay.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { threadMessagesSchema, threadsSchema } from '../../src/shared/protocol/threads.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { startScriptedModel, type Script, type ScriptedModel } from '../support/scripted-model.ts';

const GUIDE = join(import.meta.dirname, '../../docs/guide/api.md');
const SCOPES = ['team', 'sessions', 'threads', 'wake', 'sleep'];
const TEAM = ['Lyra', 'Orion', 'Vega'].map((name, position) => ({ agentId: `a${position}`, name, position }));

/** Everyone who hears of the thread answers in it, once. */
function answering(): Script {
  const answered = new Set<number>();
  return ({ seat, body }) => {
    const threadId = /added to the thread “Tides”[^(]*\(id ([^)\s]+)\)/.exec(JSON.stringify(body.messages))?.[1];
    if (seat === null || threadId === undefined || answered.has(seat)) return [{ say: 'Good morning.' }];
    answered.add(seat);
    return [{ call: 'send_message_to_thread', input: { threadId, message: `At noon, says seat ${seat}.` } }];
  };
}

let model: ScriptedModel;
let relay: TestRelay;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roost-guide-'));
  model = await startScriptedModel(answering());
  relay = await startRelay({
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
  const lead = { agentId: 'lead', name: 'Julian', position: 4 };
  await relay.fetch('/api/team', {
    method: 'PUT',
    json: { agents: [lead, ...TEAM].map((one) => ({ ...one, retired: false })) },
  });
});
afterAll(async () => {
  await relay.stop();
  await model.close();
  await rm(folder, { recursive: true, force: true });
});

async function credential(scopes: readonly string[]): Promise<string> {
  const made = await relay.fetch('/api/credentials', {
    method: 'POST',
    json: { agentId: null, label: 'Tide watch', scopes },
  });
  expect(made.status).toBe(201);
  return madeCredentialSchema.parse(await made.json()).secret;
}

/** As a page leaves them while an application may start sessions. */
async function leaveCopies(): Promise<void> {
  const lead = { ...SNAPSHOT, name: 'Julian', position: 4, soul: 'I chose Julian.', transcript: null };
  for (const { agentId, name, position } of [...TEAM, { agentId: 'lead', name: 'Julian', position: 4 }]) {
    const copy = agentId === 'lead' ? lead : { ...SNAPSHOT, name, position, soul: `I chose ${name}.` };
    const left = await relay.fetch(`/api/agent-snapshots/${agentId}`, {
      method: 'PUT',
      json: { version: '000001764000000-1-a', snapshot: copy },
    });
    expect(left.status).toBe(204);
  }
}

const call = (secret: string, method: string, path: string, body?: unknown) =>
  fetch(new URL(path, relay.url), {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function runScript(secret: string): Promise<string[]> {
  const script = /```js\n([\s\S]*?)```/.exec(await readFile(GUIDE, 'utf8'))?.[1];
  if (script === undefined) throw new Error('The guide has no script.');
  const file = join(folder, 'tides.mjs');
  await writeFile(file, script);
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    env: { ROOST_URL: relay.url, ROOST_CREDENTIAL: secret },
    timeout: 90_000,
  });
  return stdout.trim().split('\n');
}

describe('The guide to the API', () => {
  it('runs a script that starts a session without a page and is refused when the lead has left no snapshot', async () => {
    const secret = await credential(SCOPES);
    const answer = await call(secret, 'POST', '/api/sessions', { agents: [] });
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ type: expect.stringContaining('no-copy') as unknown });
    expect(await (await relay.fetch('/api/agent-snapshots')).json()).toMatchObject({ everybody: true });
  });

  it('runs a script that starts a session asleep, wakes two agents by a thread, reads them and pauses one', async () => {
    await leaveCopies();
    const secret = await credential(SCOPES);
    const said = await runScript(secret);
    expect(said.slice(0, 3)).toEqual(['Lyra is asleep', 'Orion is asleep', 'Vega is asleep']);
    expect(said.slice(3, 5).sort()).toEqual(['Lyra: At noon, says seat 1.', 'Orion: At noon, says seat 2.']);
    expect(said.slice(5)).toEqual(['Lyra sleeps: true']);
    // Nobody thought who was not called, and nobody was greeted.
    expect(model.requests.filter(({ seat }) => seat === 3 || seat === null)).toEqual([]);
    expect(model.requests.some(({ first, system }) => `${system} ${first}`.includes('I chose Lyra.'))).toBe(true);

    const { threads } = threadsSchema.parse(await (await relay.fetch('/api/threads')).json());
    expect(threads).toMatchObject([{ title: 'Tides', createdBy: 'app:Tide watch', participants: ['a0', 'a1'] }]);
    const page = await relay.fetch(`/api/threads/${threads[0]?.threadId}/messages`);
    const { messages } = threadMessagesSchema.parse(await page.json());
    expect(messages[0]).toMatchObject({ from: 'app:Tide watch', text: 'When is high water?' });
    // An agent reads who has written.
    const told = JSON.stringify(model.requests.flatMap(({ body }) => body.messages));
    expect(told).toContain('the application “Tide watch”');
    // Both addresses answer.
    for (const path of ['/api/v1/sessions/current/Lyra/sleeping', '/sessions/current/Lyra/sleeping'])
      expect(await (await call(secret, 'GET', path)).json()).toEqual({ sleeping: true });
    expect((await call(secret, 'DELETE', '/api/sessions/current')).status).toBe(204);
  });
});
