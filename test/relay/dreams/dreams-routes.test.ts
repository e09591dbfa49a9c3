/** Dreams by HTTP, through a whole relay that is killed and started again. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Dream, dreamsSchema } from '../../../src/shared/protocol/dreams.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { memoriesSchema } from '../../../src/shared/protocol/memories.ts';
import { createHome, startRelay, type TestRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import type { SignIn } from '../../support/sign-in.ts';
import { type Script, type ScriptedModel, startScriptedModel } from '../../support/scripted-model.ts';
import { createGate } from '../../support/session.ts';

const BEFORE = '- 2026-03-01: Ada lives in Lyon.\n';
const AFTER = '- 2026-11-29 (before: 2026-03-01): Ada lives in Paris.\n';

let model: ScriptedModel;
let relay: TestRelay;
let home: string;
const start = (signIn?: SignIn) =>
  startRelay({
    ...{ home, ...(signIn ? { signIn } : {}) },
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
const call = (method: string, path: string, json?: unknown) =>
  relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
const newest = async (): Promise<Dream | undefined> =>
  dreamsSchema.parse(await (await call('GET', '/api/dreams?agentId=a1')).json()).dreams[0];
const texts = async () =>
  memoriesSchema.parse(await (await call('GET', '/api/memories?agentId=a1')).json()).memories.map(({ text }) => text);
const dream = async () => expect((await call('POST', '/api/dreams', { agentId: 'a1' })).status).toBe(201);
const until = (state: Dream['state']) =>
  expect.poll(async () => (await newest())?.state, { timeout: 20_000 }).toBe(state);
/** Writes the move into the draft, and says that it is done. */
const moves: Script = ({ results }) =>
  results.length > 0
    ? [{ say: 'I noted the move.' }]
    : [{ call: 'memory', input: { command: 'create', path: 'notes.md', file_text: AFTER } }];

beforeAll(async () => {
  model = await startScriptedModel(moves);
  home = await createHome({ store: 'sqlite' });
  relay = await start();
  await call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  await call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
  await call('POST', '/api/memories', { agentId: 'a1', path: 'notes.md', text: BEFORE });
});
afterAll(async () => {
  await relay.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

it('starts, discards and adopts a dream, and refuses it afterwards', async () => {
  await dream();
  await until('proposed');
  const again = await call('POST', '/api/dreams', { agentId: 'a1' });
  expect([again.status, problemSchema.parse(await again.json()).type]).toEqual([409, 'about:roost/dream-waits']);
  const waiting = dreamsSchema.parse(await (await call('GET', '/api/dreams')).json()).dreams;
  expect(waiting).toEqual([await newest()]);
  const [{ dreamId = '' } = {}] = waiting;
  expect((await call('POST', `/api/dreams/${dreamId}/discard`)).status).toBe(200);
  expect(await texts()).toEqual([BEFORE]);
  const over = await call('POST', `/api/dreams/${dreamId}/adopt`);
  expect([over.status, problemSchema.parse(await over.json()).type]).toEqual([409, 'about:roost/dream-over']);
  expect((await call('POST', '/api/dreams/none/adopt')).status).toBe(404);
});

it('leave the memory as it is when the relay is killed in one, and the next is adopted', async () => {
  const gate = createGate();
  model.follow(async (request) => {
    if (request.results.length > 0) await gate.passed;
    return await moves(request);
  });
  await dream();
  await until('running');
  await expect.poll(() => model.requests.at(-1)?.results.length).toBe(1);
  const signIn = await relay.signIn();
  await relay.kill('SIGKILL');
  gate.open();
  model.follow(moves);
  relay = await start(signIn);
  expect(await newest()).toMatchObject({ state: 'failed', changes: [] });
  expect(await texts()).toEqual([BEFORE]);
  await dream();
  await until('proposed');
  await relay.kill('SIGKILL');
  relay = await start(signIn);
  expect((await call('POST', `/api/dreams/${(await newest())?.dreamId ?? ''}/adopt`)).status).toBe(200);
  expect(await texts()).toEqual([AFTER]);
});
