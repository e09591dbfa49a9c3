/**
 * Where the repositories of projects come from: which sources may be used, and how git reaches one.
 */
import { lookup } from 'node:dns/promises';
import { realpath } from 'node:fs/promises';
import { isIP } from 'node:net';
import { isAbsolute } from 'node:path';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { addressFault, addressOf } from '../../../src/shared/protocol/addresses.ts';
import { branchSchema } from '../../../src/shared/protocol/outward-texts.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import { createGitFinder, type GitCall, GitError, GIT_LIMITS, gitText, NO_GIT } from '../../platform/git/index.ts';
import { checkAddress, fits, hostOf } from '../../platform/guarded-fetch.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { openView, refuseCopies, refusePlace, removeViews, type View } from './source-repository.ts';
import type { RepositoriesDeps, Source, Unfit } from './contract.ts';

/** Where git goes for a fetch or a push, and what it needs for that. */
export interface Reach {
  /** The folder of a view, or the address that was checked, as git gets it. */
  readonly at: string;
  readonly call: Omit<GitCall, 'lane'>;
  /** Null: it lies at an address. */
  readonly view: View | null;
}

/** A query or a fragment would be a part of the path for git. */
const PLAIN_ADDRESS = /^[^?#]+$/;
const remoteOf = (repository: string): URL | null => (PLAIN_ADDRESS.test(repository) ? addressOf(repository) : null);
const BAD_ADDRESS = sentence`A repository is a folder on the relay’s machine, or an address such as https://example.org/team/code.git.`;
function refuseSpelling(repository: string): string {
  return addressFault(repository) === 'password'
    ? sentence`Leave the password out of the address, and set a token.`
    : BAD_ADDRESS;
}
/** Ports below 1024 belong to other services, which a request of git could disturb. */
const isUsualPort = ({ port }: URL) => port === '' || ['80', '443'].includes(port) || Number(port) >= 1_024;

const NETWORK_BOUNDS = { ms: GIT_LIMITS.networkMs, memory: GIT_LIMITS.networkMemory };

/** What git says where a server asks who is there. */
const NEEDS_TOKEN = /could not read (Username|Password)|Authentication failed|returned error: 40[13]/;

const within = (inner: string, outer: string) =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
const lines = (text: string) => (text === '' ? [] : text.split('\n'));

export type Sources = ReturnType<typeof createSources>;

export function createSources({ folder, hidden, rights, lane, tokenOf }: RepositoriesDeps) {
  /** What a relay that was killed left. */
  let cleared: Promise<void> | null = null;

  /** Why this source may not be used, as a sentence. Null: it may. */
  async function refuse({ kind, repository }: Source): Promise<string | null> {
    if (kind === 'folder') return repository === '' ? null : sentence`A folder project has no repository.`;
    if (isAbsolute(repository)) {
      if (!rights.has('machine-folders')) return rights.refusal('machine-folders');
      const real = await realpath(repository).catch(() => null);
      if (real === null) return sentence`There is no git repository at ${repository}.`;
      const own = await realpath(hidden).catch(() => hidden);
      return within(real, own) || within(own, real)
        ? sentence`${repository} contains the relay’s data, or is part of it.`
        : null;
    }
    const url = remoteOf(repository);
    if (url === null) return refuseSpelling(repository);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rights.servers === 'any')) return BAD_ADDRESS;
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
    const addresses = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
    const address = addresses.find((each) => fits(each.address, rights.servers))?.address;
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
    const wantedRef = baseBranch === '' ? 'HEAD' : `refs/heads/${baseBranch}`;
    const said = await gitText(['ls-remote', '--symref'], { lane, ...call, of: [at, wantedRef] });
    const heads = lines(said).map((line) => line.split('\t'));
    const isThere = heads.some(([id = '', name]) => name === wantedRef && !id.startsWith('ref: '));
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

  return { refuse, atSource, branchOf, examine };
}
