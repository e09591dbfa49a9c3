/**
 * Checkouts: where agents work on tasks of projects. A checkout is a folder in the agent's own
 * folder, so that its files, commands, quota and history are those of every other file.
 *
 * `repositories.ts` has the relay's own repository of each project.
 *
 * Main types: `Checkouts`, `Place`, `Repository`.
 *
 * Invariants:
 * - A checkout of a `git` project is a clone of its own: no agent reaches the repository of the
 *   person, of the relay, or of another task. It has no remote, and no token.
 * - The relay never runs git in a checkout, whose settings and hooks the agent writes. Git runs
 *   there in the sandbox, and hands its commits over as a bundle.
 * - A checkout of a `folder` project has no git. The relay reads its files and commits them.
 * - What only a checkout has is deleted only when the person asks for that.
 * - A checkout gets another branch only after everything in it is committed. See `switching.ts`.
 *
 * It does not know claims, attempts, or why somebody works on a task.
 */
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Network } from '../../../src/shared/domain/network.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { Receipt } from '../../../src/shared/protocol/attempts.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import type { Sandbox, SandboxEnd } from '../sandbox/index.ts';
import { createFolder } from '../workspaces/folder.ts';
import { type Room, WORKSPACE_LIMITS, WorkspaceError, type Workspaces } from '../workspaces/index.ts';
import { GitError } from '../../platform/git/index.ts';
import { bringFiles } from './bring-files.ts';
import { changesIn, createLeft, type FileEntry, filesIn, fits, type FolderFile, nothing } from './folder-files.ts';
import { BROUGHT_REF, type Repository } from './repositories.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { GIT, KEEP, MID_WORK, NOT_KEPT, TURN } from './switching.ts';

export { type FileChange, RECORDED, tooMuch, twinsIn } from './folder-files.ts';
export { GitError } from '../../platform/git/index.ts';
export { createRepositories, type Repositories, type RepositoriesDeps, type Repository } from './repositories.ts';
export { type Merged } from './merging.ts';
export { CHECKOUT_LIMITS } from './settings.ts';
export { createTokens, type Tokens } from './tokens.ts';

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
   * `expected`: paths that the relay made itself. `isNew`: there was something to commit.
   * `forAgent`: the agent runs no git, so the commit is its work. Files that are too large, and
   * copied content under another name, are left, and then nothing is committed.
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

const FILL = `set -e
umask 077
[ ! -e "$1" ] || { echo 'There is something in its place.'; exit 9; }
mkdir -p -- "$(dirname -- "$1")"
trap 'rm -rf -- "$1.in"' EXIT
cat <&4 > "$1.in"
${GIT} -c clone.defaultRemoteName=origin clone --quiet --branch "$2" -- "$1.in" "$1" 2>&1
cd -- "$1"
git remote remove origin
git config --end-of-options user.name "$3"
git config --end-of-options user.email "$4"
shift 4
mkdir -p .git/info
for each in "$@"; do printf '%s\\n' "$each" >> .git/info/exclude; done`;
/** A line of an exclude file that names this path alone. */
const excludeLine = (path: string) => `/${path.replaceAll(/[\\*?[\] ]/g, (each) => `\\${each}`)}`;
const BRING = `set -e
trap 'rm -rf -- "$1.in"' EXIT
cat <&4 > "$1.in"
${GIT} -C "$1" fetch --quiet --no-tags -- "../$(basename -- "$1").in" "+${BROUGHT_REF}:refs/remotes/base/$2"`;
/**
 * Prints the number of commits, those that the branch $3 lacks, and the files in none. The bundle
 * goes to descriptor 4. From $4 on: branches of other tasks. Those were handed over already.
 */
