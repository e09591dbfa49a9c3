/**
 * The arguments of bubblewrap (`bwrap`): a new root in memory with the system's programs read-only,
 * one writable folder, and separate namespaces for users, processes, network and the rest. Nothing
 * else of the machine is visible.
 *
 * Why not `@anthropic-ai/sandbox-runtime`: it shows the whole disk except for named parts, has one
 * policy per process, needs ripgrep and socat beside bubblewrap, and limits neither memory nor
 * processes nor files. Its calls of `bwrap` are the same.
 */
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { delimiter, join } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { type SandboxLimits, WITHIN } from './settings.ts';
import { SOCKET } from './network.ts';

// Why commands are off without a sandbox, and what the person can do: sentences for them.

/** Path of `bwrap` in this search path. Null: not found. */
export const findBubble = (path: string): string | null =>
  path
    .split(delimiter)
    .filter(Boolean)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => existsSync(file)) ?? null;

/** Names for people. */
const SYSTEMS: Readonly<Record<string, string>> = { darwin: 'macOS', win32: 'Windows', freebsd: 'FreeBSD' };

/** Null: nothing rules out a sandbox, but it has not been tried yet. */
export function missing({
  platform,
  arch,
  filtered,
  bubble,
}: {
  readonly platform: string;
  readonly arch: string;
  /** System calls can be filtered on this processor. */
  readonly filtered: boolean;
  readonly bubble: string | null;
}): string | null {
  if (platform !== 'linux' || !filtered)
    return sentence`Commands are off: their sandbox needs Linux on an x64 or arm64 processor, and this is ${SYSTEMS[platform] ?? platform} on ${arch}. A virtual machine is enough.`;
  if (bubble === null)
    return sentence`Commands are off: their sandbox needs bubblewrap, which is not installed. Install it (for example “apt install bubblewrap”), and restart the relay.`;
  return null;
}

export const AS_ROOT = sentence`Commands are off: the relay runs as root, and cannot create control groups to limit processes. Start the relay as an ordinary user.`;

/** There is a sandbox, but no control group. */
export const watched = (limits: Pick<SandboxLimits, 'memory' | 'watchMs'>): string =>
  sentence`The kernel does not limit the memory of commands, because the relay may not create control groups. The relay checks every ${limits.watchMs / 1_000} s, and kills a command that uses more than ${limits.memory / 1_000_000_000} GB. To let the kernel do it, start the relay with “systemd-run --user --scope npm start”.`;

/**
 * `bwrap` could not start: the kernel or its administrator allows ordinary programs no namespaces.
 */
const NAMESPACES = /namespace|uid map|uid_map|setuid|RTM_NEWADDR|Operation not permitted|Permission denied/i;

/** A trial failed with this output. */
export const broken = (said: string): string =>
  NAMESPACES.test(said)
    ? sentence`Commands are off: their sandbox does not start, because this system does not let ordinary programs create namespaces (${said}). On Ubuntu 23.10 and later, an AppArmor profile for bwrap allows it, which “npm start doctor” prints. In a container, allow it when you start the container. Then start the relay again.`
    : sentence`Commands are off: their sandbox does not start (${said}).`;

// System calls that the sandbox refuses, as a program for seccomp(2) that `bwrap --seccomp` reads.
// Some reach what has no namespace: keys, other machines by VSOCK, tracing, clocks. Some are the
// first step of an escape. Some hold memory or files where `held.ts` cannot count them.

/** By architecture: its mark in `seccomp_data`, and system call numbers (asm/unistd.h). */
const MACHINES = {
  x64: {
    mark: 0xc000_003e,
    // keys; tracing and bpf; io_uring; modules and kexec; mounts; handles; namespaces; swap, power,
    // log, quotas, ports, clock
    refused: [
      248, 249, 250, 298, 321, 323, 425, 426, 427, 175, 176, 313, 246, 320, 155, 165, 166, 428, 429, 430, 431, 432, 433,
      442, 303, 304, 272, 308, 163, 167, 168, 169, 103, 172, 173, 179, 227,
    ],
    ...{ socket: 41, clone: 56, prctl: 157, shmget: 29, semget: 64 },
    // memfd_create, memfd_secret, msgget, vmsplice
    uncounted: [319, 447, 68, 278],
  },
  arm64: {
    mark: 0xc000_00b7,
    refused: [
      217, 218, 219, 241, 280, 282, 425, 426, 427, 105, 106, 273, 104, 294, 41, 40, 39, 428, 429, 430, 431, 432, 433,
      442, 264, 265, 97, 268, 89, 224, 225, 142, 116, 60, 112,
    ],
    ...{ socket: 198, clone: 220, prctl: 167, shmget: 194, semget: 190 },
    uncounted: [279, 447, 186, 75],
  },
} as const;
/** The same numbers on every architecture. */
const [CLONE3, CLOSE_RANGE] = [435, 436];

