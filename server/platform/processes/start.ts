/**
 * The one place where the relay starts programs. Lint refuses `node:child_process` elsewhere in
 * `server`. A program gets only the descriptors that its start names, and none that the relay
 * inherited.
 */
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';

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
