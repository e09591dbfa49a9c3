/**
 * The person's repository on the relay's machine, for git of the relay.
 *
 * What lies in that repository is not trusted. Its settings, hooks and filters name programs, and
 * git would run them as the user of the relay. So git never runs with that repository as its own.
 * It runs with a view: a folder of the relay with settings of the relay, and links to the objects
 * and references. Settings of the person are read as data. The view has only those that name no
 * program, and say how files are written.
 *
 * Main functions: `openView`, `refuseMove`, `moveBranch`.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import type { ProjectValue } from '../../../src/shared/protocol/projects.ts';
import { codeOf } from '../../platform/errors.ts';
import { git, GitError, GIT_LIMITS, gitText } from '../../platform/git/index.ts';
import type { Lane } from '../../platform/lanes.ts';
import { CHECKOUT_LIMITS } from './settings.ts';
import { MID_WORK } from './switching.ts';

/** Where the parts of a repository lie, with all links followed. */
interface Parts {
  /** The folder of its files. Null: it has none. */
  readonly top: string | null;
  /** Of this working tree: `HEAD` and the index. */
  readonly own: string;
  /** The folder that all working trees share: objects and references. */
  readonly common: string;
}

export interface View extends Parts {
  /** The path that the person named. */
  readonly path: string;
  /** The folder that git is given. */
  readonly gitDir: string;
  /** Its settings. Git gets them in its environment, too, because they win there. */
  readonly settings: Readonly<Record<string, string>>;
  /** All settings of the person and of the repository, in lower case. They are data. */
  readonly theirs: ReadonlyMap<string, string>;
  readonly lane: Lane;
  remove(): Promise<void>;
}

/** Settings that name no program, and say how files are read and written. */
const COPIED = new Set([
  ...['core.autocrlf', 'core.eol', 'core.safecrlf', 'core.filemode', 'core.symlinks', 'core.ignorecase'],
  ...['core.precomposeunicode', 'core.trustctime', 'core.checkstat', 'core.sharedrepository'],
  ...['core.sparsecheckout', 'core.sparsecheckoutcone', 'index.sparse', 'extensions.objectformat'],
]);
/** Extensions of the format that change nothing of what the relay reads. */
const EXTENSIONS = ['objectformat', 'worktreeconfig', 'noop', 'preciousobjects', 'relativeworktrees', 'refstorage'];
/** Hooks that may refuse a push, and hooks that only hear of it. */
const JUDGES = ['pre-receive', 'update', 'proc-receive', 'reference-transaction', 'push-to-checkout'];
const LISTENERS = ['post-receive', 'post-update'];
const VIEW = 'view-';
/** What is being merged, in the relay's repository. */
const MERGING_REF = 'refs/roost/merging';
/** Alternates of alternates that git follows. */
const ALTERNATES_DEEP = 5;
/** Bytes of a small file of a repository. */
const SMALL = 100_000;

