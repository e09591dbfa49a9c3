/**
 * Hostile repositories on the relay's machine. A fetch and a merge reach them, and nothing of them
 * runs there. What stands in the way of a merge is named, and nothing is bypassed.
 */
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectSchema, taskSchema, type Task } from '../../src/shared/protocol/projects.ts';
import { openScheduleRelay, type ScheduleRelay } from '../support/schedule-relay.ts';
import { createRepository, git } from '../support/person-repository.ts';

let scheduleRelay: ScheduleRelay;
let folder: string;
/** A file that none of the attacks may make. */
let marker: string;
let evil: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-sources-'));
  marker = join(folder, 'was-here');
  evil = join(folder, 'evil.sh');
  writeFileSync(evil, `#!/bin/sh\ntouch ${marker}\ncat\n`, { mode: 0o755 });
  scheduleRelay = await openScheduleRelay(['a1']);
  await scheduleRelay.good('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { shell: 'allow' } } });
});
afterAll(async () => {
  await scheduleRelay.close();
  rmSync(folder, { recursive: true, force: true });
});

const repository = (name: string, fill?: (path: string) => void) =>
  createRepository(join(folder, name), { 'a.txt': 'one\n' }, fill);
const at = ({ projectId, taskId }: Task) => `/v1/projects/${projectId}/tasks/${taskId}`;
/** A task whose work waits for its merge: it changes a.txt, and adds new/b.txt. */
async function inReview(path: string): Promise<{ readonly task: Task; readonly said: string }> {
  const { projectId } = projectSchema.parse(
    await scheduleRelay.good('POST', '/v1/projects', {
      ...{ name: 'Source', kind: 'git', repository: path, baseBranch: 'main', agents: ['a1'] },
    }),
  );
  const task = taskSchema.parse(
    await scheduleRelay.good('POST', `/v1/projects/${projectId}/tasks`, { title: 'Work', columnId: 'ready' }),
  );
  const ids = { projectId, taskId: task.taskId };
  const said = await scheduleRelay.tool('a1', 'claim_task', ids);
  const where = /in the folder “([^”]+)”/.exec(said)?.[1];
  if (where === undefined) return { task, said };
  const work = 'echo two >> a.txt && mkdir new && echo b > new/b.txt && git add -A -f && git commit -qm Two';
  await scheduleRelay.tool('a1', 'run_command', { command: `cd ${where} && ${work}` });
  await scheduleRelay.tool('a1', 'transition_task', { ...ids, status: 'review' });
  return { task, said };
}
const merge = async (task: Task) => {
  const { status, body } = await scheduleRelay.ask('POST', `${at(task)}/request/merge`, {});
  return { status, detail: String((body as { detail?: unknown } | null)?.detail ?? '') };
};
/** Why no project can be made of this repository. */
const refusal = async (path: string) => {
  const answer = await scheduleRelay.ask('POST', '/v1/projects', { name: 'Refused', kind: 'git', repository: path });
  expect(answer.status).toBe(400);
  return JSON.stringify(answer.body);
};
const history = async (task: Task) =>
  taskSchema.parse(await scheduleRelay.good('GET', at(task))).history.map(({ note }) => note);

/** Settings that name a program which git would run while it answers a fetch or a push. */
const PROGRAMS = [
  ...['core.fsmonitor', 'core.sshCommand', 'core.gitProxy', 'core.alternateRefsCommand', 'core.pager', 'core.editor'],
  ...['uploadpack.packObjectsHook', 'gpg.program', 'diff.external', 'credential.helper', 'sequence.editor'],
  ...['diff.evil.textconv', 'diff.evil.command', 'merge.evil.driver', 'alias.upload-pack', 'alias.receive-pack'],
];

