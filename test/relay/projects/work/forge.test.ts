/** Repositories over HTTP with a token, and requests at a forge. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { FORGE_TOKEN, startForge, type TestForge } from '../../../support/forge.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { git } from '../../../support/person-repository.ts';

let scheduleRelay: ScheduleRelay;
let forge: TestForge;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-forge-'));
  [scheduleRelay, forge] = [await openScheduleRelay(['a1']), await startForge(folder)];
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  await forge.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask: ScheduleRelay['ask'] = (...given) => scheduleRelay.ask(...given);
const good: ScheduleRelay['good'] = (...given) => scheduleRelay.good(...given);

/** A task on a bare repository over HTTP, claimed, with one commit. */
async function worked(name: string, kind: 'github' | 'gitea' = 'github') {
  const { address, path } = forge.repository('owner', name);
  const work = join(folder, name);
  execFileSync('git', ['clone', '--quiet', path, work], { stdio: 'ignore' });
  writeFileSync(join(work, 'a.txt'), 'one\n');
  git(work, 'add', '-A');
  git(work, 'commit', '-qm', 'Begin');
  git(work, 'push', '-q', 'origin', 'HEAD:main');
  const project = projectSchema.parse(
    await good('POST', '/v1/projects', { name, agents: ['a1'], kind: 'git', repository: address }),
  );
  const tasks = `/v1/projects/${project.projectId}/tasks`;
  // A branch is named by the title, without accents.
  const task = taskSchema.parse(await good('POST', tasks, { title: `Wörk ${name}`, columnId: 'ready' }));
  const ids = { projectId: task.projectId, taskId: task.taskId };
  const refused = await scheduleRelay.tool('a1', 'claim_task', ids);
  expect(refused).toMatch(/Authentication failed|could not read Username/);
  expect(JSON.stringify(await ask('GET', `${tasks}/${task.taskId}`))).not.toContain('"claim":{');
  await good('PUT', `/v1/projects/${project.projectId}/token`, { token: FORGE_TOKEN, forge: kind });
  const claimed = await scheduleRelay.tool('a1', 'claim_task', ids);
  const where = /in the folder “([^”]+)”/.exec(claimed)?.[1] ?? claimed;
  await scheduleRelay.tool('a1', 'run_command', {
    command: `cd ${where} && echo two >> a.txt && git commit -qam Two; git remote -v; env`,
  });
  const open = (title = 'Two') => scheduleRelay.tool('a1', 'open_pull_request', { ...ids, title, body: 'Look.' });
  const at = `${tasks}/${task.taskId}`;
  const commit = (message: string, options = '') =>
    scheduleRelay.tool('a1', 'run_command', {
      command: `cd ${where} && echo ${message} >> a.txt && git commit -qam ${message} ${options}`,
    });
  const review = () => scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' });
  const token = (text: string) => good('PUT', `/v1/projects/${project.projectId}/token`, { token: text, forge: kind });
  const there = (branch: string) =>
    execFileSync('git', ['-C', path, 'log', '--format=%s', '-1', branch], { encoding: 'utf8' }).trim();
  return {
    project,
    ids,
    open,
    at,
    path,
    work,
    commit,
    review,
    token,
    there,
    read: async (): Promise<Task> => taskSchema.parse(await good('GET', at)),
  };
}

describe('a request at a forge', () => {
  it('opens a request once, updates it, and merges it by git', async () => {
    const { open, at, path, read, ids } = await worked('once');
    expect(await open()).toContain('http://forge.test/pulls/1');
    expect(await open('Two, better')).toContain('http://forge.test/pulls/1');
    expect(forge.pulls).toMatchObject([
      { head: 'feat/1-work-once', base: 'main', title: 'Two, better', state: 'open' },
    ]);
    expect((await read()).request?.url).toBe('http://forge.test/pulls/1');
    await scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' });
    await good('POST', `${at}/request/merge`, {});
    expect(execFileSync('git', ['-C', path, 'show', 'main:a.txt'], { encoding: 'utf8' })).toBe('one\ntwo\n');
    const shown = JSON.stringify([
      await good('GET', at),
      await good('GET', `${at}/attempts`),
      await good('GET', '/v1/projects'),
    ]);
    expect(shown).not.toContain(FORGE_TOKEN);
  });

  it('opens one request although the forge refuses, breaks off, or loses its answer', async () => {
    const { open } = await worked('twice', 'gitea');
    const before = forge.pulls.length;
    for (const [script, words] of [
      [{ status: 401 }, 'does not accept the token'],
      [{ status: 403 }, 'The token may not do this'],
      [{ status: 404 }, 'no such repository'],
      [{ status: 422, json: { message: 'Validation Failed' } }, 'Validation Failed'],
      [{ status: 429, headers: { 'retry-after': '60' } }, 'allows no more calls just now, for 60 s'],
      [{ status: 500 }, 'has a fault (500)'],
    ] as const) {
      forge.next(script);
      expect(await open()).toContain(words);
    }
    expect(forge.pulls.length).toBe(before);
    forge.next('lost');
    expect(await open()).toContain('/pulls/');
    expect(await open()).toContain('/pulls/');
    expect(forge.pulls.length).toBe(before + 1);
  });
});

