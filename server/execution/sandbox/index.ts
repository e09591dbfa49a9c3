/**
 * The sandbox: bash with access to one folder and the system's programs, and nothing else. Linux
 * only, by bubblewrap.
 *
 * This module starts a process, `bubble.ts` builds its root, `network.ts` is the only way out,
 * `cgroups.ts` and `watch.ts` limit its resources.
 *
 * Main types: `Sandbox`, `SandboxRun`, `SandboxEnd`.
 *
 * Invariants:
 * - No home folder, no environment, no other process, and no network except the hosts that the
 *   person granted.
 * - Memory, processes, time, output and disk are limited.
 * - A run ends as a whole, with everything that it started.
 *
 * It does not know who runs a command, or why.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { Duplex } from 'node:stream';
import { basename, dirname, isAbsolute, join, normalize } from 'node:path';
import type { Network } from '../../../src/shared/domain/network.ts';
import { errorMessage } from '../../../src/shared/domain/platform/error-message.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { SandboxStatus } from '../../../src/shared/protocol/approvals.ts';
import type { MayConnect } from '../../../src/shared/protocol/models.ts';
import type { Lane } from '../../platform/lanes.ts';
import {
  begun,
  createProcesses,
  type Group,
  type Processes,
  type Invocation,
  programFor,
  type ProgramStart,
  startProgram,
} from '../../platform/processes/index.ts';
import {
  AS_ROOT,
  boundedBy,
  broken,
  bubbleArguments,
  findBubble,
  missing,
  programArguments,
  type SeenPart,
  seccompProgram,
  watched,
} from './bubble.ts';
import { type Cgroups, ENTER_GROUPS, findCgroups } from './cgroups.ts';
import type { Kin } from './held.ts';
import { type NetworkDeps, openWayOut, removeLeftWaysOut, type WayOut } from './network.ts';
import { SANDBOX_LIMITS, type SandboxLimits } from './settings.ts';
import { type Excess, type Space, watch } from './watch.ts';
export { isInnerHost } from '../../platform/guarded-fetch.ts';
export { COMMAND_LANES, SANDBOX_LIMITS, WITHIN } from './settings.ts';
export type { Space } from './watch.ts';

// Starts a process in a sandbox: in a control group where possible, behind `bwrap`, under limits
// that the process cannot raise.

/** The means for a sandbox on this machine. */
interface Box {
  /** Path of `bwrap`. */
  readonly bubble: string;
  /** Null: the relay may create none. */
  readonly cgroups: Cgroups | null;
}

interface BoxDeps {
  readonly limits: SandboxLimits;
  /** Left out: no network, whatever is granted. */
  readonly network?: NetworkDeps | undefined;
}

interface BoxedStart {
  /**
   * The arguments of `bwrap`. `wayOut`: the folder of the socket that leads to the network. Null:
   * no network.
   */
  readonly sees: (seccompFd: number, wayOut: string | null) => readonly string[];
  readonly program: Invocation;
  readonly env: Readonly<Record<string, string>>;
  readonly network: Network;
  /** As in `SandboxTask`. */
  readonly ownHosts?: readonly string[];
  readonly input: 'ignore' | 'pipe';
  /** An open file, which becomes descriptor 4. */
  readonly fd?: number | undefined;
  /** As in `SandboxTask`. */
  readonly part?: SeenPart | null;
}

