/**
 * The history of an agent's files through a whole relay: the agent works by its tools, and the
 * person sees what each run changed, and restores it, by HTTP.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  changesSchema,
  comparedSchema,
  historySchema,
  restoredSchema,
} from '../../../../src/shared/protocol/endpoints/history.ts';
import { folderSchema } from '../../../../src/shared/protocol/endpoints/workspaces.ts';
import { calls, startHands, type Hands } from '../../../support/hands.ts';

let hands: Hands;
const api = '/api/workspaces/a1/history';
const get = async (path: string) => {
  const answer = await hands.call('GET', path);
  expect(answer.status, await answer.clone().text()).toBe(200);
  return await answer.json();
};
const history = async () => historySchema.parse(await get(api));
const changes = async (pointId: string, from = 'previous') =>
  changesSchema.parse(await get(`${api}/${pointId}?from=${from}`)).changes;
const restore = async (pointId: string, to: 'before' | 'after', files: readonly object[] | null = null) => {
  const answer = await hands.call('POST', `${api}/${pointId}/restore`, { to, files });
  expect(answer.status, await answer.clone().text()).toBe(200);
  return restoredSchema.parse(await answer.json());
};
const newest = async () => {
  const [point] = (await history()).points;
  if (!point) throw new Error('There is no point.');
  return point;
};

const credential = async () => {
  const made = await hands.call('POST', '/api/credentials', { agentId: 'a1', label: 'a program' });
  return z.looseObject({ secret: z.string() }).parse(await made.json()).secret;
};

beforeAll(async () => {
  hands = await startHands();
});
afterAll(async () => {
  await hands.close();
});

describe('the history of an agent’s files', () => {
  it('has no history and uses no room before the first change', async () => {
    expect(await history()).toMatchObject({ undo: 'on', points: [], more: false, gaps: [], bytes: 0 });
    await hands.works(calls('list_files', {}));
    expect(await history()).toMatchObject({ points: [], bytes: 0 });
  });

  it('records the changes of a run, and restores the files before it', async () => {
    await hands.put('plan.md', 'The tram is yellow.\n');
    await hands.works(
      calls('write_file', { path: 'notes/new.md', content: 'new' }),
      calls('edit_file', { path: 'plan.md', old_text: 'yellow', new_text: 'red' }),
    );
    const point = await newest();
    expect(point).toMatchObject({ work: { kind: 'run', cause: { kind: 'pulse' } }, cutOff: false });
    expect(point.counts).toEqual({ added: 2, changed: 1, deleted: 0 });
    expect((await changes(point.pointId)).map(({ path, change }) => [path, change])).toEqual([
      ['notes', 'added'],
      ['notes/new.md', 'added'],
      ['plan.md', 'changed'],
    ]);
    expect(comparedSchema.parse(await get(`${api}/${point.pointId}/file?file=plan.md`))).toEqual({
      before: { kind: 'text', text: 'The tram is yellow.\n' },
      after: { kind: 'text', text: 'The tram is red.\n' },
    });

    const restored = await restore(point.pointId, 'before');
    expect(restored).toMatchObject({ counts: { added: 0, changed: 1, deleted: 2 }, left: [] });
    expect(await hands.file('plan.md')).toBe('The tram is yellow.\n');
    expect(await hands.file('notes/new.md')).toBeNull();

    // The restore is a point of its own, and is undone in the same way.
    expect(await newest()).toMatchObject({
      pointId: restored.pointId,
      work: { kind: 'restore', pointId: point.pointId, to: 'before' },
    });
    await restore(restored.pointId ?? '', 'before');
    expect(await hands.file('plan.md')).toBe('The tram is red.\n');
    expect(await hands.file('notes/new.md')).toBe('new');
  });

  it('brings back one file, and leaves the others', async () => {
    await hands.put('one.md', '1');
    await hands.put('two.md', '2');
    await hands.works(
      calls('write_file', { path: 'one.md', content: 'changed' }),
      calls('delete_file', { path: 'two.md' }),
    );
    const { pointId } = await newest();
    await restore(pointId, 'before', [{ folder: 'files', file: 'two.md' }]);
    expect(await hands.file('two.md')).toBe('2');
    expect(await hands.file('one.md')).toBe('changed');
  });

  it("records changes of an answer in a session, a client's tool call, and the person", async () => {
    await hands.talks(calls('write_file', { path: 'lead.md', content: 'x' }));
    const ofLead = historySchema.parse(await get('/api/workspaces/lead/history'));
    expect(ofLead.points).toMatchObject([{ work: { kind: 'turn' }, counts: { added: 1 } }]);

    await hands.put('kept.md', 'first');
    await hands.put('kept.md', 'second');
    expect(await newest()).toMatchObject({ work: { kind: 'person', does: 'replace', path: 'kept.md' } });
    await restore((await newest()).pointId, 'before');
    expect(await hands.file('kept.md')).toBe('first');
    expect((await hands.call('DELETE', '/api/workspaces/a1/file?path=kept.md')).status).toBe(204);
    const { pointId, work } = await newest();
    expect(work).toMatchObject({ kind: 'person', does: 'delete' });
    await restore(pointId, 'before');
    expect(await hands.file('kept.md')).toBe('first');

    const secret = await credential();
    const client = new Client({ name: 'test', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${secret}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${hands.relay().url}/mcp`), { requestInit }));
    await client.callTool({ name: 'write_file', arguments: { path: 'kept.md', content: 'by a client' } });
    await client.close();
    const call = await newest();
    expect(call.work).toEqual({ kind: 'call', tool: 'write_file' });
    await restore(call.pointId, 'before');
    expect(await hands.file('kept.md')).toBe('first');
  });

  it('refuses a credential, for reading and restoring', async () => {
    const { pointId } = await newest();
    const secret = await credential();
    for (const [method, path] of [
      ['GET', api],
      ['GET', `${api}/${pointId}`],
      ['GET', `${api}/${pointId}/file?file=kept.md`],
      ['POST', `${api}/${pointId}/restore`],
      ['DELETE', api],
    ] as const)
      for (const headers of [{}, { authorization: `Bearer ${secret}` }]) {
        const answer = await fetch(`${hands.relay().url}${path}`, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          ...(method === 'POST' ? { body: JSON.stringify({ to: 'before', files: null }) } : {}),
        });
        expect([401, 403]).toContain(answer.status);
      }
    expect((await newest()).pointId).toBe(pointId);
  });

  it('restores nothing while the agent is at work, and names what it does not have', async () => {
    const { pointId } = await newest();
    let release: (value: unknown) => void = () => undefined;
    const until = new Promise((done) => (release = done));
    const working = hands.works([{ until }, ...calls('write_file', { path: 'late.md', content: 'late' })]);
    const ask = (id: string) => hands.call('POST', `${api}/${id}/restore`, { to: 'before', files: null });
    await expect
      .poll(async () => (await ask(pointId)).json(), { timeout: 10_000 })
      .toMatchObject({ type: 'about:roost/agent-busy' });
    release(null);
    await working;
    expect(await hands.file('late.md')).toBe('late');
    expect((await ask('99999')).status).toBe(404);
    expect((await hands.call('GET', `${api}/${pointId}/file?file=none.md`)).status).toBe(404);
  });

  it('keeps what a run changed until its relay was killed, and says that it was cut off', async () => {
    const until = new Promise<void>(() => undefined);
    void hands.works(calls('write_file', { path: 'half.md', content: 'half' }), [{ until }]).catch(() => undefined);
    await expect.poll(() => hands.file('half.md'), { timeout: 10_000 }).toBe('half');
    await hands.restart();
    await hands.works(calls('list_files', {}));
    const point = await newest();
    expect(point).toMatchObject({ work: { kind: 'run' }, cutOff: true, counts: { added: 1 } });
    await restore(point.pointId, 'before');
    expect(await hands.file('half.md')).toBeNull();
  });

  it('counts as the agent’s room, goes when it is deleted, and with a forgotten agent', async () => {
    const { bytes } = await history();
    expect(bytes).toBeGreaterThan(0);
    const folder = folderSchema.parse(await get('/api/workspaces/a1'));
    expect(folder.used.history).toBe(bytes);
    expect((await hands.call('DELETE', api)).status).toBe(204);
    expect(await history()).toMatchObject({ undo: 'on', points: [], bytes: 0 });
    await hands.works(calls('write_file', { path: 'again.md', content: 'again' }));
    expect((await newest()).counts.added).toBe(1);
    const [household = ''] = await readdir(join(hands.relay().home, 'history'));
    const below = () => readdir(join(hands.relay().home, 'history', household));
    expect(await below()).toContain('a1');
    expect((await hands.call('PUT', '/api/team', { agents: [], forgotten: ['a1'] })).status).toBe(204);
    await expect.poll(below).not.toContain('a1');
  });
});
