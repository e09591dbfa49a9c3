/**
 * Makes a folder what it was at a point. Every step starts at an open folder and follows no link.
 * So nothing outside is ever written, whatever a program swaps meanwhile. Files are replaced as a
 * whole and never written into. An entry that is not recorded is neither replaced nor removed.
 */
import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rmdir, symlink, unlink } from 'node:fs/promises';
import { newId } from '../../../src/shared/domain/platform/new-id.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import { codeOf } from '../../platform/errors.ts';
import { NO_LINKS, type OpenFolder, openThere, placeOf, stepToEmpty, unfinished } from '../workspaces/index.ts';
import { type Listing, rawOf, type Recorded, unknownIn } from './listing.ts';
import { stampOf } from './record.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_LINKS;
const OWNERS_FILE = 0o600;
const OWNERS_RIGHTS = 0o700;

export interface Left {
  /** The path as it was recorded. */
  readonly path: string;
  readonly why: string;
}

export interface RestoreOptions {
  /** The folder as it was just recorded. */
  readonly current: Listing;
  readonly target: Listing;
  /** Restores these paths alone; null: all. */
  readonly only: ReadonlySet<string> | null;
  /** Calls `use` with each content, in order. */
  readonly read: (objects: readonly string[], use: (content: Buffer, index: number) => Promise<void>) => Promise<void>;
  readonly signal: AbortSignal;
}

const isSame = (one: Recorded | undefined, other: Recorded | undefined) =>
  one !== undefined && other !== undefined && one.kind === other.kind && one.object === other.object;

/** What is to be done, by path. Pure. */
function planOf({ current, target, only }: Pick<RestoreOptions, 'current' | 'target' | 'only'>) {
  const isWanted = (path: string) => only === null || only.has(path);
  const removes: Recorded[] = [];
  const makes: Recorded[] = [];
  const writes: Recorded[] = [];
  const modes: Recorded[] = [];
  const unknown: Recorded[] = [];
  const isUnknown = unknownIn(target);
  for (const [path, now] of current.entries) {
    const then = target.entries.get(path);
    if (!isWanted(path) || then?.kind === now.kind) continue;
    (!then && isUnknown(path) ? unknown : removes).push(now);
  }
  for (const [path, then] of target.entries) {
    if (!isWanted(path)) continue;
    const now = current.entries.get(path);
    if (isSame(now, then)) {
      if (now?.mode !== then.mode) modes.push(then);
    } else if (then.kind === 'folder') makes.push(then);
    else writes.push(then);
  }
  const deepestFirst = (one: Recorded, other: Recorded) => (one.path < other.path ? 1 : -1);
  return { removes: removes.sort(deepestFirst), makes, writes, modes, unknown };
}

/** Expected at one entry. */
class LeftError extends Error {}

const NOT_RECORDED = sentence`It is not recorded, or changed in the meantime. It stays as it is.`;
const NO_FOLDER = sentence`The folder for it could not be made.`;
const FORBIDDEN = sentence`The rights that are set there forbid it.`;
const FULL = sentence`The disk is full.`;

