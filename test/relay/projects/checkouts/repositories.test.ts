/** Repositories as people have them, with real git: what the relay fetches, and what it refuses. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CHECKOUT_LIMITS,
  createRepositories,
  type FileChange,
  type Repositories,
} from '../../../../server/projects/checkouts/index.ts';
import { createRepository, git } from '../../../support/person-repository.ts';
import { longTests } from '../../../support/long-tests.ts';

const itLong = longTests('relay/projects/checkouts/repositories.test.ts');

let top: string;
let repositories: Repositories;

beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'roost-repositories-'));
  repositories = createRepositories({
    ...{ folder: join(top, 'relay/projects'), hidden: join(top, 'relay') },
    rights: { has: () => true, refusal: () => '', servers: 'none' },
    tokenOf: () => Promise.resolve(null),
    lane: (work) => work(),
  });
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const made = (name: string, fill?: (path: string) => void) =>
  createRepository(join(top, name), { 'a.txt': 'one\n', 'inner/b.txt': 'two\n' }, fill);
const source = (repository: string, baseBranch = '') => ({ kind: 'git' as const, repository, baseBranch });
/** Why it cannot be used. Null: it can. */
const examined = async (repository: string, baseBranch?: string, copy: string[] = []) =>
  (await repositories.examine({ ...source(repository, baseBranch), copy }, null))?.why ?? null;

describe('a source is examined', () => {
  it('accepts a source that has the branch, also as a working tree of its own', async () => {
    const path = made('good');
    git(path, 'worktree', 'add', '--quiet', '-b', 'other', join(top, 'worktree'));
    expect(await examined(path)).toBeNull();
    expect(await examined(path, 'other')).toBeNull();
    expect(await examined(join(top, 'worktree'))).toBeNull();
    git(top, 'clone', '--quiet', '--bare', path, join(top, 'bare.git'));
    expect(await examined(join(top, 'bare.git'))).toBeNull();
  });

  it('refuses a source without a commit, branch or repository', async () => {
    const path = made('refused');
    expect(await examined(path, 'missing')).toBe('The repository has no branch missing.');
    mkdirSync(join(top, 'empty'));
    git(join(top, 'empty'), 'init', '--quiet');
    expect(await examined(join(top, 'empty'))).toMatch(/no commit/);
    expect(await examined(join(top, 'empty'), 'main')).toBe('The repository has no branch main.');
    mkdirSync(join(top, 'plain'));
    expect(await examined(join(top, 'plain'))).toMatch(/There is no git repository at .*plain/);
    expect(await examined(join(top, 'nothing'))).toMatch(/There is no .*nothing/);
  });

  it('refuses a folder among the files to copy, or a file that is too large', async () => {
    const path = made('copied', (inside) => writeFileSync(join(inside, 'large.bin'), Buffer.alloc(1_000_001)));
    expect(await examined(path, '', ['a.txt', 'later.env'])).toBeNull();
    expect(await examined(path, '', ['a.txt', 'inner'])).toBe('inner is a folder. Name the files in it.');
    expect(await examined(path, '', ['large.bin'])).toMatch(/large.bin has more than 1 MB/);
  });

  it('refuses a folder within a repository, and names the repository', async () => {
    const path = made('outer');
    expect(await examined(join(path, 'inner'))).toBe(
      `${join(path, 'inner')} is a folder in the repository ${path}. Name that one.`,
    );
  });

  it('refuses a shallow clone, and says what to do', async () => {
    const path = made('deep');
    for (const text of ['two', 'three']) {
      writeFileSync(join(path, 'a.txt'), text);
      git(path, 'commit', '--quiet', '-am', text);
    }
    const shallow = join(top, 'shallow');
    git(top, 'clone', '--quiet', '--depth', '2', `file://${path}`, shallow);
    expect(await examined(shallow)).toMatch(/not a whole clone.*git fetch --unshallow/);
    // One that became shallow after the project was created.
    const late = await repositories.of('shallow', source(shallow));
    await expect(late.base()).rejects.toThrow(/not a whole clone.*git fetch --unshallow/);
  });
});

/** Writes a commit as it is, whatever git would say of it. */
function rawCommit(path: string, text: string): string {
  const id = execFileSync('git', ['-C', path, 'hash-object', '-t', 'commit', '-w', '--literally', '--stdin'], {
    input: text,
    encoding: 'utf8',
  }).trim();
  git(path, 'update-ref', 'refs/heads/main', id);
  return id;
}

describe('a history that old tools wrote', () => {
  it.each([
    ['a time zone of seven digits', 'A <a@localhost> 1300000000 +051800'],
    ['no name', '<a@localhost> 1300000000 +0000'],
    ['no space before the address', 'A<a@localhost> 1300000000 +0000'],
    ['a date with a zero before it', 'A <a@localhost> 01300000000 +0000'],
    ['no address', 'A 1300000000 +0000'],
  ])('fetches a history with %s', async (name, author) => {
    const path = made(name.replaceAll(' ', '-'));
    const tree = git(path, 'rev-parse', 'HEAD^{tree}').trim();
    const parent = git(path, 'rev-parse', 'HEAD').trim();
    const whole = 'A <a@localhost> 1300000000 +0000';
    const id = rawCommit(path, `tree ${tree}\nparent ${parent}\nauthor ${author}\ncommitter ${whole}\n\nOld\n`);
    const repository = await repositories.of(name, source(path));
    expect(await repository.base()).toEqual({ branch: 'main', commit: id });
  });

  it('refuses a history whose tree leads into .git', async () => {
    const path = made('dotgit');
    const blob = git(path, 'rev-parse', 'HEAD:a.txt').trim();
    const tree = execFileSync('git', ['-C', path, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], {
      input: Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]),
      encoding: 'utf8',
    }).trim();
    const who = 'A <a@localhost> 1300000000 +0000';
    rawCommit(path, `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nBad\n`);
    const repository = await repositories.of('dotgit', source(path));
    await expect(repository.base()).rejects.toThrow(/hasDotgit|fsck/);
  });
});

