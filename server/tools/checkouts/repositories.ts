/**
 * The relay's own repository of each project: a bare one, in the home. It has the base branch, and
 * the branches of tasks. Nothing of the person's repository is changed but by a merge that they
 * asked for, and by a push of a branch.
 */
import { lookup } from 'node:dns/promises';
import { existsSync } from 'node:fs';
import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isAbsolute, join } from 'node:path';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { ATTEMPT_LIMITS, type Diff, type Receipt } from '../../../src/shared/protocol/attempts.ts';
import { addressFault, addressOf } from '../../../src/shared/protocol/addresses.ts';
import { branchSchema, commitIdSchema } from '../../../src/shared/protocol/outward-texts.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import {
  createGitFinder,
  git,
  type GitCall,
  GitError,
  GIT_LIMITS,
  gitText,
  removeUnfinished,
  NO_GIT,
} from '../../platform/git/index.ts';
import { checkAddress, fits, hostOf } from '../../platform/guarded-fetch.ts';
import {
  type FileChange,
  type FileEntry,
  type FolderFile,
  type Listing,
  nothing,
  tooMuch,
  twinText,
} from './folder-files.ts';
import { batchReader, type CommitWords, entryOf, importOf } from './git-files.ts';
import type { Lane } from '../../platform/lanes.ts';
import { copiedIds, copiedIn, noteCopied } from './copied.ts';
import {
  addObjectsOf,
  brokenBranches,
  complete,
  damagedText,
  found as foundAgain,
  isDamaged,
  type KnownHead,
  lostText,
  soundsDamaged,
} from './damage.ts';
import { createDiffs, type Diffs, type FileLine, zeroSplitter } from './diffs.ts';
import { keepHead, keptOf } from './kept.ts';
import { createMerging, isAncestor, type Merging } from './merging.ts';
import { pushBranch, pushedRefs, pushTo } from './pushing.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import {
  listenersOf,
  moveBranch,
  openView,
  refuseCopies,
  refuseMove,
  refusePlace,
  removeViews,
  SHALLOW,
  type View,
} from './source-repository.ts';

export type Source = Pick<ProjectValue, 'kind' | 'repository' | 'baseBranch'>;

export interface Repository extends Diffs, Merging {
  readonly gitDir: string;
  /** The base branch, fetched now where it lies elsewhere, and its last commit. */
  base(): Promise<{ readonly branch: string; readonly commit: string }>;
  /** The last commit of the base branch that was seen. Null: none was. */
  knownBase(): Promise<string | null>;
  /** Writes a bundle with this commit alone, for a checkout that has the branch already. */
  bundleBase(commit: string, file: string): Promise<void>;
  /** The last commit of a branch. Null: there is no such branch. */
  headOf(branch: string): Promise<string | null>;
  /** Writes a bundle with the history of this commit, as the branch. */
  bundle(branch: string, commit: string, file: string): Promise<void>;
  /** Earlier heads of the branch, which was rewritten since. The relay keeps each under `ref`. */
  rewritten(branch: string): Promise<Receipt['rewritten']>;
  /** Takes the commits of a bundle in. Resolves with the last commit of the branch in it. */
  take(file: string, branch: string): Promise<string>;
  /**
   * Commits these changes on top of `parent`, and sets the branch. `parent` itself: there are none.
   * Null: the branch is not at `parent` any more, where `isNext` asks for that.
   */
  commitFiles(
    parent: string,
    branch: string,
    changes: AsyncIterable<FileChange>,
    said: CommitWords & { readonly isNext?: boolean },
  ): Promise<string | null>;
  /**
   * The files of a commit, by path. Links are none. A repository may have a million files, and
   * `isWanted` says which are held in memory.
   */
  list(commit: string, isWanted?: (path: string) => boolean): Promise<Listing>;
  /** Calls `use` with each of these files, in order. One file at a time is held in memory. */
  read(entries: readonly FileEntry[], use: (file: FolderFile) => Promise<void>): Promise<void>;
  /** One file of a commit. Null: there is none. Throws where it is too large to be read. */
  fileOf(commit: string, path: string): Promise<Buffer | null>;
  /** The beginning of a text file of a commit, at most this many bytes. Null: there is none. */
  textOf(commit: string, path: string, most: number): Promise<string | null>;
  /** The skills of a commit: name and description of each. */
  skills(commit: string): Promise<readonly Skill[]>;
  /** Lines of attributes that name a filter: files whose stored form is another. */
  filters(commit: string): Promise<readonly string[]>;
  /** Whether the repository has this commit. */
  has(commit: string): Promise<boolean>;
  commits(base: string, head: string): Promise<{ readonly list: Diff['commits']; readonly more: number }>;
  /** The text of a line of a commit. Null: there is no such line. */
  textOfLine(commit: string, at: FileLine): Promise<string | null>;
  /** Remembers the content of files that were copied into a checkout, by its ids alone. */
  noteCopied(files: readonly FolderFile[]): Promise<void>;
  copiedIds(): Promise<readonly string[]>;
  /** Where the commits after `base` have copied content, or a file at one of these paths. */
  copiedIn(
    base: string,
    head: string,
    paths: readonly string[],
  ): Promise<readonly { readonly commit: string; readonly path: string }[]>;
  /** The commit from which both go on. */
  forkOf(base: string, head: string): Promise<string>;
  /**
   * Pushes the branch to where the repository came from. A branch that somebody else has changed
   * there is not overwritten.
   */
  push(branch: string): Promise<void>;
}
/** A skill of a repository: text that an agent may read when it needs it. */
export interface Skill {
  readonly name: string;
  readonly about: string;
  /** Of its file. */
  readonly path: string;
}