/**
 * Unix, IPv4, IPv6 and netlink, all within its own empty network. VSOCK has no namespace: it would
 * reach the host of the machine.
 */
const FAMILIES = [1, 2, 10, 16];
/** Constants of clone(2), close_range(2) and prctl(2). */
const [CLONE_THREAD, CLONE_FILES] = [0x1_0000, 0x400];
const CLOSE_RANGE_UNSHARE = 2;
const [SET_DUMPABLE, DUMPABLE] = [4, 1];

const [LOAD, EQUAL, AT_LEAST, AND, RETURN] = [0x20, 0x15, 0x35, 0x54, 0x06];
const [NUMBER, MARK] = [0, 4];
/** Offset of an argument, and of its upper half. */
const argument = (nth: number) => 16 + 8 * nth;
const upper = (nth: number) => argument(nth) + 4;
const [KILL, ALLOW] = [0x8000_0000, 0x7fff_0000];
const errno = (number: number) => 0x0005_0000 | number;
const [EPERM, ENOMEM, ENOSYS, EAFNOSUPPORT] = [1, 12, 38, 97];
/** Numbers from here on are calls of the other pointer size. */
const X32 = 0x4000_0000;

/** Code, jump where true, jump where false, operand. */
type Step = readonly [number, number, number, number];

/**
 * `steps` run only for this call, and each way through them returns. The steps after them find the
 * call's number loaded.
 */
const where = (call: number, steps: readonly Step[]): Step[] => [[EQUAL, 0, steps.length, call], ...steps];
const refuse = (calls: readonly number[], error: number) =>
  calls.flatMap((call) => where(call, [[RETURN, 0, 0, errno(error)]]));
/** Refuses the call if its second argument is larger. `bits`: the length of that argument. */
const bounded = (call: number, most: number, bits: 32 | 64): Step[] =>
  where(call, [
    ...(bits === 64
      ? ([
          [LOAD, 0, 0, upper(1)],
          [EQUAL, 0, 2, 0],
        ] satisfies Step[])
      : []),
    [LOAD, 0, 0, argument(1)],
    [AT_LEAST, 0, 1, most + 1],
    [RETURN, 0, 0, errno(ENOMEM)],
    [RETURN, 0, 0, ALLOW],
  ]);

/**
 * Null: this architecture is not supported. `limits` null: a control group counts the memory, so
 * more is allowed.
 */
