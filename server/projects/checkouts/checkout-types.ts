/** What the relay's other parts know of checkouts. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Network } from '../../../src/shared/domain/network.ts';
import type { Receipt } from '../../../src/shared/protocol/attempts.ts';
import type { Sandbox } from '../../execution/sandbox/index.ts';
import type { Workspaces } from '../../files/workspaces/index.ts';
import type { FolderFile } from './folder-files.ts';
import type { Repository } from './contract.ts';

/** One checkout: whose it is, and where. */
export interface Place {
  readonly kind: 'folder' | 'git';
  readonly agentId: AgentId;
  /** In the agent's folder. */
  readonly folder: string;
  readonly branch: string;
  /** The commit on which the work stands. */
  readonly base: string;
}

/** What is in a checkout now. The commits are in the relay's repository. */
export interface Collected {
  /** The last commit of the branch. Null: nothing was committed. */
  readonly head: string | null;
  /** Changed files that are in no commit. */
  readonly uncommitted: readonly string[];
  /** Commits of the checkout that the branch of the task lacks, newest first. */
  readonly elsewhere: readonly Commit[];
}
type Commit = Receipt['commits'][number];

/** What of a checkout is not the agent's work. */
export interface NotWork {
  /** Untracked files that the relay copied in. */
  readonly copied: readonly string[];
  /** Branches of other tasks. */
  readonly branches: readonly string[];
}

/** A command of the person, with what it came to. */
export type Ran = Receipt['checks'][number];

export interface CheckoutState {
  readonly state: 'clean' | 'unsaved' | 'unknown';
  readonly unsaved: readonly string[];
}

export type Kept =
  | { readonly ok: true; readonly isNew: boolean }
  /** `left`: what would be lost, or what git is in the middle of. */
  | { readonly ok: false; readonly left: readonly string[] };

export interface Checkouts {
  /**
   * Why agents cannot work on a project of this kind here, as a sentence. Null: they can.
   * `hasCommands`: the project has checks or a setup.
   */
  refuse(kind: Place['kind'], agentId: AgentId, hasCommands: boolean): Promise<string | null>;
  /** Whether the folder is there. */
  exists(place: Place): Promise<boolean>;
  /**
   * Fills a new checkout with this commit. `by`: the agent's name, for its commits. `copied`: files
   * that the relay is going to write. Git ignores them there.
   */
  fill(place: Place, repository: Repository, commit: string, by: string, copied?: readonly string[]): Promise<void>;
  /**
   * Brings what others changed on the base branch into a checkout that goes on from `head`.
   * Resolves with what its agent has to do, as sentences.
   */
  bring(
    place: Place,
    repository: Repository,
    base: { readonly branch: string; readonly commit: string },
    head: string,
    said: { readonly by: string; readonly at: number },
  ): Promise<readonly string[]>;
  /**
   * Commits what the checkout of a repository has in no commit, so that it can get another branch.
   * `expected`: paths that the relay made itself.
   * `forAgent`: the agent runs no git, so the commit is its work. Files that are too large, and
   * copied content under another name, are left, and then nothing is committed. The answer says
   * whether there was something to commit.
   */
  keep(
    place: Place,
    expected: readonly string[],
    forAgent?: { readonly message: string; readonly copiedIds: readonly string[] },
  ): Promise<Kept>;
  /**
   * Puts another branch into a checkout: the one of this place, at this commit or where the
   * checkout has it further. Throws, and changes nothing, where a file would be overwritten.
   */
  turn(place: Place, repository: Repository, commit: string): Promise<void>;
  /** Writes files of the relay's machine into a checkout. */
  copy(place: Place, files: readonly { readonly path: string; readonly bytes: Buffer }[]): Promise<void>;
  /** Runs a command of the person in the checkout. */
  run(place: Place, command: string, env: Readonly<Record<string, string>>): Promise<Ran>;
  /**
   * Takes what was committed on the task's branch into the relay's repository. Commits on top of
   * the branch are put on it, whatever branch they were made on.
   */
  collect(
    place: Place,
    repository: Repository,
    said: { readonly by: string; readonly at: number },
    notWork?: NotWork,
  ): Promise<Collected>;
  /** Runs the commands on this commit, in a checkout of its own that is deleted afterwards. */
  check(
    place: Place,
    repository: Repository,
    head: string,
    commands: { readonly setup: string; readonly checks: readonly string[]; readonly copies: readonly FolderFile[] },
  ): Promise<readonly Ran[]>;
  /** What would be lost with the checkout. `expected`: paths that the relay made itself. */
  status(place: Place, repository: Repository, expected: readonly string[]): Promise<CheckoutState>;
  bytesOf(place: Place): Promise<number>;
  remove(place: Place): Promise<void>;
}

export interface CheckoutsDeps {
  readonly workspaces: Pick<Workspaces, 'of' | 'folderOf' | 'changed'>;
  readonly sandbox: Pick<Sandbox, 'run' | 'status'>;
  /** Reach of the agent's commands. */
  readonly reachOf: (agentId: AgentId) => Promise<{ readonly network: Network; readonly bare: boolean }>;
  /** For bundles, and for checkouts in which checks run. */
  readonly scratch: string;
  readonly newId: () => string;
}
