/** Mends a relay's own repository that is damaged, from its source. */
import { rm } from 'node:fs/promises';
import { createQueue } from '../../../src/shared/domain/platform/queue.ts';
import { git, GitError, gitText } from '../../platform/git/index.ts';
import { addObjectsOf, brokenBranches, damagedText, isDamaged, soundsDamaged } from './damage.ts';
import { BASE_REF, type OwnPlace } from './refs.ts';

export interface MendingDeps {
  readonly own: OwnPlace;
  /** Whether the project has a source that can be fetched. */
  readonly isElsewhere: boolean;
  /** Branches whose commits are lost. */
  readonly lost: Set<string>;
  /** Fetches the base branch. */
  readonly fetchInto: (into: OwnPlace, settings?: object) => Promise<unknown>;
}

export function createMending({ own, isElsewhere, lost, fetchInto }: MendingDeps) {
  const { gitDir, lane } = own;
  /** Objects were fetched anew. Whatever is damaged after that is nowhere else. */
  let isMended = false;
  const inMending = createQueue();
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

  return mending;
}