const COLLECT = `set -e
cd -- "$1"
ulimit -f ${Math.floor(CHECKOUT_LIMITS.bundleBytes / 1_024)} 2>/dev/null || true
base=$2
own=refs/heads/$3
shift 3
if ! ${GIT} show-ref --verify --quiet "$own" || ${GIT} merge-base --is-ancestor "$own" HEAD; then
  ${GIT} update-ref "$own" HEAD
fi
count=$(${GIT} rev-list --count "$own" "^$base")
[ "$count" = 0 ] || ${GIT} bundle create --quiet - "$own" "^$base" >&4
printf '%s\\0' "$count"
others=()
for each in 'heads/kept/*' 'tags/*' 'remotes/*' 'notes/*' 'roost/*' "\${@/#/heads/}"; do others+=("--exclude=refs/$each"); done
${GIT} -c log.showSignature=false log -z --first-parent --max-count=${ATTEMPT_LIMITS.commits} --format='left %H %s' "\${others[@]}" --all HEAD --not "$own" "$base" --remotes
# An index of its own, because the agent's may hide files that changed.
export GIT_INDEX_FILE="$(mktemp -d)/index"
${GIT} read-tree HEAD 2>/dev/null || true
${GIT} status --porcelain=v1 -z -uall --ignore-submodules=none`;
/** Files that a build can make again. */
const REBUILT = ['node_modules', '.venv', 'venv', '__pycache__', 'target', 'dist', 'build', '.cache'];
const STATUS = `set -e -o pipefail
cd -- "$1"
for each in ${MID_WORK}; do
  [ ! -e ".git/$each" ] || printf 'doing %s\\0' "$each"
done
for each in .git/worktrees/*; do [ ! -e "$each" ] || printf 'nested %s\\0' "$each"; done
find . -mindepth 2 -name .git ${REBUILT.map((name) => `-not -path '*/${name}/*'`).join(' ')} -print0 | while IFS= read -r -d '' each; do printf 'nested %s\\0' "$each"; done
say() { while IFS= read -r -d '' each; do printf 'file %s\\0' "$each"; done; }
at="${GIT} --git-dir=.git --work-tree=. -c core.excludesFile=/dev/null"
how="--porcelain=v1 -z -uall --ignored=matching --ignore-submodules=none --no-renames"
$at status $how | say
# An index of its own, because the agent's may hide files that changed.
export GIT_INDEX_FILE="$(mktemp -d)/index"
$at read-tree HEAD
$at status $how | say
unset GIT_INDEX_FILE
${GIT} rev-list --all --reflog HEAD "^$2" | while IFS= read -r each; do printf 'commit %s\\0' "$each"; done
for each in index.lock HEAD.lock; do [ ! -e ".git/$each" ] || printf 'doing %s\\0' "$each"; done
printf 'end\\0'`;
const RUN = `cd -- "$1" || exit 9
shift
command=$1
shift
for each in "$@"; do export "$each"; done
exec bash -c "$command"`;

/** Why the relay ended a command of the person, for people and agents. */
const ENDED: Readonly<Record<NonNullable<SandboxEnd['cut']>, string>> = {
  time: 'it took too long',
  memory: 'it took too much memory',
  output: 'it wrote too much output',
  room: 'its folder or the disk is full',
  files: 'its folder has too many files, or some that cannot be counted',
  watchers: 'it watches too many files or descriptors',
  stopped: 'it was stopped',
  withdrawn: 'the permission was withdrawn',
  closing: 'the relay shuts down',
};

/** The room that is left in a folder of the relay that has this quota. */
async function roomIn(folder: string, most: number): Promise<Room> {
  let [held, entries] = [0, 0];
  const isWhole = await createFolder(folder).countAll(WORKSPACE_LIMITS.entries, (entry) => {
    held += entry.held;
    entries += 1;
  });
  return { bytes: most - held, entries: isWhole ? WORKSPACE_LIMITS.entries - entries : -1 };
}

