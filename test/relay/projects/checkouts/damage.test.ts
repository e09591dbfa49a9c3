/** The relay's own repository of a project, damaged by a power cut, a kill or a person. */
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHECKOUT_LIMITS, createRepositories, type Repository } from '../../../../server/projects/checkouts/index.ts';
import { createRepository, git } from '../../../support/person-repository.ts';

let top: string;
let count = 0;
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'roost-damage-'));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

const BRANCH = 'feat/1-bread';
const OTHER = 'feat/2-milk';
interface Home {
  readonly gitDir: string;
  /** The packs in which the base came. */
  readonly basePacks: readonly string[];
  readonly head: string;
  readonly base: string;
  /** A bundle with the commits of the branch. */
  readonly bundle: string;
  /** Starts the relay again. `knows`: its attempts know the heads of the branches. */
  open(knows?: boolean): Promise<Repository>;
  /** The person commits in the source. */
  commit(): void;
}

const packsIn = (gitDir: string): string[] =>
  readdirSync(join(gitDir, 'objects/pack'))
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(gitDir, 'objects/pack', name));
const looseOf = (gitDir: string, id: string) => join(gitDir, 'objects', id.slice(0, 2), id.slice(2));
/** Makes a file of each object. */
function loosen(gitDir: string, aside: string): void {
  for (const pack of packsIn(gitDir)) {
    renameSync(pack, aside);
    for (const name of ['idx', 'rev']) rmSync(pack.replace(/pack$/, name), { force: true });
    execFileSync('git', ['-C', gitDir, 'unpack-objects', '-q'], { input: readFileSync(aside) });
  }
}

