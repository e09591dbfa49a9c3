/**
 * Every program that the relay starts is started here; lint refuses `node:child_process` elsewhere in `server`. Nothing
 * reaches a program but what its start names: no descriptor that whoever started the relay had left open.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** The first three are input, output and errors: the start of a program says what they are. */
const OWN = 2;
/** In the `flags` of proc_pid_fdinfo(5): it is closed where another program begins. */
const CLOSE_ON_EXEC = 0o2000000;
const DESCRIPTORS = '/proc/self/fd';

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    // It was closed since it was listed: the listing itself has one.
    return false;
  }
}

let closed = false;

/**
 * Closes what this process was started with and does not know of. Node marks all that it opens as closed on exec, and of what
 * it inherits the first sixteen; what is not marked is somebody else's. An open folder is a way out of every sandbox (openat(2)).
 * On macOS libuv starts programs without any (POSIX_SPAWN_CLOEXEC_DEFAULT).
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
  // The relay has done so at its start; a process that uses a part of it has not.
  closeInherited();
  return spawn(file, args, options);
}
