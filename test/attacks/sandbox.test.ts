/**
 * Ways out of the sandbox in which agents' commands run, tried in a real one: by paths, links,
 * `/proc`, the environment, keys, sockets, the network, and by taking more than there is. What
 * floods is tried under its limit only.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { createServer, type AddressInfo, type LookupFunction, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Network } from '../../src/shared/domain/network.ts';
import { createProcesses } from '../../server/platform/processes/index.ts';
import { createSandbox, type Sandbox, type SandboxEnd } from '../../server/execution/sandbox/index.ts';
import { createShellTools } from '../../server/execution/shell/tools.ts';
import { SANDBOX_LIMITS } from '../../server/execution/sandbox/settings.ts';
import { createFolder } from '../../server/files/workspaces/folder.ts';
import { createWorkspaces } from '../../server/files/workspaces/index.ts';
import { programOf } from '../support/relay-build.ts';

/**
 * Ends well where a process could be started in user namespaces of its own (clone(2),
 * asm/unistd.h).
 */
const [CLONE_NUMBER, CLONE3_NUMBER] = [process.arch === 'arm64' ? 220 : 56, 435];
const CLONE = `import ctypes, os
l = ctypes.CDLL(None)
p = l.syscall(${CLONE_NUMBER}, 0x10000000 | 17, 0, 0, 0, 0)
os._exit(0) if p == 0 else exit(0 if p > 0 else 1)`;
const CLONE3 = `import ctypes, os
l = ctypes.CDLL(None)
a = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)
p = l.syscall(${CLONE3_NUMBER}, a, 64)
os._exit(0) if p == 0 else exit(0 if p > 0 else 1)`;

/** Done by the first that asks. */
function once<Value>(work: () => Promise<Value>): () => Promise<Value> {
  let done: Promise<Value> | null = null;
  return () => (done ??= work());
}

const SECRET = `secret-${randomBytes(8).toString('hex')}`;
let base: string;
let folder: string;
let sandbox: Sandbox;
let tight: Sandbox;
let tcp: Server;
let local: Server;
let port: number;
let calls = 0;

async function run(
  command: string,
  { in_ = sandbox, timeoutMs = 20_000 }: { readonly in_?: Sandbox; readonly timeoutMs?: number } = {},
): Promise<SandboxEnd & { readonly text: string }> {
  const begun = await in_.run({ folder, bash: ['-c', command], timeoutMs });
  const end = await begun.ended;
  return { ...end, text: begun.output(0, 1_000_000).text };
}
/** Processes of this machine, besides those within, whose command line has this in it. */
async function processesWith(mark: string): Promise<number> {
  let count = 0;
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(mark)) count += 1;
  }
  return count;
}

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'roost-attack-'));
  folder = join(base, 'workspaces', 'agent-1');
  await mkdir(folder, { recursive: true });
  await mkdir(join(base, 'workspaces', 'agent-2'));
  await writeFile(join(base, 'sealing.key'), SECRET);
  await writeFile(join(base, 'workspaces', 'agent-2', 'soul.md'), SECRET);
  process.env['ROOST_TEST_SECRET'] = SECRET;
  const listener = () =>
    createServer((socket) => {
      calls += 1;
      socket.end(SECRET);
    });
  tcp = listener();
  local = listener();
  await new Promise<void>((resolve) => void tcp.listen(0, '127.0.0.1', resolve));
  await new Promise<void>((resolve) => void local.listen(join(base, 'relay.sock'), resolve));
  const address = tcp.address();
  port = typeof address === 'object' && address ? address.port : 0;
  sandbox = createSandbox();
  tight = createSandbox({
    limits: {
      ...SANDBOX_LIMITS,
      memory: 150_000_000,
      processes: 24,
      file: 1_000_000,
      output: 1_000_000,
      temporary: 2_000_000,
    },
  });
  expect(await sandbox.status()).toEqual({ available: true, why: null });
  expect(await tight.status()).toEqual({ available: true, why: null });
});
afterAll(async () => {
  await sandbox.close();
  await tight.close();
  tcp.close();
  local.close();
  await rm(base, { recursive: true, force: true });
});

