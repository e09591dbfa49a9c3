/**
 * Reads an agent's folder once: the paths that a command names, and the paths that those files name
 * in turn. Links are followed, because programs follow them, and their targets are read too.
 */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath } from 'node:fs/promises';
import { isAbsolute, join, posix, relative, sep } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileText } from '../../../src/shared/domain/file-text.ts';
import type { PinnedFile } from '../../../src/shared/protocol/approvals.ts';
import { codeOf } from '../../platform/errors.ts';
import { WITHIN } from '../../execution/sandbox/index.ts';
import { contentMark, hashOfFile, readWhole } from '../../files/workspaces/index.ts';
import type { PinLimits } from './settings.ts';

// Files that programs read by themselves, or that are likely to be run. Pure.

/**
 * Extensions of programs. Data and settings are not included, since a program may write them
 * itself. Relevant ones have well-known names.
 */
const CODE =
  /\.(?:sh|bash|zsh|ksh|fish|ps1|bat|cmd|py|pyw|pyx|[cm]?[jt]sx?|rb|rake|pl|pm|php|lua|tcl|awk|r|jl|go|rs|c|cc|cpp|h|hpp|java|kts?|groovy|gradle|scala|cs|swift|ml|hs|ex|exs|erl|clj|el|nix|mk|cmake|so|dylib|dll|jar|wasm)$/i;

/** Names that build tools, interpreters and package managers look for in their working folder. */
const WELL_KNOWN = new RegExp(
  `^(?:${[
    '(?:GNU)?[Mm]akefile',
    '[Jj]ustfile',
    'Taskfile\\.ya?ml',
    'Rakefile',
    'Gemfile(?:\\.lock)?',
    'Procfile',
    'Vagrantfile',
    'Jenkinsfile',
    '(?:.+\\.)?Dockerfile(?:\\..+)?',
    '(?:docker-)?compose.*\\.ya?ml',
    'package(?:-lock)?\\.json',
    'npm-shrinkwrap\\.json',
    'yarn\\.lock',
    'pnpm-(?:lock|workspace)\\.yaml',
    'deno\\.(?:jsonc?|lock)',
    'bun(?:fig\\.toml|\\.lockb?)',
    '.+\\.config\\.[cm]?[jt]s',
    '(?:ts|js)config.*\\.json',
    'lerna\\.json|nx\\.json|turbo\\.json',
    '\\..+rc(?:\\..+)?',
    '\\.env.*',
    '\\.git(?:attributes|modules)?',
    '\\.pre-commit-config\\.yaml',
    '\\.(?:python|node|ruby|tool)-versions?',
    'pyproject\\.toml|setup\\.(?:py|cfg)|tox\\.ini|pytest\\.ini|noxfile\\.py|conftest\\.py|manage\\.py|Pipfile(?:\\.lock)?|poetry\\.lock|uv\\.lock',
    'requirements.*\\.txt',
    '(?:site|user)customize\\.py|__(?:init|main)__\\.py',
    'Cargo\\.(?:toml|lock)|build\\.rs|rust-toolchain(?:\\.toml)?',
    'go\\.(?:mod|sum|work)',
    'CMake(?:Lists\\.txt|Presets\\.json)',
    'meson\\.build|configure(?:\\.ac)?|BUILD(?:\\.bazel)?|WORKSPACE(?:\\.bazel)?|MODULE\\.bazel',
    '(?:build|settings)\\.gradle(?:\\.kts)?|gradle\\.properties|gradlew|mvnw|pom\\.xml|build\\.(?:xml|sbt)',
    'composer\\.(?:json|lock)|mix\\.exs|stack\\.yaml|.+\\.cabal|dune(?:-project)?|flake\\.(?:nix|lock)|(?:default|shell)\\.nix',
  ].join('|')})$`,
);

const isCode = (name: string): boolean => CODE.test(name) || WELL_KNOWN.test(name);
const isWellKnown = (name: string): boolean => WELL_KNOWN.test(name);
/** Folders whose files other programs run by themselves. */
const RUN_FOLDERS = ['.git/hooks', '.husky'];
/** Relevant files in folders that are otherwise skipped. */
const RUN_FILES = ['.git/config', '.git/info/attributes'];
/** Sample files of git, which are not run. */
const isSample = (name: string): boolean => name.endsWith('.sample');

/**
 * In a program's text: a file named after one of these is run, or read as a program, whatever its
 * name.
 */
