/** What is in a checkout: its commits for the relay's repository, and what only it has. */
import { open, stat } from 'node:fs/promises';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import { WorkspaceError } from '../../files/workspaces/index.ts';
import { GitError } from '../../platform/git/index.ts';
import { changesIn, createLeft, filesIn, nothing } from './folder-files.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { GIT, MID_WORK } from './switching.ts';
import type { Checkouts, CheckoutsDeps, Place } from './checkout-types.ts';
import { type InSandbox, sayEnd } from './in-sandbox.ts';

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

export function createCheckoutState(
  { workspaces }: Pick<CheckoutsDeps, 'workspaces'>,
  { inSandbox, withBundle }: InSandbox,
): Pick<Checkouts, 'exists' | 'collect' | 'status'> {
  const limits = CHECKOUT_LIMITS;
  const isThere = ({ agentId, folder }: Pick<Place, 'agentId' | 'folder'>): Promise<boolean> =>
    workspaces
      .of(agentId)
      .list(folder)
      .then(
        () => true,
        () => false,
      );

  return {
    exists: isThere,
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
  };
}
