/**
 * Ways in which a command held more than it may, and nobody saw it: memory that no process shows,
 * files without a name, more of them than are counted. Tried in real sandboxes by a user who is not
 * root, without a control group and in one that was given to that user; as root, `sandbox.test.ts`
 * has most of them. Each holds some seconds what is several times its bound, and says so at its
 * end.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { createOrdinaryPlace, whyNoOrdinaryUser, type OrdinaryPlace } from '../support/ordinary-user.ts';
import type { BoundedRuns } from '../support/bounded-run.ts';

const MB = 1_000_000;
const MEMORY = 120 * MB;
const FOLDER = 20 * MB;
const ENTRIES = 2_000;

const endsSchema = z.object({
  watched: z.boolean(),
  ends: z.record(
    z.string(),
    z.object({ code: z.number().nullable(), cut: z.string().nullable(), said: z.string(), isGone: z.boolean() }),
  ),
});
type Ends = z.infer<typeof endsSchema>;

const python = (program: string) => `exec python3 - <<'PROGRAM'
import ctypes, mmap, os, select, shutil, socket, subprocess, threading, time
kernel = ctypes.CDLL(None, use_errno=True)
kernel.shmat.restype = ctypes.c_void_p
def hold(seconds=7):
  time.sleep(seconds)
  print('held', flush=True)
def touch(memory):
  for at in range(0, len(memory), 4096): memory[at] = 1
def unnamed(name, megabytes=10):
  file = os.open(name, os.O_CREAT | os.O_RDWR)
  os.write(file, bytes(megabytes * 1_000_000))
  os.unlink(name)
  return file
${program}
PROGRAM`;

/** 360 MB and more of memory, by what. */
const MEMORY_WAYS: Readonly<Record<string, string>> = {
  'files in memory (memfd_create)': `
for n in range(12): os.write(os.memfd_create(str(n)), bytes(30_000_000))
hold()`,
  'shared memory of System V, that no process maps': `
for n in range(12):
  segment = kernel.shmget(0, 30_000_000, 0o1600)
  if segment < 0: raise OSError('refused')
  at = kernel.shmat(segment, None, 0)
  ctypes.memset(at, 1, 30_000_000)
  kernel.shmdt(ctypes.c_void_p(at))
hold()`,
  'semaphores of System V': `
for n in range(200):
  if kernel.semget(0, 32000, 0o1600) < 0: raise OSError('refused')
hold()`,
  'messages of System V': `
message = (ctypes.c_char * 8200)()
message[0] = 1
for n in range(25_000):
  queue = kernel.msgget(0, 0o1600)
  if queue < 0: raise OSError('refused')
  for twice in range(2): kernel.msgsnd(queue, message, 8192, 0o4000)
hold()`,
  'shared memory without a name, that no process touches': `
maps = []
for n in range(12):
  maps.append(mmap.mmap(-1, 30_000_000))
  maps[-1].write(bytes(30_000_000))
  maps[-1].madvise(mmap.MADV_DONTNEED)
hold()`,
  'processes whose first thread has ended': `
def keep():
  memory = bytearray(90_000_000)
  touch(memory)
  time.sleep(8)
  os._exit(0)
for n in range(4):
  if os.fork() == 0:
    threading.Thread(target=keep).start()
    time.sleep(0.1)
    kernel.syscall(${process.arch === 'arm64' ? 93 : 60}, 0)
hold()`,
  'processes that hand it on and end, faster than anybody looks': `
for n in range(4):
  if os.fork() == 0:
    memory = bytearray(90_000_000)
    touch(memory)
    end = time.time() + 8
    while time.time() < end:
      if os.fork(): os._exit(0)
    os._exit(0)
hold(7)`,
  'sockets, filled': `
for n in range(8):
  if os.fork() == 0:
    pairs = [socket.socketpair() for n in range(240)]
    for each in [one for pair in pairs for one in pair]:
      each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10**9)
      each.setblocking(False)
      try:
        while True: each.send(bytes(60_000))
      except BlockingIOError: pass
    time.sleep(8)
    os._exit(0)
hold(7)`,
  'page tables of addresses that it only reads': `
memory = mmap.mmap(-1, 200 * 1024**3, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000, prot=mmap.PROT_READ)
for at in range(0, len(memory), 2 * 1024**2): memory[at]
hold()`,
  'empty files in memory': `
for n in range(400_000): os.close(os.open(f'/tmp/{n}', os.O_CREAT | os.O_WRONLY))
hold()`,
  'many processes': `
for n in range(8):
  if os.fork() == 0:
    memory = bytearray(50_000_000)
    touch(memory)
    time.sleep(8)
    os._exit(0)
hold(7)`,
};