it('runs an allowed command: the control of all other tests', async () => {
  expect(await run('echo "here" > note && cat note && id -u && pwd')).toMatchObject({
    code: 0,
    cut: null,
    text: 'here\n1000\n/workspace\n',
  });
  expect(await readFile(join(folder, 'note'), 'utf8')).toBe('here\n');
});

describe('a command that sees a part of its folder', () => {
  const part = 'projects/bakery/one';
  const open = async () => {
    await mkdir(join(folder, part), { recursive: true });
    await writeFile(join(folder, 'memory.md'), SECRET);
    await writeFile(join(folder, part, 'mine.txt'), 'mine');
    return await createFolder(folder).within(part).openItself();
  };
  const runIn = async (opened: Awaited<ReturnType<typeof open>>, command: string) => {
    const ran = await sandbox.run({ folder, part: opened, bash: ['-c', command], timeoutMs: 20_000 });
    const { code } = await ran.ended;
    await opened.close();
    return { code, text: ran.output(0, 10_000).text };
  };

  it('finds nothing above it, and its home is none of the files', async () => {
    const { text } = await runIn(await open(), 'ls; pwd; echo $HOME; cat ../memory.md /workspace/../memory.md; ls /');
    expect(text).toMatch(/^mine\.txt\n\/workspace\n\/tmp\n/);
    expect(text).not.toContain(SECRET);
  });

  it('does not run when a link has replaced the folder, wherever it leads', async () => {
    for (const [from, target] of [
      [part, '../..'],
      ['projects/bakery', '..'],
      ['projects', '/'],
    ] as const) {
      const opened = await open();
      await rename(join(folder, from), join(folder, 'away'));
      await symlink(target, join(folder, from));
      const { code, text } = await runIn(opened, 'echo ran; cat memory.md ../memory.md');
      expect(code).not.toBe(0);
      expect(text).not.toContain('ran');
      expect(text).not.toContain(SECRET);
      await rm(join(folder, from));
      await rm(join(folder, 'away'), { recursive: true });
      await rm(join(folder, 'projects'), { recursive: true, force: true });
    }
  });

  it('does not open a folder through a link', async () => {
    await rm(join(folder, 'projects'), { recursive: true, force: true });
    await symlink('..', join(folder, 'projects'));
    await expect(createFolder(folder).within('projects').openItself()).rejects.toThrow('Your folder is gone');
    await expect(createFolder(folder).within('projects/x').list('')).rejects.toThrow('Your folder is gone');
    expect(() => createFolder(folder).within('../other')).toThrow('leads out');
    await rm(join(folder, 'projects'));
  });
});

