/**
 * What the kernel says of the processes of this machine, by `/proc`. Linux only: elsewhere there
 * are none.
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

async function allProcesses(): Promise<Process[]> {
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

// Process groups as they are written down: a relay that is killed takes nothing with it that runs
// without a sandbox, and the next one ends it by what was written. A number is given to another
// process once it is free: so a group is known by when its first process began, or by the mark that
// it was given in its environment. Linux only.

/** In the environment of all that is written down: which group it is of. */
export const GROUP_MARK = 'ROOST_SCRIPT_RUN';

export const groupSchema = z.object({
  /**
   * Since when this machine is up, and among which processes: elsewhere the numbers are others'.
   */
  machine: z.string(),
  /** Of its first process, and of the group. */
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
    // Another system.
    return null;
  }
}

/** Null: its process has ended, or this system does not say. */
export async function groupOf(pid: number, mark: string): Promise<WrittenGroup | null> {
  const [here, first] = await Promise.all([machine(), processOf(pid)]);
  return here === null || first === null ? null : { machine: here, pid, since: first.since, mark };
}

async function isMarked({ pid }: Process, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
  return environment.split('\0').includes(`${GROUP_MARK}=${mark}`);
}

async function isOf({ pid, since, mark }: WrittenGroup, one: Process): Promise<boolean> {
  // Its first process may have ended, and left this one behind.
  return one.pid === pid ? one.since === since : await isMarked(one, mark);
}

/**
 * Looks for those that left the group: one that begins another meanwhile is found with the next
 * look.
 */
const LOOKS = 5;

/**
 * Ends what was begun with this mark and has left its group, as a daemon does (setsid(2)); what
 * hides its environment is not found. True: something was.
 */
export async function endMarked(mark: string): Promise<boolean> {
  let ended = false;
  for (let look = 0; look < LOOKS; look++) {
    const others = (await allProcesses()).filter(({ pid }) => pid !== process.pid);
    const marked = await Promise.all(others.map((each) => isMarked(each, mark)));
    const left = others.filter((_each, i) => marked[i]);
    if (left.length === 0) break;
    for (const { pid } of left)
      try {
        process.kill(pid, 'SIGKILL');
        ended = true;
      } catch {
        // It has ended by itself.
      }
  }
  return ended;
}

/** Ends what is left of it. True: something was. */
export async function endGroup(group: WrittenGroup): Promise<boolean> {
  if ((await machine()) !== group.machine) return false;
  const members = (await allProcesses()).filter((each) => each.group === group.pid);
  // While one of it is there, the group's number is nobody else's.
  const ours = await Promise.all(members.map((each) => isOf(group, each)));
  let ended = false;
  try {
    if (ours.includes(true)) ended = process.kill(-group.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
  return (await endMarked(group.mark)) || ended;
}