/** 60 MB in a folder that may hold 20, by what. */
const ROOM_WAYS: Readonly<Record<string, string>> = {
  'files that are deleted and open': `
files = [unnamed(f'f{n}') for n in range(6)]
hold()`,
  'files that never had a name': `
files = [os.open('.', os.O_TMPFILE | os.O_WRONLY) for n in range(6)]
for file in files: os.write(file, bytes(10_000_000))
hold()`,
  'files that are empty, with room kept for them': `
for n in range(6):
  file = os.open(f'f{n}', os.O_CREAT | os.O_WRONLY)
  kernel.fallocate(file, 1, ctypes.c_long(0), ctypes.c_long(10_000_000))
hold()`,
  'files that are deleted and on their way through a socket': `
one, other = socket.socketpair()
for n in range(6):
  file = unnamed(f'f{n}')
  socket.send_fds(one, [b'x'], [file])
  os.close(file)
hold()`,
  'the same, with that socket on its way through another': `
one, other = socket.socketpair()
way, end = socket.socketpair()
for n in range(6):
  file = unnamed(f'f{n}')
  socket.send_fds(one, [b'x'], [file])
  os.close(file)
socket.send_fds(way, [b'x'], [one.fileno(), other.fileno()])
one.close()
other.close()
hold()`,
  'files that are deleted and mapped': `
maps = []
for n in range(6):
  file = unnamed(f'f{n}')
  maps.append(mmap.mmap(file, 0))
  os.close(file)
hold()`,
  'descriptors that one thread has alone': `
def own():
  kernel.unshare(0x400)
  kernel.syscall(436, 900, 1000, 2)
  files = [unnamed(f'f{n}') for n in range(6)]
  hold()
thread = threading.Thread(target=own)
thread.start()
thread.join()`,
  'a process that hides its descriptors': `
kernel.prctl(4, 0)
files = [unnamed(f'f{n}') for n in range(6)]
hold()`,
  'a program that may not be read': `
shutil.copy(os.path.realpath('/usr/bin/python3'), 'own')
os.chmod('own', 0o111)
subprocess.run(['./own', '-c', """
import os, time
for n in range(6):
  file = os.open(f'f{n}', os.O_CREAT | os.O_WRONLY)
  os.write(file, bytes(10_000_000))
  os.unlink(f'f{n}')
time.sleep(5)
print('held', flush=True)
"""])`,
  'processes that hand them on and end, faster than anybody looks': `
files = [unnamed(f'f{n}') for n in range(6)]
if os.fork() == 0:
  end = time.time() + 8
  while time.time() < end:
    if os.fork(): os._exit(0)
  os._exit(0)
for file in files: os.close(file)
hold()`,
};

const FILE_WAYS: Readonly<Record<string, string>> = {
  'empty files': `
for n in range(6_000): os.close(os.open(f'f{n}', os.O_CREAT | os.O_WRONLY))
hold(8)`,
  'further names of one file': `
for n in range(6_000):
  if n % 1_000 == 0: os.close(os.open(f'f{n}', os.O_CREAT | os.O_WRONLY))
  else: os.link(f'f{n - n % 1_000}', f'f{n}')
hold(8)`,
  'a folder that cannot be opened': `
os.mkdir('closed')
for n in range(6_000): os.close(os.open(f'closed/f{n}', os.O_CREAT | os.O_WRONLY))
os.chmod('closed', 0)
hold(8)`,
};