export function createCheckouts({ workspaces, sandbox, reachOf, scratch, newId }: CheckoutsDeps): Checkouts {
  const limits = CHECKOUT_LIMITS;

  interface Asked {
    readonly script: string;
    readonly args: readonly string[];
    readonly ms: number;
    readonly fd?: number;
    readonly network?: Network;
  }
  async function inSandbox(agentId: AgentId, folder: string, { script, args, ms, fd, network = 'none' }: Asked) {
    const { bare } = await reachOf(agentId);
    const isOwn = folder === workspaces.folderOf(agentId);
    const workspace = workspaces.of(agentId);
    // A folder of the relay, in which a check runs, has the quota of the agent's own.
    const room = isOwn ? () => workspace.room() : async () => await roomIn(folder, (await workspace.used()).most);
    const run = await sandbox.run({
      ...{ folder, bare, network, timeoutMs: ms },
      bash: ['-c', script, 'bash', ...args],
      ...(fd === undefined ? {} : { fd }),
      space: { left: await room(), count: room },
    });
    const end = await run.ended;
    if (isOwn) workspaces.changed(agentId);
    return { end, output: run.output };
  }
  const sayEnd = (what: string, { cut, code }: SandboxEnd, said: string) =>
    `${what} ${cut === null ? `It ended with ${code ?? 'a signal'}.` : `It was ended (${cut}).`} ${said.trim().slice(-limits.saidChars)}`.trim();

  async function withBundle<Result>(work: (file: string) => Promise<Result>): Promise<Result> {
    await mkdir(scratch, { recursive: true, mode: 0o700 });
    const file = join(scratch, `${newId()}.bundle`);
    try {
      return await work(file);
    } finally {
      await rm(file, { force: true });
    }
  }
  /** Runs a script that reads a bundle of the repository from descriptor 4. */
  async function withGiven(
    agentId: AgentId,
    root: string,
    write: (file: string) => Promise<void>,
    { script, args, failed }: Pick<Asked, 'script' | 'args'> & { readonly failed: string },
  ): Promise<void> {
    await withBundle(async (file) => {
      await write(file);
      const handle = await open(file, 'r');
      try {
        const { end, output } = await inSandbox(agentId, root, { script, args, ms: limits.sandboxMs, fd: handle.fd });
        if (end.code !== 0) throw new GitError(sayEnd(failed, end, output(0, 2_000).text));
      } finally {
        await handle.close();
      }
    });
  }
  const fillFolder = (
    agentId: AgentId,
    root: string,
    { folder, branch }: Pick<Place, 'folder' | 'branch'>,
    repository: Repository,
    commit: string,
    by: string,
    copied: readonly string[] = [],
  ): Promise<void> =>
    withGiven(agentId, root, (file) => repository.bundle(branch, commit, file), {
      script: FILL,
      args: [folder, branch, by, 'agent@localhost', ...copied.map(excludeLine)],
      failed: 'The checkout could not be made.',
    });

  const isThere = ({ agentId, folder }: Pick<Place, 'agentId' | 'folder'>): Promise<boolean> =>
    workspaces
      .of(agentId)
      .list(folder)
      .then(
        () => true,
        () => false,
      );
  /** Writes files of a commit below a folder, several at a time. Resolves when all are written. */
  async function writeFiles(
    repository: Repository,
    entries: readonly FileEntry[],
    write: (file: FolderFile) => Promise<unknown>,
  ): Promise<void> {
    let writing: Promise<unknown>[] = [];
    await repository.read(entries, async ({ path, bytes }) => {
      const written = write({ path, bytes });
      // Thrown where all are awaited.
      written.catch(() => undefined);
      writing.push(written);
      if (writing.length < limits.writtenAtOnce && bytes.length < limits.writtenTogetherBytes) return;
      await Promise.all(writing);
      writing = [];
    });
    await Promise.all(writing);
  }

  async function run(
    agentId: AgentId,
    root: string,
    folder: string,
    command: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Ran> {
    const { network } = await reachOf(agentId);
    const { end, output } = await inSandbox(agentId, root, {
      script: RUN,
      args: [folder, command, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)],
      ms: limits.commandMs,
      network,
    });
    const { total } = output(0, 0);
    const why = end.cut === null ? '' : `\n[The relay ended it: ${ENDED[end.cut]}.]`;
    const most = ATTEMPT_LIMITS.output - why.length;
    const { text } = output(Math.max(0, total - most), most);
    return { command, code: end.code, ms: Math.round(end.tookMs), output: text + why };
  }

  return {
    async refuse(kind, agentId, hasCommands) {
      if (kind === 'folder' && !hasCommands) return null;
      const { available, why } = await sandbox.status();
      if (available || (await reachOf(agentId)).bare) return null;
      return kind === 'git'
        ? sentence`An agent works on a repository in the sandbox, and there is none. ${why ?? ''}`
        : sentence`Checks and the setup of a project run in the sandbox, and there is none. ${why ?? ''}`;
    },
    exists: isThere,
    async fill({ kind, agentId, folder, branch }, repository, commit, by, copied = []) {
      const root = workspaces.folderOf(agentId);
      if (kind === 'git') return await fillFolder(agentId, root, { folder, branch }, repository, commit, by, copied);
      const entries = [...(await repository.list(commit)).values()].filter(fits);
      const workspace = workspaces.of(agentId);
      if (entries.length === 0) return await workspace.make(folder);
      // A relay that was killed may have left a part of it.
      const part = `${folder}.in`;
      const drop = () => workspace.remove(part).catch(() => undefined);
      await drop();
      try {
        await writeFiles(repository, entries, ({ path, bytes }) => workspace.write(`${part}/${path}`, bytes));
        await workspace.move(part, folder, { replaces: false, makes: true });
      } catch (error) {
        await drop();
        throw error;
      }
    },
    async bring({ kind, agentId, folder, branch }, repository, base, head, said) {
      if (kind === 'git') {
        await withGiven(agentId, workspaces.folderOf(agentId), (file) => repository.bundleBase(base.commit, file), {
          script: BRING,
          args: [folder, base.branch],
          failed: 'The base branch could not be brought.',
        });
        return [`The base branch has moved on. “git merge base/${base.branch}” brings what others changed.`];
      }
      const both = await bringFiles({
        ...{ workspace: workspaces.of(agentId), folder, repository, branch, head, said },
        ...{ theirs: base.commit, write: writeFiles },
      });
      return [
        'The project has changed since. What others changed is in the folder now.',
        ...both.map(
          ({ path, beside }) =>
            `Both sides changed “${path}”. The project’s is in “${beside}”: put both together in “${path}”, and delete the other.`,
        ),
      ];
    },
    async keep({ agentId, folder, branch }, expected, forAgent) {
      const how = forAgent
        ? [forAgent.message, String(limits.committedBytes), forAgent.copiedIds.join(' ')]
        : ['Keep unfinished work', '', ''];
      const { end, output } = await inSandbox(agentId, workspaces.folderOf(agentId), {
        script: KEEP,
        args: [folder, branch, ...how, ...expected],
        ms: limits.sandboxMs,
      });
      const { text } = output(0, 2_000_000);
      if (end.code === NOT_KEPT)
        return { ok: false, left: text.split('\0').filter(Boolean).slice(0, ATTEMPT_LIMITS.files) };
      if (end.code !== 0) throw new GitError(sayEnd('What is in the checkout could not be committed.', end, text));
      return { ok: true, isNew: text.includes('kept\0') };
    },
    turn: ({ agentId, folder, branch }, repository, commit) =>
      withGiven(agentId, workspaces.folderOf(agentId), (file) => repository.bundle(branch, commit, file), {
        script: TURN,
        args: [folder, branch],
        failed: 'The checkout could not get another branch.',
      }),
    async copy({ agentId, folder }, files) {
      for (const { path, bytes } of files) await workspaces.of(agentId).write(`${folder}/${path}`, bytes);
    },
    run: ({ agentId, folder }, command, env) => run(agentId, workspaces.folderOf(agentId), folder, command, env),
    async collect(
      { kind, agentId, folder, branch, base },
      repository,
      { by, at },
      notWork = { copied: [], branches: [] },
    ) {
      if (kind === 'folder') {
        const parent = (await repository.headOf(branch)) ?? base;
        const before = await repository.list(parent);
        const left = createLeft();
        const hasFolder = await isThere({ agentId, folder });
        // The folder of an empty project begins with its first file.
        if (before.size > 0 && !hasFolder) throw new GitError('The folder of the task is gone.');
        const files = hasFolder ? filesIn(workspaces.of(agentId), folder, left, before) : nothing();
        const said = { message: `Work of ${by}`, by, at };
        const head = await repository.commitFiles(parent, branch, changesIn(files, left, before), said);
        const uncommitted = [...left.paths].slice(0, ATTEMPT_LIMITS.files);
        return { head: head === base ? null : head, uncommitted, elsewhere: [] };
      }
      return await withBundle(async (file) => {
        const handle = await open(file, 'w', 0o600);
        let said: string;
        try {
          const { end, output } = await inSandbox(agentId, workspaces.folderOf(agentId), {
            script: COLLECT,
            args: [folder, base, branch, ...notWork.branches],
            ms: limits.sandboxMs,
            fd: handle.fd,
          });
          said = output(0, 2_000_000).text;
          if (end.code !== 0) throw new GitError(sayEnd('The checkout cannot be read.', end, said));
        } finally {
          await handle.close();
        }
        const [count = '', ...parts] = said.split('\0').filter((part) => part !== '');
        const isLeft = (part: string) => /^left [\da-f]{40,64} /.test(part);
        const elsewhere = parts.filter(isLeft).map((part) => {
          const [, commit = '', ...subject] = part.split(' ');
          return { commit, subject: subject.join(' ').slice(0, ATTEMPT_LIMITS.subject) };
        });
        if (!/^\d+$/.test(count)) throw new GitError(`The checkout cannot be read. ${said.slice(0, limits.saidChars)}`);
        const head = Number(count) === 0 || (await stat(file)).size === 0 ? null : await repository.take(file, branch);
        const uncommitted = pathsOf(parts.filter((part) => !isLeft(part))).filter(
          (path) => !notWork.copied.includes(path),
        );
        return { head: head === base ? null : head, uncommitted, elsewhere };
      });
    },
    async check({ kind, agentId }, repository, head, { setup, checks, copies }) {
      if (checks.length === 0) return [];
      const root = join(scratch, newId());
      await mkdir(root, { recursive: true, mode: 0o700 });
      try {
        await fillChecked(root);
        const ran: Ran[] = [];
        if (setup !== '') {
          const prepared = await run(agentId, root, 'work', setup, { CI: '1' });
          if (prepared.code !== 0) return [prepared];
        }
        for (const command of checks) ran.push(await run(agentId, root, 'work', command, { CI: '1' }));
        return ran;
      } finally {
        await rm(root, { recursive: true, force: true, maxRetries: 3 });
      }

      async function fillChecked(into: string): Promise<void> {
        if (kind === 'git')
          await fillFolder(
            agentId,
            into,
            { folder: 'work', branch: `roost-check/${newId()}` },
            repository,
            head,
            'Roost',
          );
        const files = createFolder(into);
        if (kind === 'folder')
          await writeFiles(repository, [...(await repository.list(head)).values()].filter(fits), ({ path, bytes }) =>
            files.write(`work/${path}`, bytes),
          );
        for (const file of copies) await files.write(`work/${file.path}`, file.bytes);
      }
    },
    async status(place, repository, expected) {
      const { kind, agentId, folder, base, branch } = place;
      try {
        if (kind === 'folder') {
          if (!(await isThere(place))) return { state: 'clean', unsaved: [] };
          const left = createLeft();
          const stored = await repository.list((await repository.headOf(branch)) ?? base);
          const changes: string[] = [];
          const files = filesIn(workspaces.of(agentId), folder, left, stored);
          for await (const change of changesIn(files, left, stored)) if ('bytes' in change) changes.push(change.path);
          const unsaved = [...left.paths, ...changes].slice(0, ATTEMPT_LIMITS.files);
          return { state: unsaved.length === 0 ? 'clean' : 'unsaved', unsaved };
        }
        const { end, output } = await inSandbox(agentId, workspaces.folderOf(agentId), {
          script: STATUS,
          args: [folder, base],
          ms: limits.sandboxMs,
        });
        const { text, total } = output(0, 2_000_000);
        const parts = text.split('\0');
        // Cut or ended early: nobody knows what else there is.
        if (end.code !== 0 || total > text.length || parts.at(-2) !== 'end') return { state: 'unknown', unsaved: [] };
        const unsaved: string[] = [];
        for (const part of parts.slice(0, -2)) {
          const at = part.indexOf(' ');
          const [what, rest] = [part.slice(0, at), part.slice(at + 1)];
          if (what === 'file') {
            const path = rest.slice(3);
            const isIgnored = rest.startsWith('!! ');
            const names = path.split('/');
            if (isIgnored && (expected.includes(path) || names.some((name) => REBUILT.includes(name)))) continue;
            unsaved.push(path);
          } else if (what === 'commit') {
            if (!(await repository.has(rest))) unsaved.push(`commit ${rest.slice(0, 12)}`);
          } else unsaved.push(rest);
        }
        // Both looks may find a file.
        const names = [...new Set(unsaved)].slice(0, ATTEMPT_LIMITS.files);
        return { state: names.length === 0 ? 'clean' : 'unsaved', unsaved: names };
      } catch (error) {
        if (error instanceof GitError || error instanceof WorkspaceError) return { state: 'unknown', unsaved: [] };
        throw error;
      }
    },
    bytesOf: ({ agentId, folder }) => workspaces.of(agentId).below(folder),
    async remove({ agentId, folder }) {
      await workspaces.of(agentId).remove(folder);
    },
  };
}

/** The paths of `git status --porcelain=v1 -z`. A renamed file has its old path after it. */
function pathsOf(status: readonly string[]): string[] {
  const paths: string[] = [];
  for (let i = 0; i < status.length && paths.length < ATTEMPT_LIMITS.files; i++) {
    const entry = status[i] ?? '';
    paths.push(entry.slice(3, 3 + ATTEMPT_LIMITS.path));
    if (entry.startsWith('R') || entry.startsWith('C')) i++;
  }
  return paths;
}
