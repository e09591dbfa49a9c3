/**
 * Two trees that the relay makes, in which the files of a page have numbers for names, and what git
 * says of them. They lie in a folder of their own, which is deleted afterwards.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangedFile } from '../../../src/shared/protocol/attempts.ts';
import { git, type GitCall, GitError, gitText } from '../../platform/git/index.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import type { OwnPlace } from './refs.ts';

/** One side of a changed file. */
interface Side {
  readonly mode: string;
  readonly id: string;
}
/** Null: the file was added, or deleted. */
export interface Pair {
  readonly before: Side | null;
  readonly after: Side | null;
}
export type Counts = Pick<ChangedFile, 'added' | 'removed'>;
export const DIFF = ['diff', '--no-color', '--no-ext-diff', '--no-textconv'];
/** Lines of files never begin so. */
export const IS_BINARY = /^Binary files .* differ$/m;
/** Folders of this process begin so. */
const MINE = `${randomUUID()}-`;
export const SUBMODULE = '160000';
/** The name of a file in the trees that are compared. */
export const nameOf = (at: number) => String(at).padStart(6, '0');

/** Whether git was ended because of one of its bounds. */
export const isOverBound = (error: unknown): boolean =>
  error instanceof GitError && (error.why === 'too-much' || error.why === 'too-slow');

export function createTrees(own: OwnPlace) {
  const { gitDir } = own;
  const folder = join(gitDir, 'diffs');
  let cleared: Promise<void> | null = null;
  /** Deletes what a relay that was killed left. */
  async function clear(): Promise<void> {
    for (const name of await readdir(folder).catch(() => []))
      if (!name.startsWith(MINE)) await rm(join(folder, name), { recursive: true, force: true });
  }

  /** Calls `use` with two trees in which the files have numbers for names. */
  async function withTrees<Result>(
    pairs: readonly (Pair | null)[],
    use: (trees: readonly [string, string], call: typeof own & Pick<GitCall, 'env'>) => Promise<Result>,
  ): Promise<Result> {
    await (cleared ??= clear());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const objects = await mkdtemp(join(folder, MINE));
    try {
      const quoted = JSON.stringify(join(gitDir, 'objects'));
      const call = { ...own, env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted } };
      const tree = (side: keyof Pair) => {
        const lines = pairs.map((pair, at) => {
          const entry = pair?.[side] ?? null;
          const type = entry?.mode === SUBMODULE ? 'commit' : 'blob';
          return entry ? `${entry.mode} ${type} ${entry.id}\t${nameOf(at)}\0` : '';
        });
        return gitText(['mktree', '-z'], { ...call, input: lines.join('') });
      };
      return await use([await tree('before'), await tree('after')], call);
    } finally {
      await rm(objects, { recursive: true, force: true });
    }
  }

  /** Sizes of these blobs in bytes, by id. */
  async function sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    if (ids.length === 0) return new Map();
    const input = ids.map((id) => `${id}\n`).join('');
    const said = await gitText(['cat-file', '--batch-check=%(objecttype) %(objectname) %(objectsize)'], {
      ...own,
      input,
    });
    return new Map([...said.matchAll(/^blob (\S+) (\d+)$/gm)].map(([, id = '', bytes]) => [id, Number(bytes)]));
  }
  /** Added and removed lines of each file. Null: git ran into a bound. */
  async function countsOf(
    trees: readonly string[],
    call: typeof own & Pick<GitCall, 'env'>,
  ): Promise<ReadonlyMap<string, Counts> | null> {
    const number = (text: string) => (text === '-' ? null : Number(text));
    try {
      const words = [...DIFF, '--numstat', '--no-renames'];
      const said = await gitText(words, { ...call, of: trees, ms: CHECKOUT_LIMITS.diffMs });
      return new Map(
        said.split('\n').map((line): [string, Counts] => {
          const [added = '', removed = '', name = ''] = line.split('\t');
          return [name, { added: number(added), removed: number(removed) }];
        }),
      );
    } catch (error) {
      if (!isOverBound(error)) throw error;
      return null;
    }
  }

  /** The patch of each file, as far as the bounds allow. A link that was a file has two in one. */
  async function patchesOf(
    trees: readonly string[],
    call: typeof own & Pick<GitCall, 'env'>,
  ): Promise<ReadonlyMap<string, string>> {
    const patchById = new Map<string, string>();
    try {
      const bounds = { most: CHECKOUT_LIMITS.diffBytes, cut: true, ms: CHECKOUT_LIMITS.diffMs };
      const { out, isCut } = await git([...DIFF, '--no-renames'], { ...call, of: trees, ...bounds });
      // No other line of a patch begins so: lines of files begin with a space, `+`, `-` or a
      // backslash.
      const patches = out.toString('utf8').split(/^(?=diff --git )/m);
      for (const patch of isCut ? patches.slice(0, -1) : patches) {
        const name = /^diff --git a\/(\d+) /.exec(patch)?.[1];
        if (name !== undefined) patchById.set(name, (patchById.get(name) ?? '') + patch);
      }
    } catch (error) {
      if (!isOverBound(error)) throw error;
    }
    return patchById;
  }

  /** A patch without context. Null: the file was deleted, is no text, or is too large. */
  async function barePatch({ before, after }: Pair): Promise<string | null> {
    if (!before || !after || [before, after].some(({ mode }) => mode === SUBMODULE)) return null;
    try {
      const patch = await gitText([...DIFF, '-U0'], { ...own, of: [before.id, after.id], ms: CHECKOUT_LIMITS.diffMs });
      return IS_BINARY.test(patch) ? null : patch;
    } catch (error) {
      if (!isOverBound(error)) throw error;
      return null;
    }
  }

  return { withTrees, sizesOf, countsOf, patchesOf, barePatch };
}
