/**
 * Starts a process in a sandbox: in a control group where possible, behind `bwrap`, under limits
 * that the process cannot raise.
 */
import type { ChildProcess } from 'node:child_process';
import type { Network } from '../../../src/shared/domain/network.ts';
import { begun, startProgram, type Group } from '../../platform/processes/index.ts';
import { boundedBy, seccompProgram } from './bubble.ts';
import { ENTER_GROUPS, type Cgroups } from './cgroups.ts';
import type { Kin } from './held.ts';
import { AS_ROOT } from './missing.ts';
import { openWayOut, type NetworkDeps, type WayOut } from './network.ts';
import type { SandboxLimits } from './settings.ts';

/** The means for a sandbox on this machine. */
export interface Box {
  /** Path of `bwrap`. */
  readonly bubble: string;
  /** Null: the relay may create none. */
  readonly cgroups: Cgroups | null;
}

export interface BoxDeps {
  readonly limits: SandboxLimits;
  /** Left out: no network, whatever is granted. */
  readonly network?: NetworkDeps | undefined;
}

export interface BoxedStart {
  /**
   * The arguments of `bwrap`. `wayOut`: the folder of the socket that leads to the network. Null:
   * no network.
   */
  readonly sees: (seccompFd: number, wayOut: string | null) => readonly string[];
  readonly program: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly network: Network;
  /** As in `SandboxTask`. */
  readonly ownHosts?: readonly string[];
  readonly input: 'ignore' | 'pipe';
  /** An open file, which becomes descriptor 4. */
  readonly fd?: number | undefined;
}

export interface Boxed {
  /**
   * The inner process dies with the outer one. It is the first in its namespace, so all others die
   * with it.
   */
  readonly group: Group;
  readonly child: ChildProcess;
  readonly kin: Kin;
  /** See `Cgroup`. Null: there is no group. */
  readonly ranOut: (() => Promise<boolean>) | null;
  /** Removes its group and its way out. Must be called when the process has ended. */
  leave(): Promise<void>;
}

const SECCOMP_FD = 3;

/** Rejects if the process cannot be started. Nothing of it is left then. */
export async function begin(
  { bubble, cgroups }: Box,
  { sees, program, env, network, ownHosts = [], input, fd }: BoxedStart,
  { limits, network: reached }: BoxDeps,
): Promise<Boxed> {
  const cgroup = (await cgroups?.create()) ?? null;
  let wayOut: WayOut | null = null;
  const leave = async () => {
    await Promise.all([cgroup?.remove(), wayOut?.close()]);
  };
  try {
    if (cgroup === null && process.getuid?.() === 0) throw new Error(AS_ROOT);
    const refused = seccompProgram(process.arch, cgroup === null ? limits : null);
    if (refused === null) throw new Error('no calls of the kernel can be refused on this processor');
    if (network !== 'none' && reached) wayOut = await openWayOut(network, { ...reached, ownHosts });
    const way = wayOut?.folder ?? null;
    const child = startProgram(
      '/bin/sh',
      [
        ...['-c', ENTER_GROUPS, 'sh', ...(cgroup?.folders ?? []), '--'],
        ...[bubble, ...sees(SECCOMP_FD, way), '--'],
        ...['/bin/bash', '-c', boundedBy(limits, { hasWayOut: way !== null, counted: cgroup !== null }), 'bash'],
        ...program,
      ],
      {
        env: { ...env },
        cwd: '/',
        detached: true,
        stdio: [input, 'pipe', 'pipe', 'pipe', ...(fd === undefined ? [] : [fd])],
      },
    );
    const group = await begun(child);
    const calls = child.stdio[SECCOMP_FD];
    if (calls && 'end' in calls) calls.on('error', () => undefined).end(refused);
    return {
      ...{ group, child, leave },
      kin: { root: group.pid, list: cgroup?.list ?? null },
      ranOut: cgroup && (() => cgroup.ranOut()),
    };
  } catch (error) {
    await leave();
    throw error;
  }
}
