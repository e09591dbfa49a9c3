/** The search of all projects, through a relay over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { foundAnywhereSchema, projectSchema, taskSchema } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-find-'));
  scheduleRelay = await openScheduleRelay(['a1']);
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const project = async (fields: object) =>
  projectSchema.parse(await scheduleRelay.good('POST', '/v1/projects', { agents: ['a1'], ...fields }));
const task = async (projectId: string, fields: object) =>
  taskSchema.parse(await scheduleRelay.good('POST', `/v1/projects/${projectId}/tasks`, fields));
const find = async (text: string) =>
  foundAnywhereSchema.parse(await scheduleRelay.good('GET', `/v1/find?q=${encodeURIComponent(text)}`));

it('finds tasks of all projects by number, title, text and comment, and files by their path', async () => {
  const trip = await project({ name: 'Trip' });
  const path = createRepository(join(folder, 'bakery'), { 'src/Ovens/rye.ts': 'rye\n', 'readme.md': '' });
  const bakery = await project({ name: 'Bakery', kind: 'git', repository: path });
  const ferries = await task(trip.projectId, { title: 'Ask about ferries' });
  const hotels = await task(trip.projectId, { title: 'Hotels', description: 'Not far from the ferries.' });
  const bread = await task(bakery.projectId, { title: 'Rye bread' });
  await scheduleRelay.good('POST', `/v1/projects/${bakery.projectId}/tasks/${bread.taskId}/comments`, {
    text: 'It travels on ferries.',
    clientId: 'c1',
  });
  // Files are those that the relay has seen.
  await scheduleRelay.good('GET', `/v1/projects/${bakery.projectId}/files`);

  const numbersOf = (found: Awaited<ReturnType<typeof find>>) =>
    found.tasks.map(({ projectId, taskId }) => `${projectId} ${taskId}`).toSorted();
  const keyOf = ({ projectId, taskId }: { projectId: string; taskId: string }) => `${projectId} ${taskId}`;
  expect(numbersOf(await find('FERRIES'))).toEqual([ferries, hotels, bread].map(keyOf).toSorted());
  expect(numbersOf(await find('#2'))).toEqual([keyOf(hotels)]);
  expect((await find('ovens rye')).files).toEqual([
    { of: 'project', projectId: bakery.projectId, path: 'src/Ovens/rye.ts' },
  ]);
  await scheduleRelay.tool('a1', 'write_file', { path: 'notes/Ovens.txt', content: 'x' });
  expect((await find('ovens txt')).files).toEqual([{ of: 'agent', agentId: 'a1', path: 'notes/Ovens.txt' }]);
  expect(await find('farewell')).toEqual({ tasks: [], files: [], more: false });
  expect((await scheduleRelay.ask('GET', '/v1/find?q=')).status).toBe(400);
});
