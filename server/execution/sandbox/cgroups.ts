/**
 * A control group for each run, where the relay may create one. Only a group limits the memory of
 * all processes together, whatever they do. A relay that runs as root needs one, since the kernel
 * counts no processes of root. An ordinary user may create one below a group that was delegated to
 * them. systemd delegates the services and scopes of each user. Without a group, `watch.ts`
 * measures instead.
 */
import { constants } from 'node:fs';
import { access, mkdir, readdir, readFile, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { codeOf } from '../../platform/errors.ts';
import { processOf, startProgram } from '../../platform/processes/index.ts';
import type { SandboxLimits } from './settings.ts';

export interface Cgroup {
  /** A process writes its id into `cgroup.procs` of each folder before it does anything else. */
  readonly folders: readonly string[];
  /** Path of the list of its processes. */
  readonly list: string;
  /** The kernel has killed a process of the group because its memory was used up. */
  ranOut(): Promise<boolean>;
  remove(): Promise<void>;
}

export interface Cgroups {
  /** Null: no group can be created any more. */
  create(): Promise<Cgroup | null>;
}

const ROOT = '/sys/fs/cgroup';
const NAME = 'roost-';
/** The group that the relay moves into when it divides its own. */
const OWN = 'roost-relay';
const REMOVE_TRIES = 20;
const REMOVE_MS = 50;
/** ms after which an empty group counts as left by a killed relay. */
const LEFT_MS = 60_000;

/**
 * For `sh`: enters the groups whose folders come first, up to `--`, and then becomes the program
 * that follows.
 */
export const ENTER_GROUPS =
  'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@"';

/** The part of a group that one controller has. */
interface Part {
  readonly parent: string;
  readonly bounds: Readonly<Record<string, number>>;
  /** Bounds that not every kernel has. */
  readonly also: Readonly<Record<string, number>>;
}
interface Place {
  readonly parts: readonly [Part, ...Part[]];
  /** The file that counts kills for lack of memory. */
  readonly shortage: readonly [part: number, file: string];
}

async function made({ parent, bounds, also }: Part, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  try {
    for (const [file, value] of Object.entries(bounds)) await writeFile(join(folder, file), String(value));
    for (const [file, value] of Object.entries(also))
      await writeFile(join(folder, file), String(value)).catch(() => undefined);
    return folder;
  } catch (error) {
    await rmdir(folder).catch(() => undefined);
    throw error;
  }
}

async function removed(folder: string): Promise<void> {
  for (let tries = 0; tries < REMOVE_TRIES; tries++) {
    const isRemoved = await rmdir(folder).then(
      () => true,
      (error: unknown) => codeOf(error) === 'ENOENT',
    );
    if (isRemoved) return;
    // Its processes are still exiting.
    await sleep(REMOVE_MS);
  }
}

async function createAt({ parts, shortage: [part, file] }: Place): Promise<Cgroup | null> {
  const name = `${NAME}${newId()}`;
  const folders: string[] = [];
  try {
    for (const each of parts) folders.push(await made(each, name));
  } catch {
    for (const folder of folders) await rmdir(folder).catch(() => undefined);
    return null;
  }
  const [first = ''] = folders;
  return {
    folders,
    list: join(first, 'cgroup.procs'),
    async ranOut() {
      const text = await readFile(join(folders[part] ?? first, file), 'utf8').catch(() => '');
      return /^oom_kill [1-9]/m.test(text);
    },
    async remove() {
      for (const folder of folders) await removed(folder);
    },
  };
}

/**
 * Moves a process into a group there, to see whether that works. The permissions alone do not tell.
 */
async function works(place: Place): Promise<boolean> {
  const group = await createAt(place);
  if (!group) return false;
  try {
    const enter = ['-c', ENTER_GROUPS, 'sh', ...group.folders];
    const nothing = { program: '/bin/sh', options: ['-c', ':'] };
    const child = startProgram({ program: '/bin/sh', options: enter, runs: nothing }, { stdio: 'ignore', env: {} });
    return await new Promise((done) => {
      child.once('error', () => done(false));
      child.once('exit', (code) => done(code === 0));
    });
  } finally {
    await group.remove();
  }
}

/** Removes groups that a killed relay left. The kernel keeps those with processes. */
async function removeLeft({ parts }: Place): Promise<void> {
  for (const { parent } of parts)
    for (const name of await readdir(parent).catch(() => [])) {
      const folder = join(parent, name);
      if (!name.startsWith(NAME) || name === OWN) continue;
      const since = await stat(folder).then(
        ({ mtimeMs }) => mtimeMs,
        () => Infinity,
      );
      if (Date.now() - since > LEFT_MS) await rmdir(folder).catch(() => undefined);
    }
}

/** The relay's own group. `controller`: of version 1; `''`: version 2. */
async function ownPath(controller: string): Promise<string> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8').catch(() => '')).split('\n');
  const own = lines.find((line) => line.split(':')[1]?.split(',').includes(controller));
  return own?.split(':').slice(2).join(':') ?? '/';
}

