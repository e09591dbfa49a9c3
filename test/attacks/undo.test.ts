/**
 * Undo against what a program can leave in an agent's folder: links and swaps that lead out of it,
 * repositories with hooks and filters, things that are no files, and room without end. Real git and
 * a real disk.
 */
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Histories } from '../../server/files/history/index.ts';
import type { Work } from '../../src/shared/protocol/endpoints/history.ts';
import { createOrdinaryPlace, whyNoOrdinaryUser } from '../support/ordinary-user.ts';
import { AGENT, createUndoPlace, photoOf, type UndoPlace } from '../support/undo.ts';
import type { UnreadableEnds } from '../support/unreadable-undo.ts';

const SECRET = 'the key of the relay';
let place: UndoPlace;
let histories: Histories;
let folder: string;
let outside: string;
beforeEach(async () => {
  place = await createUndoPlace();
  histories = place.histories();
  folder = place.folders[0]?.path ?? '';
  outside = join(place.base, 'elsewhere');
  await mkdir(outside);
  await writeFile(join(outside, 'sealing.key'), SECRET);
});
afterEach(async () => {
  await histories.close();
  await place.remove();
});

const work = (runId: string): Work => ({ kind: 'run', runId, cause: { kind: 'pulse', routine: 'x' } });
/** A run that does this. */
async function runs(name: string, does: () => Promise<unknown>): Promise<void> {
  const end = await histories.record(AGENT, work(name));
  await does();
  await end();
}
const list = () => histories.list(AGENT, null);
const newest = async () => {
  const [point] = (await list()).points;
  if (!point) throw new Error('There is no point.');
  return point.pointId;
};
const undo = async () => await histories.restore(AGENT, await newest(), 'before', null);
const put = (path: string, content: string) => writeFile(join(folder, path), content);
/** Everything that the history has stored, as one text. */
function stored(): string {
  const git = (...args: string[]) =>
    execFileSync('git', [`--git-dir=${place.repository}`, ...args], { maxBuffer: 2 ** 28 });
  const objects = git('cat-file', '--batch-all-objects', '--batch-check').toString().trim().split('\n');
  return objects.map((line) => git('cat-file', '-p', line.split(' ')[0] ?? '').toString('latin1')).join('\n');
}
const untouched = async () => {
  expect(await readFile(join(outside, 'sealing.key'), 'utf8')).toBe(SECRET);
  expect(await readdir(outside)).toEqual(['sealing.key']);
};

describe('A link', () => {
  it('out of the folder is recorded and restored as a link, and nothing behind it is read', async () => {
    await symlink(outside, join(folder, 'out'));
    await symlink(join(outside, 'sealing.key'), join(folder, 'key'));
    const before = photoOf(folder);
    await runs('r1', async () => {
      await rm(join(folder, 'out'));
      await rm(join(folder, 'key'));
      await put('key', 'mine');
    });
    await undo();
    expect(photoOf(folder)).toEqual(before);
    expect(stored()).not.toContain(SECRET);
    await untouched();
  });

  it('replaces a link in place of a folder, and writes or deletes nothing through it', async () => {
    await mkdir(join(folder, 'd'));
    await put('d/sealing.key', 'my own');
    await put('d/other', 'other');
    const before = photoOf(folder);
    await runs('r1', async () => {
      await rm(join(folder, 'd'), { recursive: true });
      await symlink(outside, join(folder, 'd'));
    });
    await undo();
    expect(photoOf(folder)).toEqual(before);
    await histories.restore(AGENT, await newest(), 'before', null);
    expect((await stat(join(folder, 'd', 'sealing.key'))).size).toBe(SECRET.length);
    await untouched();
  });

  it('follows no link in place of the whole folder', async () => {
    await runs('r1', () => put('a', 'a'));
    const point = await newest();
    await rm(folder, { recursive: true });
    await symlink(outside, folder);
    await histories.restore(AGENT, point, 'after', null).catch(() => undefined);
    await runs('r2', () => Promise.resolve());
    expect(stored()).not.toContain(SECRET);
    await untouched();
  });

  it('follows no link that is swapped with a folder all the time', async () => {
    await mkdir(join(folder, 'd'));
    for (let i = 0; i < 30; i++) await put(`d/sealing.key${i === 0 ? '' : i}`, `inside ${i}`);
    await runs('r1', () => put('d/new', 'new'));
    const point = await newest();
    const swap = `cd "$1"; ln -s ../../elsewhere l; while :; do mv -T d e && mv -T l d; mv -T d l && mv -T e d; done`;
    const swapping = spawn('/bin/sh', ['-c', swap, 'sh', folder], { stdio: 'ignore' });
    try {
      for (let i = 0; i < 4; i++) {
        await runs(`s${i}`, () => Promise.resolve());
        await histories.restore(AGENT, point, i % 2 === 0 ? 'before' : 'after', null);
      }
    } finally {
      swapping.kill('SIGKILL');
      await once(swapping, 'exit');
    }
    expect(stored()).not.toContain(SECRET);
    await untouched();
  });

  it('writes nothing into a hard link to a file outside', async () => {
    await runs('r1', () => put('key', 'mine'));
    const point = await newest();
    await rm(join(folder, 'key'));
    await link(join(outside, 'sealing.key'), join(folder, 'key'));
    await histories.restore(AGENT, point, 'after', null);
    expect(await readFile(join(folder, 'key'), 'utf8')).toBe('mine');
    await untouched();
  });
});