describe('what the machine keeps is not there', () => {
  it.each([
    ['the key of the relay, by its path', () => `cat ${base}/sealing.key`],
    ['the key, by ..', () => 'cat ../../sealing.key ../sealing.key /workspace/../sealing.key'],
    ['the key, by a link', () => `ln -s ${base}/sealing.key k; cat k; rm k`],
    ['the key, by a link of a link', () => `ln -s ${base} d; ln -s d e; cat e/sealing.key; rm d e`],
    ['the key, by its device and a handle', () => `cat /dev/[sv]d* /dev/nvme* /dev/mem /dev/kmem /dev/port`],
    [
      'another agent’s folder',
      () => `cat ../agent-2/soul.md ${base}/workspaces/agent-2/soul.md /workspaces/agent-2/soul.md`,
    ],
    ['another agent’s folder, looked for', () => 'grep -rs secret- / --include=soul.md --include="*.key" 2>/dev/null'],
    ['the environment', () => 'env; export; cat /proc/*/environ | tr "\\0" "\\n"'],
    ['the environment of the first process', () => 'cat /proc/1/environ; strings /proc/1/environ'],
    ['what its parent had open', () => 'for f in /proc/*/fd/* /dev/fd/*; do timeout 0.2 head -c 100 "$f"; done'],
    ['the root of another process', () => `cat /proc/1/root${base}/sealing.key /proc/self/root${base}/sealing.key`],
    ['the folder of another process', () => 'cat /proc/1/cwd/sealing.key /proc/[0-9]*/cwd/../../sealing.key'],
    ['the memory of another process', () => 'dd if=/proc/1/mem bs=1 count=1; cat /proc/kcore | head -c 1'],
    ['the relay, by TCP', () => `exec 9<>/dev/tcp/127.0.0.1/${port} && cat <&9`],
    ['the relay, by IPv6', () => `exec 9<>/dev/tcp/::1/${port} && cat <&9`],
    [
      'the relay, by its socket',
      () => `python3 -c "import socket; s=socket.socket(1); s.connect('${base}/relay.sock'); print(s.recv(99))"`,
    ],
    ['home', () => 'cat ~root/.ssh/* /root/.ssh/* /home/*/.ssh/* /root/.roost/sealing.key; ls /root /home'],
  ])('%s', async (_name, command) => {
    const before = calls;
    const { text } = await run(command());
    expect(text).not.toContain(SECRET);
    expect(calls).toBe(before);
  });

  it.each([
    [
      'a top folder but the few that are there',
      'ls -A / | sort | tr "\\n" " "',
      /^bin dev etc lib (?:lib32 )?(?:lib64 )?proc (?:sbin )?tmp usr workspace $/,
    ],
    ['a user', 'cat /etc/passwd /etc/shadow /etc/group', /No such file/],
    ['a host name', 'hostname 2>/dev/null || cat /proc/sys/kernel/hostname', /^sandbox$/m],
    ['another process', 'ls -d /proc/[0-9]* | wc -l', /^[1-9]$/m],
    [
      'a way to the network but its own end',
      'tail -n +3 /proc/net/dev | grep -v "lo:"; tail -n +2 /proc/net/route',
      /^$/,
    ],
    ['a name of a machine', 'timeout 2 getent hosts example.com || echo none', /none/],
    ['an address outside', 'timeout 2 bash -c "exec 9<>/dev/tcp/1.1.1.1/53" || echo none', /none/],
    ['a socket of the system', 'ls /run /var/run 2>&1; ls /run/dbus /tmp/.X11-unix', /cannot access/],
    ['a terminal', 'tty; echo x > /dev/tty', /not a tty[^]*No such device/],
    ['a loop or a disk', 'ls /dev | tr "\\n" " "', /^(?!.*(?:loop|sd|vd|kvm|mapper|fuse))/],
  ])('%s', async (_name, command, shows) => {
    expect((await run(command)).text).toMatch(shows);
  });
});

