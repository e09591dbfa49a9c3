/**
 * Clean-up of checkouts in whatever state an agent has left them: dirty, committed or not, staged,
 * detached, locked, in a merge or a rebase, with a stash, with a repository or a worktree in it. A
 * checkout may be deleted only when the relay has all of its commits and files.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCheckouts, createRepositories, type Place } from '../../server/projects/checkouts/index.ts';
import { createSandbox } from '../../server/execution/sandbox/index.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { createRandom } from '../support/random.ts';
import { demand } from './checks.ts';
import { pick } from './pick.ts';
import { withSeed } from './seeds.ts';

/** Steps that agents take in a checkout, as lines of a shell. A step may fail. */
const STEPS: readonly string[] = [
  'echo $RANDOM > new-$RANDOM.txt',
  'echo $RANDOM >> a.txt',
  'git add -A',
  'git commit -qam work',
  'git commit -q --amend --no-edit -m amended',
  'git commit -q --allow-empty -m empty',
  'git stash -q -u',
  'git stash pop -q',
  'git checkout -q --detach',
  'git checkout -q -b other-$RANDOM',
  'git checkout -q -',
  'git reset -q --hard HEAD~1',
  'git reset -q --soft HEAD~1',
  'git branch -q -D $(git branch --format="%(refname:short)" | head -1)',
  'git tag tag-$RANDOM',
  'git rm -q a.txt',
  'git mv a.txt b-$RANDOM.txt',
  'rm -f a.txt',
  'chmod +x a.txt',
  'ln -s /nonexistent link-$RANDOM',
  'mkdir -p deep/er && echo x > deep/er/$RANDOM.txt',
  'git init -q inner && (cd inner && echo x > x.txt && git add -A && git commit -qm inner)',
  'git worktree add -q ../elsewhere-$RANDOM 2>/dev/null || git worktree add -q inside-$RANDOM',
  'touch .git/index.lock',
  'git -c core.editor=false rebase -q -i HEAD~1',
  'git merge -q --no-commit --no-ff $(git branch --format="%(refname:short)" | tail -1)',
  'git cherry-pick -n HEAD~1',
  'git bisect start -q HEAD HEAD~1',
  'git -c protocol.file.allow=always submodule add -q ./inner sub',
  'git update-index --assume-unchanged a.txt',
  'git update-index --skip-worktree a.txt; echo hidden >> a.txt',
  'echo "*.log" > .gitignore; echo x > kept.log',
  'mkdir -p node_modules/x && echo x > node_modules/x/i.js; echo node_modules >> .git/info/exclude',
  'git config core.worktree /tmp',
  'git config core.excludesFile /dev/null',
  'git config status.showUntrackedFiles no',
  'rm -rf .git/refs/heads; git gc -q --prune=now',
  'git reflog expire --expire=now --all',
  'mv .git dot-git',
  'rm -f .git/HEAD',
  'printf "x" > "$(printf "odd\\nname")"',
  'printf "x" > "$(printf "bytes\\377")"',
];

/** Git’s id of the content of every file, but for git’s own files and what a build makes again. */
function filesIn(folder: string, below = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const name of readdirSync(join(folder, below), { encoding: 'latin1' })) {
    const path = below === '' ? name : `${below}/${name}`;
    if (path === '.git' || path.split('/').includes('node_modules')) continue;
    const real = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
    const stat = lstatSync(real);
    if (stat.isDirectory()) for (const [inner, hash] of filesIn(folder, path)) found.set(inner, hash);
    else {
      const content = stat.isSymbolicLink() ? Buffer.from(readlinkSync(real)) : readFileSync(real);
      found.set(path, createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex'));
    }
  }
  return found;
}

const git = (where: string, ...args: string[]) =>
  execFileSync('git', ['-C', where, ...args], { encoding: 'latin1', stdio: ['ignore', 'pipe', 'ignore'] });
const gitOr = (otherwise: string, where: string, ...args: string[]) => {
  try {
    return git(where, ...args);
  } catch {
    return otherwise;
  }
};

