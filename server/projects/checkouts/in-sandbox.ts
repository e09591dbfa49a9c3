/** Git and commands in the checkouts of agents. They run in the sandbox. */
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Network } from '../../../src/shared/domain/network.ts';
import { ATTEMPT_LIMITS } from '../../../src/shared/protocol/attempts.ts';
import type { SandboxEnd } from '../../execution/sandbox/index.ts';
import { createFolder } from '../../files/workspaces/folder.ts';
import { type Room, WORKSPACE_LIMITS } from '../../files/workspaces/index.ts';
import { GitError } from '../../platform/git/index.ts';
import type { Repository } from './contract.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { GIT } from './switching.ts';
import type { CheckoutsDeps, Place, Ran } from './checkout-types.ts';

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

interface Asked {
  readonly script: string;
  readonly args: readonly string[];
  readonly ms: number;
  readonly fd?: number;
  readonly network?: Network;
}
export const sayEnd = (what: string, { cut, code }: SandboxEnd, said: string) =>
  `${what} ${cut === null ? `It ended with ${code ?? 'a signal'}.` : `It was ended (${cut}).`} ${said.trim().slice(-CHECKOUT_LIMITS.saidChars)}`.trim();

export type InSandbox = ReturnType<typeof createInSandbox>;

export function createInSandbox({ workspaces, sandbox, reachOf, scratch, newId }: CheckoutsDeps) {
  const limits = CHECKOUT_LIMITS;

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

  return { inSandbox, withBundle, withGiven, fillFolder, run };
}
