/**
 * A program that goes on, in a sandbox of its own: as commands are held there, but with an input and an output, no end by time,
 * and of the machine's folders those that the person has named for it, at their own places.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { Network } from '../../src/domain/network.ts';
import { programAt, type Group, type ProgramStart } from '../processes/index.ts';
import { boundedBy, programArguments } from './bubble.ts';
import { createCgroup } from './cgroups.ts';
import { openWayOut, type NetworkDeps } from './network.ts';
import type { SandboxLimits } from './settings.ts';

/** Its environment is all that it is given, beside what leads to the network. */
export interface BoxedProgram extends Omit<ProgramStart, 'cwd'> {
  /** Of the relay's machine: read and written, and made where it is not there; null: none. */
  readonly folder: string | null;
  /** Read alone: where its own program lies, where that is not among the system's. */
  readonly reads: readonly string[];
  readonly network: Network;
}

export interface ProgramsDeps {
  readonly limits: SandboxLimits;
  readonly network?: NetworkDeps | undefined;
  /** No folder above, at or below one of these is shown, whoever names it. */
  readonly hidden: readonly string[];
}

const SECCOMP_FD = 3;
const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/'];

const within = (inner: string, outer: string) => inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);

/** Where it leads, after links; throws, as a sentence, where it may not be shown. */
async function shown(path: string, hidden: readonly string[]): Promise<readonly [from: string, to: string]> {
  if (!isAbsolute(path)) throw new Error(`${path} is no whole path on the relay’s machine`);
  const real = await realpath(path).catch(() => {
    throw new Error(`there is no ${path} on the relay’s machine`);
  });
  for (const each of hidden)
    if (within(real, each) || within(each, real))
      throw new Error(`${path} holds what is the relay’s own, or lies in it: no program in the sandbox is shown that`);
  return [real, path];
}

/** Rejects, as a sentence, where it cannot be begun. With its end all that it has started is gone. */
export async function startBoxed(
  box: { readonly bubble: string; readonly refused: Buffer },
  { command, args, env, folder, reads, network }: BoxedProgram,
  { limits, network: reached, hidden: own }: ProgramsDeps,
): Promise<Group> {
  const file = programAt(command, env['PATH']);
  if (file === null) throw new Error(`there is no program “${command}” on this machine, or it may not be run`);
  const hidden = await Promise.all(own.map((path) => realpath(path).catch(() => path)));
  if (folder !== null && isAbsolute(folder)) await mkdir(folder, { recursive: true });
  const writes = folder === null ? null : await shown(folder, hidden);
  const read = await Promise.all(
    [...reads, ...(SYSTEM.some((top) => file.startsWith(top)) ? [] : [file])].map((path) => shown(path, hidden)),
  );
  const cgroup = await createCgroup(`roost-${randomUUID()}`, limits);
  if (!cgroup && process.getuid?.() === 0)
    throw new Error('as root, processes can only be bounded by control groups, and none can be made here');
  const wayOut = network === 'none' || !reached ? null : await openWayOut(network, reached);
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"',
      'sh',
      ...(cgroup?.folders ?? []),
      '--',
      box.bubble,
      ...programArguments({ writes, read }, SECCOMP_FD, limits, wayOut?.folder ?? null),
      '--',
      '/bin/bash',
      '-c',
      boundedBy(limits, wayOut !== null),
      'bash',
      file,
      ...args,
    ],
    // In the environment and not in the arguments: those any user of the machine can list.
    {
      env: { ...env, HOME: '/tmp', TMPDIR: '/tmp' },
      cwd: '/',
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    },
  );
  const over = () => Promise.all([cgroup?.remove(), wayOut?.close()]);
  await new Promise<void>((begun, failed) => {
    child.once('spawn', () => begun());
    child.once('error', failed);
  }).catch(async (error: unknown) => {
    await over();
    throw error;
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('it could not be started');
  const signal = (name: NodeJS.Signals) => {
    try {
      // With the outer process the one within dies, and with that one all others: it hears of nothing else.
      process.kill(-pid, name);
    } catch {
      // It has ended by itself.
    }
  };
  child.once('exit', () => {
    signal('SIGKILL');
    void over();
  });
  const calls = child.stdio[SECCOMP_FD];
  if (calls && 'end' in calls) calls.on('error', () => undefined).end(box.refused);
  return {
    pid,
    child,
    signal,
    write: (text) =>
      new Promise<void>((sent, failed) => {
        const input = child.stdin;
        if (!input?.writable) return failed(new Error('it has ended'));
        input.write(text, (error) => (error ? failed(error) : sent()));
      }),
  };
}
