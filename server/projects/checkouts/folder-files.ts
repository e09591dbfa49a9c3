/**
 * Files of a folder project, in the relay's repository and in a checkout.
 *
 * What enters is checked by the rule by which it is read: `fits` for one file, `tooMuch` for all.
 * What cannot be recorded of a checkout keeps its earlier content, and is named.
 */
import { createHash } from 'node:crypto';
import { sentence } from '../../../src/shared/domain/names.ts';
import { titled } from '../../../src/shared/domain/quoting.ts';
import { above, projectPathFault } from '../../../src/shared/domain/project-path.ts';
import {
  type EntryBelow,
  type Passed,
  readWhole,
  WorkspaceError,
  type Workspace,
} from '../../files/workspaces/index.ts';
import { GitError } from '../../platform/git/index.ts';
import { CHECKOUT_LIMITS } from './settings.ts';

/** A file: its path, and its content. */
export interface FolderFile {
  readonly path: string;
  readonly bytes: Buffer;
}
/** A file of a commit. `id`: of git, the same for the same content. */
export interface FileEntry {
  readonly path: string;
  readonly id: string;
  readonly bytes: number;
}
/** The files of a commit, by path. */
export type Listing = ReadonlyMap<string, FileEntry>;
/** `id`: content that the repository has. Null: the file is deleted. */
export type FileChange = FolderFile | { readonly path: string; readonly id: string | null };

/** No files, or no changes. */
export async function* nothing(): AsyncGenerator<never> {
  // Ends at once.
}

/** The id that git gives to this content. */
export const idOf = (bytes: Buffer): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');

/** Whether a folder project and a checkout of it may have this file. */
export const fits = ({ path, bytes }: { readonly path: string; readonly bytes: number }): boolean =>
  bytes <= CHECKOUT_LIMITS.folderFileBytes && projectPathFault(path) === null;

/** As a disk compares names that takes no notice of case and of how accents are written. */
const folded = (path: string): string => path.normalize('NFC').toLowerCase();
/**
 * New paths that another one takes away on such a disk: its own, or that of a folder above.
 * `isKnown`: it was there before, and stays.
 */
export function twinsIn(paths: Iterable<string>, isKnown: (path: string) => boolean): ReadonlySet<string> {
  const all = [...paths];
  const spelled = new Map<string, string>();
  const twins = new Set<string>();
  const take = (names: readonly string[]) => names.forEach((name) => spelled.set(folded(name), name));
  const namesOf = (path: string) => [...above(path), path];
  for (const path of all.filter(isKnown)) take(namesOf(path));
  for (const path of all.filter((each) => !isKnown(each))) {
    const names = namesOf(path);
    if (names.some((name) => (spelled.get(folded(name)) ?? name) !== name)) twins.add(path);
    else take(names);
  }
  return twins;
}

const MB = 1_000_000;
const MANY = sentence`A folder project has at most ${CHECKOUT_LIMITS.folderEntries} files and folders.`;
const LARGE = sentence`The files of a folder project have at most ${CHECKOUT_LIMITS.folderBytes / MB} MB together.`;
/** What an agent is told of files that were not recorded. */
export const RECORDED = `A file is recorded if it can be read, has at most ${CHECKOUT_LIMITS.folderFileBytes / MB} MB, has a name without backslashes and invisible characters, and has no other beside it whose name differs only in case or accents. Links are not.`;

/** Why these are too many files for a folder project, as a sentence. Null: they are not. */
export function tooMuch(files: Iterable<{ readonly path: string; readonly bytes: number }>): string | null {
  const folders = new Set<string>();
  let [count, bytes] = [0, 0];
  for (const file of files) {
    count += 1;
    bytes += file.bytes;
    for (let end = file.path.lastIndexOf('/'); end > 0; end = file.path.lastIndexOf('/', end - 1)) {
      const above = file.path.slice(0, end);
      if (folders.has(above)) break;
      folders.add(above);
    }
  }
  if (count + folders.size > CHECKOUT_LIMITS.folderEntries) return MANY;
  return bytes > CHECKOUT_LIMITS.folderBytes ? LARGE : null;
}

