/** What the kernel says of the processes of this machine, by `/proc`. Linux only: elsewhere there are none. */
import { readdir, readFile } from 'node:fs/promises';

const PAGE = 4_096;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** When it began, in ticks since the machine did: with its number it is one process for good. */
  readonly since: string;
  /** Bytes that are resident. */
  readonly memory: number;
}

/** Null: there is none of this number. */
export async function processOf(pid: number): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (stat === null) return null;
  // Behind the program's name, which may hold anything; the state is the third field of proc(5), and the first here.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    parent: Number(fields[1]),
    group: Number(fields[2]),
    since: fields[19] ?? '',
    memory: Number(fields[21]) * PAGE,
  };
}

export async function allProcesses(): Promise<Process[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => processOf(Number(name))));
  return found.filter((each) => each !== null);
}
