/**
 * Files of a folder project, in the relay's repository and in a checkout.
 *
 * What enters is checked by the rule by which it is read: `fits` for one file, `tooMuch` for all.
 * What cannot be recorded of a checkout keeps its earlier content, and is named.
 */
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sentence } from '../../../src/shared/domain/names.ts';
import { projectPathFault } from '../../../src/shared/domain/project-path.ts';
import { type EntryBelow, type Passed, readWhole, WorkspaceError, type Workspace } from '../workspaces/index.ts';
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

const MB = 1_000_000;
const MANY = sentence`A folder project has at most ${CHECKOUT_LIMITS.folderEntries} files and folders.`;
const LARGE = sentence`The files of a folder project have at most ${CHECKOUT_LIMITS.folderBytes / MB} MB together.`;
/** What an agent is told of files that were not recorded. */
export const RECORDED = `A file is recorded if it can be read, has at most ${CHECKOUT_LIMITS.folderFileBytes / MB} MB, and has a name without backslashes and invisible characters. Links are not.`;

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

/** The paths of all folders above. */
export function* above(path: string): Generator<string> {
  for (let end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) yield path.slice(0, end);
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
 * `GitError` where it is too much, before anything is read.
 */
export async function* filesIn(workspace: Workspace, folder: string, left: Left): AsyncGenerator<FolderFile> {
  await refuseTooMuch(workspace, folder);
  const leave = (path: string, why?: Passed) => {
    if (why === 'too-many') throw tooMany();
    left.paths.add(path.slice(folder.length + 1));
  };
  for await (const entry of workspace.walk(folder, CHECKOUT_LIMITS.folderEntries, leave)) {
    if (entry.kind === 'folder') continue;
    const path = entry.path.slice(folder.length + 1);
    const bytes = entry.kind === 'file' && fits({ path, bytes: entry.bytes }) ? await contentOf(entry) : null;
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
async function refuseTooMuch(workspace: Workspace, folder: string): Promise<void> {
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
}

/**
 * What is other in a checkout than in `before`. What is in `left`, and what no checkout can have, is
 * as in `kept`.
 */
export async function* changesIn(
  files: AsyncIterable<FolderFile>,
  left: Left,
  before: Listing,
  kept: Listing = before,
): AsyncGenerator<FileChange> {
  const seen = new Set<string>();
  for await (const file of files) {
    seen.add(file.path);
    if (before.get(file.path)?.id !== idOf(file.bytes)) yield file;
  }
  for (const path of new Set([...before.keys(), ...kept.keys()])) {
    if (seen.has(path)) continue;
    const entry = kept.get(path);
    const id = entry && (left.has(path) || !fits(entry)) ? entry.id : null;
    if (id !== (before.get(path)?.id ?? null)) yield { path, id };
  }
}

/** A path as fast-import reads it. */
const quoted = (path: string): string =>
  `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"`;

export interface CommitWords {
  readonly message: string;
  readonly by: string;
  readonly at: number;
  /** A second parent. */
  readonly also?: string;
}

/** The input of fast-import for a commit on top of `parent`. Contents come first, one by one. */
export async function* importOf(
  changes: AsyncIterable<FileChange>,
  ref: string,
  parent: string | null,
  { message, by, at, also }: CommitWords,
): AsyncGenerator<string | Buffer> {
  const deletes: string[] = [];
  const writes: string[] = [];
  let mark = 0;
  for await (const change of changes) {
    const path = quoted(change.path);
    if ('bytes' in change) {
      mark += 1;
      yield `blob\nmark :${mark}\ndata ${change.bytes.length}\n`;
      yield change.bytes;
      yield '\n';
      writes.push(`M 100644 :${mark} ${path}\n`);
    } else if (change.id === null) deletes.push(`D ${path}\n`);
    else writes.push(`M 100644 ${change.id} ${path}\n`);
  }
  const name = by.replaceAll(/[<>\n\0]/g, ' ').trim() || 'agent';
  const stamp = `${Math.floor(at / 1_000)} +0000`;
  yield `commit ${ref}\nauthor ${name} <agent@localhost> ${stamp}\ncommitter Roost <roost@localhost> ${stamp}\n`;
  yield `data ${Buffer.byteLength(message)}\n${message}\n`;
  yield `${parent === null ? '' : `from ${parent}\n`}${also === undefined ? '' : `merge ${also}\n`}`;
  // What became a folder is deleted before anything is put into it.
  yield* deletes;
  yield* writes;
  yield 'done\n';
}

/** Reads the output of `cat-file --batch`, and calls `use` with each content, in order. */
export function batchReader(use: (bytes: Buffer, index: number) => Promise<void>): (piece: Buffer) => Promise<void> {
  let pieces: Buffer[] = [];
  let held = 0;
  let index = 0;
  /** Bytes of the content that comes. Null: its head comes first. */
  let size: number | null = null;
  return async (piece) => {
    pieces.push(piece);
    held += piece.length;
    while (size === null ? held > 0 : held > size) {
      let rest: Buffer = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces);
      if (size === null) {
        const end = rest.indexOf('\n');
        if (end < 0) {
          pieces = [rest];
          return;
        }
        const head = rest.subarray(0, end).toString();
        size = Number(/ blob (\d+)$/.exec(head)?.[1] ?? Number.NaN);
        if (Number.isNaN(size)) throw new GitError(`A file of the project is damaged: ${head}`);
        rest = rest.subarray(end + 1);
      } else {
        await use(rest.subarray(0, size), index);
        index += 1;
        // A newline follows the content.
        rest = rest.subarray(size + 1);
        size = null;
      }
      pieces = [rest];
      held = rest.length;
    }
  };
}

/** Deletes what an import left that was cut off. No other one is running. */
export async function removeUnfinished(gitDir: string): Promise<void> {
  for (const [folder, prefix] of [
    [join(gitDir, 'objects', 'pack'), 'tmp_'],
    [gitDir, 'fast_import_crash_'],
  ] as const)
    for (const name of await readdir(folder).catch(() => []))
      if (name.startsWith(prefix)) await rm(join(folder, name), { force: true });
}

/** A line of `ls-tree -l`. Null: it is no file. A link leads to another file, or out of the repository. */
export function entryOf(line: string): FileEntry | null {
  const [, mode, id = '', bytes, path] = /^(\d+) blob ([\da-f]+) +(\d+)\t([^]*)$/.exec(line) ?? [];
  return path === undefined || mode === '120000' ? null : { path, id, bytes: Number(bytes) };
}
