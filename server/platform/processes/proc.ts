/**
 * What the kernel says of the processes of this machine, by `/proc`. Linux only: elsewhere there
 * are none.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { freemem } from 'node:os';

const PAGE = 4_096;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** When it began, in ticks since the machine did: with its number it is one process for good. */
  readonly since: string;
  /** Bytes that are resident. Of one whose first thread has ended: 0, whatever its others hold. */
  readonly memory: number;
  /** Its first thread has ended; others may run. */
  readonly ended: boolean;
}

/** Of a line as proc_pid_stat(5) says it. */
function processIn(pid: number, stat: string): Process {
  // Behind the program's name, which may hold anything; the state is the third field there, and the
  // first here.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    since: fields[19] ?? '',
    memory: Number(fields[21]) * PAGE,
    ended: fields[0] === 'Z' || fields[0] === 'X',
  };
}

/** Null: there is none of this number. */
export async function processOf(pid: number): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : processIn(pid, stat);
}

const numbersIn = (names: readonly string[]) => names.filter((name) => /^\d+$/.test(name)).map(Number);

export async function allProcesses(): Promise<Process[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(numbersIn(names).map(processOf));
  return found.filter((each) => each !== null);
}

// The same at once, for whoever must not be outrun: a process that hands all it has to a child and
// ends is gone a moment later.

export function processNow(pid: number): Process | null {
  try {
    return processIn(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Numbers of all that there are. */
export const processesNow = (): number[] => numbersIn(readdirSync('/proc'));

/**
 * Bytes of memory that a program could get without taking them from another, and bytes of free
 * swap.
 */
export async function memoryLeft(): Promise<{ readonly available: number; readonly swap: number }> {
  const told = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const bytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(told)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
  };
  return { available: bytes('MemAvailable') ?? freemem(), swap: bytes('SwapFree') ?? 0 };
}