export function seccompProgram(
  machine: string,
  limits: Pick<SandboxLimits, 'segment' | 'semaphores'> | null,
): Buffer | null {
  if ((machine !== 'x64' && machine !== 'arm64') || endianness() !== 'LE') return null;
  const { mark, socket, clone, prctl, shmget, semget, refused, uncounted } = MACHINES[machine];
  const steps: Step[] = [
    [LOAD, 0, 0, MARK],
    [EQUAL, 1, 0, mark],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, errno(ENOSYS)],
    ...refuse(refused, EPERM),
    // A filter cannot read its arguments, which are in memory. Programs fall back to clone(2).
    ...refuse([CLONE3], ENOSYS),
    // A thread must share the descriptors of its process: `held.ts` reads one table for each
    // process.
    ...where(clone, [
      [LOAD, 0, 0, argument(0)],
      [AND, 0, 0, CLONE_THREAD | CLONE_FILES],
      [EQUAL, 0, 1, CLONE_THREAD],
      [RETURN, 0, 0, errno(EPERM)],
      [RETURN, 0, 0, ALLOW],
    ]),
    ...where(CLOSE_RANGE, [
      [LOAD, 0, 0, argument(2)],
      [AND, 0, 0, CLOSE_RANGE_UNSHARE],
      [EQUAL, 1, 0, 0],
      [RETURN, 0, 0, errno(EPERM)],
      [RETURN, 0, 0, ALLOW],
    ]),
    // No process may hide its descriptors from the relay.
    ...where(prctl, [
      [LOAD, 0, 0, argument(0)],
      [EQUAL, 0, 3, SET_DUMPABLE],
      [LOAD, 0, 0, argument(1)],
      [EQUAL, 1, 0, DUMPABLE],
      [RETURN, 0, 0, errno(EPERM)],
      [RETURN, 0, 0, ALLOW],
    ]),
    ...(limits === null
      ? []
      : [
          ...refuse(uncounted, ENOSYS),
          ...bounded(shmget, limits.segment, 64),
          ...bounded(semget, limits.semaphores, 32),
        ]),
    ...where(socket, [
      [LOAD, 0, 0, argument(0)],
      ...FAMILIES.map((family, i): Step => [EQUAL, FAMILIES.length - i, 0, family]),
      [RETURN, 0, 0, errno(EAFNOSUPPORT)],
      [RETURN, 0, 0, ALLOW],
    ]),
    [RETURN, 0, 0, ALLOW],
  ];
  const program = Buffer.alloc(steps.length * 8);
  steps.forEach(([code, yes, no, operand], i) => {
    program.writeUInt16LE(code, i * 8);
    program.writeUInt8(yes, i * 8 + 2);
    program.writeUInt8(no, i * 8 + 3);
    program.writeUInt32LE(operand >>> 0, i * 8 + 4);
  });
  return program;
}

/** Links into `/usr` on most current systems, folders on others. */
const TOP = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
/** Files that programs need to run at all. None contains secrets. */
const ETC = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'fonts', 'localtime', 'mime.types', 'magic'];
/** Certificates that programs need for network connections. */
const TRUST = ['ssl/certs', 'ssl/openssl.cnf', 'ca-certificates', 'pki/ca-trust', 'pki/tls', 'crypto-policies'];
const PATH = '/usr/local/bin:/usr/bin:/bin';

function topFolders(): string[] {
  return TOP.flatMap((name) => {
    const path = `/${name}`;
    try {
      return lstatSync(path).isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
    } catch {
      // This system has none.
      return [];
    }
  });
}

/** In a sandbox with a network: the relay's socket, and the program that connects to it. */
const NET = '/run/roost/net';
const NODE = '/run/roost/node';
const PORT = 3128;
const PROXY = `http://127.0.0.1:${PORT}`;
/** Both spellings are in use. The last variable is for Node's own `fetch`. */
const PROXIED = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/** `wayOut`: the folder of its socket. */
const networkArguments = (wayOut: string): string[] => [
  ...['--ro-bind', process.execPath, NODE, '--ro-bind', wayOut, NET],
  ...TRUST.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ...PROXIED.flatMap((name) => ['--setenv', name, PROXY]),
  ...['--setenv', 'NODE_USE_ENV_PROXY', '1'],
];

const size = (bytes: number) => ['--size', String(bytes)];
/** No privileges, no other process, no network, the system's programs, and nothing else. */
const nothing = (seccompFd: number, limits: SandboxLimits): string[] => [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  // No nested user namespaces: most escapes begin with privileges in one.
  '--disable-userns',
  ...['--uid', '1000', '--gid', '1000', '--hostname', 'sandbox'],
  ...['--cap-drop', 'ALL', '--new-session', '--die-with-parent'],
  ...['--seccomp', String(seccompFd)],
  ...['--ro-bind', '/usr', '/usr', ...topFolders()],
  ...ETC.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ...['--proc', '/proc', '--dev', '/dev'],
  ...[...size(limits.shared), '--tmpfs', '/dev/shm', ...size(limits.temporary), '--tmpfs', '/tmp'],
];
/**
 * File systems in memory have a size limit, or are read-only. The kernel's settings are read-only
 * too: where the relay runs as root, the kernel treats every writer inside as root.
 */
const CLOSED = ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'];

/** A part of a folder, held open. `id`: its device and inode, as in `stat -c %d:%i`. */
export interface SeenPart {
  readonly path: string;
  readonly id: string;
}