export interface RepositoriesDeps {
  /** Contains one repository for each project. */
  readonly folder: string;
  /** The relay’s home: no repository above, at or below it is used. */
  readonly hidden: string;
  readonly rights: Pick<HomeRights, 'has' | 'refusal' | 'servers'>;
  /** The household's, for git. */
  readonly lane: Lane;
  /** A token for a remote, sent as the password of the user `x-access-token`. Null: none. */
  readonly tokenOf: (projectId: ProjectId) => Promise<string | null>;
  /** Last commits of branches on which attempts of this relay worked. Left out: none is known. */
  readonly headsOf?: (projectId: ProjectId) => Promise<readonly KnownHead[]>;
}

/** What of a project cannot be used, and why, as a sentence. */
export interface Unfit {
  readonly field: 'repository' | 'baseBranch' | 'copy';
  readonly why: string;
}

export interface Repositories {
  /**
   * Looks whether this source can be used, with the token of the project if there is one. Null: it
   * can, or the token is missing that would tell.
   */
  examine(source: Source & Pick<ProjectValue, 'copy'>, projectId: ProjectId | null): Promise<Unfit | null>;
  /** Opens the project's repository. Creates it at the first call. */
  of(projectId: ProjectId, source: Source): Promise<Repository>;
  /**
   * Deletes branches of the relay's copy, and every commit that no other branch has. A project that
   * was never opened has none.
   */
  dropBranches(projectId: ProjectId, branches: readonly string[]): Promise<void>;
  /** Deletes the relay's copy. The person's repository stays as it is. */
  remove(projectId: ProjectId): Promise<void>;
}

/** Where git goes for a fetch or a push, and what it needs for that. */
interface Reach {
  /** The folder of a view, or the address that was checked, as git gets it. */
  readonly at: string;
  readonly call: Omit<GitCall, 'lane'>;
  /** Null: it lies at an address. */
  readonly view: View | null;
}

