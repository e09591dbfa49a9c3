/**
 * The builds of this clone. `npm start` runs before anything is built, so this is plain JavaScript.
 *
 * - `dist/builds/NAME` holds one build, page and relay. NAME is a hash of all sources. A build
 *   appears there complete, by one rename, and never changes. So nothing is built twice, and a
 *   killed build leaves nothing that looks like one.
 * - `dist/page` and `dist/server` are links to the parts of the build that was made or started
 *   last.
 * - `dist/making/NAME.TIME.PID` is a build in progress: process PID, since TIME.
 * - `dist/used/NAME.PID` records that the process PID runs from a build. `tidy` removes every build
 *   that is not the newest and that no living process uses.
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';

/** The sources of a build. The hidden lock file of npm says which packages are installed. */
const SOURCES = [
  'src',
  'server',
  'index.html',
  'CLAUDE.md',
  'vite.config.ts',
  'tsconfig.json',
  'package.json',
  'package-lock.json',
  'node_modules/.package-lock.json',
];
/** Lists the files of a build with their sizes. It is written last. */
const CONTENTS = 'contents.json';
const PARTS = ['page', 'server'];
/** ms between two signs of life of a running build. */
const SIGN_MS = 500;
/**
 * ms without a sign of life after which a build counts as abandoned, even if a process has its id.
 */
const GIVEN_UP_MS = 30_000;

const dist = (root, ...path) => join(root, 'dist', ...path);
const folderOf = (root, name) => dist(root, 'builds', name);
/** The parts of an entry's name in `making`, `used` or `trash`. */
const partsOf = (entry) => {
  const parts = entry.split('.');
  return { name: parts.at(0), since: Number(parts.at(-2)), pid: Number(parts.at(-1)) };
};
const list = (folder) => (existsSync(folder) ? readdirSync(folder) : []);

/** Whether this process is a zombie, which it may stay for ever in a container. */
function isOver(pid) {
  try {
    return /^\d+ \(.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    // The process is gone, or the system has no such files.
    return false;
  }
}

function isAlive(pid) {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return !isOver(pid);
  } catch (error) {
    // Another user's process lives too.
    return error.code === 'EPERM';
  }
}

