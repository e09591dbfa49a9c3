/**
 * Text of a record that would be read as an option of git. A record may be anybody's work: it comes
 * by a page of any household, and in copies.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentsOf } from '../../src/shared/protocol/intake.ts';
import { eventSchema } from '../../src/shared/protocol/events.ts';
import { projectSchema, type Project, taskSchema, type Task } from '../../src/shared/protocol/projects.ts';
import { offeredRecordsSchema, type OfferedRecord } from '../../src/shared/protocol/records.ts';
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import { eventsOf, eventually } from '../support/homes.ts';
import { openTestRelay, type OpenRelay, type Browser } from '../support/open-relay.ts';
import { offered } from '../support/records.ts';

let folder: string;
/** A file that git would empty, or write. */
let target: string;
let relay: OpenRelay;
let page: Browser;
let project: Project;
let task: Task;
/** The task’s record, as its page has it. */
let record: OfferedRecord;

const COMMIT = 'a'.repeat(40);
const send = async (method: string, path: string, json?: unknown) => {
  const answer = await page.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  return { status: answer.status, text: await answer.text() };
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-arguments-'));
  target = join(folder, 'target');
  relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  // The owner’s household is the first. This one has no rights.
  await relay.signIn();
  page = await relay.signIn();
  await send('POST', '/api/home', { beside: true });
  project = projectSchema.parse(JSON.parse((await send('POST', '/v1/projects', { name: 'Options' })).text));
  const made = await send('POST', `/v1/projects/${project.projectId}/tasks`, { title: 'One', columnId: 'ready' });
  task = taskSchema.parse(JSON.parse(made.text));
  const own = async () =>
    (await eventsOf(page))
      .flatMap(({ event, id, data }) =>
        event === 'record' ? documentsOf({ id: Number(id), event: eventSchema.parse(data) }) : [],
      )
      .findLast(({ type }) => type === 'task');
  const doc = await eventually(own, (found) => found !== undefined);
  if (!doc) throw new Error('the task has no record');
  record = { ...offered(doc), at: formatStamp({ time: Date.now() + 60_000, counter: 1, node: 'attacker' }) };
});
afterAll(async () => {
  await relay.close();
  rmSync(folder, { recursive: true, force: true });
});

const REQUEST = {
  ...{ title: 'Read me', body: '', by: 'person', state: 'open', branch: 'feat/1-one', base: COMMIT, head: COMMIT },
  ...{ openedAt: 1, updatedAt: 1, merged: null, url: null },
};
const at = () => `/v1/projects/${project.projectId}/tasks/${task.taskId}`;

it.each(['base', 'head', 'branch', 'merged'])('refuses a task whose request has an option as its %s', async (field) => {
  writeFileSync(target, 'untouched');
  const value = { ...(record.value as object), request: { ...REQUEST, [field]: `--output=${target}` } };
  const answer = await send('POST', '/api/records', { records: [{ ...record, value }] });
  expect(
    answer.status === 400 || offeredRecordsSchema.parse(JSON.parse(answer.text)).answers[0]?.answer === 'refused',
  ).toBe(true);
  for (const path of ['/diff', '/attempts']) await send('GET', `${at()}${path}`);
  await send('POST', `${at()}/request/merge`, {});
  expect(readFileSync(target, 'utf8')).toBe('untouched');
});

it('refuses a project whose base branch is an option, in a form and as a record', async () => {
  const fields = {
    name: 'Branch',
    kind: 'git',
    repository: 'https://example.org/a.git',
    baseBranch: `--upload-pack=touch ${target}`,
  };
  expect((await send('POST', '/v1/projects', fields)).status).toBe(400);
});

it.each([
  { base: '--output=X' },
  { head: '--output=X' },
  { branch: '--output=X' },
  { folder: '' },
  { folder: '.' },
  { folder: 'projects/../..' },
])('refuses an attempt with %o', async (wrong) => {
  const value = {
    ...{ projectId: project.projectId, taskId: task.taskId, number: 1, agentId: 'a1', runId: null, kind: 'agent' },
    ...{ model: null, startedAt: 1, endedAt: 2, outcome: 'review', note: '', branch: 'feat/1-one', base: COMMIT },
    ...{ head: COMMIT, folder: 'projects/options/1-one', receipt: null, review: null },
  };
  const offer = async (own: object) =>
    await send('POST', '/api/records', {
      records: [{ type: 'attempt', id: `attempt-${crypto.randomUUID()}`, at: record.at, value: own }],
    });
  expect(await offer(value)).toMatchObject({ status: 200, text: expect.stringContaining('"taken"') });
  const { status, text } = await offer({ ...value, ...wrong });
  expect(status === 400 || text.includes('"refused"'), text).toBe(true);
  expect(existsSync('X')).toBe(false);
});
