/** Undo against an independent look at the folders: real git, a real disk. */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AGENT, createUndoPlace, undoAtRandom } from '../../../support/undo.ts';

it('brings back byte by byte what 8 random runs changed, and undoes that', async () => {
  const { restores } = await undoAtRandom(1, 8, 2);
  expect(restores).toBeGreaterThan(4);
});

it('drops changes after 30 days, frees their room, and still undoes what came later', async () => {
  const place = await createUndoPlace();
  let days = 0;
  const histories = place.histories({ now: () => Date.now() + days * 86_400_000 });
  const folder = place.folders[0]?.path ?? '';
  const runs = async (runId: string, content: string | Buffer) => {
    const end = await histories.record(AGENT, { kind: 'run', runId, cause: { kind: 'pulse', routine: 'x' } });
    await writeFile(join(folder, 'a'), content);
    await end();
  };
  const shown = async () =>
    (await histories.list(AGENT, null)).points.map(({ work }) => (work.kind === 'run' ? work.runId : work.kind));
  try {
    await runs('noise', randomBytes(2_000_000));
    await runs('old', 'old');
    days = 20;
    await runs('later', 'later');
    days = 31;
    expect(await histories.bytes(AGENT)).toBeGreaterThan(2_000_000);
    // Nobody is at work: the relay looks by itself.
    await histories.keepTidy({ after: () => () => undefined });
    expect(await histories.bytes(AGENT)).toBeLessThan(100_000);
    expect(await shown()).toEqual(['later']);
    const [point] = (await histories.list(AGENT, null)).points;
    await histories.restore(AGENT, point?.pointId ?? '', 'before', null);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('old');
    expect(await shown()).toEqual(['restore', 'later']);
  } finally {
    await histories.close();
    await place.remove();
  }
});

it('takes no room where a run changes nothing, also of a large folder, and none where there is no folder', async () => {
  const place = await createUndoPlace();
  const histories = place.histories();
  const folder = place.folders[0]?.path ?? '';
  const runs = async () => {
    const end = await histories.record(AGENT, { kind: 'run', runId: 'r', cause: { kind: 'pulse', routine: 'x' } });
    await end();
  };
  try {
    for (const { path } of place.folders) await rm(path, { recursive: true });
    await runs();
    expect(await readdir(place.base)).not.toContain('history');
    await mkdir(join(folder, 'd'), { recursive: true });
    for (let i = 0; i < 300; i++) await writeFile(join(folder, 'd', `${i}`), `${i}`);
    await runs();
    const before = await histories.bytes(AGENT);
    const packs = () => readdir(join(place.repository, 'objects', 'pack'));
    const made = await packs();
    for (let i = 0; i < 5; i++) await runs();
    expect(await packs()).toEqual(made);
    expect(await histories.bytes(AGENT)).toBe(before);
    // Those files were there before any run: nobody can undo that they are.
    expect((await histories.list(AGENT, null)).points).toEqual([]);
  } finally {
    await histories.close();
    await place.remove();
  }
});

it('never removes a file that was there and too large to be recorded, and does not call it deleted', async () => {
  const place = await createUndoPlace({ fileBytes: 100 });
  const histories = place.histories();
  const folder = place.folders[0]?.path ?? '';
  const runs = async (runId: string, changes: () => Promise<unknown>) => {
    const end = await histories.record(AGENT, { kind: 'run', runId, cause: { kind: 'pulse', routine: 'x' } });
    await changes();
    await end();
    return (await histories.list(AGENT, null)).points[0]?.pointId ?? '';
  };
  const log = join(folder, 'log.txt');
  try {
    await runs('small', () => writeFile(log, 'small'));
    const grown = await runs('grows', () => writeFile(log, 'x'.repeat(101)));
    const { changes, notRecorded } = await histories.changes(AGENT, grown, 'previous');
    expect([changes, notRecorded.map(({ path }) => path)]).toEqual([[], ['log.txt']]);
    // What lies there now is not recorded, so nothing takes its place.
    const { left } = await histories.restore(AGENT, grown, 'before', null);
    expect(left.map(({ path }) => path)).toEqual(['log.txt']);
    await runs('shrinks', () => writeFile(log, 'new'));
    const again = await histories.restore(AGENT, grown, 'after', null);
    expect(again.left).toEqual([
      {
        folder: 'files',
        path: 'log.txt',
        why: 'It is not recorded, or changed in the meantime. It stays as it is.',
      },
    ]);
    expect(await readFile(log, 'utf8')).toBe('new');
  } finally {
    await histories.close();
    await place.remove();
  }
});
