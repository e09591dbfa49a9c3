/**
 * Programs that run beside the relay for longer than one call.
 *
 * Each program has a process group of its own. The relay writes the group down in its folder
 * before anything of the program runs.
 *
 * Main function: `startProgram` and its neighbours; `lines.ts` reads what a program writes line by
 * line.
 *
 * Invariants:
 * - Nothing else in the relay starts a program. Lint holds that.
 * - A relay that was killed ends, on its next start, what it had left running. It ends a group
 *   only while that is still the group it started.
 * - What a program writes is bounded, per line and in all.
 *
 * It does not know what a program is for.
 */
import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { accessSync, closeSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { endGroup, endMarked, GROUP_MARK, groupOf, groupSchema } from './proc.ts';
export { memoryLeft, processNow, processOf, processesNow, type Process } from './proc.ts';

// The one place where the relay starts programs. Lint refuses `node:child_process` elsewhere in
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
    // It was closed since it was listed. The listing itself used one.
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

/** As `spawn`. */
export function startProgram(file: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  // The relay did so at its start. A test or a benchmark that uses one part of it did not.
  closeInherited();
  return spawn(file, args, options);
}

/** What it waits for before it begins: a line. */
const GO_FD = 3;
const GATE = `read -r _ <&${GO_FD} && exec ${GO_FD}<&- && exec "$@"`;

export interface ProgramStart {
  readonly command: string;
  readonly args: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface Group {
  readonly pid: number;
  readonly child: ChildProcess;
  /** To all that is in it; nothing where it has ended. */
  signal(name: NodeJS.Signals): void;
  /**
   * To its input. Rejects where it has ended; one that does not read holds up nobody but who waits
   * for its answer.
   */
  write(text: string): Promise<void>;
}

export interface Processes {
  /**
   * Rejects where there is no such program, as a sentence. Its group is struck out once its first
   * process has ended and the rest was ended with it.
   */
  start(program: ProgramStart): Promise<Group>;
  /** Ends what a relay that died has left. Resolves with how many groups that were. */
  endLeft(): Promise<number>;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    // It is not there, or may not be run.
    return false;
  }
}

/** Where a command lies, as a shell would look for it on `path`; null: nowhere. */
export function programAt(command: string, path = process.env['PATH'] ?? ''): string | null {
  if (command.includes('/') || isAbsolute(command)) {
    const file = resolve(command);
    return isProgram(file) ? file : null;
  }
  const files = path.split(delimiter).flatMap((folder) => (folder === '' ? [] : [join(folder, command)]));
  return files.find(isProgram) ?? null;
}

/** There is no such program on this machine, or it may not be run. */
export class NoProgramError extends Error {
  constructor(command: string) {
    super(`there is no program “${command}” on this machine, or it may not be run`);
  }
}

/** Where it lies; throws `NoProgramError`. */
export function programFor({ command, env }: Pick<ProgramStart, 'command' | 'env'>): string {
  const file = programAt(command, env['PATH']);
  if (file === null) throw new NoProgramError(command);
  return file;
}

/**
 * Resolves when this process, the first of a group of its own, has begun; rejects where it cannot.
 * With its end all of its group ends.
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
      // The whole group has ended by itself.
    }
  };
  // What it left behind in its group ends with it.
  child.once('exit', () => signal('SIGKILL'));
  const write = (text: string) =>
    new Promise<void>((sent, failed) => {
      const input = child.stdin;
      if (!input?.writable) return failed(new Error('it has ended'));
      input.write(text, (error) => (error ? failed(error) : sent()));
    });
  return { pid, child, signal, write };
}

/** `folder`: where groups are written down; null: nowhere. */
export function createProcesses(folder: string | null): Processes {
  return {
    async start({ command, args, env, cwd }) {
      const file = programFor({ command, env });
      const mark = newId();
      const noted = folder !== null && process.platform === 'linux';
      const child = startProgram(noted ? '/bin/sh' : file, noted ? ['-c', GATE, 'sh', file, ...args] : args, {
        ...(cwd === undefined ? {} : { cwd }),
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', ...(noted ? ['pipe' as const] : [])],
        env: { ...env, [GROUP_MARK]: mark },
      });
      const group = await begun(child);
      const note = noted ? join(folder, `${mark}.json`) : null;
      child.once('exit', () => {
        void endMarked(mark).catch(() => undefined);
        // Whoever finds the note after a kill in between ends nobody: its mark is no one's.
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
        // Where the relay dies before this, nobody says the line, and it ends by itself.
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
        await rm(note, { force: true });
      }
      return ended;
    },
  };
}

/** Null: a relay died while it wrote it, before the program began. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