/** Why a merge would bring files that take others away, as a sentence. Null: it brings none. */
export function twinText(files: Listing, before: Listing): string | null {
  const twins = [...twinsIn(files.keys(), (path) => before.has(path))];
  if (twins.length === 0) return null;
  const named = twins.slice(0, CHECKOUT_LIMITS.namedFiles).map(titled).join(', ');
  return sentence`Files of the project have these names in other case or with other accents: ${named}.`;
}

/** Paths that could not be recorded, with all below them. */
export interface Left {
  readonly paths: Set<string>;
  has(path: string): boolean;
}
export function createLeft(): Left {
  const paths = new Set<string>();
  const has = (path: string) => paths.has(path) || [...above(path)].some((folder) => paths.has(folder));
  return { paths, has };
}

/**
 * Reads a checkout, one file after another, and collects in `left` what cannot be recorded. Throws
 * `GitError` where it is too much, before anything is read. `before`: files that keep their names.
 */
export async function* filesIn(
  workspace: Workspace,
  folder: string,
  left: Left,
  before: Listing,
): AsyncGenerator<FolderFile> {
  const twins = twinsIn(await pathsIn(workspace, folder), (path) => before.has(path));
  const leave = (path: string, why?: Passed) => {
    if (why === 'too-many') throw tooMany();
    left.paths.add(path.slice(folder.length + 1));
  };
  for await (const entry of workspace.walk(folder, CHECKOUT_LIMITS.folderEntries, leave)) {
    if (entry.kind === 'folder') continue;
    const path = entry.path.slice(folder.length + 1);
    const isRecorded = entry.kind === 'file' && fits({ path, bytes: entry.bytes }) && !twins.has(path);
    const bytes = isRecorded ? await contentOf(entry) : null;
    if (bytes) yield { path, bytes };
    else leave(entry.path);
  }
}

/** Null: it cannot be read, or has grown too large. */
async function contentOf(entry: EntryBelow): Promise<Buffer | null> {
  try {
    const { file, bytes } = await entry.open();
    try {
      return bytes > CHECKOUT_LIMITS.folderFileBytes ? null : await readWhole(file, bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof WorkspaceError) return null;
    throw error;
  }
}

const tooMany = (why = MANY) =>
  new GitError(sentence`${why} Nothing was recorded. Delete what does not belong to the project.`);
/** Paths of files that fit. Throws `GitError` where they are too many or too large. */
async function pathsIn(workspace: Workspace, folder: string): Promise<readonly string[]> {
  const files: { readonly path: string; readonly bytes: number }[] = [];
  const passed = (_path: string, why: Passed) => {
    if (why === 'too-many') throw tooMany();
  };
  for await (const entry of workspace.walk(folder, CHECKOUT_LIMITS.folderEntries, passed)) {
    const file = { path: entry.path.slice(folder.length + 1), bytes: entry.bytes };
    if (entry.kind === 'file' && fits(file)) files.push(file);
  }
  const why = tooMuch(files);
  if (why !== null) throw tooMany(why);
  return files.map(({ path }) => path);
}

/**
 * What is other in a checkout than in `before`. What is in `left`, and what no checkout can have,
 * is as in `keptListing`.
 */
export async function* changesIn(
  files: AsyncIterable<FolderFile>,
  left: Left,
  before: Listing,
  keptListing: Listing = before,
): AsyncGenerator<FileChange> {
  const seen = new Set<string>();
  for await (const file of files) {
    seen.add(file.path);
    if (before.get(file.path)?.id !== idOf(file.bytes)) yield file;
  }
  for (const path of new Set([...before.keys(), ...keptListing.keys()])) {
    if (seen.has(path)) continue;
    const entry = keptListing.get(path);
    const id = entry && (left.has(path) || !fits(entry)) ? entry.id : null;
    if (id !== (before.get(path)?.id ?? null)) yield { path, id };
  }
}
