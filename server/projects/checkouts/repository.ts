/** The relay's own repository of one project: a bare one, in the home. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { git, GitError, GIT_LIMITS, gitText } from '../../platform/git/index.ts';
import { nothing, tooMuch, twinText } from './folder-files.ts';
import { copiedIds, copiedIn, noteCopied } from './copied.ts';
import { complete, clearDamage, lostText } from './damage.ts';
import { createDiffs } from './diffs.ts';
import { keepHead, keptOf } from './kept.ts';
import { createMerging, isAncestor } from './merging.ts';
import { pushBranch, pushTo } from './pushing.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { listenersOf, moveBranch, refuseMove, SHALLOW } from './source-repository.ts';
import type { RepositoriesDeps, Repository, Source } from './contract.ts';
import { createMending } from './mending.ts';
import { BASE_REF, BROUGHT_REF, commitAt, commitIfAny, FOLDER_BRANCH, type OwnPlace, TAKEN_REF } from './refs.ts';
import { createRepositoryFiles } from './repository-files.ts';
import { commitFiles, makeRoom, refuseHuge } from './repository-writes.ts';
import type { Sources } from './sources.ts';

/** In a folder project no attribute changes a file on its way in or out. */
const PLAIN = '* -text -filter -ident -working-tree-encoding\n';
const lines = (text: string) => (text === '' ? [] : text.split('\n'));

const FIRST = { message: 'Begin the folder', by: 'Roost', at: 0 };

export const gitDirOf = (folder: string, projectId: ProjectId) =>
  join(folder, `${projectId.replaceAll(/[^\w-]/g, '_')}.git`);

