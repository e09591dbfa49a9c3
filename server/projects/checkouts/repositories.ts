/**
 * The relay's own repository of each project: a bare one, in the home. It has the base branch, and
 * the branches of tasks. Nothing of the person's repository is changed but by a merge that they
 * asked for, and by a push of a branch.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import { git, GIT_LIMITS } from '../../platform/git/index.ts';
import { complete, clearDamage } from './damage.ts';
import { keptOf } from './kept.ts';
import { pushedRefs } from './pushing.ts';
import type { Repositories, RepositoriesDeps, Repository, Source } from './contract.ts';
import { gitDirOf, openRepository } from './repository.ts';
import { createSources } from './sources.ts';

export function createRepositories(deps: RepositoriesDeps): Repositories {
  const { folder, lane } = deps;
  const sources = createSources(deps);
  const opened = new Map<string, Promise<Repository>>();
  // The person may change the base branch.
  const keyOf = (projectId: ProjectId, { kind, repository, baseBranch }: Source) =>
    [projectId, kind, repository, baseBranch].join('\n');
  return {
    examine: sources.examine,
    of(projectId, source) {
      const key = keyOf(projectId, source);
      const known = opened.get(key);
      if (known) return known;
      const opening = openRepository(deps, sources, projectId, source);
      opened.set(key, opening);
      opening.catch(() => opened.delete(key));
      return opening;
    },
    async dropBranches(projectId, branches) {
      const gitDir = gitDirOf(folder, projectId);
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
      for (const branch of branches) await clearDamage(gitDir, branch);
      await git(['gc', '--quiet', '--prune=now'], { gitDir, lane, ms: GIT_LIMITS.networkMs });
    },
    async remove(projectId) {
      for (const key of opened.keys()) if (key.startsWith(`${projectId}\n`)) opened.delete(key);
      await rm(gitDirOf(folder, projectId), { recursive: true, force: true });
    },
  };
}