describe('what it may not do is refused', () => {
  it.each([
    ['write beside its folder', 'echo x > /new || echo refused'],
    ['write among the programs', 'echo x > /usr/bin/new || echo refused'],
    ['write in its folder for devices, which lies in memory', 'echo x > /dev/new || echo refused'],
    ['write in its settings', 'echo x > /etc/new || echo refused'],
    ['change the kernel', 'echo 1 > /proc/sys/kernel/printk || echo refused'],
    ['ask the kernel for what root may', 'echo h > /proc/sysrq-trigger || echo refused'],
    ['mount', 'mount -t tmpfs none /tmp || echo refused'],
    ['unmount what lies over something', 'umount -l /usr || umount /proc || echo refused'],
    ['make its programs writable', 'mount -o remount,rw /usr || echo refused'],
    ['have rights in new namespaces', 'unshare -U -r true || echo refused'],
    // The calls that `unshare` makes are refused by the kernel's filter; this one by
    // `--disable-userns` alone.
    ['have rights in new namespaces, by starting a process in them', `python3 -c '${CLONE}' || echo refused`],
    ['the same by the newer call', `python3 -c '${CLONE3}' || echo refused`],
    ['go into the namespaces of the machine', 'nsenter -t 1 -n true || echo refused'],
    ['become root', 'chroot /usr /bin/true || setpriv --reuid 0 true || echo refused'],
    ['make a device', 'mknod d b 8 0 || echo refused'],
    ['give a program rights', 'cp /usr/bin/id i; setcap cap_sys_admin+ep i || echo refused'],
    ['raise its limits', 'ulimit -Hu unlimited || echo refused'],
    ['talk to the machine below', 'python3 -c "import socket; socket.socket(40, 1)" || echo refused'],
    ['listen to all packets', 'python3 -c "import socket; socket.socket(17, 3)" || echo refused'],
    ['use the kernel’s ciphers', 'python3 -c "import socket; socket.socket(38, 5)" || echo refused'],
    [
      'read keys of the kernel',
      'python3 -c "import ctypes; l=ctypes.CDLL(None); exit(0 if l.syscall(250, 0, -3, 1) > 0 else 1)" || echo refused',
    ],
    [
      'open a file by its handle',
      'python3 -c "import ctypes; l=ctypes.CDLL(None); exit(0 if l.syscall(304, 0, 0, 0) == 0 else 1)" || echo refused',
    ],
    [
      'trace the kernel',
      'python3 -c "import ctypes; l=ctypes.CDLL(None); exit(0 if l.syscall(298, 0, 0, 0, 0, 0) >= 0 else 1)" || echo refused',
    ],
    [
      'use rings of the kernel',
      'python3 -c "import ctypes; b=ctypes.create_string_buffer(200); l=ctypes.CDLL(None); exit(0 if l.syscall(425, 4, b) >= 0 else 1)" || echo refused',
    ],
    [
      'load into the kernel',
      'python3 -c "import ctypes; l=ctypes.CDLL(None); exit(0 if l.syscall(321, 0, 0, 0) >= 0 else 1)" || echo refused',
    ],
    ['kill what is not its own', `kill -9 ${process.pid} || echo refused`],
    ['take a file of the machine by a hard link', `ln ${join(tmpdir(), 'x')} y || echo refused`],
    ['set the clock', 'date -s 2001-01-01 > /dev/null || echo refused'],
  ])('%s', async (_name, command) => {
    const { text, cut } = await run(`exec 2>&1; ${command}`);
    expect([text.trim().split('\n').at(-1), cut]).toEqual(['refused', null]);
  });

  it('changes nothing outside by links that it leaves in its folder', async () => {
    await run(
      `ln -sf ${base}/sealing.key key.md; ln -sfn ${base} up; echo planted > key.md; echo planted > up/planted`,
    );
    expect(await readFile(join(base, 'sealing.key'), 'utf8')).toBe(SECRET);
    expect(existsSync(join(base, 'planted'))).toBe(false);
    const own = createWorkspaces({ folder: join(base, 'workspaces'), elapsed: () => performance.now() }).of('agent-1');
    await expect(own.bytesOf('key.md', 100)).rejects.toThrow('a link');
    await expect(own.bytesOf('up/sealing.key', 100)).rejects.toThrow();
    await expect(own.write('up/planted', Buffer.from('x'))).rejects.toThrow();
  });

  it('shows a program no folder of the relay’s own, and makes none there, whatever leads to it', async () => {
    const home = join(base, 'home');
    await mkdir(home);
    await symlink(home, join(folder, 'way'));
    const own = createSandbox({ hidden: [home] });
    const places = [home, base, join(home, 'new', 'deep'), join(folder, 'way', 'new'), `${folder}/way/../home/new`];
    for (const place of [...places, `${base}/x/../home/new`]) {
      const program = { command: 'true', args: [], env: { PATH: '/usr/bin' }, reads: [], network: 'none' } as const;
      await own.start({ ...program, folder: place }).then(
        ({ child }) => child.kill(),
        (error: unknown) => expect(String(error)).toMatch(/the relay’s own|there is no/),
      );
    }
    expect(await readdir(home)).toEqual([]);
    await own.close();
    await rm(join(folder, 'way'));
  });

  it('makes nothing that could be run with more rights, nor by another name outside', async () => {
    await run('cp /usr/bin/id suid; chmod 4755 suid; echo x > linked');
    await link(join(folder, 'linked'), join(base, 'other-name'));
    const own = createWorkspaces({ folder: join(base, 'workspaces'), elapsed: () => performance.now() }).of('agent-1');
    await expect(own.bytesOf('linked', 100)).rejects.toThrow('a hard link');
    expect((await run('./suid -u')).text.trim()).toBe('1000');
  });
});

