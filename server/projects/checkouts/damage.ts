/**
 * Damage of the relay's own repository of a project, as a power cut, a full disk, a kill or a
 * deleted file leaves it.
 *
 * What can be made again is made again: files that git needs, references whose commit is known, and
 * objects that the source has. A branch that cannot be read counts as lost. It is never begun anew,
 * because its commits may be nowhere else. Nothing is deleted but empty objects, and locks that
 * nobody holds.
 */
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { codeOf } from '../../platform/errors.ts';
import { git, GitError, GIT_LIMITS, type GitPlace, gitText } from '../../platform/git/index.ts';
import { CHECKOUT_LIMITS } from './settings.ts';

/** The last commit of a branch, as an attempt that ran at this relay left it. */
export interface KnownHead {
  readonly branch: string;
  readonly head: string;
}
type Own = Omit<GitPlace, 'gitDir'> & { readonly gitDir: string };

/** Holds what stood in damaged references, below the repository. */
const DAMAGED = 'roost-damaged';
const COMMIT = /^(?:[\da-f]{40}|[\da-f]{64})$/;
const HEADS = 'refs/heads/';

/** Git’s own words where something in a repository cannot be read. */
const SOUNDS_DAMAGED =
  /not a git repository|bad (?:object|ref|config|tree|numeric)|missing|unable to (?:read|parse|open)|could not (?:read|parse|open|fetch)|corrupt|loose object|pack|broken|invalid|not a valid|cannot lock ref|unresolved|traverse|revision walk/i;
export const soundsDamaged = (error: unknown): error is GitError =>
  error instanceof GitError && error.why === 'failed' && SOUNDS_DAMAGED.test(error.message);

/** Why a branch that is lost cannot be worked on. */
export const lostText = (gitDir: string, branch: string): string =>
  sentence`The relay’s copy of the project is damaged: the branch ${branch} cannot be read. Put the folder ${gitDir} back from a backup. If you need nothing of that branch, make a new task.`;
/** Why a project cannot be worked on. */
export const damagedText = (gitDir: string): string =>
  sentence`The relay’s copy of the project is damaged, and part of it cannot be read. Put the folder ${gitDir} back from a backup.`;

/** The text of a small file. Null: it is missing or no file. */
const textAt = (path: string): Promise<string | null> =>
  readFile(path, 'latin1').catch((error: unknown) => {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error))) return null;
    throw error;
  });
/** Writes the whole file or nothing. */
async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { flush: true });
  await rename(`${path}.new`, path);
}
/** All files below a folder, as paths from `top`. */
async function filesBelow(top: string, folder: string): Promise<string[]> {
  const entries = await readdir(join(top, folder), { withFileTypes: true }).catch(() => []);
  const all = await Promise.all(
    entries.map((each) => {
      const path = `${folder}/${each.name}`;
      return each.isDirectory() ? filesBelow(top, path) : Promise.resolve([path]);
    }),
  );
  return all.flat();
}

/**
 * Completes the repository so that git can work in it, and its references. Resolves with the
 * branches that are lost. `main`: the branch that only this repository has. Null: it has a source.
 * Throws `GitError`.
 */
export async function complete(own: Own, main: string | null, knownHeads: readonly KnownHead[]): Promise<Set<string>> {
  try {
    return await completeNow(own, main, knownHeads);
  } catch (error) {
    if (codeOf(error) === '' || error instanceof GitError) throw error;
    throw new GitError(`${damagedText(own.gitDir)} (${codeOf(error)})`);
  }
}