const RUNS =
  /(?:^|[\s;&|(`"'])(?:source|\.|include|-include|sinclude|exec|sh|bash|zsh|dash|ksh|python[\d.]*|node|deno|bun|ruby|perl|php|lua|Rscript|awk|sed|make|require_relative)\s+(?:-{1,2}[\w=-]+\s+)*["']?([^\s"'`;&|)<>]+)/g;
const QUOTED = /"([^"\n]{1,300})"|'([^'\n]{1,300})'|`([^`\n]{1,300})`/g;
const WORDS = /[\p{L}\p{N}_.@+%~/-]+/gu;

/**
 * Words in a file's text that may name files. `runs`: the named file is certainly read as a
 * program. Each word once, in order, at most `most`.
 */
function wordsOfText(
  text: string,
  most: number,
): { readonly runs: readonly string[]; readonly words: readonly string[]; readonly isWhole: boolean } {
  const runs = new Set([...text.matchAll(RUNS)].flatMap(([, name]) => name ?? []));
  const words = new Set<string>();
  for (const [, one, other, third] of text.matchAll(QUOTED)) {
    words.add(one ?? other ?? third ?? '');
    if (words.size > most) break;
  }
  for (const [word] of text.matchAll(WORDS)) {
    if (words.size > most) break;
    words.add(word);
  }
  const isWhole = runs.size + words.size <= most;
  return { runs: [...runs].slice(0, most), words: [...words].slice(0, most), isWhole };
}

const FILE = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Extensions that programs leave out: `import helper`, `require('./lib')`. */
const LEFT_OUT = /^\.(?:sh|bash|py|[cm]?[jt]sx?|json|rb|pl|pm|php|lua|mk)$/;
/** Deepest nesting of folders that is read. */
const MOST_DEPTH = 200;
/** Files that represent their folder where a program names that. */
const STANDS_FOR_FOLDER = /^(?:index\.[cm]?[jt]sx?|__init__\.py|__main__\.py|package\.json|mod\.(?:rs|ts)|init\.lua)$/;

type Kind = 'file' | 'folder' | 'link' | 'other';
/**
 * The entries of one folder with their kinds. For names without an extension: the files that match.
 */
interface Names {
  readonly kinds: ReadonlyMap<string, Kind>;
  readonly stems: ReadonlyMap<string, readonly string[]>;
}
/** A file that was read, with its text if that is searched for names. */
interface Seen {
  readonly file: PinnedFile;
  readonly text: string | null;
}

interface FolderScan {
  /** The path of a name within the folder, relative to `base`. Null: it is outside. */
  pathOf(name: string, base: string): string | null;
  kindOf(path: string): Promise<Kind | null>;
  /** Reads a file, a link's target, or a folder with everything in it. */
  take(path: string, inTurn: boolean): Promise<void>;
  /**
   * Reads the files that this word may name in a program: without an extension, or with dots
   * between folders. The file is run, whatever its name.
   */
  takeProgram(word: string, base: string): Promise<void>;
  /**
   * Reads all files that the read files name in turn, relative to their own folders and to these.
   * False: there are too many.
   */
  takeNamed(bases: readonly string[]): Promise<boolean>;
  /** Reads the files that programs read by themselves when they run in this folder. */
  takeWellKnown(base: string): Promise<void>;
  /** The result. */
  all(): {
    readonly files: readonly PinnedFile[];
    readonly rest: number;
    readonly restMark: string;
    readonly isWhole: boolean;
  };
}

/** What lies in the folder, by its names alone. Each folder is listed once. */
function createListings(folder: string) {
  const namesIn = new Map<string, Promise<Names | null>>();
  const absolute = (path: string) => (path === '' ? folder : join(folder, path));

  async function list(path: string): Promise<Names | null> {
    try {
      const kinds = new Map<string, Kind>();
      const stems = new Map<string, string[]>();
      for (const each of await readdir(absolute(path), { withFileTypes: true })) {
        kinds.set(
          each.name,
          each.isFile() ? 'file' : each.isDirectory() ? 'folder' : each.isSymbolicLink() ? 'link' : 'other',
        );
        const { name, ext } = posix.parse(each.name);
        if (LEFT_OUT.test(ext)) stems.set(name, [...(stems.get(name) ?? []), each.name]);
      }
      return { kinds, stems };
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(codeOf(error))) return null;
      if (['EACCES', 'EPERM'].includes(codeOf(error))) return null;
      throw error;
    }
  }
  function names(path: string): Promise<Names | null> {
    const known = namesIn.get(path) ?? list(path);
    namesIn.set(path, known);
    return known;
  }

  async function isRun(path: string): Promise<boolean> {
    if (isCode(posix.basename(path))) return true;
    const file = await open(absolute(path), constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
    if (!file) return false;
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return false;
      const head = Buffer.alloc(2);
      await file.read(head, 0, 2, 0);
      return (stats.mode & 0o111) !== 0 || head.toString() === '#!';
    } finally {
      await file.close();
    }
  }

  /**
   * Finds the file at this path, files that match without an extension, and files that represent a
   * folder at this path.
   */
  async function lookUp(path: string, files: Set<string>): Promise<void> {
    const parent = posix.dirname(path) === '.' ? '' : posix.dirname(path);
    const siblings = await names(parent);
    if (!siblings) return;
    const last = posix.basename(path);
    const own = (name: string, within: string) => files.add(within === '' ? name : `${within}/${name}`);
    const kind = siblings.kinds.get(last);
    if (kind === 'file' || kind === 'link') files.add(path);
    for (const name of siblings.stems.get(last) ?? []) own(name, parent);
    if (kind !== 'folder') return;
    for (const [name, inner] of (await names(path))?.kinds ?? [])
      if (inner !== 'folder' && STANDS_FOR_FOLDER.test(name)) own(name, path);
  }

  return { absolute, names, isRun, lookUp };
}

