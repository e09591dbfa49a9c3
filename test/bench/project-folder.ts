/**
 * A folder project with many small files: a claim fills a checkout, and a review records what was
 * changed there. Beside each, bare git that does the same in a folder of its own.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCheckouts, createRepositories, type Place } from '../../server/projects/checkouts/index.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { median, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const FULL = { files: 1_500, rounds: 5 };
const SMOKE: typeof FULL = { files: 20, rounds: 1 };
const LIMIT = 5;
const BY = { by: 'An agent', at: 0 };
const SOURCE = { kind: 'folder', repository: '', baseBranch: '' } as const;

export const projectFolder = definePart({
  name: 'project-folder',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ files, rounds }) =>
    withOpened(async (keep) => {
      const top = keep(mkdtempSync(join(tmpdir(), 'roost-bench-folder-')), (made) =>
        rmSync(made, { recursive: true, force: true }),
      );
      let ids = 0;
      const workspaces = createWorkspaces({ folder: join(top, 'workspaces'), elapsed: () => performance.now() });
      const repositories = createRepositories({
        ...{ folder: join(top, 'projects'), hidden: join(top, 'hidden'), tokenOf: () => Promise.resolve(null) },
        rights: { has: () => true, refusal: () => '', servers: 'public' },
        lane: (work) => work(),
      });
      const none = () => Promise.reject(new Error('A folder project needs no sandbox.'));
      const checkouts = createCheckouts({
        ...{ workspaces, scratch: join(top, 'scratch'), newId: () => `${ids++}` },
        sandbox: { run: none, status: none },
        reachOf: () => Promise.resolve({ network: 'none', bare: false }),
      });
      const timed = async (does: () => unknown) => {
        const started = performance.now();
        await does();
        return performance.now() - started;
      };
      const bareGit = (where: string, ...args: string[]) =>
        execFileSync('git', ['-C', where, '-c', 'user.name=x', '-c', 'user.email=x', ...args], { stdio: 'ignore' });
      const texts = Array.from({ length: files }, (_, i) => [`notes/${i % 20}/${i}.md`, `Note ${i}.\n`.repeat(60)]);
      const write = (folder: string, more: string) => {
        for (const [path = '', text = ''] of texts) {
          mkdirSync(join(folder, path, '..'), { recursive: true });
          writeFileSync(join(folder, path), text + more);
        }
      };
      const took: Record<'review' | 'claim' | 'commit' | 'clone', number[]> = {
        ...{ review: [], claim: [], commit: [], clone: [] },
      };
      for (let round = 0; round < rounds; round++) {
        const repository = await repositories.of(`p${round}`, SOURCE);
        const { commit } = await repository.base();
        const place: Place = { kind: 'folder', agentId: 'a', folder: `w${round}`, branch: 'feat/1', base: commit };
        const folder = join(workspaces.folderOf('a'), place.folder);
        write(folder, `${round}`);
        took.review.push(await timed(() => checkouts.collect(place, repository, BY)));
        const head = (await repository.headOf(place.branch)) ?? commit;
        const other = { ...place, folder: `c${round}` };
        took.claim.push(await timed(() => checkouts.fill(other, repository, head, 'An agent')));

        const bare = join(top, `bare${round}`);
        write(bare, `${round}`);
        bareGit(bare, 'init', '-q');
        took.commit.push(
          await timed(() => {
            bareGit(bare, 'add', '-A');
            bareGit(bare, 'commit', '-qm', 'x');
          }),
        );
        took.clone.push(await timed(() => bareGit(top, 'clone', '-q', '--no-local', bare, join(top, `of${round}`))));
      }
      const beside = (what: string, ours: readonly number[], theirs: readonly number[]): Figure => ({
        ...{ what, value: median(ours) / median(theirs), unit: '×' },
        beside: { kind: 'limit', what: `bare git, which takes ${median(theirs).toFixed(0)} ms`, value: LIMIT },
      });
      return {
        title: `A folder project with ${files.toLocaleString('en')} small files`,
        method: `medians of ${rounds}`,
        figures: [
          { what: 'recording all of them', value: median(took.review), unit: 'ms', beside: null },
          beside('  against `git add` and `git commit`', took.review, took.commit),
          { what: 'filling a checkout', value: median(took.claim), unit: 'ms', beside: null },
          beside('  against `git clone`', took.claim, took.clone),
        ],
      };
    }),
});