const within = (inner: string, outer: string) =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`);
const named = (paths: readonly string[]) => {
  const { namedFiles } = CHECKOUT_LIMITS;
  const more = paths.length - namedFiles;
  return `${paths.slice(0, namedFiles).map(titled).join(', ')}${more > 0 ? `, +${more}` : ''}`;
};

/** The text of a small ordinary file. Null: there is none. */
async function smallText(file: string): Promise<string | null> {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= SMALL ? await readFile(file, 'utf8') : null;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP'].includes(codeOf(error))) return null;
    throw error;
  }
}

export const SHALLOW = sentence`The repository is not a whole clone. Run “git fetch --unshallow” in it, or name one with all files.`;

/** Why no repository lies at this path, or none that can be fetched. Null: one does. */
export async function refusePlace(path: string): Promise<string | null> {
  for (let folder = path; ; folder = dirname(folder)) {
    const gitDir = await gitDirOf(folder);
    if (gitDir !== null) {
      if (folder !== path) return sentence`${path} is a folder in the repository ${folder}. Name that one.`;
      return existsSync(join(gitDir, 'shallow')) ? SHALLOW : null;
    }
    if (folder === dirname(folder)) return sentence`There is no git repository at ${path}.`;
  }
}
/**
 * Why files cannot be copied into checkouts, as a sentence. Null: they can, or are not there yet.
 */
export async function refuseCopies({ kind, repository, copy }: Pick<ProjectValue, 'kind' | 'repository' | 'copy'>) {
  if (kind !== 'git' || !isAbsolute(repository)) return null;
  const most = CHECKOUT_LIMITS.copiedBytes;
  for (const path of copy) {
    const entry = await stat(join(repository, path)).catch(() => null);
    if (entry?.isDirectory() === true) return sentence`${path} is a folder. Name the files in it.`;
    if (entry && entry.size > most)
      return sentence`${path} has more than ${most / 1_000_000} MB, which is the most that is read.`;
  }
  return null;
}
/** Where git keeps the repository of this folder, of all its working trees. Null: it is none. */
async function gitDirOf(folder: string): Promise<string | null> {
  if (existsSync(join(folder, 'HEAD')) && existsSync(join(folder, 'objects'))) return folder;
  const entry = join(folder, '.git');
  if (!existsSync(entry)) return null;
  const text = (await smallText(entry)) ?? '';
  const linked = /^gitdir: (.+)$/m.exec(text)?.[1];
  if (linked === undefined) return entry;
  const own = resolve(folder, linked);
  const common = (await smallText(join(own, 'commondir'))) ?? '';
  return common === '' ? own : resolve(own, common.trim());
}

/** Throws `GitError` where it is no repository. */
async function partsOf(path: string, lane: Lane): Promise<Parts> {
  const isGitDir = (folder: string) => existsSync(join(folder, 'HEAD')) && existsSync(join(folder, 'objects'));
  const entry = join(path, '.git');
  if (isGitDir(entry)) {
    const own = await realpath(entry);
    if (dirname(own) !== path) throw new GitError(sentence`${entry} leads to ${own}. Name that repository itself.`);
    return { top: path, own, common: own };
  }
  const linked = /^gitdir: (.+?)\n*$/.exec((await smallText(entry)) ?? '')?.[1];
  if (linked !== undefined) {
    const own = await realpath(resolve(path, linked)).catch(() => null);
    if (own === null) throw new GitError(sentence`${entry} leads to ${linked}. Name that repository itself.`);
    const back = (await smallText(join(own, 'gitdir')))?.trim();
    const common = (await smallText(join(own, 'commondir')))?.trim();
    if (common !== undefined && back !== undefined && (await realpath(resolve(own, back)).catch(() => '')) === entry)
      return { top: path, own, common: await realpath(resolve(own, common)) };
    if (common === undefined && isGitDir(own)) {
      // A submodule says where its working tree is.
      const tree = new Map(await readSettings([join(own, 'config')], lane)).get('core.worktree');
      if (tree !== undefined && (await realpath(resolve(own, tree)).catch(() => '')) === path)
        return { top: path, own, common: own };
    }
    throw new GitError(sentence`${entry} leads to ${own}. Name that repository itself.`);
  }
  if (isGitDir(path)) return { top: basename(path) === '.git' ? dirname(path) : null, own: path, common: path };
  throw new GitError(sentence`There is no git repository at ${path}.`);
}

/**
 * Settings of these files, as data. Names are in lower case, except for what is between the dots.
 */
async function readSettings(files: readonly string[], lane: Lane): Promise<[string, string][]> {
  const all: [string, string][] = [];
  for (const file of files) {
    if (!(await stat(file).catch(() => null))?.isFile()) continue;
    const words = ['config', `--file=${file}`, '--no-includes', '--list', '-z'];
    for (const entry of (await gitText(words, { lane })).split('\0')) {
      const at = entry.indexOf('\n');
      if (entry !== '') all.push(at < 0 ? [entry, 'true'] : [entry.slice(0, at), entry.slice(at + 1)]);
    }
  }
  return all;
}
const personsHome = () => process.env['HOME'] ?? homedir();
const inHome = (path: string) => path.replace(/^~(?=\/)/, personsHome());
function personsFiles(): string[] {
  const home = personsHome();
  return [
    '/etc/gitconfig',
    join(process.env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'git', 'config'),
    join(home, '.gitconfig'),
  ];
}

/** Settings in the format of git's configuration files. */
function written(settings: Readonly<Record<string, string>>): string {
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;
  return Object.entries(settings)
    .map(([name, value]) => {
      const at = name.indexOf('.');
      return `[${name.slice(0, at)}]\n\t${name.slice(at + 1)} = ${quoted(value)}\n`;
    })
    .join('');
}

/** Folders of objects from which these borrow, and so on. */
async function borrowedFrom(objects: string, deep = 0): Promise<string[]> {
  const text = await smallText(join(objects, 'info', 'alternates'));
  if (text === null || deep === ALTERNATES_DEEP) return [];
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const found = await Promise.all(
    lines.map((line) => realpath(resolve(objects, line.replace(/^"(.*)"$/, '$1'))).catch(() => null)),
  );
  const folders = found.filter((each) => each !== null);
  const further = await Promise.all(folders.map((each) => borrowedFrom(each, deep + 1)));
  return [...folders, ...further.flat()];
}

export interface ViewDeps {
  /** Contains the view. */
  readonly folder: string;
  /** The relay’s home: no part of a repository is there. */
  readonly hidden: string;
  readonly lane: Lane;
}

/** Makes a view of this repository. Throws `GitError` with a sentence where there can be none. */
export async function openView(path: string, { folder, hidden, lane }: ViewDeps): Promise<View> {
  const parts = await partsOf(await realpath(path), lane);
  const { top, own, common } = parts;
  const mine = await readSettings(personsFiles(), lane);
  await refuseParts(path, parts, {
    hidden,
    trusted: mine.flatMap(([key, value]) => (key === 'safe.directory' ? [value] : [])),
  });
  const shared = new Map(await readSettings([join(common, 'config')], lane));
  // Git keeps the settings of a sparse checkout here, also for the main working tree.
  const ofTree = shared.has('extensions.worktreeconfig') ? [join(own, 'config.worktree')] : [];
  const theirs = new Map([...mine, ...shared, ...(await readSettings(ofTree, lane))]);
  for (const [key, value] of theirs) {
    const extension = /^extensions\.(.+)$/.exec(key)?.[1];
    if (extension === 'partialclone') throw new GitError(SHALLOW);
    if (
      extension !== undefined &&
      (!EXTENSIONS.includes(extension) || (extension === 'refstorage' && value !== 'files'))
    )
      throw new GitError(
        sentence`${path} has the setting ${`${key}=${value}`}, which the relay does not know. Name a clone without it.`,
      );
  }
  const attributes = inHome(theirs.get('core.attributesfile') ?? '~/.config/git/attributes');
  const settings: Record<string, string> = {
    'core.repositoryformatversion': theirs.has('extensions.objectformat') ? '1' : '0',
    'core.bare': 'true',
    'core.hooksPath': '/dev/null',
    'core.fsmonitor': 'false',
    'core.useReplaceRefs': 'false',
    'core.logAllRefUpdates': String(top !== null),
    'core.attributesFile': isAbsolute(attributes) ? attributes : '/dev/null',
    'pack.threads': '1',
    'pack.windowMemory': '64m',
    'user.name': 'Roost',
    'user.email': 'roost@localhost',
    ...Object.fromEntries([...theirs].filter(([key]) => COPIED.has(key))),
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const gitDir = await mkdtemp(join(folder, VIEW));
  const remove = () => rm(gitDir, { recursive: true, force: true });
  try {
    await mkdir(join(gitDir, 'info'));
    await mkdir(join(gitDir, 'logs'));
    await writeFile(join(gitDir, 'HEAD'), (await smallText(join(own, 'HEAD'))) ?? '');
    await writeFile(join(gitDir, 'config'), written(settings));
    const ofAll = ['objects', 'refs', 'packed-refs', 'shallow', 'info/attributes', 'logs/refs'];
    for (const name of ofAll) await symlink(join(common, name), join(gitDir, name));
    for (const name of ['index', 'logs/HEAD', 'info/sparse-checkout'])
      await symlink(join(own, name), join(gitDir, name));
    return { ...parts, path, gitDir, settings, theirs, lane, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Removes all views. None may be in use. */
export async function removeViews(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => []))
    if (name.startsWith(VIEW)) await rm(join(folder, name), { recursive: true, force: true });
}

/**
 * Throws `GitError` where a part of the repository is somebody else's, the relay's own, or a link.
 */
async function refuseParts(
  path: string,
  { top, own, common }: Parts,
  { hidden, trusted }: { readonly hidden: string; readonly trusted: readonly string[] },
): Promise<void> {
  for (const name of ['objects', 'refs', 'packed-refs', 'config', 'index', 'logs', 'HEAD']) {
    const file = join(name === 'index' || name === 'HEAD' ? own : common, name);
    if ((await lstat(file).catch(() => null))?.isSymbolicLink())
      throw new GitError(
        sentence`${file} is a link, and could lead into another repository. Name a clone that git made.`,
      );
  }
  const home = await realpath(hidden).catch(() => hidden);
  const user = process.getuid?.();
  const isTrusted = trusted.some(
    (each) => each === '*' || each === path || (each.endsWith('/*') && within(path, each.slice(0, -2))),
  );
  for (const folder of [top, own, common, ...(await borrowedFrom(join(common, 'objects')))]) {
    if (folder === null) continue;
    if (within(folder, home)) throw new GitError(sentence`${folder} contains the relay’s data, or is part of it.`);
    if (user !== undefined && (await stat(folder)).uid !== user && !isTrusted)
      throw new GitError(
        sentence`${folder} belongs to another user of the machine. Run the relay as that user. Or, if you trust it, run “git config --global --add safe.directory ${path}” as the relay’s user.`,
      );
  }
}

const isRunnable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // The hook is missing, or switched off.
    return false;
  }
};
function hooksOf({ theirs, top, common }: View, names: readonly string[]): string[] {
  const set = theirs.get('core.hookspath');
  const folder = set === undefined ? join(common, 'hooks') : resolve(top ?? common, inHome(set));
  return names.filter((name) => isRunnable(join(folder, name)));
}
/** Hooks of the repository that would hear of a push. The relay does not run them. */
export const listenersOf = (view: View): string[] => hooksOf(view, LISTENERS);

/** The branch of a folder of git. Null: none. */
const branchIn = async (own: string): Promise<string | null> =>
  /^ref: refs\/heads\/(.+?)\n*$/.exec((await smallText(join(own, 'HEAD'))) ?? '')?.[1] ?? null;

/** The working tree, other than the one that was named, that has this branch. Null: none has. */
async function otherTreeWith({ own, common, theirs }: View, branch: string): Promise<string | null> {
  if (own !== common && theirs.get('core.bare') !== 'true' && (await branchIn(common)) === branch)
    return dirname(common);
  for (const name of await readdir(join(common, 'worktrees')).catch(() => [])) {
    const folder = join(common, 'worktrees', name);
    if (folder === own) continue;
    const tree = (await smallText(join(folder, 'gitdir')))?.trim();
    // A working tree that was deleted is forgotten by git only later.
    if (tree === undefined || !existsSync(resolve(folder, tree))) continue;
    const rebased = (await smallText(join(folder, 'rebase-merge', 'head-name')))?.trim();
    if ((await branchIn(folder)) === branch || rebased === `refs/heads/${branch}`)
      return dirname(resolve(folder, tree));
  }
  return null;
}

export interface Move {
  readonly branch: string;
  /** The relay’s repository, which has both commits. */
  readonly from: string;
  readonly base: string;
  readonly target: string;
}

/** Whether this branch is in the working tree that was named. */
const isCheckedOut = async (view: View, branch: string): Promise<boolean> =>
  view.top !== null &&
  (view.own !== view.common || view.theirs.get('core.bare') !== 'true') &&
  (await branchIn(view.own)) === branch;

/**
 * Moves a branch of the person's repository from `base` to `target`, and the files of the working
 * tree with it if the branch is checked out. Throws `GitError`, and leaves both as they were then.
 */
export async function moveBranch(view: View, { branch, from, base, target }: Move): Promise<void> {
  const { gitDir, lane, top, settings } = view;
  const ref = `refs/heads/${branch}`;
  await git(['update-ref'], { gitDir: from, lane, of: [MERGING_REF, target] });
  await git(['fetch', '--quiet', '--no-write-fetch-head', '--no-tags', '--no-auto-maintenance'], {
    ...{ gitDir, lane, of: [from, MERGING_REF], protocols: 'file', ms: GIT_LIMITS.networkMs },
  });
  const tree = (await isCheckedOut(view, branch)) ? top : null;
  const write = async (...commits: string[]) => {
    if (tree === null) return;
    const words = [`--work-tree=${tree}`, 'read-tree', '-m', '-u', '--no-recurse-submodules'];
    await git(words, {
      ...{ gitDir, lane, of: commits, settings: { ...settings, 'core.bare': 'false' }, ms: GIT_LIMITS.networkMs },
    });
  };
  await write(base, target);
  try {
    const settled = { ...settings, 'core.logAllRefUpdates': String(top !== null) };
    await git(['update-ref', '-m', 'merge by Roost'], { gitDir, lane, of: [ref, target, base], settings: settled });
  } catch (error) {
    await write(target, base);
    throw error;
  }
}

const notCommitted = (path: string, files: readonly string[]) =>
  sentence`${path} has changes that are in no commit: ${named(files)}. Commit, undo or move them, and merge again.`;

/**
 * Why a branch of the person's repository cannot be moved to `target`, as a sentence that names
 * what is in the way. Null: it can.
 */
export async function refuseMove(view: View, move: Move): Promise<string | null> {
  const { path, own, top } = view;
  const { branch } = move;
  const judges = hooksOf(view, JUDGES);
  if (judges.length > 0)
    return sentence`${path} has the hook ${named(judges)}, which decides what it takes. The relay runs no program of a repository, and does not merge past it. Put the hook aside, and merge again.`;
  const other = await otherTreeWith(view, branch);
  if (other !== null)
    return sentence`The branch ${branch} is checked out in the working tree ${other}. Check out another branch there, and merge again.`;
  if (top === null && view.theirs.get('core.bare') !== 'true' && (await branchIn(own)) === branch)
    return sentence`The branch ${branch} is checked out in the working tree ${path}. Check out another branch there, and merge again.`;
  if (!(await isCheckedOut(view, branch)) || top === null) {
    const rebased = (await smallText(join(own, 'rebase-merge', 'head-name')))?.trim();
    return rebased === `refs/heads/${branch}`
      ? sentence`Git is in the middle of something in ${path}. Finish it, and merge again.`
      : null;
  }
  for (const each of MID_WORK.split(' '))
    if (existsSync(join(own, each)))
      return sentence`Git is in the middle of something in ${path}. Finish it, and merge again.`;
  if (existsSync(join(own, 'index.lock')))
    return sentence`Git works in ${path}: there is ${join(own, 'index.lock')}. If no git runs there, delete that file. Then merge again.`;
  const stored = await filteredIn(view, move);
  if (stored !== null) return stored;
  const status = ['status', '--porcelain=v1', '-z', '--untracked-files=no', '--ignore-submodules=all', '--no-renames'];
  const dirty = await gitText([`--work-tree=${top}`, ...status], {
    ...{ gitDir: view.gitDir, lane: view.lane, settings: { ...view.settings, 'core.bare': 'false' } },
  });
  if (dirty !== '') {
    const files = dirty
      .split('\0')
      .filter(Boolean)
      .map((entry) => entry.slice(3));
    return notCommitted(path, files);
  }
  const untracked = await inTheWay(view, top, move);
  return untracked.length === 0 ? null : notCommitted(path, untracked);
}

const changed = async ({ lane }: View, { from, base, target }: Move, filter: string): Promise<string[]> =>
  (
    await gitText(['diff', '--name-only', '--no-renames', '-z', `--diff-filter=${filter}`], {
      lane,
      gitDir: from,
      of: [base, target],
    })
  )
    .split('\0')
    .filter(Boolean);

/** Files of the working tree that git does not know, where the merge adds others. */
async function inTheWay(view: View, top: string, move: Move): Promise<string[]> {
  const blocking = new Set<string>();
  for (const path of await changed(view, move, 'A')) {
    const parts = path.split('/');
    for (let i = 1; i <= parts.length; i++) {
      const each = parts.slice(0, i).join('/');
      const entry = await lstat(join(top, each)).catch(() => null);
      if (entry === null) break;
      if (entry.isDirectory() && i < parts.length) continue;
      // A file that git knows was compared before, and goes with the merge.
      if (i === parts.length || !(await isKnown(view, each))) blocking.add(each);
      break;
    }
  }
  return [...blocking];
}
const isKnown = async ({ gitDir, lane }: View, path: string): Promise<boolean> =>
  (await gitText(['ls-files', '-z'], { gitDir, lane, paths: [path], env: { GIT_LITERAL_PATHSPECS: '1' } })) !== '';

/** A filter stores files of this merge in another form. Null: none does. */
async function filteredIn(view: View, move: Move): Promise<string | null> {
  const { lane, gitDir, theirs } = view;
  const drivers = new Set(
    [...theirs.keys()].flatMap((key) => /^filter\.(.+)\.(?:smudge|process|clean)$/.exec(key)?.[1] ?? []),
  );
  // An included file may have more.
  const mayHaveMore = [...theirs.keys()].some((key) => /^include(if)?\./.test(key));
  if (drivers.size === 0 && !mayHaveMore) return null;
  const paths = await changed(view, move, 'AMRT');
  const env = {
    GIT_INDEX_FILE: join(gitDir, 'index.merge'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: join(move.from, 'objects'),
  };
  await git(['read-tree'], { gitDir, lane, env, of: [move.target] });
  const said = await gitText(['check-attr', '--cached', '-z', '--stdin', 'filter'], {
    ...{ gitDir, lane, env, input: paths.map((path) => `${path}\0`).join(''), settings: view.settings },
  });
  const words = said.split('\0');
  for (let i = 0; i + 2 < words.length; i += 3) {
    const [file = '', , filter = ''] = words.slice(i, i + 3);
    if (drivers.has(filter) || (mayHaveMore && !['unspecified', 'unset', 'set'].includes(filter)))
      return sentence`The merge changes ${titled(file)}, which the filter ${titled(filter)} of ${view.path} writes in another form than it stores. The relay runs no program of a repository. Check out another branch there, merge again, and go back: git writes the files then.`;
  }
  return null;
}