describe('what takes more than there is, under its limit', () => {
  it('processes without end: they end, and the machine has none of them', async () => {
    // Each waits for the next, 24 at most: under the limit alone, as a bomb would be.
    const { text } = await run('for i in $(seq 200); do sleep 30.125 & done 2>&1; jobs -p | wc -l', { in_: tight });
    expect(text).toMatch(/fork|Resource|retry/);
    await expect.poll(() => processesWith('30.125')).toBe(0);
  });
  it('a file without end', async () => {
    const { text } = await run(
      'head -c 5000000 /dev/zero > big; truncate -s 100G sparse; fallocate -l 2000000 f; stat -c %s big sparse f',
      { in_: tight },
    );
    for (const size of text.match(/^\d+$/gm) ?? []) expect(Number(size)).toBeLessThanOrEqual(1_000_000);
    expect((await stat(join(folder, 'big'))).size).toBeLessThanOrEqual(1_000_000);
  });
  it('limits files in memory', async () => {
    const { text } = await run(
      'for i in 1 2 3 4 5; do head -c 900000 /dev/zero > /tmp/f$i; done; du -s --bytes /tmp | cut -f1',
      { in_: tight },
    );
    expect(text).toContain('No space left');
  });
  it('memory', async () => {
    const { code } = await run('python3 -c "x = bytearray(400_000_000); print(len(x))"', { in_: tight });
    expect(code).not.toBe(0);
  });
  it('limits memory of a program that goes on', async () => {
    const { child } = await tight.start({
      command: 'python3',
      args: ['-c', 'x = bytearray(400_000_000); print(len(x))'],
      env: { PATH: '/usr/bin' },
      ...{ folder: null, reads: [], network: 'none' },
    });
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await new Promise((ended) => child.once('close', ended));
    expect([child.exitCode === 0, said]).toEqual([false, '']);
  });
  it('refuses one more running program until another has ended', async () => {
    const few = createSandbox({ limits: { ...SANDBOX_LIMITS, programs: 2 } });
    const sleep = () =>
      few.start({
        ...{ command: 'sleep', args: ['31.625'], env: { PATH: '/usr/bin:/bin' } },
        ...{ folder: null, reads: [], network: 'none' },
      });
    const [first, second] = [await sleep(), await sleep()];
    await expect(sleep()).rejects.toThrow('The relay runs 2 programs, as many as it takes.');
    first.signal('SIGKILL');
    await new Promise((ended) => first.child.once('close', ended));
    const third = await sleep();
    for (const { signal, child } of [second, third]) {
      signal('SIGKILL');
      await new Promise((ended) => child.once('close', ended));
    }
    await few.close();
  });
  it('output', async () => {
    expect(await run('yes roost', { in_: tight })).toMatchObject({ code: null, cut: 'output' });
  });
  it('limits time, with all started processes, also those left after a normal end', async () => {
    expect(await run('(setsid sleep 31.375 &) ; trap "" TERM INT HUP; sleep 31.375', { timeoutMs: 300 })).toMatchObject(
      {
        cut: 'time',
      },
    );
    expect(await run('(setsid nohup sleep 31.375 > /dev/null 2>&1 &); echo left')).toMatchObject({ code: 0 });
    await expect.poll(() => processesWith('31.375')).toBe(0);
  });
  it('the room of its folder', async () => {
    const begun = await sandbox.run({
      folder,
      bash: ['-c', 'while :; do head -c 1000000 /dev/zero >> room; sleep 0.05; done'],
      timeoutMs: 20_000,
      space: {
        left: { bytes: 5_000_000, entries: 10 },
        count: async () => ({ bytes: 5_000_000 - (await stat(join(folder, 'room'))).size, entries: 9 }),
      },
    });
    expect(await begun.ended).toMatchObject({ cut: 'room' });
    expect((await stat(join(folder, 'room'))).size).toBeLessThan(100_000_000);
  });
});

