/**
 * The sandbox: bash in a world that holds one folder, the system's programs, and nothing else: no home, no environment, no
 * other process, and of the network what the person has granted. What it takes is bounded, and it is ended as a whole. Linux
 * only, by bubblewrap.
 */
import { errorMessage } from '../../src/domain/platform/error-message.ts';
import { sentence } from '../../src/domain/sentence.ts';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxStanding } from '../../src/protocol/calls.ts';
import { createProcesses, startProgram, type Group, type Processes } from '../processes/index.ts';
import { boundedBy, bubbleArguments } from './bubble.ts';
import { createCgroup } from './cgroups.ts';
import type { Network } from '../../src/domain/network.ts';
import { openWayOut, removeLeftWaysOut, type NetworkDeps, type WayOut } from './network.ts';
import { AS_ROOT, broken, findBubble, missing } from './missing.ts';
import { createOutput } from './output.ts';
import { seccompProgram } from './seccomp.ts';
import { startBoxed, type BoxedProgram } from './program.ts';
import { SANDBOX_LIMITS, type SandboxLimits } from './settings.ts';
import { memoryOf } from './taken.ts';

export { WITHIN } from './settings.ts';

/** Why it was ended, where that was not by itself. */
export type Cut = 'time' | 'memory' | 'output' | 'room' | 'stopped' | 'withdrawn' | 'closing';

export interface SandboxEnd {
  /** Null: a signal, or `cut`. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly cut: Cut | null;
  /** ms */
  readonly tookMs: number;
}

export interface SandboxRun {
  /** Never rejects; all that it has started is gone then. */
  readonly ended: Promise<SandboxEnd>;
  /** What it has written so far: characters from `offset` on, at most `most`. */
  output(offset: number, most: number): { readonly text: string; readonly total: number };
  stop(why: Cut): void;
}

export interface SandboxTask {
  /** On the relay's machine; made where it is not there. */
  readonly folder: string;
  /** For `bash` as its arguments. */
  readonly bash: readonly string[];
  readonly timeoutMs: number;
  /** An open file that it finds as its fd 4. */
  readonly fd?: number;
  /** Bytes that it may still write in its folder; asked only where the disk has lost more than was there at first. */
  readonly room?: () => Promise<number>;
  /** Left out: none. */
  readonly network?: Network;
  /** The person insists: where there is no sandbox, it is run without one, as whoever started the relay. */
  readonly bare?: boolean;
}

export interface Sandbox {
  /** Whether there is one here; looked at once, by running something in it. */
  standing(): Promise<SandboxStanding>;
  /** Rejects where there is none. */
  run(task: SandboxTask): Promise<SandboxRun>;
  /** The same of a program that goes on until it is ended. */
  start(program: BoxedProgram): Promise<Group>;
  /** Ends all that runs. */
  close(): Promise<void>;
}

const SECCOMP_FD = 3;

/** What makes a sandbox: the program, and the calls of the kernel that are refused in it. */
interface Box {
  readonly bubble: string;
  readonly refused: Buffer;
}

/** Without a sandbox no more is bounded than a shell can bound of itself everywhere. */
const BARE = 'ulimit -c 0; exec "$@"';
const bareEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TMPDIR', 'USER'].flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

export interface SandboxDeps {
  /** Left out: of this process. */
  readonly platform?: NodeJS.Platform;
  /** Where programs are looked for; left out: as in this process. */
  readonly path?: string;
  readonly limits?: SandboxLimits;
  /** Left out: nothing is reached of it, whatever is granted. */
  readonly network?: NetworkDeps;
  /** Folders of the relay's own: shown to no program, whoever names them. */
  readonly hidden?: readonly string[];
  /** Runs what is insisted on where there is no sandbox. */
  readonly processes?: Pick<Processes, 'start'>;
}