describe('What git would obey', () => {
  it('restores a nested repository whole, and runs none of its hooks and filters', async () => {
    const ran = join(place.base, 'ran');
    const inner = join(folder, 'project');
    await mkdir(inner);
    const git = (...args: string[]) => execFileSync('git', ['-C', inner, ...args], { stdio: 'pipe' });
    git('init', '-q');
    git('config', 'user.name', 'x');
    git('config', 'user.email', 'x@y');
    await writeFile(join(inner, 'code.js'), 'let a = 1;\r\n');
    git('add', '-A');
    git('commit', '-qm', 'first');
    for (const [name, value] of [
      ['filter.evil.clean', `touch ${ran}`],
      ['filter.evil.smudge', `touch ${ran}`],
      ['core.fsmonitor', `touch ${ran}`],
    ] as const)
      git('config', name, value);
    const files: Readonly<Record<string, string>> = {
      'project/.gitattributes': '* filter=evil text eol=lf\n',
      '.gitattributes': '* filter=evil export-subst\n',
      '.gitignore': '*\n',
      'project/.gitignore': '*\n',
      '.gitmodules': '[submodule "x"]\n\tpath = project\n\turl = ext::sh -c touch% x\n',
      'project/.git/info/attributes': '* filter=evil\n',
    };
    await mkdir(join(inner, '.git', 'info'), { recursive: true });
    for (const [path, content] of Object.entries(files)) await put(path, content);
    for (const hook of ['post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change']) {
      await put(`project/.git/hooks/${hook}`, `#!/bin/sh\ntouch ${ran}\n`);
      await chmod(join(inner, '.git', 'hooks', hook), 0o755);
    }
    const before = photoOf(folder);
    await runs('r1', async () => {
      await rm(join(inner, '.git'), { recursive: true });
      await put('project/code.js', 'gone');
      await rm(join(folder, '.gitignore'));
    });
    await undo();
    expect(photoOf(folder)).toEqual(before);
    expect(await readdir(place.base)).not.toContain('ran');
    expect(git('log', '--format=%s').toString()).toBe('first\n');
  });

  it('settings of the machine, the user and the environment decide nothing', async () => {
    const home = await mkdtemp(join(tmpdir(), 'roost-git-home-'));
    const ran = join(home, 'ran');
    await mkdir(join(home, 'hooks'));
    await writeFile(join(home, 'hooks', 'reference-transaction'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    const config = `[core]\n\thooksPath = ${join(home, 'hooks')}\n\tfsmonitor = touch ${ran}\n[gc]\n\tauto = 1\n`;
    await writeFile(join(home, '.gitconfig'), config);
    const given: Readonly<Record<string, string>> = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'core.hooksPath',
      GIT_CONFIG_VALUE_0: join(home, 'hooks'),
      GIT_DIR: join(outside, '.git'),
      GIT_OBJECT_DIRECTORY: outside,
      GIT_TRACE: join(home, 'trace'),
    };
    for (const [name, value] of Object.entries(given)) vi.stubEnv(name, value);
    try {
      await runs('r1', () => put('a', 'a'));
      await undo();
    } finally {
      vi.unstubAllEnvs();
    }
    expect((await readdir(home)).sort()).toEqual(['.gitconfig', 'hooks']);
    await untouched();
    await rm(home, { recursive: true });
  });
});

describe('What is no file', () => {
  it('lists what is no file as not recorded, without waiting for it, and leaves it in place', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const server = createServer().listen(join(folder, 'socket'));
    await once(server, 'listening');
    await put('huge', '');
    await truncate(join(folder, 'huge'), 2 ** 40);
    await runs('r1', async () => {
      await put('a', 'a');
      await mkdir(join(folder, 'd'));
      execFileSync('mkfifo', [join(folder, 'd', 'inner')]);
    });
    const { notRecorded } = await histories.changes(AGENT, await newest(), 'previous');
    expect(notRecorded.map(({ path, why }) => [path, why])).toEqual([
      ['d/inner', 'special'],
      ['huge', 'large'],
      ['pipe', 'special'],
      ['socket', 'special'],
    ]);
    const { left } = await undo();
    // The folder holds something that could not be brought back.
    expect(left.map(({ path }) => path)).toEqual(['d']);
    expect((await readdir(folder)).sort()).toEqual(['d', 'huge', 'pipe', 'socket']);
    server.close();
  });

  it('does not replace what is no file in the place of a recorded one', async () => {
    await put('a', 'a');
    await runs('r1', async () => {
      await put('a', '');
      await truncate(join(folder, 'a'), 60_000_000);
    });
    const { left } = await undo();
    expect(left.map(({ path }) => path)).toEqual(['a']);
    expect((await stat(join(folder, 'a'))).size).toBe(60_000_000);
    // Nothing is lost: once it is out of the way, the file comes back.
    await rm(join(folder, 'a'));
    const first = (await list()).points.find((point) => point.work.kind === 'run');
    await histories.restore(AGENT, first?.pointId ?? '', 'before', null);
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('a');
  });
});