async function completeNow(own: Own, main: string | null, knownHeads: readonly KnownHead[]): Promise<Set<string>> {
  const { gitDir } = own;
  const at = (path: string) => join(gitDir, path);
  const isNew = !existsSync(gitDir);
  if (!isNew) {
    await dropStaleLocks(gitDir);
    await dropEmptyObjects(gitDir);
    if (!/^ref: refs\/heads\/./.test((await textAt(at('HEAD'))) ?? '')) await rm(at('HEAD'), { force: true });
    if (!/^\[core\]\n[\n\t -~]*$/.test((await textAt(at('config'))) ?? '')) await rm(at('config'), { force: true });
  }
  if (isNew || ['HEAD', 'config', 'refs', 'objects'].some((name) => !existsSync(at(name))))
    await git(['init', '--quiet', '--bare', '--initial-branch=main'], { lane: own.lane, of: [gitDir] });
  // The whole repository is gone, with all that ran here.
  if (isNew && knownHeads.length > 0)
    for (const branch of [...knownHeads.map((each) => each.branch), ...(main === null ? [] : [main])])
      await setAside(own, `${HEADS}${branch}`);
  await completePacked(gitDir);
  const heads = new Map(knownHeads.map(({ branch, head }) => [`${HEADS}${branch}`, head]));
  const refs = await referencesOf(gitDir);
  const kinds = await kindsOf(
    own,
    [...refs.values(), ...heads.values()].filter((id) => id !== null),
  );
  const isCommit = (id: string | null | undefined) => id != null && kinds.get(id) === 'commit';
  for (const [name, id] of refs) {
    const isGood = id !== null && kinds.has(id) && (!name.startsWith(HEADS) || isCommit(id));
    if (isGood) continue;
    refs.delete(name);
    await setAside(own, name);
  }
  const lost = new Set<string>();
  const branches = new Set([...heads.keys(), ...(await filesBelow(at(DAMAGED), 'refs'))]);
  if (main !== null && !refs.has(`${HEADS}${main}`)) {
    const writing = refs.get(`refs/roost/writing/${main}`);
    if (isCommit(writing) && writing) heads.set(`${HEADS}${main}`, writing);
    if (heads.has(`${HEADS}${main}`) || (await hasCommits(own))) branches.add(`${HEADS}${main}`);
  }
  for (const name of branches) {
    if (!name.startsWith(HEADS) || refs.has(name)) continue;
    const head = heads.get(name);
    const branch = name.slice(HEADS.length);
    if (head === undefined || !isCommit(head)) {
      lost.add(branch);
      continue;
    }
    await git(['update-ref'], { ...own, of: [name, head] });
    await clearDamage(gitDir, branch);
  }
  return lost;
}

/** A lock is held for a moment. One that is older was left by a git that was killed. */
async function dropStaleLocks(gitDir: string): Promise<void> {
  const locks = ['HEAD.lock', 'config.lock', 'packed-refs.lock', 'shallow.lock', ...(await filesBelow(gitDir, 'refs'))];
  for (const name of locks.filter((each) => each.endsWith('.lock'))) {
    const found = await stat(join(gitDir, name)).catch(() => null);
    if (found && Date.now() - found.mtimeMs > CHECKOUT_LIMITS.staleLockMs)
      await rm(join(gitDir, name), { force: true });
  }
}

/** An empty object has no content, and git takes no other copy of it while it is there. */
async function dropEmptyObjects(gitDir: string): Promise<void> {
  for (const name of await filesBelow(gitDir, 'objects')) {
    if (!/^objects\/[\da-f]{2}\/[\da-f]+$/.test(name)) continue;
    const found = await stat(join(gitDir, name)).catch(() => null);
    if (found?.size === 0) await rm(join(gitDir, name), { force: true });
  }
}