/** `folder`: its real path, with links resolved. */
export function createFolderScan(folder: string, alsoCalled: readonly string[], limits: PinLimits): FolderScan {
  const { absolute, names, isRun, lookUp } = createListings(folder);
  const seen = new Map<string, Seen>();
  const rest = createHash('sha256');
  const read: Seen[] = [];
  let [restCount, entries, hashedBytes, wordsLeft, texts] = [
    0,
    0,
    limits.allHashedBytes,
    limits.allWords,
    limits.texts,
  ];
  let isWhole = true;

  const scan: FolderScan = {
    pathOf(name, base) {
      let [path, from] = [name, base];
      for (const start of [folder, ...alsoCalled, WITHIN])
        if (path === start || path.startsWith(`${start}/`)) [path, from] = [path.slice(start.length + 1), ''];
      if (path.startsWith('/') || path.startsWith('~') || path.includes('\0')) return null;
      const joined = posix.join(from, path).replace(/\/+$/, '');
      if (joined === '..' || joined.startsWith('../')) return null;
      return joined === '.' ? '' : joined;
    },
    async kindOf(path) {
      if (path === '') return 'folder';
      return (
        (await names(posix.dirname(path) === '.' ? '' : posix.dirname(path)))?.kinds.get(posix.basename(path)) ?? null
      );
    },
    async take(path, inTurn) {
      if (seen.has(path)) return;
      const real = await realpath(absolute(path)).catch(() => null);
      const own = absolute(path);
      if (real === null) return await takeDangling(path, inTurn);
      const within = relative(folder, real).split(sep).join('/');
      const isInside = within !== '..' && !within.startsWith('../') && !isAbsolute(within);
      const leadsTo = real === own ? null : isInside ? within : real;
      const file = await scanEntry(path, real, leadsTo, inTurn);
      if (file) return;
      // A folder.
      if (leadsTo !== null)
        keep({ file: { ...EMPTY, path, leadsTo, kind: 'link', mark: `link:${leadsTo}`, inTurn }, text: null });
      if (isInside) await takeTree(within, inTurn);
    },
    takeProgram: (word, base) => takeWord(word, base, true),
    async takeNamed(bases) {
      for (let at = 0; at < read.length; at++) {
        const one = read[at];
        if (!one || one.text === null) continue;
        const { runs, words, isWhole: isAll } = wordsOfText(one.text, Math.min(limits.words, wordsLeft));
        wordsLeft -= runs.length + words.length;
        if (!isAll || wordsLeft <= 0) return false;
        const own = posix.dirname(one.file.leadsTo ?? one.file.path);
        const from = [...new Set([own === '.' ? '' : own, '', ...bases])].slice(0, limits.bases);
        for (const name of runs) for (const base of from) await takeWord(name, base, true);
        for (const [nth, word] of words.entries()) {
          if (nth % limits.wordsAtOnce === 0) await turn();
          for (const base of from) await takeWord(word, base, false);
        }
        if ([...seen.values()].filter(({ file }) => file.inTurn).length > limits.inTurn) return false;
      }
      return true;
    },
    async takeWellKnown(base) {
      const childNames = await names(base);
      for (const [name, kind] of childNames?.kinds ?? [])
        if (kind !== 'folder' && isWellKnown(name)) await scan.take(base === '' ? name : `${base}/${name}`, true);
      const below = (path: string) => (base === '' ? path : `${base}/${path}`);
      for (const path of RUN_FILES.map(below)) if ((await scan.kindOf(path)) !== null) await scan.take(path, true);
      for (const path of RUN_FOLDERS.map(below))
        for (const [name, kind] of (await names(path))?.kinds ?? [])
          if (kind !== 'folder' && !isSample(name)) await scan.take(`${path}/${name}`, true);
    },
    all() {
      const files = [...seen.values()].map(({ file }) => file);
      // Files that the command names come first.
      const inOrder = [...files.filter(({ inTurn }) => !inTurn), ...files.filter(({ inTurn }) => inTurn)];
      return { files: inOrder, rest: restCount, restMark: rest.copy().digest('hex'), isWhole };
    },
  };

  const EMPTY = { leadsTo: null, bytes: 0, entries: 0, text: null } as const;

  /** Files beyond the limit are compared only as a group. */
  function keep(one: Seen): void {
    if (seen.size < limits.files) seen.set(one.file.path, one);
    else {
      const { path, leadsTo, mark } = one.file;
      rest.update(JSON.stringify([path, leadsTo, mark]));
      restCount += 1;
    }
    if (one.text !== null) read.push(one);
  }

  async function takeDangling(path: string, inTurn: boolean): Promise<void> {
    const leadsTo = await readlink(absolute(path)).catch(() => null);
    if (leadsTo === null) return;
    keep({ file: { ...EMPTY, path, leadsTo, kind: 'link', mark: `link:${leadsTo}`, inTurn }, text: null });
  }

  /** False: it is a folder. */
  async function scanEntry(path: string, real: string, leadsTo: string | null, inTurn: boolean): Promise<boolean> {
    let file: FileHandle;
    try {
      file = await open(real, FILE);
    } catch (error) {
      if (codeOf(error) === 'EISDIR') return false;
      // It cannot be opened: a socket, a missing permission, or just deleted.
      keep({ file: { ...EMPTY, path, leadsTo, kind: 'other', mark: `closed:${codeOf(error)}`, inTurn }, text: null });
      return true;
    }
    try {
      const stats = await file.stat({ bigint: true });
      if (stats.isDirectory()) return false;
      const stamp = `stamp:${[stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ')}`;
      const bytes = Number(stats.size);
      const as = (mark: string, text: string | null) => {
        // The content of a file outside the folder is not shown.
        const shown = text !== null && text.length <= texts && !(leadsTo !== null && isAbsolute(leadsTo)) ? text : null;
        texts -= shown?.length ?? 0;
        keep({ file: { path, leadsTo, kind: 'file', bytes, entries: 0, mark, inTurn, text: shown }, text });
      };
      if (!stats.isFile()) keep({ file: { ...EMPTY, path, leadsTo, kind: 'other', mark: stamp, inTurn }, text: null });
      else if (bytes > limits.hashedBytes || bytes > hashedBytes) as(stamp, null);
      else {
        hashedBytes -= bytes;
        if (bytes > limits.readBytes) as(await hashOfFile(file), null);
        else {
          const content = await readWhole(file, bytes);
          as(contentMark(content), fileText(content));
        }
      }
      return true;
    } finally {
      await file.close();
    }
  }

  async function takeTree(path: string, inTurn: boolean, depth = 0): Promise<void> {
    const mark = `tree:${path}`;
    if (namesTaken.has(mark)) return;
    namesTaken.add(mark);
    const childNames = await names(path);
    if (!childNames || depth > MOST_DEPTH) {
      isWhole = false;
      return;
    }
    for (const [name, kind] of [...childNames.kinds].sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (++entries > limits.entries) {
        isWhole = false;
        return;
      }
      const own = path === '' ? name : `${path}/${name}`;
      if (kind === 'folder') await takeTree(own, inTurn, depth + 1);
      else await scan.take(own, inTurn);
    }
  }
  const namesTaken = new Set<string>();

  /** `runs`: the file counts whatever its name. */
  async function takeWord(word: string, base: string, runs: boolean): Promise<void> {
    const paths = new Set<string>();
    const path = word.length > limits.word ? null : scan.pathOf(word, base);
    if (path === null || path === '') return;
    await lookUp(path, paths);
    // `import package.module`
    if (/^[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+$/u.test(word)) {
      const parts = word.split('.');
      for (let length = 1; length <= parts.length; length++) {
        const dotted = scan.pathOf(parts.slice(0, length).join('/'), base);
        if (dotted !== null) await lookUp(dotted, paths);
      }
    }
    for (const each of paths) if (runs || (await isRun(each))) await scan.take(each, true);
  }

  return scan;
}