describe('Room', () => {
  it('keeps the history within its share by deleting the oldest points', async () => {
    const most = 6_000_000;
    histories = place.histories({ mostOf: () => Promise.resolve(most) });
    for (let i = 0; i < 6; i++) await runs(`r${i}`, () => writeFile(join(folder, 'noise'), randomBytes(900_000)));
    expect(await histories.bytes(AGENT)).toBeLessThanOrEqual(most / 2);
    expect((await list()).points.length).toBeGreaterThan(0);
    expect((await list()).gaps).toEqual([]);
    await undo();
    expect((await list()).points[0]?.work.kind).toBe('restore');
  });

  it('refuses a recording beyond the share, says so, and lets the work go on', async () => {
    histories = place.histories({ mostOf: () => Promise.resolve(8_000_000), logger: { warn: () => undefined } });
    await runs('r1', () => writeFile(join(folder, 'noise'), randomBytes(12_000_000)));
    expect((await list()).gaps).toMatchObject([{ why: 'no-room', work: { runId: 'r1' } }]);
    expect((await stat(join(folder, 'noise'))).size).toBe(12_000_000);
    expect(await histories.bytes(AGENT)).toBeLessThan(4_000_000);
    // Once there is room, it goes on.
    await rm(join(folder, 'noise'));
    await runs('r2', () => put('small', 'small'));
    expect((await list()).points[0]).toMatchObject({ work: { runId: 'r2' }, counts: { added: 1 } });
  });
});

