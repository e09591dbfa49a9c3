/**
 * Tar archives as streams: files, folders and symbolic links, with long names and large files as
 * `pax` records. `tar` of any system reads what this writes.
 */
import { Buffer } from 'node:buffer';

const BLOCK = 512;
/** Bytes of the name field, and the most that the octal size field can say. */
const NAME_BYTES = 100;
const SIZE_MOST = 0o77777777777;
/** Bytes of a pax record that is read. Longer ones are not ours. */
const PAX_MOST = 1_000_000;

const TYPES = { file: '0', link: '2', folder: '5' } as const;

export interface TarEntry {
  readonly kind: keyof typeof TYPES;
  /** Relative, with `/` between its parts. */
  readonly path: string;
  /** Permission bits. */
  readonly mode: number;
  /** Bytes of a file, else 0. */
  readonly size: number;
  /** Target of a link, else empty. */
  readonly target: string;
}

/** `body` has exactly `size` bytes. */
export type TarFile = TarEntry & { readonly body: AsyncIterable<Buffer> };

/** The archive is no tar, or it ends too early. */
export class TarError extends Error {}

const padding = (size: number) => Buffer.alloc((BLOCK - (size % BLOCK)) % BLOCK);
const octal = (value: number, bytes: number) => `${value.toString(8).padStart(bytes - 1, '0')}\0`;

function sumOf(header: Buffer): number {
  let sum = 0;
  for (const [i, byte] of header.entries()) sum += i >= 148 && i < 156 ? 32 : byte;
  return sum;
}

function headerOf(type: string, { path, mode, size, target }: Omit<TarEntry, 'kind'>): Buffer {
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, NAME_BYTES);
  header.write(octal(mode, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size > SIZE_MOST ? 0 : size, 12), 124);
  header.write(octal(0, 12), 136);
  header.write(type, 156);
  header.write(target, 157, NAME_BYTES);
  header.write('ustar\u000000', 257);
  header.write(`${octal(sumOf(header), 7)} `, 148);
  return header;
}

/** A record counts its own length. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  const bytes = Buffer.byteLength(rest);
  let length = bytes + String(bytes).length;
  length = bytes + String(length).length;
  return `${length}${rest}`;
}

function* headersOf(entry: TarEntry): Generator<Buffer> {
  const records = [
    ...(Buffer.byteLength(entry.path) > NAME_BYTES ? [paxRecord('path', entry.path)] : []),
    ...(Buffer.byteLength(entry.target) > NAME_BYTES ? [paxRecord('linkpath', entry.target)] : []),
    ...(entry.size > SIZE_MOST ? [paxRecord('size', String(entry.size))] : []),
  ];
  if (records.length > 0) {
    const body = Buffer.from(records.join(''));
    yield headerOf('x', { path: 'pax', mode: 0o600, size: body.length, target: '' });
    yield Buffer.concat([body, padding(body.length)]);
  }
  yield headerOf(TYPES[entry.kind], entry);
}

/** Throws where a body has another length than its entry says. */
export async function* writeTar(entries: AsyncIterable<TarFile>): AsyncGenerator<Buffer> {
  for await (const entry of entries) {
    yield* headersOf(entry);
    let written = 0;
    for await (const chunk of entry.body) {
      written += chunk.length;
      yield chunk;
    }
    if (written !== entry.size) throw new TarError(`${entry.path} changed while it was read`);
    yield padding(entry.size);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/** Reads a stream in pieces of a wanted size. */
function createReader(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);

  async function* upTo(bytes: number): AsyncGenerator<Buffer> {
    let missingBytes = bytes;
    while (missingBytes > 0) {
      if (rest.length === 0) {
        const next = await chunks.next();
        if (next.done === true) throw new TarError('the archive ends too early');
        rest = next.value;
      }
      const piece = rest.subarray(0, missingBytes);
      rest = rest.subarray(piece.length);
      missingBytes -= piece.length;
      if (piece.length > 0) yield piece;
    }
  }
  async function exactly(bytes: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for await (const piece of upTo(bytes)) pieces.push(piece);
    return Buffer.concat(pieces);
  }
  /** What follows the archive is read too, so that its seal is checked. */
  async function toEnd(): Promise<void> {
    while ((await chunks.next()).done !== true);
  }
  return { upTo, exactly, toEnd };
}

const textAt = (header: Buffer, at: number, bytes: number) => {
  const field = header.subarray(at, at + bytes);
  const end = field.indexOf(0);
  return field.subarray(0, end === -1 ? bytes : end).toString('utf8');
};
const numberAt = (header: Buffer, at: number, bytes: number) => {
  const text = textAt(header, at, bytes).trim();
  if (!/^[0-7]+$/.test(text)) throw new TarError('the archive is damaged');
  return Number.parseInt(text, 8);
};

function recordsOf(body: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < body.length;) {
    const length = Number(/^(\d+) /.exec(body.subarray(at, at + 16).toString('latin1'))?.[1]);
    const record = body.subarray(at, at + length).toString('utf8');
    const [, key, value] = /^\d+ ([^=]+)=([^]*)\n$/.exec(record) ?? [];
    if (key === undefined || value === undefined) throw new TarError('the archive is damaged');
    records.set(key, value);
    at += length;
  }
  return records;
}

function kindOf(type: string): TarEntry['kind'] {
  for (const kind of ['file', 'link', 'folder'] as const) if (TYPES[kind] === type) return kind;
  throw new TarError('the archive has an entry of an unknown kind');
}

/** Each body is read before the next entry. Throws `TarError` where the archive is not whole. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarFile> {
  const reader = createReader(source);
  let records = new Map<string, string>();
  for (;;) {
    const header = await reader.exactly(BLOCK);
    if (header.every((byte) => byte === 0)) break;
    if (numberAt(header, 148, 8) !== sumOf(header)) throw new TarError('the archive is damaged');
    const type = textAt(header, 156, 1);
    const size = Number(records.get('size') ?? numberAt(header, 124, 12));
    if (type === 'x') {
      if (size > PAX_MOST) throw new TarError('the archive is damaged');
      records = recordsOf(await reader.exactly(size));
    } else {
      yield {
        kind: kindOf(type),
        path: records.get('path') ?? textAt(header, 0, NAME_BYTES),
        target: records.get('linkpath') ?? textAt(header, 157, NAME_BYTES),
        mode: numberAt(header, 100, 8),
        size,
        body: reader.upTo(size),
      };
      records = new Map();
    }
    await reader.exactly(padding(size).length);
  }
  await reader.toEnd();
}
