/**
 * How bubblewrap (`bwrap`) is called: a new root in memory with the system's programs read-only,
 * one folder to write in, and namespaces of its own for users, processes, network and the rest.
 * Nothing of the machine is there that is not named here.
 *
 * Not `@anthropic-ai/sandbox-runtime`: it shows the whole disk but for what is named, holds one
 * policy for a process, needs ripgrep and socat beside bubblewrap, and bounds neither memory nor
 * processes nor files. Its calls of `bwrap` are the same.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { SOCKET } from './network.ts';
import { WITHIN, type SandboxLimits } from './settings.ts';

/** Links into `/usr` on most systems today, folders on others. */
const TOP = ['bin', 'sbin', 'lib', 'lib32', 'lib64'];
/** Without secrets: what programs look up to run at all. */
const ETC = ['alternatives', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'fonts', 'localtime', 'mime.types', 'magic'];
/** What programs need to know whom to trust, where they reach anybody. */
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

/** Where a sandbox with a way out has the relay's socket, and the program that leads to it. */
const NET = '/run/roost/net';
const NODE = '/run/roost/node';
const PORT = 3128;
const PROXY = `http://127.0.0.1:${PORT}`;
/** Both spellings are in use; the last is for Node's own `fetch`. */
const PROXIED = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];

/** `wayOut`: the folder of its socket. */
const networkArguments = (wayOut: string): string[] => [
  ...['--ro-bind', process.execPath, NODE, '--ro-bind', wayOut, NET],
  ...TRUST.flatMap((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
  ...PROXIED.flatMap((name) => ['--setenv', name, PROXY]),
  ...['--setenv', 'NODE_USE_ENV_PROXY', '1'],
];

const size = (bytes: number) => ['--size', String(bytes)];
/** No rights, no other process, no network, the system's programs, and nothing else. */
const nothing = (seccompFd: number, limits: SandboxLimits): string[] => [
  ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  // No second set of namespaces within: most ways out of one begin with rights in another.
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
 * What lies in memory has a size of its own, or cannot be written. Nor can the kernel’s settings:
 * where the relay runs as root, they take it for root that writes, whoever it is within.
 */
const CLOSED = ['--remount-ro', '/proc', '--remount-ro', '/dev', '--remount-ro', '/'];

/** `seccompFd`: where `bwrap` reads the program of calls that are refused. */
export const bubbleArguments = (
  folder: string,
  seccompFd: number,
  limits: SandboxLimits,
  wayOut: string | null,
): string[] => [
  ...nothing(seccompFd, limits),
  '--clearenv',
  ...['--setenv', 'PATH', PATH, '--setenv', 'HOME', WITHIN, '--setenv', 'TMPDIR', '/tmp'],
  ...['--setenv', 'LANG', 'C.UTF-8', '--setenv', 'TERM', 'dumb', '--setenv', 'USER', 'agent'],
  ...['--bind', folder, WITHIN, '--chdir', WITHIN],
  ...(wayOut === null ? [] : networkArguments(wayOut)),
  ...CLOSED,
];

/**
 * For a program of the person's own, with the environment that it is started in. Folders, each with
 * its place within.
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
  // The outer first, so that none hides another.
  ...[...read].sort(([, one], [, other]) => one.length - other.length).flatMap(([from, to]) => ['--ro-bind', from, to]),
  ...(writes === null ? ['--chdir', '/tmp'] : ['--bind', ...writes, '--chdir', writes[1]]),
  ...(wayOut === null ? [] : networkArguments(wayOut)),
  ...CLOSED,
];

/**
 * Passes on to the relay's socket what comes to the port; says when it listens, and ends with all
 * else that is within.
 */
const FORWARD = `const net = require("net");
net.createServer((near) => {
  const far = net.connect("${NET}/${SOCKET}");
  near.on("error", () => far.destroy()).pipe(far);
  far.on("error", () => near.destroy()).pipe(near);
}).listen(${PORT}, "127.0.0.1", () => console.log("ready"));`;

/**
 * Run by `bash` within: bounds that nothing in it can raise, and then what was asked for. Sizes of
 * `ulimit` are in KiB. `counted`: a control group bounds memory; else what one process may write is
 * bounded, at least.
 */
export const boundedBy = (
  { file, addresses, memory, processes, openFiles, queues }: SandboxLimits,
  { hasWayOut, counted }: { readonly hasWayOut: boolean; readonly counted: boolean },
): string =>
  [
    'ulimit -c 0',
    `ulimit -f ${Math.floor(file / 1_024)}`,
    `ulimit -v ${Math.floor(addresses / 1_024)}`,
    ...(counted ? [] : [`ulimit -d ${Math.floor(memory / 1_024)}`]),
    `ulimit -u ${processes}`,
    `ulimit -n ${openFiles}`,
    // All programs of a user share this one. A lower bound of theirs stays.
    `{ ulimit -q ${queues} 2> /dev/null || true; }`,
    ...(hasWayOut ? [`{ read -r _ < <(exec ${NODE} -e '${FORWARD}' 2>/dev/null </dev/null); true; }`] : []),
    'exec "$@"',
  ].join(' && ');