/** What only the checkout has, found out by another way than the relay's. */
function onlyThere(checkout: string, gitDir: string): string[] {
  const lost: string[] = [];
  const has = (commit: string) => gitOr('no', gitDir, 'cat-file', '-t', commit).trim() === 'commit';
  const ids = new Set(
    [
      ...gitOr('', checkout, 'for-each-ref', '--format=%(objectname)').split('\n'),
      ...gitOr('', checkout, 'reflog', '--all', '--format=%H').split('\n'),
      gitOr('', checkout, 'rev-parse', 'HEAD').trim(),
    ].filter((id) => /^[\da-f]{40}$/.test(id)),
  );
  for (const id of ids)
    if (gitOr('', checkout, 'cat-file', '-t', id).trim() === 'commit' && !has(id)) lost.push(`commit ${id}`);
  for (const [path, id] of filesIn(checkout))
    if (gitOr('no', gitDir, 'cat-file', '-t', id).trim() !== 'blob') lost.push(path);
  return lost;
}

export interface CheckoutsTally {
  readonly states: number;
  readonly deleted: number;
}

/** Meets one random state for each seed. Resolves with how many were clean enough to delete. */
export async function cleanUp(seeds: readonly number[]): Promise<CheckoutsTally> {
  const top = mkdtempSync(join(tmpdir(), 'roost-checkouts-'));
  const sandbox = createSandbox();
  let deleted = 0;
  try {
    const source = join(top, 'source');
    mkdirSync(source);
    git(source, 'init', '-q', '--initial-branch=main');
    for (const round of [1, 2, 3]) {
      writeFileSync(join(source, 'a.txt'), `${round}\n`);
      git(source, 'add', '-A');
      git(source, '-c', 'user.name=P', '-c', 'user.email=p@localhost', 'commit', '-qm', `Round ${round}`);
    }
    const workspaces = createWorkspaces({ folder: join(top, 'agents'), elapsed: () => performance.now() });
    let ids = 0;
    const checkouts = createCheckouts({
      ...{ workspaces, sandbox, scratch: join(top, 'scratch'), newId: () => `id-${++ids}` },
      reachOf: () => Promise.resolve({ network: 'none', bare: false }),
    });
    const repositories = createRepositories({
      ...{ folder: join(top, 'repositories'), hidden: join(top, 'nothing') },
      rights: { has: () => true, refusal: () => '', servers: 'none' },
      tokenOf: () => Promise.resolve(null),
      lane: (work) => work(),
    });
    const repository = await repositories.of('p', { kind: 'git', repository: source, baseBranch: 'main' });
    const { commit: base } = await repository.base();
    for (const seed of seeds)
      await withSeed('checkouts', seed, async () => {
        const random = createRandom(seed);
        const place: Place = { kind: 'git', agentId: 'a1', folder: `w/${seed}`, branch: `feat/${seed}`, base };
        await checkouts.fill(place, repository, base, 'Agent');
        const steps = pick(random, STEPS, 1 + Math.floor(random() * 7));
        await checkouts.run(
          place,
          `RANDOM=${seed}\n${steps.map((step) => `{ ${step}; } >/dev/null 2>&1`).join('\n')}`,
          {},
        );
        // An attempt may have ended before or after, and have left its commits with the relay.
        if (random() < 0.7) await checkouts.collect(place, repository, { by: 'Agent', at: 0 }).catch(() => null);
        const folder = join(workspaces.folderOf('a1'), place.folder);
        const lost = onlyThere(folder, repository.gitDir);
        const { state } = await checkouts.status(place, repository, []);
        demand(
          `After ${steps.join(' | ')}`,
          state === 'clean' ? lost.map((what) => `it counts as clean, and only it has ${what}`) : [],
        );
        if (state === 'clean') {
          deleted += 1;
          await checkouts.remove(place);
        }
        rmSync(folder, { recursive: true, force: true });
      });
    return { states: seeds.length, deleted };
  } finally {
    await sandbox.close();
    rmSync(top, { recursive: true, force: true });
  }
}