/** A project with two branches that are merged nowhere. */
async function home(kind: 'git' | 'folder' = 'git', isLoose = false): Promise<Home> {
  const own = join(top, `home-${++count}`);
  mkdirSync(own);
  const path = createRepository(join(own, 'source'), { 'a.txt': 'one\n', 'inner/b.txt': 'two\n' });
  const source = { kind, repository: kind === 'git' ? path : '', baseBranch: '' };
  const heads = new Map<string, string>();
  const open = async (knows = true) =>
    await createRepositories({
      ...{ folder: join(own, 'relay/projects'), hidden: join(own, 'relay') },
      rights: { has: () => true, refusal: () => '', servers: 'none' },
      tokenOf: () => Promise.resolve(null),
      lane: (work) => work(),
      headsOf: () => Promise.resolve(knows ? [...heads].map(([branch, head]) => ({ branch, head })) : []),
    }).of('p1', source);
  const repository = await open();
  const { commit: base } = await repository.base();
  const { gitDir } = repository;
  const basePacks = packsIn(gitDir);
  const work = join(own, 'work');
  git(own, 'clone', '--quiet', kind === 'git' ? path : repository.gitDir, work);
  for (const branch of [OTHER, BRANCH]) {
    git(work, 'checkout', '--quiet', '-b', branch, base);
    writeFileSync(join(work, 'new.txt'), `${branch}\n`);
    git(work, 'add', '-A');
    git(work, 'commit', '--quiet', '-m', branch);
    git(work, 'bundle', 'create', '--quiet', join(own, 'bundle'), branch, `^${base}`);
    heads.set(branch, await repository.take(join(own, 'bundle'), branch));
  }
  const [head = ''] = [heads.get(BRANCH)];
  if (isLoose) loosen(gitDir, join(own, 'loose.pack'));
  return {
    ...{ gitDir, basePacks, head, base, bundle: join(own, 'bundle'), open },
    commit: () => git(path, 'commit', '--quiet', '--allow-empty', '-m', 'More'),
  };
}
const files = async (repository: Repository, commit: string) => [...(await repository.list(commit)).keys()];
/** The whole base, and the whole branch, can be handed to a checkout. */
async function expectWhole({ head, gitDir }: Home, repository: Repository): Promise<void> {
  const { commit } = await repository.base();
  await repository.bundle('check', commit, join(gitDir, 'check.bundle'));
  expect(await files(repository, commit)).toEqual(['a.txt', 'inner/b.txt']);
  expect(await repository.headOf(BRANCH)).toBe(head);
  await repository.bundle(BRANCH, head, join(gitDir, 'check.bundle'));
  expect(await files(repository, head)).toContain('new.txt');
}
describe('what git needs in the folder is completed', () => {
  it.each([
    ['HEAD is missing', (dir) => unlinkSync(join(dir, 'HEAD'))],
    ['HEAD is empty', (dir) => writeFileSync(join(dir, 'HEAD'), '')],
    ['HEAD is zeros', (dir) => writeFileSync(join(dir, 'HEAD'), Buffer.alloc(41))],
    ['config is empty', (dir) => writeFileSync(join(dir, 'config'), '')],
    ['config is zeros', (dir) => writeFileSync(join(dir, 'config'), Buffer.alloc(66))],
    ['all references are deleted', (dir) => rmSync(join(dir, 'refs'), { recursive: true })],
    [
      'HEAD, config and references are deleted',
      (dir) => {
        for (const name of ['HEAD', 'config', 'refs']) rmSync(join(dir, name), { recursive: true });
      },
    ],
    ['a branch is empty', (dir) => writeFileSync(join(dir, 'refs/heads', BRANCH), '')],
    ['a branch is zeros', (dir) => writeFileSync(join(dir, 'refs/heads', BRANCH), '0'.repeat(40))],
    ['a branch is half', (dir) => truncateSync(join(dir, 'refs/heads', BRANCH), 17)],
    ['the base is empty', (dir) => writeFileSync(join(dir, 'refs/roost/base'), '')],
    ['the base is of another commit', (dir) => writeFileSync(join(dir, 'refs/roost/base'), `${'1'.repeat(40)}\n`)],
    [
      'packed references are cut off',
      (dir) => {
        git(dir, 'pack-refs', '--all');
        truncateSync(join(dir, 'packed-refs'), statSync(join(dir, 'packed-refs')).size - 10);
      },
    ],
    [
      'packed references are zeros',
      (dir) => {
        git(dir, 'pack-refs', '--all');
        writeFileSync(join(dir, 'packed-refs'), Buffer.alloc(300));
      },
    ],
    [
      'old locks are left',
      (dir) => {
        const at = Date.now() / 1_000 - CHECKOUT_LIMITS.staleLockMs / 1_000 - 1;
        for (const name of ['HEAD.lock', 'packed-refs.lock', `refs/heads/${BRANCH}.lock`, 'refs/roost/base.lock']) {
          writeFileSync(join(dir, name), '');
          utimesSync(join(dir, name), at, at);
        }
      },
    ],
  ] satisfies readonly [string, (gitDir: string) => void][])('%s', async (_what, damage) => {
    const own = await home();
    damage(own.gitDir);
    const repository = await own.open();
    await expectWhole(own, repository);
    own.commit();
    expect((await repository.base()).commit).not.toBe(own.base);
    await expectWhole(own, await own.open());
  });

  it('a clone that was killed at its beginning', async () => {
    const own = await home();
    rmSync(own.gitDir, { recursive: true });
    mkdirSync(join(own.gitDir, 'objects/pack'), { recursive: true });
    writeFileSync(join(own.gitDir, 'objects/pack/tmp_pack_x'), 'PACK');
    const repository = await own.open(false);
    expect(await files(repository, (await repository.base()).commit)).toEqual(['a.txt', 'inner/b.txt']);
    expect(await repository.headOf(BRANCH)).toBeNull();
  });
});

describe('objects that the source has are fetched anew, and branches stay', () => {
  it.each([
    ['an object of the base is deleted', ({ gitDir }, id) => unlinkSync(looseOf(gitDir, id))],
    [
      'an object of the base is empty',
      ({ gitDir }, id) => {
        rmSync(looseOf(gitDir, id));
        writeFileSync(looseOf(gitDir, id), '');
      },
    ],
  ] satisfies readonly [string, (own: Home, blob: string) => void][])('%s', async (_what, damage) => {
    const own = await home('git', true);
    const blob = git(own.gitDir, 'rev-parse', `${own.base}:inner/b.txt`).trim();
    damage(own, blob);
    await expectWhole(own, await own.open());
  });

  it.each([
    ['cut off', (pack) => truncateSync(pack, Math.floor(statSync(pack).size / 2))],
    ['empty', (pack) => writeFileSync(pack, '')],
    [
      'zeros at its end',
      (pack) => {
        const { size } = statSync(pack);
        truncateSync(pack, Math.floor(size / 2));
        truncateSync(pack, size);
      },
    ],
    ['gone', (pack) => unlinkSync(pack)],
  ] satisfies readonly [string, (pack: string) => void][])('the pack of the base is %s', async (_what, damage) => {
    const own = await home();
    for (const pack of own.basePacks) damage(pack);
    await expectWhole(own, await own.open());
    // Also while the relay runs.
    const running = await own.open();
    for (const pack of own.basePacks) damage(pack);
    await expectWhole(own, running);
  });
});