describe('Git', () => {
  /** A folder with a `git` that does this first. */
  async function gitThat(script: string): Promise<string> {
    const bin = join(place.base, 'bin');
    const real = execFileSync('/bin/sh', ['-c', 'command -v git']).toString().trim();
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, 'git'), `#!/bin/sh\n${script}\nexec ${real} "$@"\n`, { mode: 0o755 });
    return bin;
  }
  const quiet = { warn: () => undefined };

  it('turns off undo alone when git is missing', async () => {
    histories = place.histories({ path: join(place.base, 'nothing') });
    await runs('r1', () => put('a', 'a'));
    expect(await list()).toMatchObject({ undo: 'no-git', points: [], gaps: [] });
    await expect(histories.restore(AGENT, '1', 'before', null)).rejects.toMatchObject({ kind: 'off' });
  });

  it('reports git as too old', async () => {
    histories = place.histories({ path: await gitThat('echo git version 2.25.1; exit') });
    expect(await list()).toMatchObject({ undo: 'old-git' });
  });

  it.each([
    [
      'finds the disk full',
      'case "$*" in *fast-import*) echo "fatal: write error: No space left on device" >&2; exit 128;; esac',
      'disk-full',
    ],
    ['breaks', 'case "$*" in *fast-import*) exit 3;; esac', 'broken'],
    ['hangs', 'case "$*" in *fast-import*) exec sleep 60;; esac', 'too-slow'],
  ])('tells the person and lets the work go on when git %s', async (_what, script, why) => {
    await place.remove();
    place = await createUndoPlace({ recordMs: 1_500 });
    folder = place.folders[0]?.path ?? '';
    histories = place.histories({ path: await gitThat(script), logger: quiet });
    await runs('r1', () => put('a', 'a'));
    expect(await list()).toMatchObject({ undo: 'on', points: [], gaps: [{ why, work: { runId: 'r1' } }] });
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('a');
    // Nothing is restored that could not be recorded first.
    await histories.close();
    histories = place.histories();
    await runs('r2', () => put('a', 'b'));
    const point = await newest();
    await put('a', 'not recorded yet');
    await histories.close();
    histories = place.histories({ path: await gitThat(script), logger: quiet });
    await expect(histories.restore(AGENT, point, 'before', null)).rejects.toMatchObject({ kind: 'unrecorded', why });
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('not recorded yet');
  });

  it('says when git cannot read its history, and begins a new one after deletion', async () => {
    await runs('r1', () => put('a', 'a'));
    await histories.close();
    for (const name of await readdir(join(place.repository, 'objects', 'pack')))
      await truncate(join(place.repository, 'objects', 'pack', name), 10);
    histories = place.histories({ logger: quiet });
    expect(await list()).toMatchObject({ undo: 'broken', points: [] });
    await runs('r2', () => put('a', 'b'));
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('b');
    expect((await list()).gaps).toMatchObject([{ why: 'broken' }, { why: 'broken' }]);
    await histories.forget(AGENT);
    await runs('r3', () => put('a', 'c'));
    expect(await list()).toMatchObject({ undo: 'on', gaps: [], points: [{ work: { runId: 'r3' } }] });
    await undo();
    expect(await readFile(join(folder, 'a'), 'utf8')).toBe('b');
  });
});

describe.skipIf(whyNoOrdinaryUser() !== null)('A file that its own user may not read', () => {
  it(
    'records and restores a file that its own user may not read, with its permissions',
    { timeout: 60_000 },
    async () => {
      const ordinary = await createOrdinaryPlace('test/support/unreadable-undo.ts');
      try {
        const { isRoot, unrecorded, left, undone, redone } = (await ordinary.run({})) as UnreadableEnds;
        expect(isRoot).toBe(false);
        expect([unrecorded, left]).toEqual([[], []]);
        expect(undone).toEqual({
          'locked-before.txt': '0 locked before',
          'locked-by-run.txt': '644 as it was',
          'locked-folder/inner.txt': '755/644 as it was',
          'plain.txt': '644 as it was',
        });
        expect(redone).toEqual({
          'locked-before.txt': '0 locked before',
          'locked-by-run.txt': '0 changed',
          'locked-folder/inner.txt': '0/644 changed',
          'plain.txt': '644 changed',
        });
      } finally {
        await ordinary.remove();
      }
    },
  );
});
