/**
 * Programs that run beside the relay for longer than one call.
 *
 * Each program has a process group of its own. The relay records the group in its folder before any
 * of the program runs.
 *
 * Main function: `startProgram` and its neighbours. `starter.ts` starts short programs without
 * holding up the relay. `invocation.ts` keeps options and operands apart. `lines.ts` reads a
 * program's output line by line.
 *
 * Invariants:
 * - Nothing else in the relay starts a program. Lint enforces that.
 * - After a kill, the relay's next start ends the groups that were left running. It ends a group
 *   only while that is still the group it started.
 * - A program's output is limited, per line and in total.
 *
 * It does not know what a program is for.
 */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { accessSync, closeSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { endGroup, endMarked, GROUP_MARK, groupOf, groupSchema } from './proc.ts';
import { argumentsOf, type Invocation } from './invocation.ts';
import { createStarter } from './starter.ts';
export { ArgumentError, type Invocation } from './invocation.ts';
export { memoryLeft, processNow, processOf, processesNow, type Process } from './proc.ts';

// The only place where the relay starts programs. Lint refuses `node:child_process` elsewhere in
// `server`. A program gets only the descriptors that its start names, and none that the relay
// inherited.

/** Input, output and errors. Each start sets them. */
const OWN = 2;
/** `O_CLOEXEC` in the `flags` of proc_pid_fdinfo(5). */
const CLOSE_ON_EXEC = 0o2000000;
const DESCRIPTORS = '/proc/self/fd';

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // The descriptor was closed after it was listed. The listing itself used one.
    return false;
  }
}

let closed = false;

/**
 * Closes inherited descriptors. Node marks everything that it opens as close-on-exec, and the first
 * sixteen that it inherits. So an unmarked descriptor was inherited. An open folder leads out of
 * every sandbox (openat(2)). macOS needs nothing: libuv passes no descriptor on there
 * (POSIX_SPAWN_CLOEXEC_DEFAULT).
 */
export function closeInherited(): void {
  if (closed || process.platform !== 'linux') return;
  closed = true;
  for (const name of readdirSync(DESCRIPTORS)) {
    const descriptor = Number(name);
    if (descriptor > OWN && isInherited(descriptor)) closeSync(descriptor);
  }
}

/** As `spawn`. Throws `ArgumentError`, and starts nothing then. */
export function startProgram(invocation: Invocation, options: SpawnOptions): ChildProcess {
  // The relay did this at its start. A test or a benchmark of one part did not.
  closeInherited();
  return spawn(invocation.program, argumentsOf(invocation), options);
}

/** Starts a short program without holding up the event loop. Rejects with `ArgumentError`. */
export const startShort = createStarter(startProgram, argumentsOf);

/** The program waits for a line on this descriptor before it begins. */
const GO_FD = 3;
const GATE = `read -r _ <&${GO_FD} && exec ${GO_FD}<&- && exec "$@"`;

export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Group {
  readonly pid: number;
  readonly child: ChildProcess;
  /** Signals all processes of the group. Does nothing if it has ended. */
  signal(name: NodeJS.Signals): void;
  /**
   * Writes to its input. Rejects if the program has ended. A program that does not read delays only
   * the caller that awaits this.
   */
  write(text: string): Promise<void>;
}

export interface Processes {
  /**
   * Rejects with a sentence if there is no such program. The group's record is deleted once its
   * first process has ended and the rest was ended with it.
   */
  start(program: ProgramStart): Promise<Group>;
  /** Ends the groups that a dead relay left. Resolves with their number. */
  endLeft(): Promise<number>;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // The file is missing or not executable.
    return false;
  }
}

/** The path of a command, found on `path` like a shell does; null: not found. */
export function programAt(command: string, path = process.env['PATH'] ?? ''): string | null {
  if (command.includes('/') || isAbsolute(command)) {
    const file = resolve(command);
    return isProgram(file) ? file : null;
  }
  const files = path.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, command)]));
  return files.find(isProgram) ?? null;
}

/** The program is not on this machine, or is not executable. */
export class NoProgramError extends Error {
  constructor(command: string) {
    super(`there is no program “${command}” on this machine, or it cannot be executed`);
  }
}

/** The program's path. Throws `NoProgramError`. */
export function programFor({ command, env }: Pick<ProgramStart, 'command' | 'env'>): string {
  const file = programAt(command, env['PATH']);
  if (file === null) throw new NoProgramError(command);
  return file;
}

/**
 * Resolves when this process, the first of a group of its own, has started. Rejects if it cannot
 * start. When it ends, its whole group ends.
 */
export async function begun(child: ChildProcess): Promise<Group> {
  await new Promise<void>((done, failed) => {
    child.once('spawn', () => done());
    child.once('error', failed);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('it could not be started');
  const signal = (name: NodeJS.Signals) => {
    try {
      process.kill(-pid, name);
    } catch {
      // The whole group has already ended.
    }
  };
  // The rest of the group ends with its first process.
  child.once('exit', () => signal('SIGKILL'));
  const write = (text: string) =>
    new Promise<void>((sent, failed) => {
      const input = child.stdin;
      if (!input?.writable) return failed(new Error('it has ended'));
      input.write(text, (error) => (error ? failed(error) : sent()));
    });
  return { pid, child, signal, write };
}

/** `folder`: where groups are recorded; null: nowhere. */
export function createProcesses(folder: string | null): Processes {
  return {
    async start({ command, args, env, cwd }) {
      const file = programFor({ command, env });
      const mark = newId();
      const noted = folder !== null && process.platform === 'linux';
      const starting = { program: file, options: args };
      const gated = { program: '/bin/sh', options: ['-c', GATE, 'sh'], mark: null, runs: starting };
      const child = startProgram(noted ? gated : starting, {
        ...(cwd === undefined ? {} : { cwd }),
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', ...(noted ? ['pipe' as const] : [])],
        env: { ...env, [GROUP_MARK]: mark },
      });
      const group = await begun(child);
      const note = noted ? join(folder, `${mark}.json`) : null;
      child.once('exit', () => {
        void endMarked(mark).catch(() => undefined);
        // If the relay is killed in between, the record's mark belongs to no process, so it ends
        // none.
        if (note !== null) void rm(note, { force: true });
      });
      if (note !== null) {
        try {
          const written = await groupOf(group.pid, mark);
          await mkdir(folder ?? '', { recursive: true, mode: 0o700 });
          if (written !== null) await writeFile(note, JSON.stringify(written), { mode: 0o600 });
        } catch (error) {
          group.signal('SIGKILL');
          throw error;
        }
        // If the relay dies before this, the line never comes, and the program ends by itself.
        const go = child.stdio[GO_FD];
        if (go && 'end' in go) go.on('error', () => undefined).end('\n');
      }
      return group;
    },
    async endLeft() {
      if (folder === null) return 0;
      const notes = await readdir(folder).catch(() => []);
      let ended = 0;
      for (const name of notes) {
        const note = join(folder, name);
        const group = groupSchema.safeParse(await readFile(note, 'utf8').then(parsed, () => null));
        if (group.success && (await endGroup(group.data))) ended += 1;
        await rm(note, { force: true, recursive: true });
      }
      return ended;
    },
  };
}

/** Null: a relay died while it wrote the record, before the program began. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
