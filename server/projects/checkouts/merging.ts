/**
 * Merges into the base branch of a project, and reverts of such merges. Nothing is forced: whatever
 * came into the branch meanwhile stays, and what both sides changed is named.
 */
import { sentence } from '../../../src/shared/domain/names.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { git, type GitPlace, gitText } from '../../platform/git/index.ts';

/** What a merge came to. */
export type Merged =
  /**
   * `commit`: on the base branch. `onto`: the base branch before; null: the work was in it already.
   * `notRun`: hooks of the repository that were not told.
   */
  | {
      readonly kind: 'merged';
      readonly commit: string;
      readonly onto: string | null;
      readonly notRun: readonly string[];
    }
  /** `files`: changed on both sides. */
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  /** `why`: as a sentence. */
  | { readonly kind: 'refused'; readonly why: string };

/** What a branch got after `before`, up to `commit`. */
export interface Span {
  readonly before: string;
  readonly commit: string;
}

export interface Merging {
  merge(head: string, message: string): Promise<Merged>;
  /**
   * Takes what the base branch got between two of its commits back, by a commit on top. Later
   * changes stay.
   */
  revert(from: Span, message: string): Promise<Merged>;
  /** Such a commit on top of `base`, on no branch. Null: later changes are in the way. */
  reverted(base: string, from: Span, message: string): Promise<string | null>;
  /** The commits from which a commit goes on. */
  parentsOf(commit: string): Promise<readonly string[]>;
}

interface Base {
  readonly branch: string;
  readonly commit: string;
}

export interface MergingDeps {
  /** The relay's repository of the project. */
  readonly own: GitPlace;
  /** Reads the base branch as it is now. */
  readonly fetchBase: () => Promise<Base>;
  /** Runs what writes to the repository, one after another. */
  readonly inOrder: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Moves the base branch from this commit to a later one, where the project has it. */
  readonly move: (
    target: string,
    base: Base,
  ) => Promise<
    { readonly kind: 'moved'; readonly notRun: readonly string[] } | { readonly kind: 'refused'; readonly why: string }
  >;
}

/** The line by which git, too, names a commit that another one reverts. */
const revertNote = (commit: string) => `This reverts commit ${commit}.`;
const shortPath = (path: string) => path.slice(0, ATTEMPT_LIMITS.path);

export const isAncestor = async (own: GitPlace, older: string, newer: string): Promise<boolean> =>
  (await git(['merge-base', '--is-ancestor'], { ...own, of: [older, newer], codes: [0, 1] })).code === 0;

export function createMerging({ own, fetchBase, inOrder, move }: MergingDeps): Merging {
  const parentsOf = async (commit: string) => {
    const said = await gitText(['log', '--max-count=1', '--format=%P'], { ...own, of: [commit] });
    return said.split(' ').filter(Boolean);
  };
  /** Commits the opposite of a span on top of `base`. `files`: later changes are in the way. */
  async function revertOn(
    base: string,
    { before, commit }: Span,
    message: string,
  ): Promise<string | { readonly files: readonly string[] }> {
    const said = revertNote(commit);
    // A merge whose common ancestor is the commit: git 2.39 cannot be given one.
    const root = await commitTree(`${commit}^{tree}`, [], said);
    const ours = await commitTree(`${base}^{tree}`, [root], said);
    const theirs = await commitTree(`${before}^{tree}`, [root], said);
    const merged = await treeOf(ours, theirs);
    return 'files' in merged ? merged : await commitTree(merged.tree, [base], `${message}\n\n${said}`);
  }
  const commitTree = (tree: string, parents: readonly string[], message: string) =>
    gitText(['commit-tree', ...parents.flatMap((parent) => ['-p', parent]), '-m', message], { ...own, of: [tree] });
  /** The files of two commits together. `files`: changed on both sides. */
  async function treeOf(
    ours: string,
    theirs: string,
  ): Promise<{ readonly tree: string } | { readonly files: readonly string[] }> {
    const { code, out } = await git(['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z'], {
      ...own,
      of: [ours, theirs],
      codes: [0, 1],
    });
    const [tree = '', ...files] = out.toString('utf8').split('\0').filter(Boolean);
    return code === 1 ? { files: [...new Set(files)].map(shortPath) } : { tree };
  }
  /** Moves the base branch to this commit, where the project has it. Nothing is forced. */
  async function land(base: Base, target: string): Promise<Merged> {
    const moved = await move(target, base);
    if (moved.kind === 'refused') return moved;
    return { kind: 'merged', commit: target, onto: base.commit, notRun: moved.notRun };
  }
  return {
    merge: (head, message) =>
      inOrder(async (): Promise<Merged> => {
        const base = await fetchBase();
        if (await isAncestor(own, head, base.commit))
          return { kind: 'merged', commit: base.commit, onto: null, notRun: [] };
        if (await isAncestor(own, base.commit, head)) return await land(base, head);
        const merged = await treeOf(base.commit, head);
        if ('files' in merged) return { kind: 'conflict', files: merged.files };
        return await land(base, await commitTree(merged.tree, [base.commit, head], message));
      }),
    revert: (from, message) =>
      inOrder(async (): Promise<Merged> => {
        const { commit } = from;
        const base = await fetchBase();
        if (!(await isAncestor(own, commit, base.commit)) || !(await isAncestor(own, from.before, commit)))
          return { kind: 'refused', why: sentence`The branch ${base.branch} does not have this commit.` };
        // The commit may have landed before the relay could note it.
        const landed = [
          'log',
          '--format=%H',
          '--first-parent',
          '--fixed-strings',
          `--grep=${revertNote(commit)}`,
          '--max-count=1',
        ];
        const known = await gitText(landed, { ...own, of: [`${commit}..${base.commit}`] });
        if (known !== '')
          return { kind: 'merged', commit: known, onto: (await parentsOf(known))[0] ?? null, notRun: [] };
        const target = await revertOn(base.commit, from, message);
        return typeof target === 'string' ? await land(base, target) : { kind: 'conflict', files: target.files };
      }),
    async reverted(base, from, message) {
      const commit = await revertOn(base, from, message);
      return typeof commit === 'string' ? commit : null;
    },
    parentsOf,
  };
}
