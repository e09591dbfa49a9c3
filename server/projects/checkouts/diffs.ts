/**
 * What lies between two commits: changed files page by page, the patch of one file, and where lines
 * have moved to.
 *
 * Everything here is an agent's work, so nothing of it is trusted: neither names nor sizes nor
 * counts. Git gets no path of a repository. It compares two trees that the relay makes, in which
 * the files of a page have numbers for names. So any name works, and the patch on the page is the
 * patch in the list. The trees lie in a folder of their own, which is deleted afterwards.
 *
 * Invariants:
 * - Files are counted before they are compared, and compared one page at a time.
 * - What is not compared says why. A diff never fails because a file in it is too large.
 */
import { ATTEMPT_LIMITS, type ChangedFile, type Diff, type FilePatch } from '../../../src/shared/protocol/attempts.ts';
import type { LineComment } from '../../../src/shared/protocol/line-comments.ts';
import { git, GitError, GIT_LIMITS } from '../../platform/git/index.ts';
import type { Lane } from '../../platform/lanes.ts';
import { lineAfter } from './patch-lines.ts';
import { type Counts, createTrees, DIFF, IS_BINARY, isOverBound, nameOf, type Pair, SUBMODULE } from './trees.ts';
import { CHECKOUT_LIMITS } from './settings.ts';

type DiffFile = Diff['files'][number];
/** A line of a file, from 1. */
export type FileLine = Pick<LineComment, 'path' | 'line'>;

export interface Diffs {
  /** The first changed files, with their lines counted. `more`: those after them. */
  changes(base: string, head: string): Promise<{ readonly list: readonly ChangedFile[]; readonly more: number }>;
  /** A page of changed files, from this one on. Files have numbers from 0. */
  diff(base: string, head: string, from: number): Promise<Pick<Diff, 'files' | 'more'>>;
  /**
   * The patch of one file, from this byte on. `before`, `after`: ids of its content; null: it was
   * added or deleted. Null: the repository has no such content.
   */
  patch(before: string | null, after: string | null, from: number): Promise<FilePatch | null>;
  /** Where lines of one commit are in another, in their order. Null: it was changed or deleted. */
  linesIn(from: string, at: readonly FileLine[], to: string): Promise<readonly (FileLine | null)[]>;
}

interface Entry extends Pair {
  readonly path: string;
  /** Null: it was not renamed. */
  readonly renamedFrom: string | null;
  readonly status: ChangedFile['status'];
}
const UNCOUNTED: Counts = { added: null, removed: null };

const RAW = [...DIFF, '-z', '--raw', '--no-abbrev', '--ignore-submodules=none'];
const STATUS: Readonly<Record<string, ChangedFile['status']>> = { A: 'added', D: 'deleted', R: 'renamed', C: 'added' };
const FILE = '100644';
const shortPath = (path: string) =>
  path.length > ATTEMPT_LIMITS.path ? `${path.slice(0, ATTEMPT_LIMITS.path - 1)}…` : path;

/** Splits output that ends each part with a zero byte. Keeps one part in memory. */
export function zeroSplitter(use: (part: string) => void): (piece: Buffer) => void {
  let rest: Buffer[] = [];
  return (piece) => {
    let start = 0;
    for (let end = piece.indexOf(0); end >= 0; end = piece.indexOf(0, start)) {
      use(Buffer.concat([...rest, piece.subarray(start, end)]).toString('utf8'));
      rest = [];
      start = end + 1;
    }
    if (start < piece.length) rest.push(piece.subarray(start));
  };
}