interface Boxed {
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
async function begin(
  { bubble, cgroups }: Box,
  { sees, program, env, network, ownHosts = [], input, fd, part = null }: BoxedStart,
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
    const files = fd === undefined ? [] : [fd];
    const life = SECCOMP_FD + 1 + files.length;
    const bounded = boundedBy(limits, { hasWayOut: way !== null, counted: cgroup !== null, life, part });
    const inside: Invocation = { program: '/bin/bash', options: ['-c', bounded, 'bash'], mark: null, runs: program };
    const box: Invocation = { program: bubble, options: sees(SECCOMP_FD, way), runs: inside };
    const child = startProgram(
      { program: '/bin/sh', options: ['-c', ENTER_GROUPS, 'sh', ...(cgroup?.folders ?? [])], runs: box },
      {
        env: { ...env },
        cwd: '/',
        detached: true,
        stdio: [input, 'pipe', 'pipe', 'pipe', ...files, 'pipe'],
      },
    );
    const group = await begun(child);
    const calls = child.stdio[SECCOMP_FD];
    if (calls && 'end' in calls) calls.on('error', () => undefined).end(refused);
    const said = child.stdio[life];
    // It says so from within, and `bwrap` ends with the relay by then.
    if (said instanceof Duplex) said.on('error', () => undefined).once('data', () => said.end('\n'));
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

// A program's output in memory: its beginning and its end, however much it writes.

interface Output {
  /** Returns the total bytes so far. */
  take(chunk: Buffer): number;
  /** At most `most` characters from `offset` on. `total`: of the stored output. */
  read(offset: number, most: number): { readonly text: string; readonly total: number };
}

/** `kept`: bytes of the beginning, and of the end, that are stored. */
function createOutput(kept: number): Output {
  let head = Buffer.alloc(0);
  const tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  function text(): string {
    const end = Buffer.concat(tail);
    const shown = end.subarray(Math.max(0, end.length - kept));
    const left = total - head.length - shown.length;
    return head.toString('utf8') + (left > 0 ? `\n[… ${left} bytes were dropped …]\n` : '') + shown.toString('utf8');
  }
  return {
    take(chunk) {
      total += chunk.length;
      const room = kept - head.length;
      if (room > 0) head = Buffer.concat([head, chunk.subarray(0, room)]);
      if (chunk.length > room) {
        const rest = room > 0 ? chunk.subarray(room) : chunk;
        tail.push(rest);
        tailBytes += rest.length;
        while (tail.length > 1 && tailBytes - (tail[0]?.length ?? 0) >= kept) tailBytes -= tail.shift()?.length ?? 0;
      }
      return total;
    },
    read(offset, most) {
      const all = text();
      return { text: all.slice(offset, offset + most), total: all.length };
    },
  };
}

// A long-running program in a sandbox of its own. It is limited as commands are, but has an input
// and an output and no time limit. It sees the machine's folders that the person named for it, at
// their own paths.

/** `env` is its whole environment, except for the proxy variables. */
interface BoxedProgram extends Omit<ProgramStart, 'cwd'> {
  /** A folder on the relay's machine that it reads and writes. Created if missing. Null: none. */
  readonly folder: string | null;
  /** Read-only folders: where the program itself lies, if outside the system's. */
  readonly reads: readonly string[];
  readonly network: Network;
}

interface ProgramsDeps extends BoxDeps {
  /** Why no folder of the machine is shown, as a sentence. Null: named folders are. */
  readonly refuseFolders: string | null;
  /** No folder above, at or below one of these is shown, even if the person names it. */
  readonly hidden: readonly string[];
}

const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/'];

const within = (inner: string, outer: string) => inner === outer || inner.startsWith(outer === '/' ? '/' : `${outer}/`);

function refuseHidden(real: string, path: string, hidden: readonly string[]): void {
  if (hidden.some((each) => within(real, each) || within(each, real)))
    throw new Error(`${path} holds what is the relay’s own, or lies in it: no program in the sandbox is shown that`);
}

/** The real path of a path whose end may not exist yet. */
const whereItWouldLie = (path: string): Promise<string> =>
  realpath(path).catch(async () =>
    dirname(path) === path ? path : join(await whereItWouldLie(dirname(path)), basename(path)),
  );

/** The real path, with links resolved. Throws a sentence where it may not be shown. */
async function shown(path: string, hidden: readonly string[]): Promise<readonly [from: string, to: string]> {
  if (!isAbsolute(path)) throw new Error(`${path} is no whole path on the relay’s machine`);
  const real = await realpath(path).catch(() => {
    throw new Error(`there is no ${path} on the relay’s machine`);
  });
  refuseHidden(real, path, hidden);
  return [real, path];
}

/**
 * Rejects with a sentence where the program cannot be started. When it ends, everything that it
 * started is gone.
 */
async function startBoxed(
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
    // Checked before anything is created: nothing may be created inside the relay's own folders.
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
      program: { program: file, options: args },
      // Passed in the environment, not in the arguments: any user of the machine can list
      // arguments.
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

/** Why the run was ended. Null: it ended by itself. */
export type Cut = Excess | 'time' | 'output' | 'stopped' | 'withdrawn' | 'closing';

export interface SandboxEnd {
  /** Null: a signal, or `cut`. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly cut: Cut | null;
  /** ms. */
  readonly tookMs: number;
}

export interface SandboxRun {
  /** Never rejects. Everything that the run started is gone then. */
  readonly ended: Promise<SandboxEnd>;
  /** The output so far: at most `most` characters from `offset` on. */
  output(offset: number, most: number): { readonly text: string; readonly total: number };
  stop(why: Cut): void;
}

interface SandboxTask {
  /** On the relay's machine. Created if missing. */
  readonly folder: string;
  /**
   * The only part of the folder that it sees, held open until it has ended. Others may write in the
   * folder, so nothing runs where another folder has taken its place. Left out: all of it.
   */
  readonly part?: SeenPart | undefined;
  /** The arguments of `bash`. */
  readonly bash: readonly string[];
  readonly timeoutMs: number;
  /** An open file, which becomes descriptor 4. */
  readonly fd?: number;
  /** What it may still write in its folder. Left out: only the disk limits it. */
  readonly space?: Space;
  /** Left out: none. */
  readonly network?: Network;
  /** Hosts on the relay's own machine and networks, each named by the person. Left out: none. */
  readonly ownHosts?: readonly string[];
  /**
   * The person insists: without a sandbox on this machine the command runs outside one, as the user
   * who started the relay.
   */
  readonly bare?: boolean;
}

/** What a household's programs reach of the machine and its networks. */
interface SandboxReach {
  /** Addresses that any name may resolve to. */
  readonly addresses: MayConnect;
  /** Why no folder of the machine is shown, as a sentence. Null: named folders are. */
  readonly refuseFolders: string | null;
  /** In which its commands wait for their turn. Programs without a time limit take none. */
  readonly lane: Lane;
}

export interface Sandbox {
  /** Whether a sandbox works here. Tested once, by running something in it. */
  status(): Promise<SandboxStatus>;
  /** Rejects where there is no sandbox. */
  run(task: SandboxTask): Promise<SandboxRun>;
  /** As `run`, for a program that runs until it is ended. */
  start(program: BoxedProgram): Promise<Group>;
  /** The same sandbox, limited to the reach of one household. */
  within(household: SandboxReach): Sandbox;
  /** Ends everything that runs. */
  close(): Promise<void>;
}

/** `box` null: there is none. */
interface Found {
  readonly box: Box | null;
  readonly status: SandboxStatus;
}

/** Without a sandbox, only the limits that any shell can set apply. */
const BARE = 'ulimit -c 0; exec "$@"';
const bareEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TMPDIR', 'USER'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

interface SandboxDeps {
  /** Left out: of this process. */
  readonly platform?: NodeJS.Platform;
  /** Where programs are looked for. Left out: as in this process. */
  readonly path?: string;
  readonly limits?: SandboxLimits;
  /** Left out: the control groups that can be created here. */
  readonly cgroups?: () => Promise<Cgroups | null>;
  /** Left out: no network, whatever is granted. */
  readonly network?: NetworkDeps;
  /** The relay's own folders. No program sees them, even if the person names them. */
  readonly hidden?: readonly string[];
  /** Runs commands outside a sandbox where the person insists. */
  readonly processes?: Pick<Processes, 'start'>;
}

export function createSandbox({
  platform = process.platform,
  path = process.env['PATH'] ?? '',
  limits = SANDBOX_LIMITS,
  cgroups = () => findCgroups(limits),
  network: usual,
  processes = createProcesses(null),
  hidden = [],
}: SandboxDeps = {}): Sandbox {
  const running = new Set<SandboxRun & { readonly folder: string; readonly kin: Kin }>();
  let detection: Promise<Found> | null = null;
  let closed = false;
  /** Long-running programs that have not ended. */
  let programs = 0;

  /** Recorded on disk, so that the next relay can end what a killed one left running. */
  async function bare({ folder, part, bash }: SandboxTask): Promise<Boxed> {
    const group = await processes.start({
      command: '/bin/sh',
      // Bash takes a socket as its input for a remote shell, and would read the person's own
      // settings first.
      args: ['-c', BARE, 'sh', '/bin/bash', '--norc', ...bash],
      env: bareEnvironment(),
      cwd: part?.path ?? folder,
    });
    const { child, pid } = group;
    child.stdin?.end();
    return { group, child, kin: { root: pid, list: null }, ranOut: null, leave: () => Promise.resolve() };
  }

  async function boxed(box: Box, task: SandboxTask, reached: NetworkDeps | undefined): Promise<Boxed> {
    const { folder, part = null, bash, fd, network = 'none', ownHosts = [] } = task;
    return await begin(
      box,
      {
        sees: (seccompFd, wayOut) => bubbleArguments(folder, part, seccompFd, limits, wayOut),
        program: { program: '/bin/bash', options: bash },
        env: {},
        ...{ network, ownHosts, fd, part, input: 'ignore' },
      },
      { limits, network: reached },
    );
  }

  /** `box` null: outside a sandbox. */
  async function start(box: Box | null, task: SandboxTask, network: NetworkDeps | undefined): Promise<SandboxRun> {
    const { folder, timeoutMs, space } = task;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const output = createOutput(limits.keptOutput);
    const startedAt = performance.now();
    const { group, child, kin, ranOut, leave } = await (box ? boxed(box, task, network) : bare(task));
    let cut: Cut | null = null;
    const stop = (why: Cut) => {
      cut ??= why;
      group.signal('SIGKILL');
    };
    const take = (chunk: Buffer) => {
      if (output.take(chunk) > limits.output) stop('output');
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    const unwatch = watch({
      ...{ kin, ranOut, folder, space, limits },
      together: () => [...running].filter((one) => one.folder === folder).map((one) => one.kin),
      everyMs: limits.watchMs,
      onExcess: stop,
    });
    const timer = setTimeout(() => stop('time'), timeoutMs);

    const exited = new Promise<Pick<SandboxEnd, 'code' | 'signal'>>((resolve) => {
      child.once('exit', (code, signal) => {
        // The last output may still be in transit. A process that holds the output open ends with
        // the run.
        const late = setTimeout(() => resolve({ code, signal }), limits.watchMs);
        child.once('close', () => {
          clearTimeout(late);
          resolve({ code, signal });
        });
      });
    });
    const ended = exited.then(async ({ code, signal }): Promise<SandboxEnd> => {
      unwatch();
      clearTimeout(timer);
      group.signal('SIGKILL');
      running.delete(one);
      // The kernel may have killed it since the last check.
      if (code !== 0 && (await ranOut?.())) cut ??= 'memory';
      await leave();
      return { code: cut === null ? code : null, signal, cut, tookMs: performance.now() - startedAt };
    });
    const run: SandboxRun = { ended, output: output.read, stop };
    const one = { ...run, folder, kin };
    running.add(one);
    if (closed) stop('closing');
    return run;
  }

  async function detect(): Promise<Found> {
    const no = (why: string): Found => ({ box: null, status: { available: false, why } });
    const bubble = findBubble(path);
    const filtered = seccompProgram(process.arch, null) !== null;
    const lacks = missing({ platform, arch: process.arch, filtered, bubble });
    if (lacks !== null || bubble === null) return no(lacks ?? '');
    await removeLeftWaysOut();
    const box: Box = { bubble, cgroups: await cgroups() };
    const folder = await mkdtemp(join(tmpdir(), 'roost-sandbox-'));
    try {
      const task: SandboxTask = { folder, bash: ['-c', 'true'], timeoutMs: limits.probeMs };
      const run = await start(box, task, undefined);
      const { code } = await run.ended;
      const told = box.cgroups === null ? { watched: watched(limits) } : {};
      if (code === 0) return { box, status: { available: true, why: null, ...told } };
      const said = run.output(0, 300).text.trim();
      return no(broken(said === '' ? `bwrap ended with ${code ?? 'a signal'}` : said));
    } catch (error) {
      const said = errorMessage(error);
      return no(said === AS_ROOT ? said : broken(said));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const detected = () => (detection ??= detect());

  const within = (network: NetworkDeps | undefined, refuseFolders: string | null, lane: Lane): Sandbox => ({
    status: async () => (await detected()).status,
    async run(task) {
      const { box, status } = await detected();
      if (!box && !task.bare) throw new Error(status.why ?? sentence`There is no sandbox here.`);
      return await new Promise((begun, failed) => {
        // Its turn lasts until it has ended.
        const turn = lane(async () => {
          const run = await start(box, task, network);
          begun(run);
          await run.ended;
        });
        turn.catch(failed);
      });
    },
    async start(program) {
      const { box, status } = await detected();
      if (!box) throw new Error(status.why ?? sentence`There is no sandbox here.`);
      if (programs >= limits.programs)
        throw new Error(
          sentence`The relay runs ${limits.programs} programs, as many as it takes. Try again once one of them has ended.`,
        );
      programs += 1;
      try {
        const group = await startBoxed(box, program, { limits, network, refuseFolders, hidden });
        group.child.once('exit', () => (programs -= 1));
        return group;
      } catch (error) {
        programs -= 1;
        throw error;
      }
    },
    within: (household) =>
      within({ ...network, addresses: household.addresses }, household.refuseFolders, household.lane),
    async close() {
      closed = true;
      const all = [...running];
      for (const run of all) run.stop('closing');
      await Promise.all(all.map(({ ended }) => ended));
    },
  });
  return within(usual, null, (work) => work());
}
