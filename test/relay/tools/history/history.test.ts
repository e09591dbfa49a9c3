/**
 * The history of an agent's files through a whole relay: the agent works by its tools, and the
 * person sees what each run changed, and restores it, by HTTP.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  changesSchema,
  comparedSchema,
  historySchema,
  restoredSchema,
} from '../../../../src/shared/protocol/endpoints/history.ts';
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

beforeAll(async () => {
  hands = await startHands();
});
afterAll(async () => {
  await hands.close();
});

describe('the history of an agent’s files', () => {
  it('is empty, and takes no room, before anything was changed', async () => {
    expect(await history()).toMatchObject({ undo: 'on', points: [], more: false, gaps: [], bytes: 0 });
    await hands.works(calls('list_files', {}));
    expect(await history()).toMatchObject({ points: [], bytes: 0 });
  });

  it('has what a run changed, and brings back what was there before it', async () => {
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
});
