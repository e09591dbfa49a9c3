/** Writes into a repository: commits of files, within the room that it may take. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { git, GitError, GIT_LIMITS, removeUnfinished } from '../../platform/git/index.ts';
import type { FileChange } from './folder-files.ts';
import { type CommitWords, importOf } from './git-files.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { commitAt, type OwnPlace } from './refs.ts';

/** Throws `GitError` where a commit has more files than can be compared. */
export async function refuseHuge(own: OwnPlace, commit: string): Promise<void> {
  const line = 'blob\n';
  const most = CHECKOUT_LIMITS.treeEntries * line.length;
  try {
    await git(['ls-tree', '-r', '--full-tree', '--format=%(objecttype)'], { ...own, of: [commit], most });
  } catch (error) {
    if (!(error instanceof GitError) || (error.why !== 'too-much' && error.why !== 'too-slow')) throw error;
    const files = CHECKOUT_LIMITS.treeEntries.toLocaleString('en');
    throw new GitError(sentence`The commit ${commit.slice(0, 12)} has more than ${files} files. Remove them from it.`);
  }
}

/**
 * Merges many packs into one, and deletes what no reference leads to. Runs in turn with all
 * that writes. Throws `GitError` where the repository is full.
 */
export async function makeRoom(own: OwnPlace): Promise<void> {
  const folder = join(own.gitDir, 'objects/pack');
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

export async function commitFiles(
  own: OwnPlace,
  parent: string | null,
  branch: string,
  changes: AsyncIterable<FileChange>,
  commitWords: CommitWords,
): Promise<string> {
  const some = changes[Symbol.asyncIterator]();
  const first = await some.next();
  if (first.done === true && commitWords.also === undefined && parent !== null) return parent;
  async function* all() {
    if (first.done !== true) yield first.value;
    yield* { [Symbol.asyncIterator]: () => some };
  }
  await makeRoom(own);
  const ref = `refs/roost/writing/${branch}`;
  try {
    const input = importOf(all(), ref, parent, commitWords);
    await git(['fast-import', '--quiet', '--force', '--done'], {
      ...{ ...own, input, ms: GIT_LIMITS.networkMs },
      settings: { 'core.bigFileThreshold': '1m' },
    });
  } catch (error) {
    await removeUnfinished(own.gitDir);
    throw error;
  }
  const commit = await commitAt(own, ref);
  await git(['update-ref', '--stdin'], { ...own, input: `update refs/heads/${branch} ${commit}\ndelete ${ref}\n` });
  return commit;
}