describe('a hostile repository on the relay’s machine', () => {
  it('runs no program that its settings name, whether it is fetched or merged into', async () => {
    const path = repository('settings', (top) => {
      writeFileSync(join(top, '.gitattributes'), '* diff=evil merge=evil\n');
    });
    for (const name of PROGRAMS) git(path, 'config', name, name.startsWith('alias') ? `!${evil}` : evil);
    git(path, 'config', 'receive.procReceiveRefs', 'refs');
    git(path, 'config', 'uploadpack.allowFilter', 'true');
    const { task } = await inReview(path);
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(existsSync(marker)).toBe(false);
  });

  it.each([['in its settings', false] as const, ['in a file that they include', true] as const])(
    'is not merged into past a filter %s, and is once the branch is not checked out',
    async (_where, isIncluded) => {
      const path = repository(`filter-${isIncluded}`, (top) =>
        writeFileSync(join(top, '.gitattributes'), 'a.txt filter=evil\n'),
      );
      const file = join(folder, `included-${isIncluded}`);
      for (const key of ['clean', 'smudge', 'process'])
        git(path, 'config', ...(isIncluded ? ['--file', file] : []), `filter.evil.${key}`, evil);
      if (isIncluded) git(path, 'config', 'include.path', file);
      const { task, said } = await inReview(path);
      expect(said).toContain('a.txt filter=evil');
      expect(await merge(task)).toMatchObject({ status: 409, detail: expect.stringMatching(/“a\.txt”.*“evil”/) });
      expect(existsSync(marker)).toBe(false);
      git(
        path,
        '-c',
        'filter.evil.clean=cat',
        '-c',
        'filter.evil.smudge=cat',
        '-c',
        'filter.evil.process=',
        'checkout',
        '-q',
        '-b',
        'x',
      );
      rmSync(marker, { force: true });
      expect(await merge(task)).toMatchObject({ status: 200 });
      expect(git(path, 'show', 'main:a.txt')).toBe('one\ntwo\n');
      expect(existsSync(marker)).toBe(false);
    },
  );

  it('is not merged into past a hook that judges pushes, and lists the hooks that did not run', async () => {
    const path = join(folder, 'hooks.git');
    git(repository('hooks'), 'clone', '-q', '--bare', '.', path);
    for (const hook of ['update', 'post-receive'])
      writeFileSync(join(path, 'hooks', hook), `#!/bin/sh\ntouch ${marker}\nexit 1\n`, { mode: 0o755 });
    const { task } = await inReview(path);
    expect(await merge(task)).toMatchObject({ status: 409, detail: expect.stringContaining('“update”') });
    unlinkSync(join(path, 'hooks', 'update'));
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect((await history(task)).at(-1)).toContain('post-receive');
    expect(existsSync(marker)).toBe(false);
  });

  it('names what prevents a merge, and stays unchanged by these tries', async () => {
    const path = repository('ways', (top) => writeFileSync(join(top, '.gitignore'), 'new/b.txt\n'));
    const { task } = await inReview(path);
    const own = join(path, '.git');
    const tree = join(folder, 'ways-tree');
    const before = git(path, 'rev-parse', 'main');
    const ways: readonly (readonly [made: () => void, undone: () => void, named: string])[] = [
      [() => writeFileSync(join(path, 'a.txt'), 'mine\n'), () => git(path, 'checkout', 'a.txt'), '“a.txt”'],
      [
        () => (mkdirSync(join(path, 'new')), writeFileSync(join(path, 'new/b.txt'), 'mine')),
        () => rmSync(join(path, 'new'), { recursive: true }),
        '“new/b.txt”',
      ],
      [() => writeFileSync(join(path, 'new'), 'mine'), () => rmSync(join(path, 'new')), '“new”'],
      [() => writeFileSync(join(own, 'index.lock'), ''), () => rmSync(join(own, 'index.lock')), 'index.lock'],
      [() => writeFileSync(join(own, 'MERGE_HEAD'), before), () => rmSync(join(own, 'MERGE_HEAD')), 'in the middle'],
      [
        () => (git(path, 'checkout', '-q', '--detach'), git(path, 'worktree', 'add', '-q', tree, 'main')),
        () => (git(path, 'worktree', 'remove', '--force', tree), git(path, 'checkout', '-q', 'main')),
        tree,
      ],
    ];
    for (const [made, undone, named] of ways) {
      made();
      expect(await merge(task), named).toMatchObject({ status: 409, detail: expect.stringContaining(named) });
      undone();
      expect(git(path, 'rev-parse', 'main')).toBe(before);
    }
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(git(path, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(path, 'new/b.txt'), 'utf8')).toBe('b\n');
  });

  it.each([
    [
      'by a .git file',
      (path: string, private_: string) => (
        rmSync(join(path, '.git'), { recursive: true }),
        writeFileSync(join(path, '.git'), `gitdir: ${private_}/.git\n`)
      ),
    ],
    [
      'by a link for .git',
      (path: string, private_: string) => (
        rmSync(join(path, '.git'), { recursive: true }),
        symlinkSync(join(private_, '.git'), join(path, '.git'))
      ),
    ],
    [
      'by links for its objects and references',
      (path: string, private_: string) =>
        ['objects', 'refs'].forEach(
          (name) => (
            rmSync(join(path, '.git', name), { recursive: true }),
            symlinkSync(join(private_, '.git', name), join(path, '.git', name))
          ),
        ),
    ],
  ] as const)('does not lead into another repository %s', async (how, lead) => {
    const private_ = repository(`private ${how.length}`, (top) => writeFileSync(join(top, 'secret.txt'), 'the-secret'));
    const path = repository(`leads ${how.length}`);
    lead(path, private_);
    expect(await refusal(path)).toMatch(/Name (a clone that git made|that repository itself)/);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'refuses a repository of another user, or one that borrows its objects, and says what to do',
    async () => {
      const theirs = repository('theirs');
      git(folder, 'clone', '-q', '--shared', theirs, join(folder, 'borrowing'));
      chownSync(join(theirs, '.git', 'objects'), 12_345, 12_345);
      chownSync(join(theirs, '.git'), 12_345, 12_345);
      const borrowing = join(folder, 'borrowing');
      for (const path of [theirs, borrowing]) expect(await refusal(path)).toContain('safe.directory');
    },
  );
});

describe('a repository with working trees, submodules or a part of its files', () => {
  it('merges into the named linked working tree, and into no other', async () => {
    const path = repository('linked');
    const tree = join(folder, 'linked-tree');
    git(path, 'checkout', '-q', '-b', 'x');
    git(path, 'worktree', 'add', '-q', tree, 'main');
    const { task } = await inReview(tree);
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(readFileSync(join(tree, 'new/b.txt'), 'utf8')).toBe('b\n');
    expect(git(tree, 'status', '--porcelain')).toBe('');
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\n');
    expect(git(path, 'status', '--porcelain')).toBe('');
  });

  it.each([
    ['its settings name', '--local'],
    ['the settings of its working tree name', '--worktree'],
  ])('does not merge past a hook in a folder that %s', async (_where, scope) => {
    const path = repository(`hooks-path${scope}`);
    const hooks = join(folder, `own-hooks${scope}`);
    mkdirSync(hooks);
    writeFileSync(join(hooks, 'pre-receive'), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    git(path, 'config', 'extensions.worktreeConfig', 'true');
    git(path, 'config', scope, 'core.hooksPath', hooks);
    const { task } = await inReview(path);
    expect(await merge(task)).toMatchObject({ status: 409, detail: expect.stringContaining('“pre-receive”') });
    unlinkSync(join(hooks, 'pre-receive'));
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(existsSync(marker)).toBe(false);
  });

  it('keeps a submodule unchanged', async () => {
    const path = repository('submodule', (top) => {
      createRepository(join(top, 'sub'), { 'c.txt': 'c\n' });
      writeFileSync(join(top, '.gitmodules'), '[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c touch\n');
    });
    const before = git(join(path, 'sub'), 'rev-parse', 'HEAD');
    const { task } = await inReview(path);
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(git(join(path, 'sub'), 'rev-parse', 'HEAD')).toBe(before);
    expect(readFileSync(join(path, 'sub/c.txt'), 'utf8')).toBe('c\n');
    expect(git(path, 'status', '--porcelain')).toBe('');
  });

  it('leaves excluded files of a sparse checkout off the disk', async () => {
    const path = repository('sparse', (top) => {
      mkdirSync(join(top, 'kept'));
      writeFileSync(join(top, 'kept/c.txt'), 'c\n');
    });
    git(path, 'sparse-checkout', 'set', '--cone', 'kept');
    const { task } = await inReview(path);
    expect(await merge(task)).toMatchObject({ status: 200 });
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
    expect(existsSync(join(path, 'new/b.txt'))).toBe(false);
    expect(git(path, 'show', 'main:new/b.txt')).toBe('b\n');
    expect(git(path, 'status', '--porcelain')).toBe('');
  });
});