/** Git reads none of the packed references if one line is damaged. The others are kept. */
async function completePacked(gitDir: string): Promise<void> {
  const path = join(gitDir, 'packed-refs');
  const text = await textAt(path);
  if (text === null) return;
  const isLine = (line: string) => /^(?:#.*|\^[\da-f]{40,64}|[\da-f]{40,64} refs\/[!-~]+)$/.test(line);
  const lines = text.split('\n').slice(0, -1);
  if (text.endsWith('\n') && lines.every(isLine)) return;
  await replace(join(gitDir, 'packed-refs.damaged'), text);
  await replace(
    path,
    lines
      .filter(isLine)
      .map((line) => `${line}\n`)
      .join(''),
  );
}

/** All references by name. Null: what is written there is no id. */
async function referencesOf(gitDir: string): Promise<Map<string, string | null>> {
  const refs = new Map<string, string | null>();
  for (const line of ((await textAt(join(gitDir, 'packed-refs'))) ?? '').split('\n')) {
    const [id = '', name] = line.split(' ');
    if (name !== undefined && COMMIT.test(id)) refs.set(name, id);
  }
  for (const name of await filesBelow(gitDir, 'refs')) {
    if (name.endsWith('.lock')) continue;
    const id = ((await textAt(join(gitDir, name))) ?? '').trim();
    refs.set(name, COMMIT.test(id) && !/^0+$/.test(id) ? id : null);
  }
  return refs;
}

/** The kinds of these objects, by id. Those that are missing are left out. */
async function kindsOf(own: Own, ids: readonly string[]): Promise<Map<string, string>> {
  const unique = [...new Set(ids)].filter((id) => COMMIT.test(id));
  if (unique.length === 0) return new Map();
  const said = await gitText(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    ...{ ...own, input: unique.map((id) => `${id}\n`).join(''), ms: GIT_LIMITS.networkMs },
  });
  return new Map(
    said.split('\n').flatMap((line) => {
      const [id = '', kind = ''] = line.split(' ');
      return kind === 'missing' || kind === '' ? [] : [[id, kind]];
    }),
  );
}
const hasCommits = async (own: Own): Promise<boolean> => {
  const words = ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objecttype)'];
  const { out } = await git(words, { ...own, ms: GIT_LIMITS.networkMs, cut: true });
  return /^commit$/m.test(out.toString('latin1'));
};

/** Moves a damaged reference out of git's way. What stood in it is kept. */
async function setAside(own: Own, name: string): Promise<void> {
  const { gitDir } = own;
  const kept = join(gitDir, DAMAGED, name);
  await mkdir(dirname(kept), { recursive: true });
  if (existsSync(join(gitDir, name))) await rename(join(gitDir, name), kept);
  else await writeFile(kept, '');
  // The reference may be packed, too.
  const lines = ((await textAt(join(gitDir, 'packed-refs'))) ?? '').split('\n');
  const left = lines.filter((line) => line.split(' ')[1] !== name);
  if (left.length < lines.length) await replace(join(gitDir, 'packed-refs'), left.join('\n'));
}
/** The branch has its commits again. */
export const clearDamage = (gitDir: string, branch: string): Promise<void> =>
  rm(join(gitDir, DAMAGED, `${HEADS}${branch}`), { force: true });

/** Bits of the exit code of git-fsck(1): something is missing, or a pack is bad. */
const [MISSING, BAD_PACK] = [2, 4];
/** Exit codes from here on mean that git could not go on at all. */
const FATAL = 128;
/** Reads everything in the repository. */
export async function isDamaged(own: Own): Promise<boolean> {
  const { code } = await git(['fsck', '--no-dangling', '--no-progress', '--no-reflogs'], {
    ...own,
    ms: GIT_LIMITS.networkMs,
    memory: GIT_LIMITS.networkMemory,
    codes: Array.from({ length: 256 }, (_none, i) => i),
    cut: true,
  });
  return code >= FATAL || (code & (MISSING | BAD_PACK)) !== 0;
}

/** Adds the objects of another repository. Bad copies of the same objects are not read any more. */
export async function addObjectsOf(own: Own, other: string): Promise<void> {
  const [from, to] = [join(other, 'objects/pack'), join(own.gitDir, 'objects/pack')];
  await mkdir(to, { recursive: true });
  const names = (await readdir(from)).filter((name) => /^pack-.*\.(?:pack|idx)$/.test(name));
  // Git finds a pack by its index.
  for (const name of names.toSorted().toReversed()) await rename(join(from, name), join(to, name));
}

/** The branches of which something is missing that `base` does not have. */
export async function brokenBranches(own: Own, base: string): Promise<readonly string[]> {
  const said = await gitText(['for-each-ref', '--format=%(refname:lstrip=2)'], { ...own, of: [HEADS] });
  const broken: string[] = [];
  for (const branch of said.split('\n').filter(Boolean)) {
    const words = ['rev-list', '--objects', '--quiet'];
    const of = [`${HEADS}${branch}`, `^${base}`];
    const { code } = await git(words, { ...own, of, ms: GIT_LIMITS.networkMs, codes: [0, 1, 128] });
    if (code !== 0) broken.push(branch);
  }
  return broken;
}