/** A path as a patch has it. */
const quotedPath = (path: string): string =>
  // oxlint-disable-next-line no-control-regex
  /["\\\x00-\x1f\x7f]/.test(path) ? JSON.stringify(path) : path;

/** The patch of a file with the file's own names in its head. */
function renamed(patch: string, name: string, { path, renamedFrom }: Entry): string {
  const at = patch.indexOf('\n@@ ');
  const head = at < 0 ? patch : patch.slice(0, at);
  return (
    head
      .replaceAll(`a/${name}`, () => quotedPath(`a/${renamedFrom ?? path}`))
      .replaceAll(`b/${name}`, () => quotedPath(`b/${path}`)) + (at < 0 ? '' : patch.slice(at))
  );
}

/** At most this many bytes, without a part of a character of UTF-8 at the end. */
function beginningOf(bytes: Buffer, most: number): Buffer {
  let end = most;
  for (let back = 0; back < 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80; back++) end -= 1;
  return bytes.subarray(0, end);
}

/** The patch of a submodule's commit, in git's format. Empty: it is no submodule. */
const submodulePatch = ({ before, after }: Pair): string =>
  [before, after].some((side) => side?.mode === SUBMODULE)
    ? `@@ -1 +1 @@${before ? `\n-Subproject commit ${before.id}` : ''}${after ? `\n+Subproject commit ${after.id}` : ''}`
    : '';

const idsOf = ({ before, after }: Pair) => [before, after].flatMap((side) => side?.id ?? []);
/** Bytes of the larger side. */
const bytesOf = (pair: Pair, sizes: ReadonlyMap<string, number>) =>
  Math.max(0, ...idsOf(pair).map((id) => sizes.get(id) ?? 0));

export function createDiffs(gitDir: string, lane: Lane): Diffs {
  const own = { gitDir, lane };
  const { withTrees, sizesOf, countsOf, patchesOf, barePatch } = createTrees(own);
  /** Calls `use` with each changed file, in the order of git. */
  async function rawDiff(base: string, head: string, words: readonly string[], use: (entry: Entry) => void) {
    let info: readonly string[] = [];
    let first: string | null = null;
    const split = zeroSplitter((part) => {
      if (info.length === 0) {
        info = part.split(' ');
        return;
      }
      const [modeBefore = '', mode = '', idBefore = '', id = '', said = ''] = info;
      const kind = said.slice(0, 1);
      if ((kind === 'R' || kind === 'C') && first === null) {
        first = part;
        return;
      }
      const side = (modeOf: string, idOf: string) => (/^0+$/.test(idOf) ? null : { mode: modeOf, id: idOf });
      use({
        path: part,
        renamedFrom: kind === 'R' ? first : null,
        status: STATUS[kind] ?? 'changed',
        // A copy is a new file.
        before: kind === 'C' ? null : side(modeBefore.slice(1), idBefore),
        after: side(mode, id),
      });
      [info, first] = [[], null];
    });
    await git([...RAW, ...words], { ...own, of: [base, head], output: split });
  }

  /** A page of changed files, and how many there are. */
  async function entriesOf(base: string, head: string, from: number, most: number) {
    async function collect(...words: string[]) {
      const page: Entry[] = [];
      /** Content that git would read to find renames. */
      const moved: string[] = [];
      const kinds = new Set<Entry['status']>();
      let count = 0;
      await rawDiff(base, head, words, (entry) => {
        if (count >= from && page.length < most) page.push(entry);
        if (entry.status !== 'changed' && count < CHECKOUT_LIMITS.renames) moved.push(...idsOf(entry));
        kinds.add(entry.status);
        count += 1;
      });
      return { page, count, moved, kinds };
    }
    const plain = await collect('--no-renames');
    const mayBeRenamed = plain.kinds.has('added') && plain.kinds.has('deleted');
    if (!mayBeRenamed || plain.count > CHECKOUT_LIMITS.renames) return plain;
    const sizes = await sizesOf(plain.moved);
    const bytes = plain.moved.reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
    try {
      // A rename without a change is found by its id alone.
      return await collect(bytes > CHECKOUT_LIMITS.listedBytes ? '-M100%' : '-M');
    } catch (error) {
      if (!isOverBound(error)) throw error;
      return plain;
    }
  }

  /** The files that are compared together, while there is room. Null: the others. */
  async function compared(page: readonly Entry[]) {
    const sizes = await sizesOf(page.flatMap(idsOf));
    let room: number = CHECKOUT_LIMITS.listedBytes;
    const pairs = page.map((entry): Pair | null => {
      const bytes = idsOf(entry).reduce((sum, id) => sum + (sizes.get(id) ?? 0), 0);
      // Git takes these for no text, and reads none of them.
      if (bytesOf(entry, sizes) > GIT_LIMITS.bigFile) return entry;
      if (bytes > room) return null;
      room -= bytes;
      return entry;
    });
    return { pairs, sizes };
  }

  /** Files with the same content have no line that changed. */
  const countsAt = (counts: ReadonlyMap<string, Counts> | null, pairs: readonly (Pair | null)[], at: number): Counts =>
    counts === null || pairs[at] === null ? UNCOUNTED : (counts.get(nameOf(at)) ?? { added: 0, removed: 0 });
  const shown = ({ path, status }: Entry, { added, removed }: Counts): ChangedFile => ({
    ...{ path: shortPath(path), status, added, removed },
  });

  return {
    async changes(base, head) {
      const { page, count } = await entriesOf(base, head, 0, ATTEMPT_LIMITS.files);
      if (page.length === 0) return { list: [], more: 0 };
      const { pairs } = await compared(page);
      const counts = await withTrees(pairs, countsOf);
      const list = page.map((entry, at) => shown(entry, countsAt(counts, pairs, at)));
      return { list, more: count - list.length };
    },

    async diff(base, head, from) {
      const { page, count } = await entriesOf(base, head, from, ATTEMPT_LIMITS.files);
      if (page.length === 0) return { files: [], more: 0 };
      const { pairs, sizes } = await compared(page);
      const [counts, patches] = await withTrees(pairs, (trees, call) =>
        Promise.all([countsOf(trees, call), patchesOf(trees, call)]),
      );
      let patchesLeft: number = ATTEMPT_LIMITS.patches;
      const files = page.map((entry, at): DiffFile => {
        const { before, after, renamedFrom } = entry;
        const counted = countsAt(counts, pairs, at);
        const name = nameOf(at);
        const patch = renamed((patches.get(name) ?? submodulePatch(entry)).replace(/\n$/, ''), name, entry);
        const reason = ((): DiffFile['reason'] => {
          const bytes = bytesOf(entry, sizes);
          if (bytes > CHECKOUT_LIMITS.comparedBytes) return 'too-large';
          if (bytes > GIT_LIMITS.bigFile || patch.length > ATTEMPT_LIMITS.patch) return 'long';
          if (pairs[at] === null || counts === null) return 'more';
          if (counted.added === null) return 'binary';
          // Only a file with lines that changed must have a patch.
          const isMissing = patch === '' && counted.added + (counted.removed ?? 0) > 0;
          return isMissing || patch.length > patchesLeft ? 'more' : null;
        })();
        if (reason === null) patchesLeft -= patch.length;
        return {
          ...shown(entry, counted),
          number: from + at,
          before: renamedFrom === null ? null : shortPath(renamedFrom),
          patch: reason === null ? patch : null,
          reason,
          content: { before: before?.id ?? null, after: after?.id ?? null },
        };
      });
      return { files, more: count - from - files.length };
    },

    async patch(before, after, from) {
      const side = (id: string | null) => (id === null ? null : { mode: FILE, id });
      const pair: Pair = { before: side(before), after: side(after) };
      const sizes = await sizesOf(idsOf(pair));
      if (idsOf(pair).some((id) => !sizes.has(id))) return null;
      if (bytesOf(pair, sizes) > CHECKOUT_LIMITS.comparedBytes) return { patch: null, reason: 'too-large', next: null };
      const most = CHECKOUT_LIMITS.patchBytes;
      const pieces: Buffer[] = [];
      let [seen, held] = [0, 0];
      const enough = new GitError('There is more.', 'stopped');
      const output = (piece: Buffer) => {
        const own = piece.subarray(Math.max(0, from - seen));
        seen += piece.length;
        pieces.push(own);
        held += own.length;
        if (held > most) throw enough;
      };
      try {
        await withTrees([pair], (trees, call) =>
          git([...DIFF, '--no-renames'], {
            ...{ ...call, of: trees, output, ms: CHECKOUT_LIMITS.diffMs },
            settings: { 'core.bigFileThreshold': String(CHECKOUT_LIMITS.comparedBytes + 1) },
          }),
        );
      } catch (error) {
        if (isOverBound(error)) return { patch: null, reason: 'too-large', next: null };
        if (error !== enough) throw error;
      }
      const all = Buffer.concat(pieces);
      const bytes = all.length > most ? beginningOf(all, most) : all;
      const text = bytes.toString('utf8');
      if (from === 0 && IS_BINARY.test(text)) return { patch: null, reason: 'binary', next: null };
      return { patch: text, reason: null, next: bytes.length < all.length ? from + bytes.length : null };
    },

    async linesIn(from, at, to) {
      const paths = new Set(at.map(({ path }) => path));
      const moved = new Map<string, Entry>();
      const note = (entry: Entry) => {
        const before = entry.renamedFrom ?? entry.path;
        if (entry.status !== 'added' && paths.has(shortPath(before))) moved.set(shortPath(before), entry);
      };
      try {
        await rawDiff(from, to, ['-M'], note);
      } catch (error) {
        if (!isOverBound(error)) throw error;
        moved.clear();
        await rawDiff(from, to, ['--no-renames'], note);
      }
      const patches = new Map<string, string | null>();
      for (const [path, entry] of moved) patches.set(path, await barePatch(entry));
      return at.map(({ path, line }) => {
        const entry = moved.get(path);
        if (!entry) return { path, line };
        const patch = patches.get(path) ?? null;
        const after = patch === null ? null : lineAfter(patch, line);
        return after === null ? null : { path: shortPath(entry.path), line: after };
      });
    },
  };
}
