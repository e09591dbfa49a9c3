/**
 * The kernel's data about the processes of this machine, from `/proc`. Linux only: other systems
 * report no processes.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { freemem } from 'node:os';
import { z } from 'zod';

const PAGE = 4_096;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Start time, in ticks since boot. Together with its number, it identifies a process forever. */
  readonly since: string;
  /**
   * Resident bytes. 0 for a process whose first thread has ended, even if its other threads use
   * memory.
   */
  readonly memory: number;
  /** Its first thread has ended; others may run. */
  readonly ended: boolean;
}

/** Parses a line of proc_pid_stat(5). */
function processIn(pid: number, stat: string): Process {
  // The fields after the program's name, which may contain anything. The state is the third field
  // there and the first here.
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

/** Null: no process has this number. */
export async function processOf(pid: number): Promise<Process | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : processIn(pid, stat);
}

const numbersIn = (names: readonly string[]) => names.filter((name) => /^\d+$/.test(name)).map(Number);

async function allProcesses(): Promise<Process[]> {
  const names = await readdir('/proc').catch(() => []);
  const found = await Promise.all(numbersIn(names).map(processOf));
  return found.filter((each) => each !== null);
}

// The same, synchronous, for callers that must not be outrun. A process that passes its resources
// to a child and exits is gone a moment later.

export function processNow(pid: number): Process | null {
  try {
    return processIn(pid, readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return null;
  }
}

/** Numbers of all processes. */
export const processesNow = (): number[] => numbersIn(readdirSync('/proc'));

/**
 * Bytes of memory that a program could get without taking them from others, and bytes of free swap.
 */
export async function memoryLeft(): Promise<{ readonly available: number; readonly swap: number }> {
  const told = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const bytes = (name: string) => {
    const kilobytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(told)?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) * 1_024;
  };
  return { available: bytes('MemAvailable') ?? freemem(), swap: bytes('SwapFree') ?? 0 };
}

// Records of process groups. When a relay is killed, programs without a sandbox keep running, and
// the next relay ends them by these records. Process numbers are reused. So a group is identified
// by the start time of its first process, or by the mark in its environment. Linux only.

/** The variable that marks every process of a recorded group with that group. */
export const GROUP_MARK = 'ROOST_SCRIPT_RUN';

export const groupSchema = z.object({
  /**
   * Identifies the boot and the process namespace of the machine. Elsewhere the numbers mean other
   * processes.
   */
  machine: z.string(),
  /** The number of its first process and of the group. */
  pid: z.number().int().min(2),
  since: z.string().min(1),
  mark: z.string().min(1),
});
export type WrittenGroup = z.infer<typeof groupSchema>;

async function machine(): Promise<string | null> {
  try {
    const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
    return `${boot.trim()} ${await readlink('/proc/self/ns/pid')}`;
  } catch {
    // Only Linux has this file.
    return null;
  }
}

/** Null: its process has ended, or this system has no such data. */
export async function groupOf(pid: number, mark: string): Promise<WrittenGroup | null> {
  const [here, first] = await Promise.all([machine(), processOf(pid)]);
  return here === null || first === null ? null : { machine: here, pid, since: first.since, mark };
}

async function isMarked({ pid }: Process, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(`${GROUP_MARK}=${mark}`);
}

async function isOf({ pid, since, mark }: WrittenGroup, one: Process): Promise<boolean> {
  // Its first process may have ended and left this one behind.
  return one.pid === pid ? one.since === since : await isMarked(one, mark);
}

/**
 * Number of searches for processes that left the group. A process that starts another during a
 * search is found by the next.
 */
const ATTEMPTS = 5;

/**
 * Ends processes that have this mark and have left their group, as a daemon does (setsid(2)).
 * Processes that hide their environment are not found. True: there were some.
 */
export async function endMarked(mark: string): Promise<boolean> {
  let ended = false;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const others = (await allProcesses()).filter(({ pid }) => pid !== process.pid);
    const marked = await Promise.all(others.map((each) => isMarked(each, mark)));
    const left = others.filter((_each, i) => marked[i]);
    if (left.length === 0) break;
    for (const { pid } of left)
      try {
        process.kill(pid, 'SIGKILL');
        ended = true;
      } catch {
        // The process has already ended.
      }
  }
  return ended;
}

/** Ends the rest of a group. True: there was some. */
export async function endGroup(group: WrittenGroup): Promise<boolean> {
  if ((await machine()) !== group.machine) return false;
  const members = (await allProcesses()).filter((each) => each.group === group.pid);
  // While one of its processes exists, the group's number is not reused.
  const ours = await Promise.all(members.map((each) => isOf(group, each)));
  let ended = false;
  try {
    if (ours.includes(true)) ended = process.kill(-group.pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
  return (await endMarked(group.mark)) || ended;
}