describe('a branch that only the relay has is never begun anew', () => {
  const lost =
    /The relay’s copy of the project is damaged: the branch feat\/1-bread cannot be read\. Put the folder \S+p1\.git back from a backup\./;
  it.each([
    ['its commit is deleted', true, ({ gitDir, head }) => unlinkSync(looseOf(gitDir, head))],
    [
      'its commit is empty',
      true,
      ({ gitDir, head }) => {
        rmSync(looseOf(gitDir, head));
        writeFileSync(looseOf(gitDir, head), '');
      },
    ],
    ['nobody knows its commit', false, ({ gitDir }) => writeFileSync(join(gitDir, 'refs/heads', BRANCH), '')],
    [
      'the reference and its commit are deleted',
      true,
      ({ gitDir, head }) => {
        unlinkSync(join(gitDir, 'refs/heads', BRANCH));
        unlinkSync(looseOf(gitDir, head));
      },
    ],
  ] satisfies readonly [string, boolean, (own: Home) => void][])(
    'refuses to begin the branch again when %s',
    async (_what, knows, damage) => {
      const own = await home('git', true);
      damage(own);
      for (const repository of [await own.open(knows), await own.open(knows)]) {
        await expect(repository.headOf(BRANCH)).rejects.toThrow(lost);
        const { commit } = await repository.base();
        await repository.bundle('check', commit, join(own.gitDir, 'check.bundle'));
        expect(await repository.headOf(OTHER)).not.toBeNull();
        own.commit();
      }
      // A checkout that still has the commits brings them back.
      const repository = await own.open(knows);
      expect(await repository.take(own.bundle, BRANCH)).toBe(own.head);
      await expectWhole(own, repository);
      await expectWhole(own, await own.open(false));
    },
  );

  it('refuses to begin the branch again when a file is deleted that only a checkout needs', async () => {
    const own = await home('git', true);
    unlinkSync(looseOf(own.gitDir, git(own.gitDir, 'rev-parse', `${own.head}:new.txt`).trim()));
    const repository = await own.open();
    await repository.base();
    await expect(repository.bundle(BRANCH, own.head, join(own.gitDir, 'check.bundle'))).rejects.toThrow(/damaged/);
    await expect(repository.headOf(BRANCH)).rejects.toThrow(lost);
    expect(await repository.headOf(OTHER)).not.toBeNull();
  });

  it('refuses to begin the branch again when the whole copy is deleted', async () => {
    const own = await home();
    rmSync(own.gitDir, { recursive: true });
    const repository = await own.open();
    await expect(repository.headOf(BRANCH)).rejects.toThrow(lost);
    expect(await files(repository, (await repository.base()).commit)).toEqual(['a.txt', 'inner/b.txt']);
    expect(await repository.take(own.bundle, BRANCH)).toBe(own.head);
  });
});

describe('the folder of a folder project is never begun anew', () => {
  it.each([
    ['its reference is empty', (dir) => writeFileSync(join(dir, 'refs/heads/main'), '')],
    ['its reference is deleted', (dir) => unlinkSync(join(dir, 'refs/heads/main'))],
    [
      'its reference and HEAD are deleted',
      (dir) => {
        unlinkSync(join(dir, 'refs/heads/main'));
        unlinkSync(join(dir, 'HEAD'));
      },
    ],
    ['its copy is deleted', (dir) => rmSync(dir, { recursive: true })],
  ] satisfies readonly [string, (gitDir: string) => void][])(
    'refuses to begin the folder again when %s',
    async (_what, damage) => {
      const own = await home('folder');
      damage(own.gitDir);
      for (const repository of [await own.open(), await own.open()])
        await expect(repository.base()).rejects.toThrow(/damaged: the branch main cannot be read/);
    },
  );

  it('continues the folder when a relay was killed before it wrote the reference', async () => {
    const own = await home('folder');
    const main = git(own.gitDir, 'rev-parse', 'refs/heads/main').trim();
    git(own.gitDir, 'update-ref', 'refs/roost/writing/main', main);
    unlinkSync(join(own.gitDir, 'refs/heads/main'));
    expect((await (await own.open()).base()).commit).toBe(main);
  });
});