function whyOf(error: unknown): string | null {
  if (error instanceof LeftError) return error.message;
  switch (codeOf(error)) {
    case 'ENOTEMPTY':
    case 'EEXIST':
      return NOT_RECORDED;
    case 'EACCES':
    case 'EPERM':
      return FORBIDDEN;
    case 'ENOSPC':
    case 'EDQUOT':
      return FULL;
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'EISDIR':
      return NOT_RECORDED;
    default:
      return null;
  }
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
const nameOf = (path: string): Buffer => {
  const raw = rawOf(path.slice(path.lastIndexOf('/') + 1));
  if (!raw) throw new LeftError(NOT_RECORDED);
  return raw;
};

/** Restores the folder at `path`. Resolves with what could not be restored. */
export async function restoreFolder(path: string, options: RestoreOptions): Promise<readonly Left[]> {
  const { current, target, read, signal } = options;
  const plan = planOf(options);
  const notRestored: Left[] = plan.unknown.map(({ path: where }) => ({ path: where, why: NOT_RECORDED }));
  /** Permissions that were given to work in a folder, and those to be set again. */
  const lent = new Map<string, number>();
  let root = await openThere(path);
  if (!root && (plan.makes.length > 0 || plan.writes.length > 0)) {
    await mkdir(path, { recursive: true, mode: OWNERS_RIGHTS });
    root = await openThere(path);
  }
  if (!root) return notRestored;
  const top = root;

  async function enter(from: OpenFolder, where: string): Promise<OpenFolder> {
    const raw = nameOf(where);
    const stats = await lstat(placeOf(from, raw));
    if (!stats.isDirectory()) throw new LeftError(NOT_RECORDED);
    const mode = stats.mode & 0o777;
    if ((mode & OWNERS_RIGHTS) !== OWNERS_RIGHTS && !lent.has(where)) lent.set(where, mode);
    return await stepToEmpty(from, raw);
  }
  /** The chain of open folders above the last path, so that neighbours need no new steps. */
  let chain: { readonly where: string; readonly folder: OpenFolder }[] = [];
  const isAbove = (where: string, below: string) => below === where || below.startsWith(`${where}/`);
  async function leave(until: string | null): Promise<void> {
    while (chain.length > 0) {
      const last = chain.at(-1);
      if (!last || (until !== null && isAbove(last.where, until))) return;
      chain = chain.slice(0, -1);
      await last.folder.handle.close();
    }
  }
  async function parent(of: string): Promise<OpenFolder> {
    const parentPath = parentOf(of);
    await leave(parentPath);
    const names = parentPath === '' ? [] : parentPath.split('/');
    for (let depth = chain.length; depth < names.length; depth++) {
      const where = names.slice(0, depth + 1).join('/');
      const from = chain.at(-1)?.folder ?? top;
      const folder = await enter(from, where).catch((error: unknown) => {
        throw codeOf(error) === 'ENOENT' ? new LeftError(NO_FOLDER) : error;
      });
      chain.push({ where, folder });
    }
    return chain.at(-1)?.folder ?? top;
  }

  /** Throws where something lies there that was not recorded just now. */
  async function check(folder: OpenFolder, raw: Buffer, where: string): Promise<'there' | 'none'> {
    const stats = await lstat(placeOf(folder, raw), { bigint: true }).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    });
    if (!stats) return 'none';
    const knownFile = current.entries.get(where);
    const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'folder' : stats.isSymbolicLink() ? 'link' : null;
    if (!knownFile) throw new LeftError(NOT_RECORDED);
    const isOther =
      kind === 'file' &&
      (knownFile.stamp === '' ? BigInt(knownFile.bytes) !== stats.size : knownFile.stamp !== stampOf(stats));
    if (kind !== knownFile.kind || isOther) throw new LeftError(NOT_RECORDED);
    return 'there';
  }

  async function each(entries: readonly Recorded[], act: (entry: Recorded) => Promise<void>): Promise<void> {
    for (const entry of entries) {
      signal.throwIfAborted();
      await attempt(entry, () => act(entry));
    }
  }
  async function attempt(entry: Recorded, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      const why = whyOf(error);
      if (why === null) throw error;
      notRestored.push({ path: entry.path, why });
    }
  }

  async function remove(entry: Recorded): Promise<void> {
    const folder = await parent(entry.path);
    const raw = nameOf(entry.path);
    if ((await check(folder, raw, entry.path)) === 'none') return;
    if (entry.kind === 'folder') await rmdir(placeOf(folder, raw));
    else await unlink(placeOf(folder, raw));
  }
  async function make({ path: where, mode }: Recorded): Promise<void> {
    const folder = await parent(where);
    const raw = nameOf(where);
    await mkdir(placeOf(folder, raw), { mode: OWNERS_RIGHTS }).catch((error: unknown) => {
      throw codeOf(error) === 'EEXIST' ? new LeftError(NOT_RECORDED) : error;
    });
    lent.set(where, mode);
  }
  async function write(entry: Recorded, content: Buffer): Promise<void> {
    const folder = await parent(entry.path);
    const raw = nameOf(entry.path);
    await check(folder, raw, entry.path);
    const name = `.roost-${newId()}`;
    const place = placeOf(folder, Buffer.from(name));
    unfinished.add(name);
    try {
      if (entry.kind === 'link') await symlink(content, place);
      else {
        const file = await open(place, NEW_FILE, OWNERS_FILE);
        try {
          await file.writeFile(content);
          await file.chmod(entry.mode);
        } finally {
          await file.close();
        }
      }
      await rename(place, placeOf(folder, raw));
    } catch (error) {
      await unlink(place).catch(() => undefined);
      throw error;
    } finally {
      unfinished.delete(name);
    }
  }
  async function setMode({ path: where, kind, mode }: Recorded): Promise<void> {
    if (kind === 'folder') return void lent.set(where, mode);
    const folder = await parent(where);
    const raw = nameOf(where);
    await check(folder, raw, where);
    const file = await open(placeOf(folder, raw), constants.O_RDONLY | constants.O_NONBLOCK | NO_LINKS);
    try {
      await file.chmod(mode);
    } finally {
      await file.close();
    }
  }
  /** The folders above a single file may be gone, too. */
  async function makeAbove({ path: where }: Recorded): Promise<void> {
    const names = where.split('/');
    for (let depth = 1; depth < names.length; depth++) {
      const above = names.slice(0, depth).join('/');
      const recorded = target.entries.get(above);
      if (current.entries.get(above)?.kind === 'folder' || !recorded || lent.has(above)) continue;
      await make(recorded).catch((error: unknown) => {
        if (!(error instanceof LeftError)) throw error;
      });
    }
  }

  try {
    await each(plan.removes, remove);
    await leave(null);
    await each(plan.makes, make);
    await leave(null);
    const writes = plan.writes;
    if (options.only !== null) await each(writes, makeAbove);
    await leave(null);
    await read(
      writes.map(({ object }) => object),
      async (content, index) => {
        signal.throwIfAborted();
        const entry = writes[index];
        if (entry) await attempt(entry, () => write(entry, content));
      },
    );
    await each(plan.modes, setMode);
    return notRestored;
  } finally {
    await leave(null);
    for (const where of [...lent.keys()].sort().reverse())
      await setFolderMode(where, lent.get(where) ?? OWNERS_RIGHTS).catch((error: unknown) => {
        if (whyOf(error) === null) throw error;
      });
    await leave(null);
    await top.handle.close();
  }

  async function setFolderMode(where: string, mode: number): Promise<void> {
    const folder = await stepToEmpty(await parent(where), nameOf(where));
    try {
      await folder.handle.chmod(mode);
    } finally {
      await folder.handle.close();
    }
  }
}
