/**
 * A program that goes on, in a sandbox of its own: as commands are held there, but with an input
 * and an output, no end by time, and of the machine's folders those that the person has named for
 * it, at their own places.
 */
import { mkdir, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import type { Network } from '../../../src/shared/domain/network.ts';
import { programFor, type Group, type ProgramStart } from '../../platform/processes/index.ts';
import { begin, type Box, type BoxDeps } from './box.ts';
import { programArguments } from './bubble.ts';
import { watch } from './watch.ts';

/** Its environment is all that it is given, beside what leads to the network. */
export interface BoxedProgram extends Omit<ProgramStart, 'cwd'> {
  /** Of the relay's machine: read and written, and made where it is not there; null: none. */
  readonly folder: string | null;
  /** Read alone: where its own program lies, where that is not among the system's. */
  readonly reads: readonly string[];
  readonly network: Network;
}

export interface ProgramsDeps extends BoxDeps {
  /**
   * Why nothing of the machine but the system's programs is shown, as a sentence; null: what is
   * named is.
   */
  readonly refuseFolders: string | null;
  /** No folder above, at or below one of these is shown, whoever names it. */
  readonly hidden: readonly string[];
}

const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/'];

const within = (inner: string, outer: string) => inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);

function refuseHidden(real: string, path: string, hidden: readonly string[]): void {
  if (hidden.some((each) => within(real, each) || within(each, real)))
    throw new Error(`${path} holds what is the relay’s own, or lies in it: no program in the sandbox is shown that`);
}

/** A path whose end need not be there, after the links in what is. */
const whereItWouldLie = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await whereItWouldLie(dirname(path)), basename(path)),
  );

/** Where it leads, after links; throws, as a sentence, where it may not be shown. */
async function shown(path: string, hidden: readonly string[]): Promise<readonly [from: string, to: string]> {
  if (!isAbsolute(path)) throw new Error(`${path} is no whole path on the relay’s machine`);
  const real = await realpath(path).catch(() => {
    throw new Error(`there is no ${path} on the relay’s machine`);
  });
  refuseHidden(real, path, hidden);
  return [real, path];
}

/**
 * Rejects, as a sentence, where it cannot be begun. With its end all that it has started is gone.
 */
export async function startBoxed(
  box: Box,
  { command, args, env, folder, reads, network }: BoxedProgram,
  { hidden: own, refuseFolders, ...deps }: ProgramsDeps,
): Promise<Group> {
  const { limits } = deps;
  const file = programFor({ command, env });
  const isSystems = SYSTEM.some((top) => file.startsWith(top));
  if (refuseFolders !== null && (folder !== null || reads.length > 0 || !isSystems)) throw new Error(refuseFolders);
  const hidden = await Promise.all(own.map((path) => realpath(path).catch(() => path)));
  if (folder !== null && isAbsolute(folder)) {
    // Whatever of it is there already: nothing is made in what is the relay's own.
    const place = normalize(folder);
    refuseHidden(await whereItWouldLie(place), folder, hidden);
    await mkdir(place, { recursive: true });
  }
  const writes = folder === null ? null : await shown(folder, hidden);
  const read = await Promise.all([...reads, ...(isSystems ? [] : [file])].map((path) => shown(path, hidden)));
  const { group, child, kin, ranOut, leave } = await begin(
    box,
    {
      sees: (seccompFd, wayOut) => programArguments({ writes, read }, seccompFd, limits, wayOut),
      program: [file, ...args],
      // In the environment and not in the arguments: those any user of the machine can list.
      env: { ...env, HOME: '/tmp', TMPDIR: '/tmp' },
      network,
      input: 'pipe',
    },
    deps,
  );
  const unwatch = watch({
    ...{ kin, ranOut, limits },
    folder: writes?.[0] ?? null,
    together: () => [kin],
    everyMs: limits.watchProgramMs,
    onExcess: () => group.signal('SIGKILL'),
  });
  child.once('exit', () => {
    unwatch();
    void leave();
  });
  return group;
}