/** Every file at `path`, a file or a folder, in a stable order. Empty where nothing is there. */
export function filesAt(path) {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Empty where the file has just disappeared, as during `git pull`. */
function contentOf(file) {
  try {
    return readFileSync(file);
  } catch (error) {
    if (error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}

/** The name of a build of these files and folders below `root`. It changes with any of them. */
export function nameOfSources(root, sources = SOURCES) {
  const hash = createHash('sha256');
  for (const file of sources.flatMap((source) => filesAt(join(root, source)))) {
    const content = contentOf(file);
    hash.update(`${relative(root, file)}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

/**
 * Whether every file of the build exists with its full length. A power failure or a person may have
 * truncated some.
 */
export function isWhole(root, name) {
  const folder = folderOf(root, name);
  try {
    const contents = Object.entries(JSON.parse(readFileSync(join(folder, CONTENTS), 'utf8')));
    return contents.length > 0 && contents.every(([file, size]) => statSync(join(folder, file)).size === size);
  } catch {
    return false;
  }
}

/** The relay's main file in this build. */
export const mainOf = (root, name) => join(folderOf(root, name), 'server/main.js');

/** Runs it. In a read-only clone it does nothing. */
function unlessReadOnly(run) {
  try {
    run();
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes(error.code)) throw error;
  }
}

/** Records that this process uses a build, so that the build stays. Call `isWhole` afterwards. */
export function use(root, name) {
  unlessReadOnly(() => {
    mkdirSync(dist(root, 'used'), { recursive: true });
    // An earlier process with this id has ended.
    for (const entry of list(dist(root, 'used')))
      if (partsOf(entry).pid === process.pid) rmSync(dist(root, 'used', entry), { force: true });
    writeFileSync(dist(root, 'used', `${name}.${process.pid}`), '');
  });
}

/** As `use`, for the build that contains this folder. Does nothing for a folder outside a build. */
export function useBuildOf(root, part) {
  const folder = dirname(part);
  if (dirname(folder) === dist(root, 'builds')) use(root, basename(folder));
}

function usedNow(root) {
  const used = list(dist(root, 'used')).map(partsOf);
  return new Set(used.filter(({ pid }) => isAlive(pid)).map(({ name }) => name));
}

/** Renames it at once, and then removes it. */
function removeAside(root, path) {
  mkdirSync(dist(root, 'trash'), { recursive: true });
  const aside = dist(root, 'trash', `${basename(path)}.${Date.now()}.${process.pid}`);
  try {
    renameSync(path, aside);
  } catch (error) {
    // Another process was first.
    if (error.code === 'ENOENT') return;
    throw error;
  }
  rmSync(aside, { recursive: true, force: true });
}

/** The link's target, or null. */
function targetOf(link) {
  try {
    return resolve(dirname(link), readlinkSync(link));
  } catch {
    return null;
  }
}

/** Makes this build the newest, and removes other unused builds. */
export function prefer(root, name) {
  unlessReadOnly(() => {
    lead(root, name);
    tidy(root, name);
  });
}

/** Points `dist/page` and `dist/server` to this build. Each link changes atomically. */
function lead(root, name) {
  for (const part of PARTS) {
    const [link, target] = [dist(root, part), join(folderOf(root, name), part)];
    if (targetOf(link) === target) continue;
    const next = `${link}.${process.pid}`;
    rmSync(next, { recursive: true, force: true });
    symlinkSync(relative(dirname(link), target), next, 'junction');
    try {
      renameSync(next, link);
    } catch {
      // An older Roost built into a folder of this name, or the system cannot replace a link.
      removeAside(root, link);
      renameSync(next, link);
    }
  }
}

/** The main file behind `dist/server`, or null. */
export function newestMain(root) {
  const main = dist(root, 'server/main.js');
  return existsSync(main) ? main : null;
}

/** Removes unused builds except `name`, and leftovers of ended processes. */
function tidy(root, name) {
  for (const kind of ['used', 'making', 'trash'])
    for (const entry of list(dist(root, kind)))
      if (!isAlive(partsOf(entry).pid)) rmSync(dist(root, kind, entry), { recursive: true, force: true });
  for (const other of list(dist(root, 'builds')))
    if (other !== name && !usedNow(root).has(other)) removeAside(root, folderOf(root, other));
}

function isMaking(root, entry) {
  if (!isAlive(partsOf(entry).pid)) return false;
  try {
    return Date.now() - statSync(dist(root, 'making', entry)).mtimeMs < GIVEN_UP_MS;
  } catch {
    return false;
  }
}

/** Other processes that are building this. */
const otherMakers = (root, name) =>
  list(dist(root, 'making'))
    .filter((entry) => partsOf(entry).name === name && partsOf(entry).pid !== process.pid && isMaking(root, entry))
    .map(partsOf);

/** Whether another process is building this, so that waiting is faster. */
export const isMadeByAnother = (root, name) => otherMakers(root, name).length > 0;

/**
 * Lets `build` fill a folder, and makes that the build of this name. Rejects where `build` does,
 * and leaves nothing behind. Results:
 * - `made`: the build is there.
 * - `changed`: the sources changed meanwhile, so the output belongs to no single state of them.
 * - `elsewhere`: another process began the same build earlier.
 *
 * @returns {Promise<'made' | 'changed' | 'elsewhere'>}
 */
export async function make(root, name, build) {
  const since = Date.now();
  const making = dist(root, 'making', `${name}.${since}.${process.pid}`);
  mkdirSync(making, { recursive: true });
  const signs = setInterval(() => utimesSync(making, new Date(), new Date()), SIGN_MS);
  try {
    const isFirst = (other) => other.since < since || (other.since === since && other.pid < process.pid);
    if (otherMakers(root, name).some(isFirst)) return 'elsewhere';
    await build(making);
    if (nameOfSources(root) !== name) return 'changed';
    const sizes = filesAt(making).map((file) => [relative(making, file), statSync(file).size]);
    writeFileSync(join(making, CONTENTS), JSON.stringify(Object.fromEntries(sizes)));
    mkdirSync(dist(root, 'builds'), { recursive: true });
    if (existsSync(folderOf(root, name)) && !isWhole(root, name)) removeAside(root, folderOf(root, name));
    try {
      renameSync(making, folderOf(root, name));
    } catch (error) {
      // Another process has built the same.
      if (!isWhole(root, name)) throw error;
    }
    return 'made';
  } finally {
    clearInterval(signs);
    rmSync(making, { recursive: true, force: true });
  }
}