it('hands the tags of the base’s history to a checkout, and no others', async () => {
  const path = made('tags');
  git(path, 'tag', '-a', 'v1', '-m', 'One');
  git(path, 'checkout', '--quiet', '-b', 'aside');
  writeFileSync(join(path, 'a.txt'), 'aside');
  git(path, 'commit', '--quiet', '-am', 'Aside');
  git(path, 'tag', 'aside-1');
  git(path, 'checkout', '--quiet', 'main');
  writeFileSync(join(path, 'a.txt'), 'two');
  git(path, 'commit', '--quiet', '-am', 'Two');
  const repository = await repositories.of('tags', source(path, 'main'));
  const { commit } = await repository.base();
  const bundle = join(top, 'tags.bundle');
  await repository.bundle('feat/1-a', commit, bundle);
  git(top, 'clone', '--quiet', '--branch', 'feat/1-a', bundle, join(top, 'tags-checkout'));
  expect(git(join(top, 'tags-checkout'), 'describe').trim()).toMatch(/^v1-1-g/);
  expect(git(join(top, 'tags-checkout'), 'tag').trim()).toBe('v1');
});

it('merges the packs of a folder project, and loses no file by it', async () => {
  const repository = await repositories.of('packs', { kind: 'folder', repository: '', baseBranch: '' });
  let parent = (await repository.base()).commit;
  const said = { message: 'Put', by: 'P', at: 0 };
  for (let i = 0; i < CHECKOUT_LIMITS.packs + 5; i++) {
    const bytes = Buffer.from(`text ${i}`);
    const put: FileChange = { path: `${i}.txt`, bytes };
    const next = await repository.commitFiles(
      parent,
      'main',
      (async function* () {
        yield put;
      })(),
      said,
    );
    expect(next).not.toBeNull();
    parent = next ?? parent;
  }
  const packs = readdirSync(join(repository.gitDir, 'objects/pack')).filter((name) => name.endsWith('.pack'));
  expect(packs.length).toBeLessThan(CHECKOUT_LIMITS.packs / 2);
  expect((await repository.list(parent)).size).toBe(CHECKOUT_LIMITS.packs + 5);
  expect((await repository.fileOf(parent, '0.txt'))?.toString()).toBe('text 0');
});

itLong('lists and looks through commits of more files than one output of git may name', async () => {
  const path = made('wide');
  const base = git(path, 'rev-parse', 'main').trim();
  const name = (n: number) => `wide/${n % 300}/${'long-name-'.repeat(20)}${n}`;
  const lines = Array.from({ length: 100_000 }, (_none, n) => `M 100644 :1 ${name(n)}`);
  const said = 'committer A <a@localhost> 1300000000 +0000\ndata 4\nWide\nfrom refs/heads/main^0\n';
  const input = `blob\nmark :1\ndata 9\nthe-token\ncommit refs/heads/main\n${said}${lines.join('\n')}\n`;
  expect(input.length).toBeGreaterThan(20_000_000);
  execFileSync('git', ['-C', path, 'fast-import', '--quiet'], { input });
  const head = git(path, 'rev-parse', 'main').trim();
  const repository = await repositories.of('wide', source(path, 'main'));
  expect((await repository.base()).commit).toBe(head);
  expect((await repository.list(head)).size).toBe(lines.length + 2);
  expect([...(await repository.list(head, (each) => each.endsWith('.txt'))).keys()]).toEqual(['a.txt', 'inner/b.txt']);
  expect(await repository.copiedIn(base, head, ['inner/b.txt'])).toEqual([]);
  expect(await repository.copiedIn(base, head, [name(7)])).toMatchObject([{ path: name(7) }]);
  await repository.noteCopied([{ path: '.env', bytes: Buffer.from('the-token') }]);
  expect(await repository.copiedIn(base, head, [])).toHaveLength(lines.length);
});

it('keeps the commits of a branch that a checkout has rewritten, by a reference and until that is deleted', async () => {
  const path = made('rewritten');
  const repository = await repositories.of('rewritten', source(path, 'main'));
  await repository.base();
  const taken: string[] = [];
  for (const text of ['first', 'second']) {
    git(path, 'checkout', '--quiet', '-B', 'feat/1-a', 'main');
    writeFileSync(join(path, 'a.txt'), text);
    git(path, 'commit', '--quiet', '-am', text);
    const bundle = join(top, `${text}.bundle`);
    git(path, 'bundle', 'create', '--quiet', bundle, 'feat/1-a');
    taken.push(await repository.take(bundle, 'feat/1-a'));
  }
  const [first = '', second = ''] = taken;
  expect(await repository.headOf('feat/1-a')).toBe(second);
  const refs = execFileSync('git', [
    '--git-dir',
    repository.gitDir,
    'for-each-ref',
    '--format=%(refname) %(objectname)',
  ]);
  const kept = `refs/roost/kept/feat/1-a/${first.slice(0, 12)}`;
  expect(refs.toString()).toContain(`${kept} ${first}`);
  const inRelay = (...words: string[]) => execFileSync('git', ['--git-dir', repository.gitDir, ...words]);
  inRelay('gc', '--quiet', '--prune=now');
  expect(await repository.has(first)).toBe(true);
  inRelay('update-ref', '-d', kept);
  inRelay('gc', '--quiet', '--prune=now');
  expect(await repository.has(first)).toBe(false);
  expect(await repository.has(second)).toBe(true);
});