/** A query or a fragment would be a part of the path for git. */
const PLAIN_ADDRESS = /^[^?#]+$/;
const remoteOf = (repository: string): URL | null => (PLAIN_ADDRESS.test(repository) ? addressOf(repository) : null);
function refuseSpelling(repository: string): string {
  switch (addressFault(repository)) {
    case 'scheme':
      return sentence`A repository is an absolute path on the relay’s machine, or an address under https://.`;
    case 'password':
      return sentence`An address with a password in it is kept nowhere. Leave it out, and set a token.`;
    default:
      return sentence`A repository’s address has no spaces, “\\”, “?” or “#”, and no dot at the end of its host.`;
  }
}
/** Ports below 1024 belong to other services, which a request of git could disturb. */
const isUsualPort = ({ port }: URL) => port === '' || ['80', '443'].includes(port) || Number(port) >= 1_024;

const NETWORK_BOUNDS = { ms: GIT_LIMITS.networkMs, memory: GIT_LIMITS.networkMemory };

/** What git says where a server asks who is there. */
const NEEDS_TOKEN = /could not read (Username|Password)|Authentication failed|returned error: 40[13]/;

/** In a folder project no attribute changes a file on its way in or out. */
const PLAIN = '* -text -filter -ident -working-tree-encoding\n';
const FOLDER_BRANCH = 'main';
/** The base branch as it was fetched last, and as it is handed to a checkout. */
const BASE_REF = 'refs/roost/base';
export const BROUGHT_REF = 'refs/roost/brought';
/** The last commit that came out of a checkout. */
const TAKEN_REF = 'refs/roost/taken';
const SKILL_FOLDERS = ['.agents/skills', '.claude/skills'];

const within = (inner: string, outer: string) =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
const lines = (text: string) => (text === '' ? [] : text.split('\n'));

export function createRepositories({ folder, hidden, rights, lane, tokenOf, headsOf }: RepositoriesDeps): Repositories {
  const opened = new Map<string, Promise<Repository>>();
  /** What a relay that was killed left. */
  let cleared: Promise<void> | null = null;
  // The person may change the base branch.
  const keyOf = (projectId: ProjectId, { kind, repository, baseBranch }: Source) =>
    [projectId, kind, repository, baseBranch].join('\n');
  const nameOf = (projectId: ProjectId) => `${projectId.replaceAll(/[^\w-]/g, '_')}.git`;

  /** Why this source may not be used, as a sentence. Null: it may. */
  async function refuse({ kind, repository }: Source): Promise<string | null> {
    if (kind === 'folder') return repository === '' ? null : sentence`A folder project has no repository.`;
    if (isAbsolute(repository)) {
      if (!rights.has('machine-folders')) return rights.refusal('machine-folders');
      const real = await realpath(repository).catch(() => null);
      if (real === null) return sentence`There is no ${repository} on the relay’s machine.`;
      const own = await realpath(hidden).catch(() => hidden);
      return within(real, own) || within(own, real)
        ? sentence`${repository} contains the relay’s data, or is part of it.`
        : null;
    }
    const url = remoteOf(repository);
    if (url === null) return refuseSpelling(repository);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rights.servers === 'any'))
      return sentence`A repository is fetched over https:// only.`;
    if (!isUsualPort(url) && rights.servers !== 'any')
      return sentence`Port ${url.port} is not one at which repositories are fetched.`;
    switch (await checkAddress(url, rights.servers)) {
      case 'ok':
        return null;
      case 'refused':
        return rights.refusal('inner-servers');
      default:
        return sentence`The host ${url.hostname} is not known.`;
    }
  }

  /**
   * Calls `use` with where the source lies for git, and with what a fetch or a push needs to reach
   * it, and nothing else.
   */
  async function atSource<Result>(
    projectId: ProjectId | null,
    source: Source,
    use: (reach: Reach) => Promise<Result>,
  ): Promise<Result> {
    const { repository } = source;
    if (!isAbsolute(repository)) return await use(await reaching(projectId, repository));
    await (cleared ??= removeViews(folder));
    const view = await openView(repository, { folder, hidden, lane });
    try {
      return await use({ at: view.gitDir, view, call: { ...NETWORK_BOUNDS, protocols: 'file' } });
    } finally {
      await view.remove();
    }
  }
  async function reaching(projectId: ProjectId | null, repository: string): Promise<Reach> {
    const url = remoteOf(repository);
    if (url === null) throw new GitError(refuseSpelling(repository));
    const host = hostOf(url);
    const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port);
    // Connects to the address that was checked, whatever the name resolves to a moment later.
    const found = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
    const address = found.find((each) => fits(each.address, rights.servers))?.address;
    if (address === undefined) throw new GitError(rights.refusal('inner-servers'));
    const token = projectId === null ? null : await tokenOf(projectId);
    const basic = Buffer.from(`x-access-token:${token ?? ''}`).toString('base64');
    return {
      view: null,
      at: url.href,
      call: {
        ...NETWORK_BOUNDS,
        protocols: url.protocol === 'http:' ? 'http:https' : 'https',
        settings: {
          'http.curloptResolve': `${host}:${port}:${address}`,
          ...(token === null ? {} : { 'http.extraHeader': `Authorization: Basic ${basic}` }),
        },
      },
    };
  }

  const gitState = createGitFinder(lane, CHECKOUT_LIMITS.leastGit, () => performance.now());
  /** The base branch of a repository. Throws `GitError` where it has none. */
  async function branchOf({ baseBranch }: Source, { at, call }: Reach): Promise<string> {
    const wanted = baseBranch === '' ? 'HEAD' : `refs/heads/${baseBranch}`;
    const said = await gitText(['ls-remote', '--symref'], { lane, ...call, of: [at, wanted] });
    const heads = lines(said).map((line) => line.split('\t'));
    const isThere = heads.some(([id = '', name]) => name === wanted && !id.startsWith('ref: '));
    if (baseBranch !== '') {
      if (!isThere) throw new GitError(sentence`The repository has no branch ${baseBranch}.`);
      return baseBranch;
    }
    const branch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(said)?.[1];
    if (!isThere || !branchSchema.safeParse(branch).success || branch === undefined)
      throw new GitError(sentence`The repository has no commit, or no default branch. Name the branch.`);
    return branch;
  }

  async function examine(
    source: Source & Pick<ProjectValue, 'copy'>,
    projectId: ProjectId | null,
  ): Promise<Unfit | null> {
    const unusable = await unusableFor(source, projectId);
    if (unusable !== null) return { field: source.baseBranch === '' ? 'repository' : 'baseBranch', why: unusable };
    const uncopied = await refuseCopies(source);
    return uncopied === null ? null : { field: 'copy', why: uncopied };
  }
  /** Why no task could begin, as a sentence. Null: one could. */
  async function unusableFor(source: Source, projectId: ProjectId | null): Promise<string | null> {
    const refused = await refuse(source);
    if (refused !== null) return refused;
    const state = await gitState();
    if (state === 'no-git') return NO_GIT;
    if (state === 'old-git')
      return sentence`Projects need git ${CHECKOUT_LIMITS.leastGit.join('.')} or later on the relay’s machine. Update git there.`;
    if (source.kind === 'folder') return null;
    const unfit = isAbsolute(source.repository) ? await refusePlace(source.repository) : null;
    if (unfit !== null) return unfit;
    try {
      await atSource(projectId, source, (reach) =>
        branchOf(source, { ...reach, call: { ...reach.call, ms: CHECKOUT_LIMITS.examineMs } }),
      );
      return null;
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      // A token can be set only once the project is there.
      return !isAbsolute(source.repository) && projectId === null && NEEDS_TOKEN.test(error.message)
        ? null
        : error.message;
    }
  }

  async function open(projectId: ProjectId, source: Source): Promise<Repository> {
    const refused = await refuse(source);
    if (refused !== null) throw new GitError(refused);
    const gitDir = join(folder, nameOf(projectId));
    const isElsewhere = source.kind === 'git';
    const own = { gitDir, lane };
    const inOrder = createQueue();
    const diffs = createDiffs(gitDir, lane);
    /** The base whose size is known. */
    let checkedBase: string | null = null;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const lost = await complete(own, isElsewhere ? null : FOLDER_BRANCH, (await headsOf?.(projectId)) ?? []);
    /** Objects were fetched anew. Whatever is damaged after that is nowhere else. */
    let isMended = false;
    const inMending = createQueue();
    /** The commit of a reference. Null: there is no such reference. */
    const commitIfAny = async (ref: string): Promise<string | null> => {
      const { code, out } = await git(['rev-parse', '--verify', '--quiet'], {
        ...own,
        of: [`${ref}^{commit}`],
        codes: [0, 1],
      });
      return code === 0 ? out.toString('utf8').trim() : null;
    };
    async function headOf(branch: string): Promise<string | null> {
      const head = await commitIfAny(`refs/heads/${branch}`);
      if (lost.has(branch)) throw new GitError(lostText(gitDir, branch));
      return head;
    }
    /** Mends the repository where this fails because of damage, and does it once more. */
    async function mending<Result>(work: () => Promise<Result>): Promise<Result> {
      try {
        return await work();
      } catch (error) {
        if (!soundsDamaged(error) || !(await isDamaged(own))) throw error;
        if (isMended || !isElsewhere) throw new GitError(damagedText(gitDir));
        await inMending(async () => {
          if (!isMended) await mend();
        });
        return await work().catch((again: unknown) => {
          throw soundsDamaged(again) ? new GitError(damagedText(gitDir)) : again;
        });
      }
    }
    /** Fetches what the source has, and finds the branches that are damaged all the same. */
    async function mend(): Promise<void> {
      const fresh = { gitDir: `${gitDir}.fresh`, lane };
      try {
        await rm(fresh.gitDir, { recursive: true, force: true });
        await git(['init', '--quiet', '--bare'], { lane, of: [fresh.gitDir] });
        await fetchInto(fresh, { 'fetch.unpackLimit': '1' });
        const base = await gitText(['rev-parse', '--verify'], { ...fresh, of: [`${BASE_REF}^{commit}`] });
        await addObjectsOf(own, fresh.gitDir);
        await git(['update-ref'], { ...own, of: [BASE_REF, base] });
        for (const branch of await brokenBranches(own, base)) lost.add(branch);
      } finally {
        await rm(fresh.gitDir, { recursive: true, force: true });
      }
      isMended = true;
    }
    /** Fetches the base branch. Resolves with its name. */
    const fetchInto = (into: { readonly gitDir: string; readonly lane: Lane }, settings: object = {}) =>
      atSource(projectId, source, async (reach) => {
        const found = await branchOf(source, reach);
        // Tags of the fetched history come along.
        await git(['fetch', '--quiet', '--no-auto-maintenance'], {
          ...into,
          ...reach.call,
          settings: { ...reach.call.settings, ...settings },
          of: [reach.at, `+refs/heads/${found}:${BASE_REF}`],
        });
        return found;
      });
    async function fetchBase(): Promise<{ readonly branch: string; readonly commit: string }> {
      if (!isElsewhere) {
        const commit = (await headOf(FOLDER_BRANCH)) ?? (await commitFiles(null, FOLDER_BRANCH, nothing(), FIRST));
        return { branch: FOLDER_BRANCH, commit };
      }
      const branch = await fetchInto(own);
      const commit = await commitAt(BASE_REF).catch((error: unknown) => {
        throw error instanceof GitError ? new GitError(SHALLOW) : error;
      });
      if (commit !== checkedBase) await refuseHuge(commit);
      checkedBase = commit;
      return { branch, commit };
    }
    /** The commit of a reference that is there. */
    const commitAt = (ref: string) => gitText(['rev-parse', '--verify'], { ...own, of: [`${ref}^{commit}`] });
    /**
     * Merges many packs into one, and deletes what no reference leads to. Runs in turn with all
     * that writes. Throws `GitError` where the repository is full.
     */
    async function makeRoom(): Promise<void> {
      const folder = join(gitDir, 'objects/pack');
      const packsNow = async () => (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.pack'));
      if ((await packsNow()).length > CHECKOUT_LIMITS.packs) {
        await git(['repack', '-a', '-d', '-q'], { ...own, ms: GIT_LIMITS.networkMs, memory: GIT_LIMITS.networkMemory });
        await git(['prune', '--expire=now'], { ...own, ms: GIT_LIMITS.networkMs });
      }
      const sizes = await Promise.all((await packsNow()).map(async (name) => (await stat(join(folder, name))).size));
      const most = CHECKOUT_LIMITS.repositoryBytes;
      if (sizes.reduce((sum, size) => sum + size, 0) > most)
        throw new GitError(
          sentence`The relay’s copy of the project has more than ${most / 1_000_000_000} GB. Delete the project, or move on to a new one.`,
        );
    }
    const FIRST = { message: 'Begin the folder', by: 'Roost', at: 0 };

    async function commitFiles(
      parent: string | null,
      branch: string,
      changes: AsyncIterable<FileChange>,
      said: CommitWords,
    ): Promise<string> {
      const some = changes[Symbol.asyncIterator]();
      const first = await some.next();
      if (first.done === true && said.also === undefined && parent !== null) return parent;
      async function* all() {
        if (first.done !== true) yield first.value;
        yield* { [Symbol.asyncIterator]: () => some };
      }
      await makeRoom();
      const ref = `refs/roost/writing/${branch}`;
      try {
        const input = importOf(all(), ref, parent, said);
        await git(['fast-import', '--quiet', '--force', '--done'], {
          ...{ ...own, input, ms: GIT_LIMITS.networkMs },
          settings: { 'core.bigFileThreshold': '1m' },
        });
      } catch (error) {
        await removeUnfinished(gitDir);
        throw error;
      }
      const commit = await commitAt(ref);
      await git(['update-ref', '--stdin'], { ...own, input: `update refs/heads/${branch} ${commit}\ndelete ${ref}\n` });
      return commit;
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
        return await atSource(projectId, source, async (reach) => {
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
      base: () => inOrder(() => mending(fetchBase)),
      headOf,
      knownBase: () => (isElsewhere ? commitIfAny(BASE_REF) : headOf(FOLDER_BRANCH)),
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
          await makeRoom();
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
          const head = await commitAt(TAKEN_REF);
          await refuseHuge(head);
          const before = await commitIfAny(`refs/heads/${branch}`);
          // Somebody else's commits may be among those that this one rewrites.
          if (before !== null && !(await isAncestor(own, before, head))) await keepHead(own, branch, before);
          await git(['update-ref'], { ...own, of: [`refs/heads/${branch}`, head] });
          if (lost.delete(branch)) await foundAgain(gitDir, branch);
          return head;
        }),
      commitFiles: (parent, branch, changes, said) =>
        inOrder(async () => {
          if (said.isNext === true && (await headOf(branch)) !== parent) return null;
          return await commitFiles(parent, branch, changes, said);
        }),
      list: (commit, isWanted = () => true) => mending(() => listed(commit, isWanted)),
      read: (entries, use) => mending(() => read(entries, use)),
      fileOf,
      textOf,
      async skills(commit) {
        const found: Skill[] = [];
        for (const top of SKILL_FOLDERS) {
          const paths = (
            await gitText(['ls-tree', '-r', '-z', '--name-only', '--full-tree'], {
              ...own,
              of: [commit],
              paths: [`${top}/`],
            })
          )
            .split('\0')
            .filter((path) => path.endsWith('/SKILL.md'));
          for (const path of paths.slice(0, CHECKOUT_LIMITS.skills - found.length)) {
            const text = (await textOf(commit, path, CHECKOUT_LIMITS.skillBytes)) ?? '';
            const field = (name: string) =>
              new RegExp(`^${name}:[ \\t]*(.+)$`, 'm').exec(text.slice(0, 2_000))?.[1]?.trim();
            const folderName = path.split('/').at(-2) ?? path;
            found.push({
              name: (field('name') ?? folderName).slice(0, 100),
              about: (field('description') ?? '').slice(0, 500),
              path,
            });
          }
        }
        return found;
      },
      has,
      async filters(commit) {
        const pattern = '^[^#]+[[:space:]]filter=[^[:space:]]';
        // Git 2.39 knows no end of options here. A commit is digits alone.
        const { out } = await git(
          ['grep', '--no-color', '-h', '-I', '-E', '-e', pattern, commitIdSchema.parse(commit)],
          {
            ...own,
            paths: [':(glob)**/.gitattributes'],
            codes: [0, 1],
            most: CHECKOUT_LIMITS.skillBytes,
            cut: true,
          },
        );
        return lines(out.toString('utf8').trim()).slice(0, CHECKOUT_LIMITS.namedFiles);
      },
      async commits(base, head) {
        const all = lines(
          await gitText(['log', '--reverse', '--format=%H%x09%s', '--max-count=2000'], {
            ...own,
            of: [`${base}..${head}`],
          }),
        );
        const list = all.slice(-ATTEMPT_LIMITS.commits).map((line) => {
          const [commit = '', subject = ''] = line.split('\t', 2);
          return { commit, subject: subject.slice(0, ATTEMPT_LIMITS.subject) };
        });
        return { list, more: all.length - list.length };
      },
      changes: diffs.changes,
      diff: diffs.diff,
      patch: diffs.patch,
      async textOfLine(commit, { path, line }) {
        return (await has(commit)) ? ((await linesOf(commit, path))[line - 1] ?? null) : null;
      },
      async linesIn(from, at, to) {
        if (at.length === 0 || !(await has(from)) || !(await has(to))) return at.map(() => null);
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
      push: (branch) => inOrder(() => atSource(projectId, source, (reach) => pushBranch(own, reach, branch))),
    };

    /** Throws `GitError` where a commit has more files than can be compared. */
    async function refuseHuge(commit: string): Promise<void> {
      const line = 'blob\n';
      const most = CHECKOUT_LIMITS.treeEntries * line.length;
      try {
        await git(['ls-tree', '-r', '--full-tree', '--format=%(objecttype)'], { ...own, of: [commit], most });
      } catch (error) {
        if (!(error instanceof GitError) || (error.why !== 'too-much' && error.why !== 'too-slow')) throw error;
        const files = CHECKOUT_LIMITS.treeEntries.toLocaleString('en');
        throw new GitError(
          sentence`The commit ${commit.slice(0, 12)} has more than ${files} files. Remove them from it.`,
        );
      }
    }
    async function has(commit: string): Promise<boolean> {
      return (await git(['cat-file', '-e'], { ...own, of: [`${commit}^{commit}`], codes: [0, 1, 128] })).code === 0;
    }
    /** The lines of a file. None: there is no such file. */
    async function linesOf(commit: string, path: string): Promise<readonly string[]> {
      const text = (await fileOf(commit, path))?.toString('utf8');
      // A newline ends a line, and begins none.
      return text === undefined ? [] : text.replace(/\n$/, '').split('\n');
    }
    async function textOf(commit: string, path: string, most: number): Promise<string | null> {
      return (await fileOf(commit, path))?.subarray(0, most).toString('utf8') ?? null;
    }
    async function read(entries: readonly FileEntry[], use: (file: FolderFile) => Promise<void>): Promise<void> {
      if (entries.length === 0) return;
      await git(['cat-file', '--batch', '--buffer'], {
        ...own,
        ms: GIT_LIMITS.networkMs,
        input: entries.map(({ id }) => `${id}\n`).join(''),
        output: batchReader(async (bytes, index) => {
          const path = entries[index]?.path;
          if (path !== undefined) await use({ path, bytes });
        }),
      });
    }
    async function entryAt(commit: string, path: string): Promise<FileEntry | null> {
      const about = { ...own, of: [commit], paths: [path], env: { GIT_LITERAL_PATHSPECS: '1' } };
      const said = await gitText(['ls-tree', '-l', '-z', '--full-tree'], about).catch(() => '');
      const entry = entryOf(said.replace(/\0$/, ''));
      if (entry?.path === path) return entry;
      // Bytes that are no UTF-8 are shown as this character, and git does not find them by it.
      if (!path.includes('\ufffd')) return null;
      return (await listed(commit, (each) => each === path)).get(path) ?? null;
    }
    async function listed(commit: string, isWanted: (path: string) => boolean): Promise<Listing> {
      const found = new Map<string, FileEntry>();
      const output = zeroSplitter((line) => {
        const entry = entryOf(line);
        if (entry && isWanted(entry.path) && !found.has(entry.path)) found.set(entry.path, entry);
      });
      await git(['ls-tree', '-r', '-l', '-z', '--full-tree'], { ...own, of: [commit], output });
      return found;
    }
    async function fileOf(commit: string, path: string): Promise<Buffer | null> {
      const entry = await entryAt(commit, path);
      if (entry === null) return null;
      if (entry.bytes > CHECKOUT_LIMITS.folderFileBytes)
        throw new GitError(
          sentence`${path} has more than ${CHECKOUT_LIMITS.folderFileBytes / 1_000_000} MB, which is the most that is read.`,
        );
      let content: Buffer | null = null;
      await read([entry], ({ bytes }) => {
        content = bytes;
        return Promise.resolve();
      });
      return content;
    }
    if (!isElsewhere) {
      await writeFile(join(gitDir, 'info', 'attributes'), PLAIN);
    }
    return repository;
  }

  return {
    examine,
    of(projectId, source) {
      const key = keyOf(projectId, source);
      const known = opened.get(key);
      if (known) return known;
      const opening = open(projectId, source);
      opened.set(key, opening);
      opening.catch(() => opened.delete(key));
      return opening;
    },
    async dropBranches(projectId, branches) {
      const gitDir = join(folder, nameOf(projectId));
      if (branches.length === 0 || !existsSync(gitDir)) return;
      const own = { gitDir, lane };
      await complete(own, null, []);
      const kept = await Promise.all(branches.map((branch) => keptOf(own, branch)));
      const refs = [
        ...branches.map((branch) => `refs/heads/${branch}`),
        ...(await pushedRefs(own, branches)),
        ...kept.flat().map(({ ref }) => ref),
      ];
      const input = refs.map((ref) => `delete ${ref}\n`).join('');
      await git(['update-ref', '--stdin'], { ...own, input });
      for (const branch of branches) await foundAgain(gitDir, branch);
      await git(['gc', '--quiet', '--prune=now'], { gitDir, lane, ms: GIT_LIMITS.networkMs });
    },
    async remove(projectId) {
      for (const key of opened.keys()) if (key.startsWith(`${projectId}\n`)) opened.delete(key);
      await rm(join(folder, nameOf(projectId)), { recursive: true, force: true });
    },
  };
}
