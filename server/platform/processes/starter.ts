/**
 * The starter: a small process that starts short programs for the relay.
 *
 * A fork copies the page tables of its process. It takes 2 ms in a process of 50 MB, and 20 ms in a
 * relay of 300 MB, whose event loop stands still meanwhile. So the starter forks instead, and hands
 * over the ends of the pipes. It begins with the first program, and ends with the relay and all
 * that still runs. macOS starts programs without a fork, so there is no starter.
 *
 * Main function: `createStarter`.
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { Socket, type SocketConstructorOpts } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Invocation } from './invocation.ts';

/** A program in a process group of its own. */
export interface Program {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its exit code, once its output is closed. Null: a signal has ended it. */
  readonly closed: Promise<number | null>;
}
export type ProgramOptions = Required<Pick<SpawnOptions, 'cwd' | 'env'>>;

/**
 * The code of the starter. It is text, so it needs no file of its own, wherever the relay was
 * built. It reads nothing of a program’s output: that would be lost to the relay. Signals for all
 * processes of a terminal or a service are the relay’s to obey.
 */
const STARTER = `
  const { spawn } = require('node:child_process');
  const running = new Set();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, () => undefined);
  process.on('disconnect', () => {
    for (const pid of running)
      try {
        process.kill(-pid, 'SIGKILL');
      } catch {}
    process.exit();
  });
  const tell = (message, handle, sent = () => undefined) => {
    if (process.connected) process.send(message, handle, sent);
  };
  process.on('message', ({ id, program, words, options }) => {
    let child;
    try {
      child = spawn(program, words, { ...options, stdio: 'pipe', detached: true });
    } catch ({ message }) {
      return tell({ id, error: message });
    }
    child.on('error', ({ message }) => tell({ id, error: message }));
    const { pid } = child;
    if (pid === undefined) return;
    running.add(pid);
    for (const stream of child.stdio) {
      const handle = stream._handle;
      handle.readStop();
      stream._handle = null;
      tell({ id, pid }, handle, () => handle.close());
    }
    child.once('exit', (code) => {
      running.delete(pid);
      tell({ id, code });
    });
  });
`;
/** Its heap is small, and so is each fork. */
const SMALL = ['--max-semi-space-size=1', '--max-old-space-size=64'];
/** ms after which a starter that has started nothing is replaced. */
const START_MS = 30_000;

type Told = { readonly id: number } & (
  | { readonly pid: number }
  | { readonly code: number | null }
  | { readonly error: string }
);
interface Starting {
  readonly timer: NodeJS.Timeout;
  pid: number | null;
  /** The relay’s ends of its pipes, as they come. */
  readonly handles: unknown[];
  sockets: readonly Socket[];
  started(program: Program): void;
  failed(error: Error): void;
  ended(code: number | null): void;
}

const socketOf = (handle: unknown, nth: number): Socket =>
  new Socket({ handle, readable: nth > 0 } as SocketConstructorOpts).on('error', () => undefined);
const PIPES = 3;
const isClosed = (stream: Readable) => new Promise<void>((closed) => void stream.once('close', () => closed()));

/** `start`: starts the starter itself, and each program where there is none. */
export function createStarter(
  start: (invocation: Invocation, options: SpawnOptions) => ChildProcess,
  argumentsOf: (invocation: Invocation) => string[],
  platform: NodeJS.Platform = process.platform,
): (invocation: Invocation, options: ProgramOptions) => Promise<Program> {
  const programs = new Map<number, Starting>();
  let starter: ChildProcess | null = null;
  let count = 0;

  /** Sockets read as soon as they are made. So all are made once the caller can listen. */
  function add(program: Starting, pid: number, handle: unknown): void {
    program.pid = pid;
    if (program.handles.push(handle) < PIPES) return;
    clearTimeout(program.timer);
    program.sockets = program.handles.map(socketOf);
    const [stdin, stdout, stderr] = program.sockets;
    if (!stdin || !stdout || !stderr) return;
    const ended = new Promise<number | null>((end) => (program.ended = end));
    const closed = Promise.all([ended, isClosed(stdout), isClosed(stderr)]).then(([code]) => code);
    program.started({ pid, stdin, stdout, stderr, closed });
  }
  function end(id: number, program: Starting, code: number | null, why: string): void {
    programs.delete(id);
    // The relay may end by itself while no program runs.
    if (programs.size === 0) starter?.channel?.unref();
    clearTimeout(program.timer);
    program.failed(new Error(why));
    program.ended(code);
    if (program.sockets.length === 0) program.sockets = program.handles.map(socketOf);
    const [stdin, ...outputs] = program.sockets;
    stdin?.destroy();
    // What nobody reads would never be closed. Who reads it has begun by then.
    setImmediate(() => outputs.forEach((output) => output.resume()));
  }
  function take(told: Told, handle: unknown): void {
    const program = programs.get(told.id);
    if (!program) return;
    if ('pid' in told) add(program, told.pid, handle);
    else if ('error' in told) end(told.id, program, null, told.error);
    else end(told.id, program, told.code, 'its input and output were not handed over');
  }
  function begin(): ChildProcess {
    const begun = start(
      { program: process.execPath, options: [...SMALL, '-e', STARTER], mark: null },
      { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {}, cwd: '/', detached: true },
    );
    begun.unref();
    begun.on('message', (told, handle: unknown) => take(told as Told, handle));
    const ended = () => {
      if (starter === begun) starter = null;
      for (const [id, program] of programs) {
        if (program.pid !== null) endAll(program.pid);
        end(id, program, null, 'the process that starts programs has ended');
      }
    };
    begun.on('error', ended);
    begun.once('exit', ended);
    return begun;
  }

  return async (invocation, options) => {
    const words = argumentsOf(invocation);
    if (platform !== 'linux') return await startHere(start(invocation, { ...options, stdio: 'pipe', detached: true }));
    const helper = (starter ??= begin());
    helper.channel?.ref();
    const id = ++count;
    return await new Promise((started, failed) => {
      const timer = setTimeout(() => helper.kill('SIGKILL'), START_MS);
      programs.set(id, { timer, pid: null, handles: [], sockets: [], started, failed, ended: () => undefined });
      // Its end fails what it was not told.
      if (helper.connected) helper.send({ id, program: invocation.program, words, options }, () => undefined);
    });
  };
}

function endAll(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}

async function startHere(child: ChildProcess): Promise<Program> {
  const closed = new Promise<number | null>((ended) => void child.once('close', ended));
  await new Promise<void>((done, failed) => {
    child.once('spawn', () => done());
    child.once('error', failed);
  });
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr) throw new Error('it could not be started');
  return { pid, stdin, stdout, stderr, closed };
}