/** What a command can leave that its owner may not open at first. */
const CLOSED: Readonly<Record<string, string>> = {
  'a folder in a folder': `
os.makedirs('a/b/c')
open('a/b/c/file', 'w').close()
os.chmod('a/b/c', 0o500)
os.chmod('a/b', 0)
hold(0)`,
  'its whole folder': `
open('file', 'w').close()
os.chmod('.', 0)
hold(0)`,
};

const WATCHER_WAYS: Readonly<Record<string, string>> = {
  'all instances of inotify that its user may have': `
while kernel.inotify_init1(0) >= 0: pass
hold()`,
  'as much as an epoll instance watches': `
for n in range(60):
  if os.fork() == 0:
    descriptors = [os.pipe()[0] for n in range(120)]
    instances = [select.epoll() for n in range(120)]
    for instance in instances:
      for descriptor in descriptors: instance.register(descriptor, 1)
    time.sleep(8)
    os._exit(0)
hold(7)`,
};

/** What a command may do, close to its bounds. */
const HONEST: Readonly<Record<string, string>> = {
  'a process that others have begun from, whose memory all share': python(`
memory = bytearray(400_000_000)
touch(memory)
for n in range(6):
  if os.fork() == 0:
    time.sleep(4)
    os._exit(0)
hold(4)`),
  'threads, a file without a name, and sockets': python(`
threads = [threading.Thread(target=lambda: None) for n in range(30)]
for thread in threads: thread.start()
for thread in threads: thread.join()
file = unnamed('f', 5)
pairs = [socket.socketpair() for n in range(100)]
hold(3)`),
  'Node with two memories of WebAssembly': `node -e "for (const n of [1, 2]) new WebAssembly.Memory({ initial: n }); console.log('held')"`,
  'Node with a worker and git': `node -e "new (require('worker_threads').Worker)('1', { eval: true }).on('exit', (code) => process.exit(code))" && git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && echo held`,
};

const all = (ways: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(ways).map(([name, program]) => [name, python(program)]));
const cases = (ways: Readonly<Record<string, string>>) => Object.keys(ways).map((name) => [name] as const);

const why = whyNoOrdinaryUser();
let place: OrdinaryPlace;
const run = async (given: Partial<BoundedRuns>, before?: string): Promise<Ends> =>
  endsSchema.parse(
    await place.run(
      {
        cgroups: false,
        timeoutMs: 30_000,
        memory: MEMORY,
        bytes: FOLDER,
        entries: ENTRIES,
        atOnce: 3,
        commands: {},
        ...given,
      },
      before,
    ),
  );
beforeAll(async () => {
  if (why === null) place = await createOrdinaryPlace('test/support/bounded-run.ts');
});
afterAll(() => place?.remove());

