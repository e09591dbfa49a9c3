/**
 * Looks for words in everything that a relay has stored, as somebody with a full copy of it would:
 * every file of its home as raw bytes, the database's own among them, and every row of every table.
 */
import { join } from 'node:path';
import { sql } from 'kysely';
import { entriesBelow, filesBelow } from './files-below.ts';
import type { Db } from '../../server/store/index.ts';
import { HOLDINGS, SCHEMA } from '../../server/store/tables.ts';

/**
 * The middle of the base64 of some text that stands 0, 1 or 2 bytes after a multiple of 3: what
 * does not depend on its neighbours.
 */
function base64At(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
  const first = [0, 2, 3][offset] ?? 0;
  const whole = Math.floor(((offset + bytes.length) * 8) / 6);
  return padded.slice(first, whole);
}

/**
 * The ways in which a word may be written: as UTF-8, UTF-16 (little-endian), base64 and base64url
 * at each offset, and hex.
 */
export function writtenForms(word: string): ReadonlyMap<string, Buffer> {
  const utf8 = Buffer.from(word, 'utf8');
  const forms = new Map<string, Buffer>([
    ['UTF-8', utf8],
    ['UTF-16LE', Buffer.from(word, 'utf16le')],
    ['hex', Buffer.from(utf8.toString('hex'))],
    ['HEX', Buffer.from(utf8.toString('hex').toUpperCase())],
  ]);
  // As some write JSON.
  const escaped = JSON.stringify(word)
    .slice(1, -1)
    .replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  if (escaped !== word) forms.set('JSON', Buffer.from(escaped));
  for (const offset of [0, 1, 2]) {
    const base64 = base64At(utf8, offset);
    forms.set(`base64+${offset}`, Buffer.from(base64));
    forms.set(`base64url+${offset}`, Buffer.from(base64.replaceAll('+', '-').replaceAll('/', '_')));
  }
  return forms;
}

export interface Found {
  readonly word: string;
  /** How it was written. */
  readonly form: string;
  /** A file, or a table and its row. */
  readonly where: string;
}

/** A search for these words; each should have 8 characters or more, and stand nowhere by chance. */
export function searchFor(words: readonly string[]) {
  const wanted = words.flatMap((word) => [...writtenForms(word)].map(([form, bytes]) => ({ word, form, bytes })));
  const inBytes = (bytes: Buffer, where: string): Found[] =>
    wanted.filter((each) => bytes.includes(each.bytes)).map(({ word, form }) => ({ word, form, where }));

  return {
    inBytes: (bytes: Uint8Array, where: string): readonly Found[] =>
      inBytes(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), where),
    /** In every file below a folder, and in the names of the files. */
    async inFolder(folder: string): Promise<readonly Found[]> {
      const found: Found[] = [];
      for (const entry of await entriesBelow(folder)) {
        const path = join(entry.parentPath, entry.name);
        found.push(...inBytes(Buffer.from(path), `the name of ${path}`));
      }
      for (const { path, bytes } of await filesBelow(folder)) found.push(...inBytes(bytes, path));
      return found;
    },
    /** In every row of every table, as text and with its bytes as they are. */
    async inDatabase(db: Db): Promise<readonly Found[]> {
      const names = Object.keys(HOLDINGS);
      const found: Found[] = [];
      for (const name of names) {
        const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(`${SCHEMA}.${name}`)}`.execute(
          db,
        );
        rows.forEach((row, i) => {
          for (const [column, value] of Object.entries(row)) {
            const bytes =
              value instanceof Uint8Array
                ? Buffer.from(value)
                : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
            found.push(...inBytes(bytes, `${SCHEMA}.${name}, row ${i}, ${column}`));
          }
        });
      }
      return found;
    },
  };
}
