/**
 * Measures what the processes of a sandbox hold, from `/proc`.
 *
 * A process can pass all it holds to a child and exit within a millisecond. So each process is read
 * synchronously, in slices of a few ms that do not block the relay. A measurement repeats until it
 * finds no process that began meanwhile.
 */
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, statfsSync, statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { codeOf } from '../../platform/errors.ts';
import { processesNow, processNow, type Process } from '../../platform/processes/index.ts';

/** Identifies the processes of a sandbox. */
export interface Kin {
  /** The outermost process. */
  readonly root: number;
  /** Path of `cgroup.procs`. Null: there is no control group, so the process tree is used. */
  readonly list: string | null;
}

/** ms. */
const SLICE_MS = 5;
const ROUNDS = 10;
/** Bytes of a list of mappings that are read: some ten thousand lines. */
const MAPS_BYTES = 1_000_000;
/** Bytes of a block in stat(2). */
const BLOCK = 512;
/** The most that one socket buffers: twice the default of `net.core.wmem_max`. */
const SOCKET_BYTES = 425_984;
/** Kernel memory of one inode of a tmpfs, with its name. */
const INODE_BYTES = 1_200;

/** Yields to the event loop when a slice is over. */
function createBreath(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await nextTurn();
    since = performance.now();
  };
}

function numbersIn(list: string): number[] {
  try {
    return readFileSync(list, 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    // The group is gone with its last process.
    return [];
  }
}

/** Calls `visit` once for each process. Processes that begin meanwhile are included. */
async function eachMember({ root, list }: Kin, visit: (member: Process) => void): Promise<void> {
  const processes = new Map<number, Process | null>();
  const kin = new Set([root]);
  const processOf = (pid: number) => {
    const kin = processes.get(pid);
    if (kin !== undefined) return kin;
    const found = processNow(pid);
    processes.set(pid, found);
    return found;
  };
  function isKin(one: Process): boolean {
    if (kin.has(one.pid)) return true;
    const above = kin.has(one.parent) ? null : processOf(one.parent);
    const is = kin.has(one.parent) || (above !== null && above.pid > 1 && isKin(above));
    if (is) kin.add(one.pid);
    return is;
  }
  const breath = createBreath();
  const visited = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    let fresh = 0;
    for (const pid of list === null ? processesNow() : numbersIn(list)) {
      if (visited.has(pid)) continue;
      visited.add(pid);
      const one = processOf(pid);
      if (one === null || (list === null && !isKin(one))) continue;
      fresh += 1;
      visit(one);
      await breath();
    }
    if (fresh === 0) return;
  }
}

/**
 * The `/proc` path with the memory and descriptors of a process. If the first thread has exited,
 * another thread's path is used, since threads share both here (see `bubble.ts`).
 */
function placeOf({ pid, ended }: Process): string {
  const own = `/proc/${pid}`;
  if (!ended) return own;
  try {
    const other = readdirSync(`${own}/task`).find((thread) => Number(thread) !== pid);
    return other === undefined ? own : `${own}/task/${other}`;
  } catch {
    // The process is gone.
    return own;
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // The process has ended, or hides.
    return '';
  }
}