export function createSandbox({
  platform = process.platform,
  path = process.env['PATH'] ?? '',
  limits = SANDBOX_LIMITS,
  network: reached,
  processes = createProcesses(null),
  hidden = [],
}: SandboxDeps = {}): Sandbox {
  const running = new Set<SandboxRun>();
  const refused = seccompProgram(process.arch);
  const isRoot = process.getuid?.() === 0;
  let known: Promise<SandboxStanding> | null = null;
  let closed = false;

  const boxed = (
    { bubble }: Box,
    { folder, bash, fd }: SandboxTask,
    { cgroups, wayOut }: { readonly cgroups: readonly string[]; readonly wayOut: string | null },
  ): ChildProcess =>
    startProgram(
      '/bin/sh',
      [
        '-c',
        // It stands in its groups before it becomes `bwrap`; their folders come first, up to a word that is none.
        'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"',
        'sh',
        ...cgroups,
        '--',
        bubble,
        ...bubbleArguments(folder, SECCOMP_FD, limits, wayOut),
        '--',
        '/bin/bash',
        '-c',
        boundedBy(limits, wayOut !== null),
        'bash',
        '/bin/bash',
        ...bash,
      ],
      {
        env: {},
        cwd: '/',
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(fd === undefined ? [] : [fd])],
      },
    );

  /** Written down, so that the next relay ends what one that was killed has left of it. */
  async function bare({ folder, bash }: SandboxTask): Promise<ChildProcess> {
    const { child } = await processes.start({
      command: '/bin/sh',
      // Bash takes the socket that is its input for a line from elsewhere, and would read the person's own settings first.
      args: ['-c', BARE, 'sh', '/bin/bash', '--norc', ...bash],
      env: bareEnvironment(),
      cwd: folder,
    });
    child.stdin?.end();
    return child;
  }

  /** `box` null: in none. */
  async function begin(box: Box | null, task: SandboxTask): Promise<SandboxRun> {
    const { folder, timeoutMs, room, network = 'none' } = task;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const cgroup = box ? await createCgroup(`roost-${randomUUID()}`, limits) : null;
    if (box && !cgroup && isRoot) throw new Error(AS_ROOT);
    const output = createOutput(limits.keptOutput);
    const startedAt = performance.now();
    const free = await statfs(folder).then(({ bavail, bsize }) => bavail * bsize);
    let wayOut: WayOut | null = null;
    let child: ChildProcess;
    const leave = () => Promise.all([cgroup?.remove(), wayOut?.close()]);
    try {
      if (box && network !== 'none' && reached) wayOut = await openWayOut(network, reached);
      child = box
        ? boxed(box, task, { cgroups: cgroup?.folders ?? [], wayOut: wayOut?.folder ?? null })
        : await bare(task);
    } catch (error) {
      await leave();
      throw error;
    }
    let cut: Cut | null = null;
    /** With the outer process the one within dies, and with that one, the first of its namespace, all others. */
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    };
    const stop = (why: Cut) => {
      cut ??= why;
      kill();
    };
    const take = (chunk: Buffer) => {
      if (output.take(chunk) > limits.output) stop('output');
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    const calls = child.stdio[SECCOMP_FD];
    if (box && calls && 'end' in calls) calls.on('error', () => undefined).end(box.refused);

    async function watch(): Promise<void> {
      if (child.pid !== undefined && !cgroup && (await memoryOf(child.pid)) > limits.memory) stop('memory');
      const { bavail, bsize } = await statfs(folder);
      const left = bavail * bsize;
      if (left < limits.keptFree) stop('room');
      else if (room && free - left > 0 && (await room()) <= 0) stop('room');
    }
    let watching = false;
    const watchdog = setInterval(() => {
      if (watching) return;
      watching = true;
      void watch()
        .catch(() => undefined)
        .finally(() => (watching = false));
    }, limits.watchMs);
    const timer = setTimeout(() => stop('time'), timeoutMs);

    const exited = new Promise<Pick<SandboxEnd, 'code' | 'signal'>>((resolve) => {
      child.once('error', ({ message }) => resolve({ code: null, signal: message }));
      child.once('exit', (code, signal) => {
        // What it wrote last may still be on its way; whatever holds its output open ends with it.
        const late = setTimeout(() => resolve({ code, signal }), limits.watchMs);
        child.once('close', () => {
          clearTimeout(late);
          resolve({ code, signal });
        });
      });
    });
    const ended = exited.then(async ({ code, signal }): Promise<SandboxEnd> => {
      clearInterval(watchdog);
      clearTimeout(timer);
      kill();
      running.delete(run);
      await leave();
      return { code: cut === null ? code : null, signal, cut, tookMs: performance.now() - startedAt };
    });
    const run: SandboxRun = { ended, output: output.read, stop };
    running.add(run);
    if (closed) stop('closing');
    return run;
  }

  async function look(): Promise<SandboxStanding> {
    const no = (why: string): SandboxStanding => ({ available: false, why });
    const bubble = findBubble(path);
    const lacks = missing({ platform, arch: process.arch, filtered: refused !== null, bubble });
    if (lacks !== null || bubble === null || refused === null) return no(lacks ?? '');
    await removeLeftWaysOut();
    const folder = await mkdtemp(join(tmpdir(), 'roost-sandbox-'));
    try {
      const run = await begin({ bubble, refused }, { folder, bash: ['-c', 'true'], timeoutMs: limits.probeMs });
      const { code } = await run.ended;
      if (code === 0) return { available: true, why: null };
      const said = run.output(0, 300).text.trim();
      return no(broken(said === '' ? `bwrap ended with ${code ?? 'a signal'}` : said));
    } catch (error) {
      const said = errorMessage(error);
      return no(said === AS_ROOT ? said : broken(said));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const standing = () => (known ??= look());

  return {
    standing,
    async run(task) {
      const { available, why } = await standing();
      const bubble = findBubble(path);
      if (available && bubble && refused) return await begin({ bubble, refused }, task);
      if (task.bare) return await begin(null, task);
      throw new Error(why ?? sentence`There is no sandbox here.`);
    },
    async start(program) {
      const { available, why } = await standing();
      const bubble = findBubble(path);
      if (!available || !bubble || !refused) throw new Error(why ?? sentence`There is no sandbox here.`);
      return await startBoxed({ bubble, refused }, program, { limits, network: reached, hidden });
    },
    async close() {
      closed = true;
      const all = [...running];
      for (const run of all) run.stop('closing');
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