/**
 * `part`: all that is seen of the folder. Null: the whole folder, which is the home of programs,
 * too. A part is a checkout, where their files would lie in the way. `seccompFd`: where `bwrap`
 * reads the seccomp program.
 */
export const bubbleArguments = (
  folder: string,
  part: SeenPart | null,
  seccompFd: number,
  limits: SandboxLimits,
  wayOut: string | null,
): string[] => [
  ...nothing(seccompFd, limits),
  '--clearenv',
  ...['--setenv', 'PATH', PATH, '--setenv', 'HOME', part ? '/tmp' : WITHIN, '--setenv', 'TMPDIR', '/tmp'],
  ...['--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TERM', 'dumb', '--setenv', 'USER', 'agent'],
  ...['--bind', part?.path ?? folder, WITHIN, '--chdir', WITHIN],
  ...(wayOut === null ? [] : networkArguments(wayOut)),
  ...CLOSED,
];

/**
 * For a program that the person configured, with its own environment. Each folder has its place in
 * the sandbox.
 */
export const programArguments = (
  {
    writes,
    read,
  }: {
    readonly writes: readonly [string, string] | null;
    readonly read: readonly (readonly [string, string])[];
  },
  seccompFd: number,
  limits: SandboxLimits,
  wayOut: string | null,
): string[] => [
  ...nothing(seccompFd, limits),
  // Outer folders first, so that none hides another.
  ...[...read].sort(([, one], [, other]) => one.length - other.length).flatMap(([from, to]) => ['--ro-bind', from, to]),
  ...(writes === null ? ['--chdir', '/tmp'] : ['--bind', ...writes, '--chdir', writes[1]]),
  ...(wayOut === null ? [] : networkArguments(wayOut)),
  ...CLOSED,
];

/**
 * Forwards connections from the port to the relay's socket. Prints a line when it listens, and ends
 * with the sandbox.
 */
const FORWARD = `const net = require("net");
net.createServer((near) => {
  const far = net.connect("${NET}/${SOCKET}");
  near.on("error", () => far.destroy()).pipe(far);
  far.on("error", () => near.destroy()).pipe(near);
}).listen(${PORT}, "127.0.0.1", () => console.log("ready"));`;

/** Printed where another folder is in the place of the part that a command sees. */
const MOVED = 'Your folder was moved while the command began. The command has not run.';

/**
 * Run by `bash` inside: sets limits that nothing inside can raise, then runs the command. Sizes of
 * `ulimit` are in KiB. `counted`: a control group limits memory. Otherwise at least the data
 * segment of each process is limited. Addresses are not: V8 reserves 10 GB for each memory of
 * WebAssembly, and Node's `fetch` has one. `life`: the descriptor on which the relay says that it
 * is still there. A relay that was killed before `bwrap` was tied to it says nothing, and nothing
 * runs. `part`: the folder that must be there. Its path may lead elsewhere by the time of the
 * mount.
 */
export const boundedBy = (
  { file, memory, processes, openFiles, queues }: SandboxLimits,
  {
    hasWayOut,
    counted,
    life,
    part,
  }: {
    readonly hasWayOut: boolean;
    readonly counted: boolean;
    readonly life: number;
    readonly part: Pick<SeenPart, 'id'> | null;
  },
): string =>
  [
    ...(part === null ? [] : [`{ [ "$(stat -c %d:%i .)" = ${part.id} ] || { echo '${MOVED}'; exit 1; }; }`]),
    `{ echo >&${life} && read -r _ <&${life} && exec ${life}>&-; }`,
    'ulimit -c 0',
    `ulimit -f ${Math.floor(file / 1_024)}`,
    ...(counted ? [] : [`ulimit -d ${Math.floor(memory / 1_024)}`]),
    `ulimit -u ${processes}`,
    `ulimit -n ${openFiles}`,
    // All programs of a user share this limit. A lower one stays.
    `{ ulimit -q ${queues} 2> /dev/null || true; }`,
    ...(hasWayOut ? [`{ read -r _ < <(exec ${NODE} -e '${FORWARD}' 2>/dev/null </dev/null); true; }`] : []),
    'exec "$@"',
  ].join(' && ');
