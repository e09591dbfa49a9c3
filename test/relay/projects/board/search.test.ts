/** The search of a project through a relay over HTTP: texts and comments of its tasks. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  foundTasksSchema,
  projectSchema,
  type Project,
  type Task,
  taskSchema,
} from '../../../../src/shared/protocol/projects.ts';
import { browserOf, openTestRelay, type Browser, type OpenRelay } from '../../../support/open-relay.ts';

const DEMO = { args: ['--rehearsal', '{"delayMs":0,"wordMs":0}', '--rate', '100000', '--burst', '1000000'] };
let relay: OpenRelay;
let page: Browser;
beforeAll(async () => {
  relay = await openTestRelay(DEMO);
  page = await relay.signIn();
});
afterAll(() => relay.close());

async function ask(method: string, path: string, json?: unknown) {
  const answer = await page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as unknown) };
}
const project = async (): Promise<Project> =>
  projectSchema.parse((await ask('POST', '/v1/projects', { name: 'Trip' })).body);
const task = async ({ projectId }: Project, fields: object): Promise<Task> =>
  taskSchema.parse((await ask('POST', `/v1/projects/${projectId}/tasks`, { title: 'Task', ...fields })).body);
const comment = async ({ projectId, taskId }: Task, text: string) =>
  await ask('POST', `/v1/projects/${projectId}/tasks/${taskId}/comments`, { text, clientId: text.slice(0, 20) });
const path = ({ projectId }: Project, q: string) => `/v1/projects/${projectId}/search?q=${encodeURIComponent(q)}`;
/** Numbers of the tasks that were found. */
async function found(of: Project, q: string, all: readonly Task[]): Promise<readonly (number | undefined)[]> {
  const { status, body } = await ask('GET', path(of, q));
  expect(status, JSON.stringify(body)).toBe(200);
  return foundTasksSchema.parse(body).taskIds.map((taskId) => all.find((each) => each.taskId === taskId)?.number);
}

it('finds words of title, number, labels, description, criteria and comments, which may stand apart', async () => {
  const of = await project();
  const all = [
    await task(of, { title: 'Ferry', description: 'Compare the prices\nof THREE boats.', labels: ['sea'] }),
    await task(of, {
      title: 'Hotel',
      criteria: [{ text: 'Ünder 100 €, “quiet”' }],
      description: '50% \\ off_season "now"',
    }),
    await task(of, { title: 'Train' }),
  ];
  const [, , train] = all;
  if (!train) throw new Error('it was made');
  await comment(train, 'The ferry leaves from Ærø at 09:15.');
  await comment(train, 'A second one: 🪺 \u{1F1E9}\u{1F1F0}.');
  for (const [q, numbers] of [
    ['ferry', [1, 3]],
    ['PRICES three', [1]],
    ['sea boats', [1]],
    ['#2', [2]],
    ['2', [2]],
    ['train ferry', [3]],
    ['ferry second', [3]],
    ['ærø', [3]],
    ['ÆRØ', [3]],
    ['ünder', [2]],
    ['“quiet”', [2]],
    ['"now"', [2]],
    ['50%', [2]],
    ['\\', [2]],
    ['off_season', [2]],
    ['🪺', [3]],
    ['ferry nowhere', []],
    ['columnId', []],
    ['created', []],
    ['%', [2]],
    ['09:15', [3]],
  ] as const)
    expect(await found(of, q, all), q).toEqual(numbers);
});

it('finds nothing of another project or of a deleted task, and nothing for whoever may not ask', async () => {
  const [of, other] = [await project(), await project()];
  const gone = await task(of, { description: 'Somewhere warm.' });
  await task(other, { description: 'Somewhere cold.' });
  expect(await found(of, 'somewhere', [gone])).toEqual([1]);
  await ask('DELETE', `/v1/projects/${of.projectId}/tasks/${gone.taskId}`);
  expect(await found(of, 'somewhere', [])).toEqual([]);
  expect((await ask('GET', '/v1/projects/none/search?q=x')).status).toBe(404);
  const stranger = browserOf(relay.url, { cookie: '', key: '' });
  expect((await stranger.fetch(path(other, 'cold'), { method: 'GET' })).status).toBe(401);
});

it('refuses a search of nothing, or of too much, and names the field', async () => {
  const of = await project();
  for (const q of ['', '   ', 'x'.repeat(201), 'a\0b'])
    expect(await ask('GET', path(of, q)), JSON.stringify(q)).toMatchObject({
      ...{ status: 400, body: { errors: [{ field: 'q' }] } },
    });
  expect((await ask('GET', path(of, 'x'.repeat(200)))).status).toBe(200);
});

it('reads a large board in pages, and finds what is on the last', { timeout: 30_000 }, async () => {
  const of = await project();
  const all: Task[] = [];
  for (let i = 0; i < 7; i += 1)
    all.push(
      ...(await Promise.all(
        Array.from({ length: 30 }, (_, at) => task(of, { description: at === 0 ? 'A needle.' : 'Hay.' })),
      )),
    );
  const last = await task(of, { title: 'Last needle' });
  const needles = [...all.filter(({ description }) => description === 'A needle.'), last];
  expect(await found(of, 'needle', [...all, last])).toEqual(
    needles.map(({ number }) => number).toSorted((a, b) => a - b),
  );
  expect(last.number).toBe(211);
});
