/** Files of a commit, as git reads and writes them in one process. */
import { GitError } from '../../platform/git/index.ts';
import type { FileChange, FileEntry } from './folder-files.ts';

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
  let heldBytes = 0;
  let index = 0;
  /** Bytes of the content that comes. Null: its head comes first. */
  let size: number | null = null;
  return async (piece) => {
    pieces.push(piece);
    heldBytes += piece.length;
    while (size === null ? heldBytes > 0 : heldBytes > size) {
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
      heldBytes = rest.length;
    }
  };
}

/**
 * A line of `ls-tree -l`. Null: it is no file. A link leads to another file, or out of the
 * repository.
 */
export function entryOf(line: string): FileEntry | null {
  const [, mode, id = '', bytes, path] = /^(\d+) blob ([\da-f]+) +(\d+)\t([^]*)$/.exec(line) ?? [];
  return path === undefined || mode === '120000' ? null : { path, id, bytes: Number(bytes) };
}
