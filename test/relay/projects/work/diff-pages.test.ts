/** Diffs that no single answer holds: many files, long patches, and odd names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ATTEMPT_LIMITS, diffSchema, filePatchSchema, type Diff } from '../../../../src/shared/protocol/attempts.ts';
import { projectSchema, taskSchema, type Task } from '../../../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';
import { createRepository } from '../../../support/person-repository.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-pages-'));
  scheduleRelay = await openScheduleRelay(['a1']);
  await scheduleRelay.good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
const page = async (task: Task, from = 0): Promise<Diff> =>
  diffSchema.parse(await scheduleRelay.good('GET', `${at(task)}/diff?from=${from}`));
const part = async (task: Task, { content }: Diff['files'][number], from: number) =>
  filePatchSchema.parse(
    await scheduleRelay.good(
      'GET',
      `${at(task)}/diff/file?before=${content.before ?? ''}&after=${content.after ?? ''}&from=${from}`,
    ),
  );
/** All parts of a patch together, and how many there were. */
async function whole(task: Task, file: Diff['files'][number]) {
  let text = '';
  let parts = 0;
  for (let from: number | null = 0; from !== null; parts += 1) {
    const { patch, next } = await part(task, file, from);
    text += patch ?? '';
    from = next;
  }
  return { text, parts };
}
/** A task whose agent ran this command in its checkout, and committed what came of it. */
async function worked(name: string, files: Readonly<Record<string, string>>, command: string): Promise<Task> {
  const path = createRepository(join(folder, name), files);
  const { projectId } = projectSchema.parse(
    await scheduleRelay.good('POST', '/v1/projects', { name, kind: 'git', repository: path, agents: ['a1'] }),
  );
  const task = taskSchema.parse(
    await scheduleRelay.good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Work', columnId: 'ready' }),
  );
  const ids = { projectId, taskId: task.taskId };
  const where = /in the folder “([^”]+)”/.exec(await scheduleRelay.tool('a1', 'claim_task', ids))?.[1] ?? '';
  await scheduleRelay.tool('a1', 'run_command', {
    command: `cd ${where} && ${command} && git add -A && git commit -qm Work`,
  });
  expect(await scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' })).toContain('Moved.');
  return task;
}

describe('a diff', () => {
  it('shows files whatever their names are, each with a number of its own', async () => {
    const names = [
      'a\\tb',
      'c\\nd',
      'e"f',
      'g\\\\h',
      'caf\\xe9',
      'caf\\xe8',
      '-n',
      ':(glob)*',
      ' i ',
      '000001',
      'diff --git a\\/x',
    ];
    const task = await worked(
      'names',
      { 'a.txt': 'one\n' },
      `mkdir 'diff --git a' && ${names.map((name, n) => `printf 'line ${n}\\n' > ./$'${name.replace('\\/', '/')}'`).join(' && ')}`,
    );
    const { files, more, head } = await page(task);
    expect(more).toBe(0);
    expect(files.map(({ number }) => number)).toEqual(names.map((_name, n) => n));
    expect(new Set(files.map(({ patch }) => /^\+line \d+$/m.exec(patch ?? '')?.[0])).size).toBe(names.length);
    const paths = files.map(({ path }) => path);
    for (const path of ['a\tb', 'c\nd', 'e"f', 'g\\h', '-n', ':(glob)*', ' i ', '000001', 'diff --git a/x'])
      expect(paths).toContain(path);
    expect(paths.filter((path) => path === 'caf\ufffd')).toHaveLength(2);
    for (const file of files) expect((await whole(task, file)).text).toMatch(/^\+line \d+$/m);
    const comments = paths.map((path, n) => ({
      ...{ commentId: `c${n}`, side: 'after', path, line: 1, commit: head, text: 'Why?' },
    }));
    await scheduleRelay.good('POST', `${at(task)}/request/changes`, { comments });
    const kept = (await page(task)).comments;
    expect(kept.map(({ now }) => now?.path)).toEqual(paths);
    for (const { quoted } of kept) expect(quoted).toMatch(/^line \d+$/);
  });

  it('lists every one of many files, page by page', async () => {
    const total = 2 * ATTEMPT_LIMITS.files + 50;
    const task = await worked('many', { 'a.txt': 'one\n' }, `for i in $(seq ${total}); do echo $i > f$i; done`);
    const files: Diff['files'] = [];
    for (let more = 1; more > 0;) {
      const next = await page(task, files.length);
      expect(next.more).toBe(total - files.length - next.files.length);
      files.push(...next.files);
      more = next.more;
    }
    expect(files.map(({ number }) => number)).toEqual(Array.from({ length: total }, (_, n) => n));
    for (const { path, patch } of files) expect(patch).toContain(`\n+${path.slice(1)}`);
    expect(await page(task, total)).toMatchObject({ files: [], more: 0 });
  });

  it('says why a patch is missing, and shows each one that is a text on its own', async () => {
    const task = await worked(
      'long',
      { 'gone.txt': 'x\n'.repeat(40_000) },
      [
        `rm gone.txt; yes ä | head -n 40000 > long.txt`,
        // Above the size from which git takes a file for no text.
        `yes ü | head -c 6000000 > longer.txt`,
        `yes large | head -c 25000000 > large.txt`,
        `head -c 1000 /dev/zero > small.bin; head -c 6000000 /dev/zero > large.bin`,
        `for i in $(seq 30); do yes $i | head -c 30000 > many$i; done`,
      ].join(' && '),
    );
    const { files } = await page(task);
    const file = (path: string) => {
      const found = files.find((each) => each.path === path);
      if (!found) throw new Error(`${path} is not listed`);
      return found;
    };
    expect(file('gone.txt')).toMatchObject({ patch: null, reason: 'long', removed: 40_000, content: { after: null } });
    expect(file('long.txt')).toMatchObject({ patch: null, reason: 'long', added: 40_000, content: { before: null } });
    expect(file('longer.txt')).toMatchObject({ patch: null, reason: 'long', added: null });
    expect(file('large.txt')).toMatchObject({ patch: null, reason: 'too-large', added: null });
    expect(file('small.bin')).toMatchObject({ patch: null, reason: 'binary', added: null });
    expect(files.filter(({ reason }) => reason === 'more').length).toBeGreaterThan(0);
    for (const each of files.filter(({ path }) => path.startsWith('many')))
      expect((await whole(task, each)).text).toContain(`\n+${each.path.slice(4)}\n`);
    const long = await whole(task, file('long.txt'));
    expect(long.text.split('\n').filter((line) => line === '+ä')).toHaveLength(40_000);
    expect((await whole(task, file('gone.txt'))).text.split('\n').filter((line) => line === '-x')).toHaveLength(40_000);
    const longer = await whole(task, file('longer.txt'));
    expect(longer.parts).toBeGreaterThan(10);
    expect(longer.text.split('\n').filter((line) => line === '+ü')).toHaveLength(2_000_000);
    expect(longer.text).not.toContain('\ufffd');
    for (const path of ['small.bin', 'large.bin'])
      expect(await part(task, file(path), 0)).toEqual({ patch: null, reason: 'binary', next: null });
    expect(await part(task, file('large.txt'), 0)).toEqual({ patch: null, reason: 'too-large', next: null });
  });

  it('shows a rename, a mode, a link in the place of a file, and a submodule', async () => {
    const text = Array.from({ length: 20 }, (_, n) => `line ${n}\n`).join('');
    const task = await worked(
      'kinds',
      { 'old.txt': text, 'same.txt': `x${text}`, 'run.sh': 'true\n', 'file.txt': 'text\n' },
      [
        `git mv old.txt new.txt && echo more >> new.txt && git mv same.txt moved.txt && chmod +x run.sh`,
        `ln -sf run.sh file.txt && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub && mkdir sub`,
      ].join(' && '),
    );
    const { files } = await page(task);
    const all = Object.fromEntries(files.map((each) => [each.path, each]));
    expect(all['new.txt']).toMatchObject({ status: 'renamed', before: 'old.txt', added: 1, removed: 0 });
    expect(all['new.txt']?.patch).toMatch(/^--- a\/old\.txt\n\+\+\+ b\/new\.txt$/m);
    expect(all['moved.txt']).toMatchObject({ status: 'renamed', before: 'same.txt', added: 0, patch: '' });
    expect(all['run.sh']?.patch).toContain('new mode 100755');
    expect(all['file.txt']?.patch).toMatch(/-text[^]*\+run\.sh/);
    expect(all['sub']?.patch).toMatch(/^\+Subproject commit [\da-f]{40}$/m);
  });

  it('takes nothing but the id of a content that the project has', async () => {
    const task = await worked('ids', { 'a.txt': 'one\n' }, 'echo two > a.txt');
    const { files, head } = await page(task);
    const known = files[0]?.content.after ?? '';
    for (const id of ['--output=x', 'HEAD', `${known}:a.txt`, '../x', known.slice(0, 12)])
      expect(await scheduleRelay.ask('GET', `${at(task)}/diff/file?after=${encodeURIComponent(id)}`)).toMatchObject({
        status: 400,
      });
    for (const id of ['0'.repeat(40), 'f'.repeat(40), head])
      expect(await scheduleRelay.ask('GET', `${at(task)}/diff/file?after=${id}`), id).toMatchObject({ status: 404 });
    expect(await scheduleRelay.ask('GET', `${at(task)}/diff?from=-1`)).toMatchObject({ status: 400 });
  });
});
