/** Exams by HTTP, through a whole relay that is killed in each of their states. */
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ANSWERS_REQUEST, GRADES_REQUEST, QUESTIONS_REQUEST } from '../../../src/shared/domain/exam-requests.ts';
import { sourceHash } from '../../../src/shared/domain/forgetting.ts';
import { formatStamp } from '../../../src/shared/domain/stamp.ts';
import { isCovered } from '../../../src/shared/protocol/documents/kinds.ts';
import { type Exam, examCostSchema, examSchema, examsSchema } from '../../../src/shared/protocol/exams.ts';
import { problemSchema } from '../../../src/shared/protocol/http.ts';
import { createHome, startRelay, type TestRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import type { SignIn } from '../../support/sign-in.ts';
import { type ScriptedModel, type ScriptedRequest, startScriptedModel } from '../../support/scripted-model.ts';
import { createGate } from '../../support/session.ts';

const [OLD, NEW] = ['claude-opus-4-5', 'claude-haiku-4-5'];
const QUESTIONS = [
  { topic: 'soul', question: 'Why are you called Lyra?', expected: 'It sounds like rain.' },
  { topic: 'conversation', question: 'What is Ada’s daughter called?', expected: 'Ida' },
  { topic: 'never', question: 'What is Ada’s dog called?', expected: 'It was never said.' },
];
const lines = (values: readonly object[]) => values.map((value) => JSON.stringify(value)).join('\n');
const textOf = ({ body }: ScriptedRequest) => JSON.stringify(body.messages);
const isAbout = (request: ScriptedRequest, start: string) =>
  textOf(request).includes(JSON.stringify(start).slice(1, -1));

/** The old model knows everything. The new one has lost the daughter. */
function answered(request: ScriptedRequest): string {
  const isNew = request.body.model === NEW;
  if (isAbout(request, QUESTIONS_REQUEST)) return `Here they are:\n\`\`\`\n${lines(QUESTIONS)}\n\`\`\``;
  if (isAbout(request, ANSWERS_REQUEST))
    return lines([
      { n: 1, answer: 'It sounds like rain.' },
      { n: 2, answer: isNew ? 'I do not know.' : 'Ida' },
      { n: 3, answer: 'It was never said.' },
    ]);
  // The second line has its answers in the other order.
  return lines([
    { n: 1, a: true, b: true },
    { n: 2, a: false, b: true },
    { n: 3, a: true, b: true },
  ]);
}

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
const exams = async (): Promise<readonly Exam[]> =>
  examsSchema.parse(await (await call('GET', '/api/exams?agentId=a1')).json()).exams;
const newest = async () => (await exams())[0];
const REQUEST = {
  ...{ agentId: 'a1', cause: 'model' },
  before: { ...SNAPSHOT, model: OLD },
  after: { ...SNAPSHOT, model: NEW },
};
const start$ = (more: object = {}) => call('POST', '/api/exams', { ...REQUEST, mostMicroUsd: 10_000_000, ...more });
async function begin(more: object = {}): Promise<Exam> {
  const response = await start$(more);
  expect(response.status).toBe(201);
  return examSchema.parse(await response.json());
}
const until = (state: Exam['state']) =>
  expect.poll(async () => (await newest())?.state, { timeout: 20_000 }).toBe(state);
const problemOf = async (response: Response) => [response.status, problemSchema.parse(await response.json()).type];
async function restart(): Promise<void> {
  const signIn = await relay.signIn();
  await relay.kill('SIGKILL');
  relay = await start(signIn);
}
const answer = (examId: string, keep: boolean) => call('POST', `/api/exams/${examId}/answer`, { keep });
/** Leaves nothing that waits. */
async function clear(): Promise<void> {
  const exam = await newest();
  if (exam?.state === 'answered') await answer(exam.examId, false);
}

beforeAll(async () => {
  model = await startScriptedModel(() => []);
  home = await createHome({ store: 'sqlite' });
  relay = await start();
  await call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  await call('POST', '/api/memories', { agentId: 'a1', path: 'index.md', text: 'The heron is called Otis.' });
});
beforeEach(async () => {
  model.follow((request) => [{ say: answered(request) }]);
  await clear();
});
afterAll(async () => {
  await relay.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

describe('an exam', () => {
  it('asks both models the same questions about soul, memory and conversation, and shows what the new one lost', async () => {
    const first = model.requests.length;
    await begin();
    await until('answered');
    const exam = await newest();
    expect(exam?.items.map(({ before, after }) => [before.text, after.text, before.isRight, after.isRight])).toEqual([
      ['It sounds like rain.', 'It sounds like rain.', true, true],
      ['Ida', 'I do not know.', true, false],
      ['It was never said.', 'It was never said.', true, true],
    ]);
    expect(exam).toMatchObject({ before: OLD, after: NEW, cause: 'model', detail: null });
    expect(exam?.costMicroUsd).toBeGreaterThan(0);
    const asked = model.requests.slice(first);
    expect(asked.map(({ body }) => body.model)).toEqual([OLD, OLD, NEW, OLD]);
    for (const request of asked.slice(0, 3)) {
      expect(request.system).toContain('sounds like rain');
      expect(textOf(request)).toContain('The heron is called Otis.');
      expect(textOf(request)).toContain('My daughter is called Ida.');
      expect(request.body.tools ?? []).toEqual([]);
    }
    expect(asked.map(textOf).at(-1)).toContain(GRADES_REQUEST);
  });

  it('asks a copy: the agent has no new message, run, memory or wake', async () => {
    const read = async () =>
      await Promise.all(
        ['/api/memories?agentId=a1', '/api/wakes?limit=50', '/api/runs?limit=50', '/api/inbox?agentId=a1'].map(
          async (path) => await (await call('GET', path)).text(),
        ),
      );
    const before = await read();
    await begin();
    await until('answered');
    expect(await read()).toEqual(before);
  });

  it('gives files of an import to the new condition alone, and writes nothing', async () => {
    const first = model.requests.length;
    const before = await (await call('GET', '/api/memories?agentId=a1')).text();
    const files = [
      { path: 'notes.md', text: 'The heron moved to Lyon.' },
      { path: 'index.md', text: 'A path that is taken.' },
    ];
    const copy = { ...SNAPSHOT, model: OLD };
    await begin({ cause: 'import', before: copy, after: copy, files });
    await until('answered');
    const asked = model.requests.slice(first).map(textOf);
    expect(asked.slice(0, 3).map((text) => text.includes('The heron moved to Lyon.'))).toEqual([false, false, true]);
    expect(asked.join('\n')).not.toContain('A path that is taken.');
    expect(await newest()).toMatchObject({ cause: 'import', before: OLD, after: OLD });
    expect(await (await call('GET', '/api/memories?agentId=a1')).text()).toBe(before);
    expect((await start$({ cause: 'upgrade' })).status).toBe(400);
  });

  it('tells beforehand what it costs at most, and sends nothing that could cost more', async () => {
    const cost = examCostSchema.parse(await (await call('POST', '/api/exams/cost', REQUEST)).json());
    expect(cost.microUsd).toBeGreaterThan(0);
    expect(cost.mostMicroUsd).toBeGreaterThan(cost.microUsd);
    expect(cost.demo).toBe(false);
    const first = model.requests.length;
    await begin({ mostMicroUsd: 1 });
    await until('failed');
    expect(model.requests.length).toBe(first);
    expect((await newest())?.detail).toContain('may cost');
    await begin({ mostMicroUsd: cost.mostMicroUsd });
    await until('answered');
    expect((await newest())?.costMicroUsd).toBeLessThanOrEqual(cost.mostMicroUsd);
  });

  it('refuses a second exam at once, and one for an unknown agent', async () => {
    await begin();
    await until('answered');
    expect(await problemOf(await start$())).toEqual([409, 'about:roost/exam-waits']);
    expect(await problemOf(await start$({ agentId: 'nobody' }))).toEqual([404, 'about:roost/unknown-agent']);
    expect(await problemOf(await answer('none', true))).toEqual([404, 'about:roost/no-exam']);
  });

  it('becomes a certificate with the first answer of the person, and takes no second one', async () => {
    const waiting = async () => examsSchema.parse(await (await call('GET', '/api/exams')).json()).exams;
    const { examId } = await begin();
    expect(await problemOf(await answer(examId, true))).toEqual([409, 'about:roost/exam-over']);
    await until('answered');
    expect(await waiting()).toMatchObject([{ examId, agentId: 'a1' }]);
    expect((await answer(examId, true)).status).toBe(200);
    expect(await problemOf(await answer(examId, false))).toEqual([409, 'about:roost/exam-over']);
    expect(await newest()).toMatchObject({ examId, state: 'kept' });
    expect(await waiting()).toEqual([]);
  });

  it('waits for the person without grades where the model writes none', async () => {
    model.follow((request) => [{ say: isAbout(request, GRADES_REQUEST) ? 'All fine!' : answered(request) }]);
    await begin();
    await until('answered');
    expect((await newest())?.items.map(({ after }) => after.isRight)).toEqual([null, null, null]);
  });

  it('fails with a sentence where no question can be read, the model refuses, or the person stops it', async () => {
    model.follow(() => [{ say: 'What a lovely day.' }]);
    await begin();
    await until('failed');
    expect((await newest())?.detail).toContain('cannot be used');
    model.follow(() => ({ fail: { status: 401, type: 'authentication_error', message: 'No.' } }));
    await begin();
    await until('failed');
    model.follow(() => 'silent');
    const { examId } = await begin();
    expect((await call('POST', `/api/exams/${examId}/stop`)).status).toBe(200);
    expect(await newest()).toMatchObject({ state: 'failed', detail: expect.stringMatching(/stopped/i) as string });
    expect(await exams()).not.toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('cannot be used') as string }),
    );
  });
});