/** The paths of its descriptors. Null: the process hides them. */
function descriptorsOf(member: Process): readonly string[] | null {
  const folder = `${placeOf(member)}/fd`;
  try {
    return readdirSync(folder).map((name) => `${folder}/${name}`);
  } catch (error) {
    // A process that has just exited shows none either.
    const hides = codeOf(error) === 'EACCES' && !member.ended && processNow(member.pid)?.ended === false;
    return hides ? null : [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** The list of mappings, up to `MAPS_BYTES`. `whole`: nothing was cut off. */
function mappingsOf(place: string): { readonly lines: readonly string[]; readonly whole: boolean } {
  let file: number;
  try {
    file = openSync(`${place}/maps`, 'r');
  } catch {
    return { lines: [], whole: true };
  }
  try {
    const buffer = Buffer.alloc(MAPS_BYTES);
    let length = 0;
    for (let more = 1; more > 0 && length < MAPS_BYTES; length += more)
      more = readSync(file, buffer, length, MAPS_BYTES - length, null);
    return { lines: buffer.toString('latin1', 0, length).split('\n'), whole: length < MAPS_BYTES };
  } catch {
    // The process exited.
    return { lines: [], whole: true };
  } finally {
    closeSync(file);
  }
}

interface Mapping {
  readonly isShared: boolean;
  readonly device: string;
  readonly inode: string;
  readonly path: string;
  /** End of the mapping in the file, in bytes. */
  readonly end: number;
}
/** Parses a line of proc_pid_maps(5). Null: no file is mapped. */
function mappingIn(line: string): Mapping | null {
  const [, from, to, shared, offset, device, inode, path] =
    /^([\da-f]+)-([\da-f]+) ...(.) ([\da-f]+) ([\da-f]+:[\da-f]+) (\d+)\s+(.*)$/.exec(line) ?? [];
  if (from === undefined || to === undefined || offset === undefined || device === undefined) return null;
  if (inode === undefined || inode === '0' || path === undefined) return null;
  const hex = (text: string) => Number.parseInt(text, 16);
  return { isShared: shared === 's', device, inode, path, end: hex(to) - hex(from) + hex(offset) };
}

/** Bytes of the tmpfs mounts of a sandbox, with the kernel's own memory for their files. */
function inMemoryFiles(pid: number): number {
  let bytes = 0;
  for (const name of ['tmp', 'dev/shm'])
    try {
      const { blocks, bfree, bsize, files, ffree } = statfsSync(`/proc/${pid}/root/${name}`);
      bytes += (blocks - bfree) * bsize + Math.max(0, files - ffree) * INODE_BYTES;
    } catch {
      // The process has ended.
    }
  return bytes;
}

/**
 * A cheap estimate of the sandbox's memory, in bytes: resident pages and files in memory. Shared
 * pages count once for each process.
 */
export async function estimateOf(kin: Kin): Promise<number> {
  let bytes = 0;
  let inner: number | null = null;
  await eachMember(kin, (member) => {
    if (member.pid !== kin.root) inner = member.pid;
    if (!member.ended) return void (bytes += member.memory);
    const pages = /^\d+ (\d+)/.exec(read(`${placeOf(member)}/statm`))?.[1];
    bytes += Number(pages ?? 0) * 4_096;
  });
  return bytes + (inner === null ? 0 : inMemoryFiles(inner));
}

/**
 * Upper bound for the sandbox's memory, in bytes. Anonymous pages are counted exactly. A shared
 * anonymous mapping counts with its whole length, and a socket with its largest buffer, because
 * their contents cannot be measured. Page tables count too: a process fills them by reading
 * addresses that it never writes. `unreadMappings`: what a process counts if its list of mappings
 * is too long to read.
 */
export async function memoryOf(kin: Kin, unreadMappings: number): Promise<number> {
  let own = 0;
  const shared = new Map<string, number>();
  const sockets = new Set<string>();
  let inner: number | null = null;
  await eachMember(kin, (member) => {
    const place = placeOf(member);
    const rollup = read(`${place}/smaps_rollup`);
    const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? NaN);
    const anonymous = (kilobytes('Pss_Anon') || kilobytes('Pss')) + kilobytes('SwapPss');
    // A process that has exited since counts as it was when it was found.
    own += Number.isNaN(anonymous) ? member.memory : anonymous * 1_024;
    own += Number(/^VmPTE:\s+(\d+) kB$/m.exec(read(`${place}/status`))?.[1] ?? 0) * 1_024;
    const { lines, whole } = mappingsOf(place);
    if (!whole) own += unreadMappings;
    for (const line of lines) {
      const mapping = line.includes('/dev/zero') ? mappingIn(line) : null;
      if (!mapping?.isShared) continue;
      const name = `${mapping.device} ${mapping.inode}`;
      shared.set(name, Math.max(shared.get(name) ?? 0, mapping.end));
    }
    for (const link of (descriptorsOf(member) ?? []).map(linkOf)) if (link.startsWith('socket:')) sockets.add(link);
    if (member.pid !== kin.root) inner = member.pid;
  });
  const sharedBytes = [...shared.values()].reduce((all, bytes) => all + bytes, 0);
  return own + sharedBytes + sockets.size * SOCKET_BYTES + (inner === null ? 0 : inMemoryFiles(inner));
}

/** The device of stat(2) as proc_pid_maps(5) writes it. */
function deviceName(device: number): string {
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  const two = (number: number) => number.toString(16).padStart(2, '0');
  return `${two((device >>> 8) & 0xfff)}:${two(minor)}`;
}

export interface Unlinked {
  /** Bytes on the disk. */
  readonly bytes: number;
  /**
   * There may be more: a process hides its descriptors, or has sent some into a socket that nobody
   * reads.
   */
  readonly hidden: boolean;
}

/** Open files without a name. `device`: the disk, as in stat(2). */
export async function unlinkedOf(all: readonly Kin[], device: number): Promise<Unlinked> {
  const files = new Map<string, number>();
  let hidden = false;
  const onDisk = deviceName(device);
  function inspect(path: string): void {
    try {
      const found = statSync(path);
      if (found.isFile() && found.nlink === 0 && found.dev === device) files.set(`${found.ino}`, found.blocks * BLOCK);
      else if (found.isSocket() && /^scm_fds:\s*[1-9]/m.test(read(path.replace('/fd/', '/fdinfo/')))) hidden = true;
    } catch {
      // The file was closed meanwhile.
    }
  }
  for (const kin of all)
    await eachMember(kin, (member) => {
      const descriptors = descriptorsOf(member);
      if (descriptors === null) hidden = true;
      descriptors?.forEach(inspect);
      const { lines, whole } = mappingsOf(placeOf(member));
      if (!whole) hidden = true;
      for (const line of lines) {
        const mapping = line.endsWith(' (deleted)') ? mappingIn(line) : null;
        if (mapping?.device === onDisk && !files.has(mapping.inode)) files.set(mapping.inode, mapping.end);
      }
    });
  return { bytes: [...files.values()].reduce((sum, bytes) => sum + bytes, 0), hidden };
}

/** Resources that all programs of one user share. */
export interface Watching {
  readonly inotify: number;
  /** Pairs of an epoll instance and a descriptor of the same process. Each could be one watch. */
  readonly epollPairs: number;
}

export async function watchingOf(kin: Kin): Promise<Watching> {
  let epollPairs = 0;
  let inotify = 0;
  await eachMember(kin, (member) => {
    const links = (descriptorsOf(member) ?? []).map(linkOf);
    inotify += links.filter((link) => /^anon_inode:\[?(inotify|fanotify)/.test(link)).length;
    epollPairs += links.filter((link) => link === 'anon_inode:[eventpoll]').length * links.length;
  });
  return { inotify, epollPairs };
}