const mayWrite = (folder: string) =>
  Promise.all([folder, join(folder, 'cgroup.procs')].map((path) => access(path, constants.W_OK))).then(
    () => true,
    () => false,
  );

/** Enables both controllers for the groups below this folder. False: that is not possible. */
async function divides(folder: string): Promise<boolean> {
  const file = join(folder, 'cgroup.subtree_control');
  const has = async () => {
    const controllers = await readFile(file, 'utf8').catch(() => '');
    return /\bpids\b/.test(controllers) && /\bmemory\b/.test(controllers);
  };
  if (!(await has())) await writeFile(file, '+memory +pids').catch(() => undefined);
  return await has();
}

/** This process and those above it. */
async function ancestors(): Promise<ReadonlySet<number>> {
  const all = new Set<number>();
  for (let pid = process.pid; pid > 0 && !all.has(pid);) {
    all.add(pid);
    pid = (await processOf(pid))?.parent ?? 0;
  }
  return all;
}

/**
 * Version 2 allows processes only in the leaves of the tree. A service with `Delegate=yes` owns its
 * group, but not the one above. So the relay moves into a leaf below its group, and its runs get
 * leaves beside it. It moves nobody else's process.
 */
async function makesPlace(own: string): Promise<boolean> {
  if (!(await mayWrite(own))) return false;
  const list = join(own, 'cgroup.procs');
  const there = (await readFile(list, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number);
  const ours = await ancestors();
  if (!there.every((pid) => ours.has(pid))) return false;
  await mkdir(join(own, OWN)).catch(() => undefined);
  try {
    for (const pid of there) await writeFile(join(own, OWN, 'cgroup.procs'), String(pid));
  } catch {
    return false;
  }
  return await divides(own);
}

/** The folder and all above it, up to the root of the tree. */
function upFrom(folder: string): string[] {
  return folder === ROOT || !folder.startsWith(`${ROOT}/`) ? [ROOT] : [folder, ...upFrom(dirname(folder))];
}

async function* placesOfTwo({ memory }: SandboxLimits, pids: number, isRoot: boolean): AsyncGenerator<Place> {
  const placeIn = (parent: string): Place => ({
    parts: [
      {
        parent,
        bounds: { 'pids.max': pids, 'memory.max': memory },
        also: { 'memory.swap.max': 0, 'memory.oom.group': 1 },
      },
    ],
    shortage: [0, 'memory.events'],
  });
  const own = join(ROOT, await ownPath(''));
  const above = upFrom(own).slice(own === ROOT ? 0 : 1);
  for (const parent of isRoot ? [ROOT, ...above] : above)
    if ((await mayWrite(parent)) && (await divides(parent))) yield placeIn(parent);
  if (await makesPlace(own)) yield placeIn(own);
}

/** Version 1 allows groups below one that has processes. */
async function* placesOfOne({ memory, tcp }: SandboxLimits, pids: number, isRoot: boolean): AsyncGenerator<Place> {
  const [own, ownOfPids] = [await ownPath('memory'), await ownPath('pids')];
  const below = [[own, ownOfPids] as const];
  for (const [path, pathOfPids] of isRoot ? [['/', '/'] as const, ...below] : below)
    yield {
      parts: [
        { parent: join(ROOT, 'pids', pathOfPids), bounds: { 'pids.max': pids }, also: {} },
        {
          parent: join(ROOT, 'memory', path),
          bounds: { 'memory.limit_in_bytes': memory },
          also: { 'memory.memsw.limit_in_bytes': memory, 'memory.kmem.tcp.limit_in_bytes': tcp },
        },
      ],
      shortage: [1, 'memory.oom_control'],
    };
}

/** Null: the relay may create no group here. */
export async function findCgroups(limits: SandboxLimits): Promise<Cgroups | null> {
  const isRoot = process.getuid?.() === 0;
  // Some processes of `bwrap` itself are in the group.
  const pids = limits.processes + 4;
  const isTwo = await access(join(ROOT, 'cgroup.controllers')).then(
    () => true,
    () => false,
  );
  const places = isTwo ? placesOfTwo(limits, pids, isRoot) : placesOfOne(limits, pids, isRoot);
  for await (const place of places) {
    if (!(await works(place))) continue;
    await removeLeft(place);
    return { create: () => createAt(place) };
  }
  return null;
}
