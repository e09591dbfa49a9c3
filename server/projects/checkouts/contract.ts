/** What the relay's other parts know of the repositories of projects. */
import type { ProjectId } from '../../../src/shared/domain/ids.ts';
import type { Diff, Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import type { HomeRights } from '../../access/owner-rights.ts';
import type { FileChange, FileEntry, FolderFile, Listing } from './folder-files.ts';
import type { CommitWords } from './git-files.ts';
import type { Lane } from '../../platform/lanes.ts';
import type { KnownHead } from './damage.ts';
import type { Diffs, FileLine } from './diffs.ts';
import type { Merging } from './merging.ts';

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
