/**
 * Programs that run beside the relay for longer than one call: each in a process group of its own, which is written down in
 * the relay's folder before anything of it runs. A relay that was killed leaves them behind, and the next one on this folder
 * ends them by what was written, never by a name. Linux only: elsewhere nothing is written down, and a program ends when its
 * input does.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { endGroup, GROUP_MARK, groupOf, groupSchema } from './groups.ts';

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
  /** To its input. Rejects where it has ended; one that does not read holds up nobody but who waits for its answer. */
  write(text: string): Promise<void>;
}

export interface Processes {
  /** Rejects where there is no such program, as a sentence. Its group is struck out once its first process has ended and the rest was ended with it. */
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

/** `folder`: where groups are written down; null: nowhere. */
export function createProcesses(folder: string | null): Processes {
  return {
    async start({ command, args, env, cwd }) {
      const file = programAt(command, env['PATH']);
      if (file === null) throw new Error(`there is no program “${command}” on this machine, or it may not be run`);
      const mark = randomUUID();
      const written = folder !== null && process.platform === 'linux';
      const child = spawn(written ? '/bin/sh' : file, written ? ['-c', GATE, 'sh', file, ...args] : args, {
        ...(cwd === undefined ? {} : { cwd }),
        detached: true,
        stdio: ['pipe', 'pipe', 'pipe', ...(written ? ['pipe' as const] : [])],
        env: { ...env, [GROUP_MARK]: mark },
      });
      await new Promise<void>((begun, failed) => {
        child.once('spawn', () => begun());
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
      const note = written ? join(folder, `${mark}.json`) : null;
      child.once('exit', () => {
        // What it left behind in its group ends with it.
        signal('SIGKILL');
        // Whoever finds the note after a kill in between ends nobody: its mark is no one's.
        if (note !== null) void rm(note, { force: true });
      });
      if (note !== null) {
        try {
          const group = await groupOf(pid, mark);
          await mkdir(folder ?? '', { recursive: true, mode: 0o700 });
          if (group !== null) await writeFile(note, JSON.stringify(group), { mode: 0o600 });
        } catch (error) {
          signal('SIGKILL');
          throw error;
        }
        // Where the relay dies before this, nobody says the line, and it ends by itself.
        const go = child.stdio[GO_FD];
        if (go && 'end' in go) go.on('error', () => undefined).end('\n');
      }
      const write = (text: string) =>
        new Promise<void>((sent, failed) => {
          const input = child.stdin;
          if (!input?.writable) return failed(new Error('it has ended'));
          input.write(text, (error) => (error ? failed(error) : sent()));
        });
      return { pid, child, signal, write };
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