it('goes with what it quotes when the person forgets words, and a restored copy does not bring it back', async () => {
  const { examId } = await begin();
  await until('answered');
  await answer(examId, true);
  const certificate = await newest();
  const asked = await call('POST', '/api/sentences', { text: 'daughter called' });
  const { ids } = z.object({ ids: z.array(z.string()) }).parse(await asked.json());
  expect(ids).toContain(`exam:${examId}`);
  const at = formatStamp({ time: Date.now(), counter: 0, node: 'page' });
  const target = { kind: 'items', what: 'words', agentId: null, sources: ids.map(sourceHash) } as const;
  await call('POST', '/api/forgets', { forgets: [{ forgetId: 'f1', at, target }] });
  expect(await exams()).not.toContainEqual(expect.objectContaining({ examId }));
  // A device that has not heard of it offers the certificate again.
  const record = { type: 'exam', id: examId, at, value: { ...certificate, examId: undefined } };
  expect((await call('POST', '/api/records', { records: [record] })).status).toBe(200);
  expect(await exams()).not.toContainEqual(expect.objectContaining({ examId }));
  const doc = { _id: `exam:${examId}:${at}`, type: 'exam', schema: 1, at, recordId: examId, value: certificate };
  expect(isCovered(doc, { target, at })).toBe(true);
  expect(isCovered({ ...doc, _id: 'exam:other', recordId: 'other' }, { target, at })).toBe(false);
});

describe('a relay that is killed', () => {
  it('fails a running exam with the reason and its cost, and runs the next one', async () => {
    const gate = createGate();
    model.follow(async (request) => {
      if (!isAbout(request, QUESTIONS_REQUEST)) await gate.passed;
      return [{ say: answered(request) }];
    });
    await begin();
    await expect.poll(async () => (await newest())?.costMicroUsd).toBeGreaterThan(0);
    await restart();
    gate.open();
    expect(await newest()).toMatchObject({ state: 'failed', detail: expect.stringMatching(/stopped/i) as string });
    expect((await newest())?.costMicroUsd).toBeGreaterThan(0);
    await begin();
    await until('answered');
  });

  it('keeps an exam that waits for the person or was answered', async () => {
    const { examId } = await begin();
    await until('answered');
    const before = await newest();
    await restart();
    expect(await newest()).toEqual(before);
    expect((await answer(examId, false)).status).toBe(200);
    const all = await exams();
    await restart();
    expect(await exams()).toEqual(all);
    expect(all[0]).toMatchObject({ examId, state: 'declined' });
  });
});
