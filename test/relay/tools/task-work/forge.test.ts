/** Repositories over HTTP with a token, and requests at a forge. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { FORGE_TOKEN, startForge, type TestForge } from '../../../support/forge.ts';
import { openNightRelay, type NightRelay } from '../../../support/night-relay.ts';
import { git } from '../../../support/person-repository.ts';

let night: NightRelay;
let forge: TestForge;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-forge-'));
  [night, forge] = [await openNightRelay(['a1']), await startForge(folder)];
  await good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await night.close();
  await forge.close();
  rmSync(folder, { recursive: true, force: true });
});

const ask: NightRelay['ask'] = (...given) => night.ask(...given);
const good: NightRelay['good'] = (...given) => night.good(...given);

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
  const task = taskSchema.parse(await good('POST', tasks, { title: `Work ${name}`, columnId: 'ready' }));
  const ids = { projectId: task.projectId, taskId: task.taskId };
  const refused = await night.tool('a1', 'claim_task', ids);
  expect(refused).toMatch(/Authentication failed|could not read Username/);
  expect(JSON.stringify(await ask('GET', `${tasks}/${task.taskId}`))).not.toContain('"claim":{');
  await good('PUT', `/v1/projects/${project.projectId}/token`, { token: FORGE_TOKEN, forge: kind });
  const claimed = await night.tool('a1', 'claim_task', ids);
  const where = /in the folder “([^”]+)”/.exec(claimed)?.[1] ?? claimed;
  await night.tool('a1', 'run_command', {
    command: `cd ${where} && echo two >> a.txt && git commit -qam Two; git remote -v; env`,
  });
  const open = (title = 'Two') => night.tool('a1', 'open_pull_request', { ...ids, title, body: 'Look.' });
  const at = `${tasks}/${task.taskId}`;
  return { project, ids, open, at, path, read: async (): Promise<Task> => taskSchema.parse(await good('GET', at)) };
}

describe('a request at a forge', () => {
  it('is opened once, brought up to date, and merged by git', async () => {
    const { open, at, path, read, ids } = await worked('once');
    expect(await open()).toContain('http://forge.test/pulls/1');
    expect(await open('Two, better')).toContain('http://forge.test/pulls/1');
    expect(forge.pulls).toMatchObject([
      { head: 'feat/1-work-once', base: 'main', title: 'Two, better', state: 'open' },
    ]);
    expect((await read()).request?.url).toBe('http://forge.test/pulls/1');
    await night.tool('a1', 'transition_task', { ...ids, status: 'review' });
    await good('POST', `${at}/request/merge`, {});
    expect(execFileSync('git', ['-C', path, 'show', 'main:a.txt'], { encoding: 'utf8' })).toBe('one\ntwo\n');
    const shown = JSON.stringify([
      await good('GET', at),
      await good('GET', `${at}/attempts`),
      await good('GET', '/v1/projects'),
    ]);
    expect(shown).not.toContain(FORGE_TOKEN);
  });

  it('is one also where the forge refuses, breaks off, or loses its answer', async () => {
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