describe('the network, where hosts of it are granted', () => {
  /** Every name leads to this machine, where one server answers for all. */
  const lookup: LookupFunction = (_name, { all }, done) =>
    all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  const seen: string[] = [];
  let web: HttpServer;
  let at: number;
  let open: Sandbox;
  beforeAll(async () => {
    web = createHttpServer(({ url, headers }, answer) => {
      seen.push(`${headers.host ?? ''}${url ?? ''}`);
      if (url === '/on') answer.writeHead(302, { location: `http://other.test:${at}/` });
      answer.end('REACHED');
    });
    await new Promise<void>((resolve) => void web.listen(0, '127.0.0.1', resolve));
    at = (web.address() as AddressInfo).port;
    open = createSandbox({ network: { addresses: 'any', lookup } });
  });
  afterAll(async () => {
    await open.close();
    web.close();
  });
  async function reach(command: string, network: Network, in_ = open) {
    seen.length = 0;
    const begun = await in_.run({ folder, bash: ['-c', command], timeoutMs: 20_000, network });
    await begun.ended;
    return begun.output(0, 100_000).text;
  }
  const named = () => [`named.test:${at}`, `*.many.test:${at}`];

  const ours = process.env['TMPDIR'];
  beforeAll(() => void (process.env['TMPDIR'] = base));
  afterAll(() => {
    if (ours === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = ours;
  });

  it('reaches a granted host by name, directly and through a tunnel', async () => {
    const urls = [
      `http://named.test:${at}/`,
      `-p http://named.test:${at}/`,
      `http://NAMED.test.:${at}/`,
      `http://a.many.test:${at}/`,
    ];
    const text = await reach(urls.map((url) => `curl -sS ${url}; echo`).join('\n'), named());
    expect(text).toBe('REACHED\n'.repeat(4));
  });

  const WAYS: readonly (readonly [string, () => string])[] = [
    ['another name', () => `curl -sS http://other.test:${at}/`],
    ['another name, through a tunnel', () => `curl -sSp http://other.test:${at}/`],
    ['its address', () => `curl -sS http://127.0.0.1:${at}/`],
    ['its address, through a tunnel', () => `curl -sSp http://127.0.0.1:${at}/`],
    ['its address as one number', () => `curl -sS --proxy $http_proxy http://2130706433:${at}/`],
    ['its address as IPv6', () => `curl -sSp 'http://[::ffff:127.0.0.1]:${at}/'`],
    ['another port', () => `curl -sS http://named.test:1/`],
    ['the name above those', () => `curl -sS http://many.test:${at}/`],
    ['a name that ends alike', () => `curl -sS http://notnamed.test:${at}/ http://amany.test:${at}/`],
    ['a name before the other', () => `curl -sS http://named.test@other.test:${at}/`],
    ['a redirect', () => `curl -sSL http://named.test:${at}/on`],
    [
      'past the proxy',
      () => `curl -sS --noproxy '*' http://named.test:${at}/ || exec 3<>/dev/tcp/127.0.0.1/${at} && echo REACHED >&2`,
    ],
    ['names alone', () => `python3 -c "import socket; print('REACHED', socket.gethostbyname('named.test'))"`],
    ['an upgrade', () => `curl -sS -H 'Connection: Upgrade' -H 'Upgrade: h2c' http://other.test:${at}/`],
    [
      'two requests in one',
      () =>
        `printf 'GET http://named.test:${at}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nGET http://other.test:${at}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' | python3 -c "import socket,sys; s=socket.create_connection(('127.0.0.1',3128)); s.sendall(sys.stdin.buffer.read()); s.settimeout(1)
try:
  while s.recv(9999): pass
except TimeoutError: pass"`,
    ],
  ];
  /** All of them in one run. */
  const tried = once(async () => {
    const all = await reach(WAYS.map(([, way]) => `echo "# "; ( ${way()}\n) 2>&1`).join('\n'), named());
    return { parts: all.split('# ').slice(1), seen: [...seen] };
  });
  it.each(WAYS.map(([what], nth) => [what, nth] as const))('does not reach %s', async (_what, nth) => {
    const { parts } = await tried();
    expect(parts).toHaveLength(WAYS.length);
    expect(parts[nth]).not.toContain('REACHED');
  });
  it('forwards of all these only the first half of the redirect and of the two requests', async () => {
    const { parts, seen: asked } = await tried();
    expect(asked).toEqual([`named.test:${at}/on`, `named.test:${at}/`]);
    expect(parts[0]).toContain(`other.test:${at} is not among the hosts that the human allows for this agent.`);
  });

  it.each([80, 443])('opens a tunnel to port %i when the grant names it', async (port) => {
    const tunnel = `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT other.test:${port} HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3`;
    expect(await reach(tunnel, named())).toContain(`other.test:${port} is not among the hosts`);
  });

  it('closes the network also when the run could not begin', async () => {
    const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('roost-net-'));
    const before = await left();
    const none = { folder, bash: ['-c', 'echo a\0b'], timeoutMs: 1_000, network: ['named.test'] };
    await expect(open.run(none)).rejects.toThrow();
    const program = { command: 'cat', args: ['a\0b'], env: { PATH: '/usr/bin' }, folder: null, reads: [] };
    await expect(open.start({ ...program, network: ['named.test'] })).rejects.toThrow();
    expect(await left()).toEqual(before);
  });

  it('says for whom a request is, whatever that says itself', async () => {
    await reach(`curl -sS -H 'Host: other.test' http://named.test:${at}/`, named());
    expect(seen).toEqual([`named.test:${at}/`]);
  });

  it('reaches neither this machine nor its networks by name or in digits, even if all hosts are granted', async () => {
    const outside = createSandbox({ network: { addresses: 'public' } });
    const text = await reach(`curl -sS http://localhost:${at}/ http://127.0.0.1:${at}/`, 'all', outside);
    const alike = await reach(`curl -sSp http://localhost:${at}/`, [`localhost:${at}`], outside);
    await outside.close();
    expect(text).toBe(`localhost:${at} could not be reached.\n127.0.0.1 is not an address that may be reached.\n`);
    expect(`${text}${alike}`).not.toContain('REACHED');
    expect(seen).toEqual([]);
  });

  it('has no network without a grant, and closes the way out with the run', async () => {
    expect(await reach(`curl -sS --noproxy '*' http://127.0.0.1:${at}/; env`, 'none')).not.toMatch(/REACHED|proxy=/i);
    const left = async () => (await readdir(tmpdir())).filter((name) => name.startsWith('roost-net-')).sort();
    expect(await left()).toEqual([]);
    // What a relay left that was killed goes at the next start; what another has open, or has just
    // made, stays.
    const places = ['dead', 'live', 'young'].map((name) => join(tmpdir(), `roost-net-${name}`));
    for (const place of places) await mkdir(place);
    const [dead = '', live = ''] = places;
    const other = createServer();
    await new Promise<void>((listens) => void other.listen(join(live, 'proxy'), () => listens()));
    await writeFile(join(dead, 'proxy'), '');
    for (const place of [dead, live]) await utimes(place, 1, 1);
    const next = createSandbox();
    await next.status();
    expect(await left()).toEqual(['roost-net-live', 'roost-net-young']);
    await next.close();
    other.close();
    for (const place of places) await rm(place, { recursive: true, force: true });
  });
});

