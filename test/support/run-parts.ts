/**
 * Runs the parts of a program one after the other, each in a process of its own. So a part that
 * fails, breaks or hangs does not stop those after it, and leaves nothing running beside them.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface PartsRun {
  /** The program. Run with the name of a part and `--alone`, it runs that part and ends. */
  readonly program: string;
  readonly names: readonly string[];
  /** Further arguments for each part. */
  readonly args?: readonly string[];
  /** ms after which a part counts as hanging. Default: it may take any time. */
  readonly withinMs?: number;
}

/** Ends the part with all that it has started. */
function endAll(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

const seconds = (since: number) => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

/** Answers with the names of those that failed, in order; each has said why. */
export async function runParts({ program, names, args = [], withinMs }: PartsRun): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const name of names) {
    const began = performance.now();
    const command = ['--import', import.meta.resolve('tsx'), program, name, '--alone', ...args];
    // In a group of its own, which ends as a whole.
    const child = spawn(process.execPath, command, { stdio: 'inherit', detached: true });
    const stop = (signal: NodeJS.Signals) => {
      endAll(child);
      process.exit(signal === 'SIGINT' ? 130 : 143);
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
    let why = '';
    const limit =
      withinMs === undefined
        ? undefined
        : setTimeout(() => {
            why = `; it has not ended within ${withinMs / 1_000} s`;
            endAll(child);
          }, withinMs);
    await once(child, 'exit');
    clearTimeout(limit);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, stop);
    endAll(child);
    if (child.exitCode === 0) continue;
    failed.push(name);
    console.log(`✗ ${name} failed after ${seconds(began)}${why}\n`);
  }
  return failed;
}
