/** Why commands are off without a sandbox, and what the person can do: sentences for them. */
import { delimiter, join } from 'node:path';
import { existsSync } from 'node:fs';
import { sentence } from '../../../src/shared/domain/sentence.ts';
import type { SandboxLimits } from './settings.ts';

/** Path of `bwrap` in this search path. Null: not found. */
export const findBubble = (path: string): string | null =>
  path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file)) ?? null;

/** Names for people. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows', freebsd: 'FreeBSD' };

/** Null: nothing rules out a sandbox, but it has not been tried yet. */
export function missing({
  platform,
  arch,
  filtered,
  bubble,
}: {
  readonly platform: string;
  readonly arch: string;
  /** System calls can be filtered on this processor. */
  readonly filtered: boolean;
  readonly bubble: string | null;
}): string | null {
  if (platform !== 'linux')
    return sentence`Commands stay off: Roost has a sandbox for them on Linux only, and this relay runs on ${SYSTEMS[platform] ?? platform}. To have one, run the relay on a machine with Linux; a virtual one on this computer will do.`;
  if (!filtered)
    return sentence`Commands stay off: Roost has a sandbox for them on the processors x64 and arm64 only, and this is ${arch}.`;
  if (bubble === null)
    return sentence`Commands stay off: the program of their sandbox is not installed. Install bubblewrap (Debian and Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap; Arch: pacman -S bubblewrap) and start the relay again.`;
  return null;
}

export const AS_ROOT = sentence`Commands stay off: as root, processes can only be bounded by control groups, and none can be made here. Start the relay as an ordinary user.`;

/** There is a sandbox, but no control group. */
export const watched = (limits: Pick<SandboxLimits, 'memory' | 'watchMs'>): string =>
  sentence`Commands run in their sandbox, but the kernel does not bound their memory: this relay may make no control group. It looks every ${limits.watchMs / 1_000} s instead, and ends a command that has more than ${limits.memory / 1_000_000_000} GB; until it looks, the command has it. The kernel bounds it where you start the relay as a service of systemd, or with “systemd-run --user --scope npm start”.`;

/**
 * `bwrap` could not start: the kernel or its administrator allows ordinary programs no namespaces.
 */
const NAMESPACES = /namespace|uid map|uid_map|setuid|RTM_NEWADDR|Operation not permitted|Permission denied/i;

/** A trial failed with this output. */
export const broken = (said: string): string =>
  NAMESPACES.test(said)
    ? sentence`Commands stay off: their sandbox does not start, since this system lets no ordinary program have namespaces of its own (${said}). On Ubuntu from 23.10 on, “sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0” lets them; a container has to be started so that they may. Then start the relay again.`
    : sentence`Commands stay off: their sandbox does not start (${said}).`;