it('ends what runs when it is closed, and begins nothing after it', async () => {
  const own = createSandbox();
  const begun = await own.run({ folder, bash: ['-c', 'sleep 32.5'], timeoutMs: 60_000 });
  await sleep(100);
  await own.close();
  expect(await begun.ended).toMatchObject({ cut: 'closing' });
  await expect.poll(() => processesWith('32.5')).toBe(0);
});

/** A folder with a `bwrap` in it that says this, and ends. */
async function fakeBubble(says: string): Promise<string> {
  const path = await mkdtemp(join(base, 'bubble-'));
  await writeFile(join(path, 'bwrap'), `#!/bin/sh\necho "${says}"\nexit 1\n`, { mode: 0o755 });
  return path;
}

it('offers no commands when bubblewrap is missing', async () => {
  const none = createSandbox({ path: join(base, 'nowhere') });
  expect(await none.status()).toMatchObject({
    available: false,
    why: expect.stringContaining('apt install bubblewrap'),
  });
  await expect(none.run({ folder, bash: ['-c', 'true'], timeoutMs: 1_000 })).rejects.toThrow('apt install');
  // The same on another system, though a program of that name lies there, and where it cannot
  // begin.
  for (const [other, why] of [
    [createSandbox({ platform: 'darwin' }), /needs Linux on an x64 or arm64 processor, and this is macOS on /],
    [
      createSandbox({ path: await fakeBubble('bwrap: setting up uid map: Permission denied') }),
      /start, because this .*AppArmor profile for bwrap/,
    ],
    [createSandbox({ path: await fakeBubble('bwrap: whatever') }), /does not start \(bwrap: whatever\)\./],
  ] as const) {
    expect(await other.status()).toMatchObject({ available: false, why: expect.stringMatching(why) });
    await expect(other.run({ folder, bash: ['-c', 'true'], timeoutMs: 1_000 })).rejects.toThrow(why);
  }
  const workspaces = createWorkspaces({ folder: join(base, 'workspaces'), elapsed: () => performance.now() });
  const reach = { network: 'none' as Network, bare: false, off: false, commandMs: 60_000 };
  let onGrants: (agentId: string) => void = () => undefined;
  const { tools } = createShellTools({
    sandbox: none,
    workspaces,
    refuseForRoom: () => Promise.resolve(null),
    reachOf: () => Promise.resolve({ ...reach }),
    onGrants: (listener) => void (onGrants = listener),
  });
  const caller = {
    agentId: 'agent-1',
    sessionId: null,
    run: 'r',
    kind: 'run',
    signal: new AbortController().signal,
  } as const;
  for (const tool of tools) expect(await tool.allowed?.(caller)).toBe(false);
  // Where the person insists, they run as whoever started the relay: without its secrets, and ended
  // with all in their group.
  Object.assign(reach, { bare: true });
  for (const tool of tools) expect(await tool.allowed?.(caller)).toBe(true);
  const [bash] = tools;
  const said = await bash?.run({ command: 'pwd; env; echo kept > bare.txt', background: false }, caller);
  expect(said?.text).toContain(`> ${workspaces.folderOf('agent-1')}\n`);
  expect(said?.text).not.toContain(SECRET);
  expect(await readFile(join(workspaces.folderOf('agent-1'), 'bare.txt'), 'utf8')).toBe('kept\n');
  // What runs ends when that is taken back, with all that it started; while it holds, it goes on.
  for (const back of [{ bare: false }, { off: true }, { network: ['a.test'] as const }]) {
    Object.assign(reach, { bare: true, off: false, network: ['a.test', 'b.test'] });
    const running = bash?.run({ command: 'sleep 35.5 & sleep 35.5', background: false }, caller);
    await expect.poll(() => processesWith('35.5')).toBeGreaterThan(0);
    onGrants('agent-1');
    await sleep(50);
    expect(await processesWith('35.5')).toBeGreaterThan(0);
    Object.assign(reach, back);
    onGrants('agent-1');
    expect((await running)?.text).toContain('the human withdrew the permission');
    await expect.poll(() => processesWith('35.5')).toBe(0);
  }
  Object.assign(reach, { bare: true, off: false });
  const begun = await none.run({ folder, bash: ['-c', 'sleep 33.5 & sleep 33.5'], timeoutMs: 200, bare: true });
  expect(await begun.ended).toMatchObject({ cut: 'time' });
  await expect.poll(() => processesWith('33.5')).toBe(0);
  // What a relay that was killed has left of one, the next one ends.
  const notes = join(base, 'processes');
  const died = createSandbox({ path: join(base, 'nowhere'), processes: createProcesses(notes) });
  const left = await died.run({ folder, bash: ['-c', 'sleep 34.5; true'], timeoutMs: 60_000, bare: true });
  await expect.poll(() => processesWith('34.5')).toBeGreaterThan(0);
  expect(await createProcesses(notes).endLeft()).toBe(1);
  expect(await left.ended).toMatchObject({ cut: null });
  await expect.poll(() => processesWith('34.5')).toBe(0);
});

it('leaves no command behind when the relay is killed at any moment of its start', async () => {
  const program = await programOf('test/support/killed-sandbox.ts');
  const mark = `60${process.pid}.5`;
  for (const ms of ['0', '1', '3', '6', '10', '15', '25', '60']) {
    const killed = spawn(process.execPath, [program, folder, mark, ms], { stdio: 'ignore' });
    await new Promise((ended) => killed.once('exit', ended));
  }
  const left = async () => {
    const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
    const texts = await Promise.all(names.map((name) => readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')));
    return texts.filter((text) => text.includes(mark));
  };
  await expect.poll(left, { timeout: 10_000 }).toEqual([]);
});
