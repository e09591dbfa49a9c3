/**
 * `--remove-household`: what a household has left at a relay is looked for in every row and file
 * afterwards, and its neighbour goes on.
 */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openStore } from '../../../server/store/index.ts';
import { projectSchema, taskSchema } from '../../../src/shared/protocol/projects.ts';
import { type Browser, browserOf } from '../../support/open-relay.ts';
import { type Found, searchFor } from '../../support/planted-words.ts';
import { createHome, databaseOf, runRelayCommand, startRelay, type TestRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import { openLink } from '../../support/sign-in.ts';
import { USUAL_STORES } from '../../support/stores.ts';
import { newTestDevice, newTestHousehold, register } from '../../support/sync-device.ts';

const run = promisify(execFile);
const GONE = 'The cormorant hides nine marbles in the organ';
const STAYS = 'A beaver paints the lighthouse for its niece';

let relay: TestRelay | null = null;
let home = '';
afterEach(async () => {
  await relay?.kill('SIGTERM');
  relay = null;
  await rm(home, { recursive: true, force: true });
});

async function good(browser: Browser, method: string, path: string, json?: unknown): Promise<unknown> {
  const answer = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const text = await answer.text();
  expect(answer.ok, `${method} ${path}: ${answer.status} ${text}`).toBe(true);
  return text === '' ? null : (JSON.parse(text) as unknown);
}
/** Leaves these words in all that a household has at a relay. */
async function live(browser: Browser, words: string, sync: ReturnType<typeof newTestHousehold>): Promise<void> {
  const call = (method: string, path: string, json?: unknown) => good(browser, method, path, json);
  await call('POST', '/api/home', { beside: true, anew: false });
  await call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: words, position: 0, retired: false }] });
  await call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: { ...SNAPSHOT, soul: words } });
  const timing = { kind: 'weekly', days: [1], time: '07:30' };
  await call('POST', '/v1/pulse-routines', { kind: 'routine', agentId: 'a1', name: 'R', instructions: words, timing });
  const project = projectSchema.parse(await call('POST', '/v1/projects', { name: words, agents: ['a1'] }));
  const path = `/v1/projects/${project.projectId}`;
  const task = taskSchema.parse(await call('POST', `${path}/tasks`, { title: words }));
  await call('POST', `${path}/tasks/${task.taskId}/comments`, { text: words, clientId: 'c1' });
  const target = { kind: 'project', projectId: project.projectId, column: 'backlog', githubLabel: null };
  await call('POST', '/api/webhooks', { name: words, target });
  await call('POST', '/api/credentials', { agentId: 'a1', label: words });
  const headers = { 'content-type': 'application/octet-stream' };
  for (const file of [`${path}/file?path=a.md`, '/api/workspaces/a1/file?path=a.md'])
    expect((await browser.fetch(file, { method: 'PUT', body: words, headers })).status).toBeLessThan(300);
  expect((await register(browser, sync, newTestDevice())).status).toBe(200);
}
/** Every place with one of these words: rows, files, and objects of repositories. */
async function places(words: readonly string[]): Promise<readonly string[]> {
  const search = searchFor(words);
  const store = await openStore({ folder: join(home, 'store'), databaseUrl: databaseOf(home) ?? null });
  const found: Found[] = [...(await search.inDatabase(store.db))];
  await store.close();
  found.push(...(await search.inFolder(home)));
  for (const name of await readdir(home, { recursive: true }))
    if (name.endsWith('.git')) {
      const { stdout } = await run('git', [
        `--git-dir=${join(home, name)}`,
        'cat-file',
        '--batch-all-objects',
        '--batch',
      ]);
      found.push(...search.inBytes(Buffer.from(stdout), name));
    }
  return found.map(({ word, where }) => `${where}: ${word}`);
}

describe.each(USUAL_STORES)('on %s', (store) => {
  const remove = (id: string) => {
    const url = databaseOf(home);
    return runRelayCommand(['--home', home, '--remove-household', id], url === undefined ? {} : { DATABASE_URL: url });
  };

  it('removes every row and file of a household, and leaves the others as they are', { timeout: 120_000 }, async () => {
    home = await createHome({ store });
    relay = await startRelay({ home, terminal: true });
    const [first, second] = [
      browserOf(relay.url, await relay.signIn()),
      browserOf(relay.url, await openLink(await relay.newLink())),
    ];
    const [kept, gone] = [newTestHousehold(), newTestHousehold()];
    await live(first, STAYS, kept);
    await live(second, GONE, gone);
    // While it runs, nothing is removed.
    const early = await remove('no-such');
    expect([early.code, early.stderr]).toMatchObject([1, expect.stringContaining('Another relay runs')]);
    await relay.kill('SIGTERM');

    const listed = await remove('no-such');
    expect(listed.code).toBe(1);
    const id = /this relay has ([\da-f-]{36})/.exec(listed.stderr)?.[1] ?? '';
    // A command of an agent may have closed its folder.
    await mkdir(join(home, 'workspaces', id, 'a1', 'closed'), { mode: 0o000 });
    const before = (await places([GONE, gone.id])).join('\n');
    for (const place of ['roost.events', 'roost.tasks', 'roost.households', 'roost.hooks', '/workspaces/', '.git'])
      expect(before, place).toContain(place);
    const stood = (await places([STAYS, kept.id])).filter((where) => !where.includes('/store/'));

    expect(await remove(id)).toMatchObject({ code: 0 });
    expect(await places([GONE, gone.id])).toEqual([]);
    expect((await places([id])).filter((where) => !where.includes('/logs/'))).toEqual([]);
    expect((await places([STAYS, kept.id])).filter((where) => !where.includes('/store/'))).toEqual(stood);
    expect((await remove(id)).code).toBe(1);

    relay = await startRelay({ home, signIn: await first.signIn(), port: relay.port });
    const again = browserOf(relay.url, await first.signIn());
    expect(JSON.stringify(await good(again, 'GET', '/v1/projects'))).toContain(STAYS);
    expect((await browserOf(relay.url, await second.signIn()).fetch('/v1/projects')).status).toBe(401);
  });

  it('refuses to remove the first household, and says how to do it', async () => {
    home = await createHome({ store });
    relay = await startRelay({ home });
    await relay.signIn();
    await relay.kill('SIGTERM');
    expect((await remove('x')).stderr).toContain('only its first one');
    const mark = z.object({ relay: z.string() }).parse(JSON.parse(await readFile(join(home, 'roost.json'), 'utf8')));
    expect(await remove(mark.relay)).toMatchObject({ code: 1, stderr: expect.stringContaining('delete the home') });
  });
});