const EXPIRED = 'expired-token-0987654321';

describe('a task whose forge refuses the request at the move to review', () => {
  it('opens the request in Roost with the reason, and lets it be sent again and merged', async () => {
    const { at, review, read, token, there } = await worked('expired');
    await token(EXPIRED);
    const moved = await review();
    expect(moved).toMatch(/Moved\. The request is open in Roost.*(Authentication failed|could not read Username)/s);
    expect(await read()).toMatchObject({
      columnId: 'review',
      request: {
        state: 'open',
        url: null,
        forgeProblem: expect.stringMatching(/Authentication failed|could not read Username/) as string,
      },
    });
    await token(FORGE_TOKEN);
    forge.next({ status: 500 });
    expect(taskSchema.parse(await good('POST', `${at}/request`)).request?.forgeProblem).toContain('has a fault (500)');
    const sent = taskSchema.parse(await good('POST', `${at}/request`));
    expect(sent.request).toMatchObject({ url: expect.stringContaining('/pulls/') as string, forgeProblem: null });
    expect(there('feat/1-work-expired')).toBe('Two');
    expect(taskSchema.parse(await good('POST', `${at}/request/merge`, {}))).toMatchObject({ columnId: 'done' });
    expect(there('main')).toBe('Two');
  });

  it('takes changes that the person asks for, and is closed in Roost whatever the forge says', async () => {
    const { at, open, review, read, token, ids } = await worked('closed');
    await open();
    await token(EXPIRED);
    await review();
    await good('POST', `${at}/request/changes`, { note: 'Shorter.' });
    expect(await read()).toMatchObject({ columnId: 'ready', request: { state: 'changes-wanted' } });
    await scheduleRelay.tool('a1', 'claim_task', ids);
    await token(FORGE_TOKEN);
    await scheduleRelay.tool('a1', 'claim_task', ids);
    await review();
    await token(EXPIRED);
    await good('POST', `${at}/request/close`);
    expect((await read()).request).toMatchObject({
      ...{ state: 'closed', forgeProblem: expect.stringContaining('does not accept the token') as string },
    });
    // A closed request of a task in review is no dead end.
    await good('POST', `${at}/request/changes`, { note: 'Go on.' });
    expect(await read()).toMatchObject({ columnId: 'ready', request: { state: 'closed' } });
  });
});

describe('the branch of a task at the forge', () => {
  it('takes an amended commit after changes were asked for, with the words of the request kept', async () => {
    const { at, open, review, read, commit, ids, there } = await worked('amended');
    await open('A title of my own');
    await review();
    expect((await read()).request).toMatchObject({ title: 'A title of my own', body: 'Look.', forgeProblem: null });
    await good('POST', `${at}/request/changes`, { note: 'Amend it.' });
    await scheduleRelay.tool('a1', 'claim_task', ids);
    await commit('Amended', '--amend');
    expect(await review()).not.toContain('forge');
    expect(there('feat/1-work-amended')).toBe('Amended');
    expect((await read()).request).toMatchObject({ title: 'A title of my own', body: 'Look.', state: 'open' });
    expect(forge.pulls.at(-1)).toMatchObject({ title: 'A title of my own', state: 'open' });
    expect(taskSchema.parse(await good('POST', `${at}/request/merge`, {}))).toMatchObject({ columnId: 'done' });
  });

  it('keeps the push of a stranger, and the request says so', async () => {
    const { at, open, review, read, commit, ids, there, work } = await worked('stranger');
    await open();
    await review();
    await good('POST', `${at}/request/changes`, { note: 'Amend it.' });
    git(work, 'fetch', '-q', 'origin');
    git(work, 'checkout', '-q', 'feat/1-work-stranger');
    writeFileSync(join(work, 'b.txt'), 'mine\n');
    git(work, 'add', '-A');
    git(work, 'commit', '-qm', 'Stranger');
    git(work, 'push', '-q', 'origin', 'HEAD');
    await scheduleRelay.tool('a1', 'claim_task', ids);
    await commit('Amended', '--amend');
    expect(await review()).toContain('Somebody else has pushed to feat/1-work-stranger');
    expect(there('feat/1-work-stranger')).toBe('Stranger');
    expect(await read()).toMatchObject({ columnId: 'review', request: { state: 'open' } });
    expect(taskSchema.parse(await good('POST', `${at}/request/merge`, {}))).toMatchObject({ columnId: 'done' });
  });
});