/** Opens the project's repository. Creates it where it is not there. */
export async function openRepository(
  { folder, lane, headsOf }: RepositoriesDeps,
  sources: Sources,
  projectId: ProjectId,
  source: Source,
): Promise<Repository> {
  const refused = await sources.refuse(source);
  if (refused !== null) throw new GitError(refused);
  const gitDir = gitDirOf(folder, projectId);
  const isElsewhere = source.kind === 'git';
  const own = { gitDir, lane };
  const inOrder = createQueue();
  const { files, listed, read } = createRepositoryFiles(own);
  const diffs = createDiffs(gitDir, lane);
  /** The base whose size is known. */
  let checkedBase: string | null = null;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const lost = await complete(own, isElsewhere ? null : FOLDER_BRANCH, (await headsOf?.(projectId)) ?? []);
  async function headOf(branch: string): Promise<string | null> {
    const head = await commitIfAny(own, `refs/heads/${branch}`);
    if (lost.has(branch)) throw new GitError(lostText(gitDir, branch));
    return head;
  }
  /** Fetches the base branch. Resolves with its name. */
  const fetchInto = (into: OwnPlace, settings: object = {}) =>
    sources.atSource(projectId, source, async (reach) => {
      const branch = await sources.branchOf(source, reach);
      // Tags of the fetched history come along.
      await git(['fetch', '--quiet', '--no-auto-maintenance'], {
        ...into,
        ...reach.call,
        settings: { ...reach.call.settings, ...settings },
        of: [reach.at, `+refs/heads/${branch}:${BASE_REF}`],
      });
      return branch;
    });
  const mending = createMending({ own, isElsewhere, lost, fetchInto });
  async function fetchBase(): Promise<{ readonly branch: string; readonly commit: string }> {
    if (!isElsewhere) {
      const commit = (await headOf(FOLDER_BRANCH)) ?? (await commitFiles(own, null, FOLDER_BRANCH, nothing(), FIRST));
      return { branch: FOLDER_BRANCH, commit };
    }
    const branch = await fetchInto(own);
    const commit = await commitAt(own, BASE_REF).catch((error: unknown) => {
      throw error instanceof GitError ? new GitError(SHALLOW) : error;
    });
    if (commit !== checkedBase) await refuseHuge(own, commit);
    checkedBase = commit;
    return { branch, commit };
  }
  const merging = createMerging({
    own,
    fetchBase: () => fetchBase(),
    inOrder,
    async move(target, { branch, commit: base }) {
      if (!isElsewhere) {
        const [files, known] = [await repository.list(target), await repository.list(base)];
        const why = tooMuch(files.values()) ?? twinText(files, known);
        if (why !== null) return { kind: 'refused', why };
        await git(['update-ref'], { ...own, of: [`refs/heads/${branch}`, target, base] });
        return { kind: 'moved', notRun: [] };
      }
      return await sources.atSource(projectId, source, async (reach) => {
        const { view } = reach;
        const move = { branch, from: gitDir, base, target };
        const inTheWay = view && (await refuseMove(view, move));
        if (inTheWay !== null) return { kind: 'refused', why: inTheWay };
        try {
          await (view ? moveBranch(view, move) : pushTo(own, reach, `${target}:refs/heads/${branch}`));
        } catch (error) {
          if (!(error instanceof GitError)) throw error;
          // The answer may be lost although the repository took it.
          const now = await fetchBase().catch(() => null);
          if (now?.commit !== target)
            return { kind: 'refused', why: sentence`The repository refused it: ${error.message}` };
        }
        return { kind: 'moved', notRun: view ? listenersOf(view) : [] };
      });
    },
  });
  const repository: Repository = {
    gitDir,
    ...files,
    base: () => inOrder(() => mending(fetchBase)),
    headOf,
    knownBase: () => (isElsewhere ? commitIfAny(own, BASE_REF) : headOf(FOLDER_BRANCH)),
    bundleBase: (commit, file) =>
      mending(async () => {
        await git(['update-ref'], { ...own, of: [BROUGHT_REF, commit] });
        await git(['bundle', 'create', '--quiet'], { ...own, of: [file, BROUGHT_REF], ms: GIT_LIMITS.networkMs });
      }),
    bundle: (branch, commit, file) =>
      mending(async () => {
        const ref = `refs/heads/${branch}`;
        await git(['update-ref'], { ...own, of: [ref, commit] });
        const newest = ['--sort=-creatordate', `--count=${CHECKOUT_LIMITS.tags}`];
        const merged = `--merged=${commit}`;
        const tags = await gitText(['for-each-ref', '--format=%(refname)', ...newest, merged], {
          ...own,
          of: ['refs/tags'],
        });
        await git(['bundle', 'create', '--quiet'], {
          ...own,
          of: [file, ref, ...lines(tags)],
          ms: GIT_LIMITS.networkMs,
        });
      }),
    rewritten: (branch) => keptOf(own, branch),
    take: (file, branch) =>
      inOrder(async () => {
        await makeRoom(own);
        const heads = lines(await gitText(['bundle', 'list-heads'], { ...own, of: [file] })).map((line) =>
          line.split(' '),
        );
        const named =
          heads.find(([, ref]) => ref === `refs/heads/${branch}`) ?? heads.find(([, ref]) => ref === 'HEAD');
        if (named?.[1] === undefined) throw new GitError('The checkout has no such branch any more.');
        await git(['fetch', '--quiet', '--no-tags', '--no-auto-maintenance'], {
          ...own,
          of: [file, `+${named[1]}:${TAKEN_REF}`],
          protocols: 'file',
          ms: GIT_LIMITS.networkMs,
        });
        const head = await commitAt(own, TAKEN_REF);
        await refuseHuge(own, head);
        const before = await commitIfAny(own, `refs/heads/${branch}`);
        // Somebody else's commits may be among those that this one rewrites.
        if (before !== null && !(await isAncestor(own, before, head))) await keepHead(own, branch, before);
        await git(['update-ref'], { ...own, of: [`refs/heads/${branch}`, head] });
        if (lost.delete(branch)) await clearDamage(gitDir, branch);
        return head;
      }),
    commitFiles: (parent, branch, changes, said) =>
      inOrder(async () => {
        if (said.isNext === true && (await headOf(branch)) !== parent) return null;
        return await commitFiles(own, parent, branch, changes, said);
      }),
    list: (commit, isWanted = () => true) => mending(() => listed(commit, isWanted)),
    read: (entries, use) => mending(() => read(entries, use)),
    changes: diffs.changes,
    diff: diffs.diff,
    patch: diffs.patch,
    async linesIn(from, at, to) {
      if (at.length === 0 || !(await files.has(from)) || !(await files.has(to))) return at.map(() => null);
      return await diffs.linesIn(from, at, to);
    },
    noteCopied: (files) => noteCopied(gitDir, files),
    copiedIds: () => copiedIds(gitDir),
    copiedIn: async (base, head, paths) =>
      await copiedIn(own, { base, head, paths, before: (isWanted) => repository.list(base, isWanted) }),
    async forkOf(base, head) {
      const { code, out } = await git(['merge-base'], { ...own, of: [base, head], codes: [0, 1] });
      return code === 0 ? out.toString('utf8').trim() : base;
    },
    ...merging,
    push: (branch) => inOrder(() => sources.atSource(projectId, source, (reach) => pushBranch(own, reach, branch))),
  };
  if (!isElsewhere) await writeFile(join(gitDir, 'info', 'attributes'), PLAIN);
  return repository;
}
