/** Pushes from the relay's repositories to where they came from. */
import { sentence } from '../../../src/shared/domain/names.ts';
import { git, type GitCall, GitError, type GitPlace, gitText } from '../../platform/git/index.ts';

/** Where git goes for a push, and what it needs for that. */
interface Reach {
  /** An absolute path, or the address that was checked, as git gets it. */
  readonly at: string;
  readonly call: Omit<GitCall, 'lane'>;
}

export async function pushTo(
  own: GitPlace,
  { at, call }: Reach,
  what: string,
  ...options: readonly string[]
): Promise<void> {
  await git(['push', '--quiet', '--no-verify', ...options], { ...own, ...call, of: [at, what] });
}

/** The references by which the relay knows what it pushed of these branches. */
export async function pushedRefs(own: GitPlace, branches: readonly string[]): Promise<readonly string[]> {
  const of = branches.map((branch) => `refs/roost/pushed/${branch}/`);
  return (await gitText(['for-each-ref', '--format=%(refname)'], { ...own, of })).split('\n').filter(Boolean);
}

/** Amended commits replace those that the relay pushed, and no others. */
export async function pushBranch(own: GitPlace, reach: Reach, branch: string): Promise<void> {
  const name = `refs/heads/${branch}`;
  const head = await gitText(['rev-parse', '--verify'], { ...own, of: [`${name}^{commit}`] });
  const remoteRefs = await gitText(['ls-remote'], { ...own, ...reach.call, of: [reach.at, name] });
  const there = /^[\da-f]+/.exec(remoteRefs)?.[0] ?? null;
  if (there === head) return;
  const pushed = `refs/roost/pushed/${branch}`;
  if (there !== null && !(await isOwn(there)))
    throw new GitError(
      sentence`Somebody else has pushed to ${branch} in the repository, so the relay does not overwrite it.`,
    );
  // Before the push, whose answer may be lost.
  await git(['update-ref'], { ...own, of: [`${pushed}/${head}`, head] });
  await pushTo(own, reach, `${name}:${name}`, `--force-with-lease=${name}:${there ?? ''}`);

  /** Whether the relay pushed this commit, or goes on from it. */
  async function isOwn(commit: string): Promise<boolean> {
    const ownTips = await gitText(['for-each-ref', '--format=%(objectname)'], { ...own, of: [`${pushed}/`] });
    if (ownTips.includes(commit)) return true;
    // Git knows no such commit: 128.
    const codes = [0, 1, 128];
    return (await git(['merge-base', '--is-ancestor'], { ...own, of: [commit, head], codes })).code === 0;
  }
}