describe.skipIf(why !== null)('A command of an ordinary user, in no control group, is ended where it holds', () => {
  let ends: Ends['ends'];
  beforeAll(async () => {
    const commands = {
      ...all(ROOM_WAYS),
      ...all(FILE_WAYS),
      ...all(WATCHER_WAYS),
      ...all(CLOSED),
    };
    const { watched, ends: found } = await run({ commands });
    expect(watched).toBe(true);
    const memory = await run({ atOnce: 2, commands: all(MEMORY_WAYS) });
    // Alone, and under wider bounds: what other programs of the machine take is small beside them.
    const honest = await run({ memory: 5 * MEMORY, atOnce: 1, commands: HONEST });
    ends = { ...found, ...memory.ends, ...honest.ends };
  }, 180_000);

  it.each(cases(MEMORY_WAYS))('ends a command with more memory than the limit, by %s', (name) => {
    const { said, cut, code } = ends[name] ?? {};
    expect(said).not.toContain('held');
    // Some it is refused at once.
    expect(cut === 'memory' || code === 1, `${cut ?? code}: ${said}`).toBe(true);
  });
  it.each(cases(ROOM_WAYS))("ends a command with more of the disk than its folder's limit, by %s", (name) => {
    expect(ends[name]).toMatchObject({ cut: 'room' });
    expect(ends[name]?.said).not.toContain('held');
  });
  it.each(cases(FILE_WAYS))("ends a command with more files than its folder's limit, by %s", (name) => {
    expect(ends[name]).toMatchObject({ cut: 'files' });
    expect(ends[name]?.said).not.toContain('held');
  });
  it.each(cases(CLOSED))('drops %s that it has closed when its agent is forgotten', (name) => {
    expect(ends[name]).toMatchObject({ said: expect.stringContaining('held'), isGone: true });
  });
  it.each(cases(WATCHER_WAYS))('ends a command that takes what other programs of the user need: %s', (name) => {
    expect(ends[name]).toMatchObject({ cut: 'watchers' });
  });
  it.each(cases(HONEST))('leaves a command within its limits running, with %s', (name) => {
    expect(ends[name]).toMatchObject({ cut: null, code: 0, said: expect.stringContaining('held') });
  });
});

const ROOT = '/sys/fs/cgroup';
const isTwo = existsSync(join(ROOT, 'cgroup.controllers'));
/**
 * A control group that belongs to the ordinary user, as systemd gives them one. Null: none can be
 * made here.
 */
async function giveGroup(): Promise<{ readonly enter: string; remove(): Promise<void> } | null> {
  const name = `roost-test-${randomUUID()}`;
  const places = isTwo ? [join(ROOT, name)] : ['memory', 'pids'].map((controller) => join(ROOT, controller, name));
  // Of version 2, those with processes are at the ends of the tree.
  const ends = isTwo ? places.map((each) => join(each, 'service')) : places;
  try {
    if (isTwo) await writeFile(join(ROOT, 'cgroup.subtree_control'), '+memory +pids');
    for (const each of new Set([...places, ...ends])) {
      await mkdir(each);
      for (const file of ['', 'cgroup.procs', ...(isTwo ? ['cgroup.subtree_control'] : [])])
        await place.own(join(each, file));
    }
  } catch {
    return null;
  }
  return {
    enter: ends.map((each) => `echo $$ > ${each}/cgroup.procs`).join(' && '),
    async remove() {
      // The kernel is a moment behind the last process that left.
      for (const each of new Set([...ends, ...places]))
        await vi.waitFor(() => rmdir(each), { timeout: 10_000, interval: 100 });
    },
  };
}

describe.skipIf(why !== null || process.getuid?.() !== 0)(
  'A command in a control group that was given to its user',
  () => {
    const USED = 'files in memory (memfd_create), as much as fits';
    let ends: Ends['ends'] | null = null;
    beforeAll(async () => {
      const given = await giveGroup();
      if (!given) return;
      try {
        const [used] = Object.values(MEMORY_WAYS);
        const fits = python((used ?? '').replace('range(12)', 'range(2)'));
        const found = await run({ cgroups: true, commands: { ...all(MEMORY_WAYS), [USED]: fits } }, given.enter);
        expect(found.watched).toBe(false);
        ends = found.ends;
      } finally {
        await given.remove();
      }
    }, 180_000);
    beforeEach((context) => context.skip(ends === null, 'no control group can be made here'));

    it.each(cases(MEMORY_WAYS))('lets the kernel end a command with more memory than the limit, by %s', (name) => {
      expect(ends?.[name]).toMatchObject({ cut: 'memory' });
      expect(ends?.[name]?.said).not.toContain('held');
    });
    it('allows memory within the limit that nobody could count', () => {
      expect(ends?.[USED]).toMatchObject({ code: 0, cut: null });
    });
  },
);
