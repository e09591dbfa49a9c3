/** Earlier heads of branches that a checkout has rewritten: each under a reference of the relay. */
import { ATTEMPT_LIMITS, type Receipt } from '../../../src/shared/protocol/attempts.ts';
import { git, type GitPlace, gitText } from '../../platform/git/index.ts';

const KEPT_REFS = 'refs/roost/kept/';

export async function keepHead(own: GitPlace, branch: string, head: string): Promise<void> {
  await git(['update-ref'], { ...own, of: [`${KEPT_REFS}${branch}/${head.slice(0, 12)}`, head] });
}

export async function keptOf(own: GitPlace, branch: string): Promise<Receipt['rewritten']> {
  const format = '--format=%(refname) %(objectname) %(subject)';
  const said = await gitText(['for-each-ref', format], { ...own, of: [`${KEPT_REFS}${branch}`] });
  return said.split('\n').flatMap((line) => {
    const [ref = '', commit = '', ...subject] = line.split(' ');
    // Below may be those of a branch whose name goes on.
    if (!/^[\da-f]{12}$/.test(ref.slice(KEPT_REFS.length + branch.length + 1))) return [];
    return [{ ref, commit, subject: subject.join(' ').slice(0, ATTEMPT_LIMITS.subject) }];
  });
}
