/**
 * A household that asks for many diffs at once. So many gits run as its lane allows, and another
 * household is answered meanwhile.
 */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectSchema, taskSchema } from '../../src/shared/protocol/projects.ts';
import { GIT_LANES } from '../../server/platform/git/index.ts';
import { programAt } from '../../server/platform/processes/index.ts';
import { openScheduleRelay, type ScheduleRelay } from '../support/schedule-relay.ts';

const AT_ONCE = 40;

let scheduleRelay: ScheduleRelay;
let folder: string;
const path = process.env['PATH'] ?? '';
/** Each git that begins and ends writes a line into it. */
let log: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-many-'));
  log = join(folder, 'log');
  mkdirSync(join(folder, 'bin'));
  const counted = join(folder, 'bin', 'git');
  const script = ['#!/bin/sh', `echo + >> '${log}'`, `'${programAt('git')}' "$@"`, 'code=$?', `echo - >> '${log}'`];
  writeFileSync(counted, [...script, 'exit $code', ''].join('\n'));
  chmodSync(counted, 0o755);
  process.env['PATH'] = `${join(folder, 'bin')}${delimiter}${path}`;
  scheduleRelay = await openScheduleRelay(['a1']);
});
afterAll(async () => {
  process.env['PATH'] = path;
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The most gits that ran at once, and how many ran in all. */
function counted(): { readonly most: number; readonly all: number } {
  let [now, most, all] = [0, 0, 0];
  for (const line of existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []) {
    now += line === '+' ? 1 : -1;
    most = Math.max(most, now);
    if (line === '+') all += 1;
  }
  return { most, all };
}

it('40 diffs of one household run as many gits as its lane allows, and another is answered meanwhile', async () => {
  const { projectId } = projectSchema.parse(
    await scheduleRelay.good('POST', '/v1/projects', { name: 'Many', agents: ['a1'] }),
  );
  const task = taskSchema.parse(
    await scheduleRelay.good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Work', columnId: 'ready' }),
  );
  const ids = { projectId, taskId: task.taskId };
  const where = /in the folder “([^”]+)”/.exec(await scheduleRelay.tool('a1', 'claim_task', ids))?.[1] ?? '';
  for (let n = 0; n < 5; n++)
    await scheduleRelay.tool('a1', 'write_file', { path: `${where}/f${n}.md`, content: 'One\n' });
  expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' })).toContain('Moved.');

  const other = await scheduleRelay.relay.signIn();
  const agents = [{ agentId: 'b1', name: 'Bea', position: 4, retired: false }];
  expect((await other.fetch('/api/home', { method: 'POST', json: { beside: true } })).status).toBe(200);
  expect((await other.fetch('/api/team', { method: 'PUT', json: { agents } })).status).toBeLessThan(300);
  rmSync(log);
  let ended = 0;
  const diffs = Array.from({ length: AT_ONCE }, async () => {
    const { status } = await scheduleRelay.ask('GET', `/v1/projects/${projectId}/tasks/${task.taskId}/diff`);
    ended += 1;
    return status;
  });
  for (let n = 0; n < 8; n++) expect((await other.fetch('/api/team')).status).toBe(200);
  expect(ended).toBeLessThan(AT_ONCE / 2);
  expect(new Set(await Promise.all(diffs))).toEqual(new Set([200]));
  const { most, all } = counted();
  expect(all).toBeGreaterThan(AT_ONCE);
  expect(most).toBe(GIT_LANES.ofOne);
});
