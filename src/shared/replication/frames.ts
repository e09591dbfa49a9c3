/**
 * The wire format of replication. The first byte of a frame is its kind. Numbers are varints. A
 * writer is its 16 bytes. The last 4 bytes are the beginning of the SHA-256 of all bytes before
 * them. This checksum finds accidental changes on the way. The seal of each entry finds deliberate
 * ones.
 *
 *     1 have     | per writer: writer, number of ranges, ranges        everything the sender has
 *     2 more     | the same                                            the sender has these too
 *     3 less     | the same                                            the sender no longer has these
 *     4 want     | request, then the same                              asks for these, newest first
 *     5 entries  | flags, request if requested, entries                flags: 1 requested, 2 replace
 *     6 conflict | flags, request if requested, entries                differ from yours; flags: 1 requested, 2 more follow
 *     7 refused  | per entry: writer, counter, 16 bytes of digest      the peer could not verify these
 *     8 compare  | request, per entry: writer, counter, 8 of digest    asks which of these differ
 *
 * A range is two numbers. The first is the gap to the range before: its start less the end before,
 * less 1, and at least 1 after the first range. The second counts the numbers that follow the
 * range's first. Entries are: writer, count, and for each entry its counter, length and bytes. A
 * digest is the beginning of the SHA-256 of the sealed bytes.
 */
import { base64urlnopad } from '@scure/base';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { SYNC } from '../protocol/sync/settings.ts';
import type { Ranges } from '../domain/ranges.ts';
import type { Entry, EntryKey, Have } from '../protocol/sync/page.ts';
import { REPLICATION } from './settings.ts';

// Reads and writes bytes in order: varints (LEB128, unsigned, up to 2^53 - 1), writer ids, byte
// strings.

const ID_CHARS = Math.ceil((SYNC.idBytes * 8) / 6);

/** Bytes that cannot be read. The message says why. */
class BadBytes extends Error {}

interface ByteWriter {
  byte(value: number): void;
  varint(value: number): void;
  bytes(value: Uint8Array): void;
  /** Writes 22 characters of base64url as 16 bytes. Throws for anything else. */
  id(value: string): void;
  length(): number;
  done(): Uint8Array;
}

function createWriter(): ByteWriter {
  let buffer = new Uint8Array(256);
  let length = 0;
  function room(bytes: number): void {
    if (length + bytes <= buffer.length) return;
    const larger = new Uint8Array(Math.max(buffer.length * 2, length + bytes));
    larger.set(buffer.subarray(0, length));
    buffer = larger;
  }
  const writer: ByteWriter = {
    byte(value) {
      room(1);
      buffer[length++] = value;
    },
    varint(value) {
      if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${value} is no whole number from 0 on`);
      let rest = value;
      for (; rest > 127; rest = Math.floor(rest / 128)) writer.byte((rest % 128) | 128);
      writer.byte(rest);
    },
    bytes(value) {
      room(value.length);
      buffer.set(value, length);
      length += value.length;
    },
    id(value) {
      if (value.length !== ID_CHARS) throw new Error(`"${value}" is not ${SYNC.idBytes} bytes as base64url`);
      writer.bytes(base64urlnopad.decode(value));
    },
    length: () => length,
    done: () => buffer.slice(0, length),
  };
  return writer;
}

interface ByteReader {
  /** The number of bytes that are left. */
  left(): number;
  byte(): number;
  varint(): number;
  /** A copy, so that it does not keep the whole frame in memory. */
  bytes(length: number): Uint8Array;
  id(): string;
}

/** Every method throws BadBytes where the bytes end too early or are not valid. */
function createReader(bytes: Uint8Array): ByteReader {
  let at = 0;
  const reader: ByteReader = {
    left: () => bytes.length - at,
    byte() {
      const value = bytes[at];
      if (value === undefined) throw new BadBytes('it ends too early');
      at += 1;
      return value;
    },
    varint() {
      let value = 0;
      for (let place = 1, i = 0; i < 8; place *= 128, i++) {
        const byte = reader.byte();
        value += (byte & 127) * place;
        if (byte > 127) continue;
        if (!Number.isSafeInteger(value)) throw new BadBytes('a number is too large');
        if (byte === 0 && i > 0) throw new BadBytes('a number is written longer than it is');
        return value;
      }
      throw new BadBytes('a number is too long');
    },
    bytes(length) {
      if (length > reader.left()) throw new BadBytes('it ends too early');
      at += length;
      return bytes.slice(at - length, at);
    },
    id: () => base64urlnopad.encode(reader.bytes(SYNC.idBytes)),
  };
  return reader;
}

export interface Digested extends EntryKey {
  /** Hex. */
  readonly digest: string;
}

export type Frame =
  | { readonly kind: 'have' | 'more' | 'less'; readonly have: Have }
  | { readonly kind: 'want'; readonly request: number; readonly want: Have }
  /** `request`: the request that this answers. Null: the entries were pushed. */
  | {
      readonly kind: 'entries';
      readonly request: number | null;
      readonly replace: boolean;
      readonly entries: readonly Entry[];
    }
  /** `more`: the answer is not complete yet. */
  | {
      readonly kind: 'conflict';
      readonly request: number | null;
      readonly more: boolean;
      readonly entries: readonly Entry[];
    }
  | { readonly kind: 'refused'; readonly refused: readonly Digested[] }
  | { readonly kind: 'compare'; readonly request: number; readonly compared: readonly Digested[] };

type Read = { readonly ok: true; readonly frame: Frame } | { readonly ok: false; readonly reason: string };

const KINDS = ['have', 'more', 'less', 'want', 'entries', 'conflict', 'refused', 'compare'] as const;
const ASKED = 1;
const REPLACE = 2;
const MORE = 2;
/** Bytes of a digest in a frame. In hex a digest has twice as many characters. */
export const DIGEST_BYTES = { refused: 16, compare: 8 } as const;

function putHave(out: ByteWriter, have: Have): void {
  let ranges = 0;
  for (const [writer, list] of [...have].slice(0, REPLICATION.writers)) {
    // Claiming fewer entries than there are does no harm.
    const said = list.slice(-Math.max(0, REPLICATION.ranges - ranges));
    if (said.length === 0) continue;
    ranges += said.length;
    out.id(writer);
    out.varint(said.length);
    let end = 0;
    for (const [from, to] of said) {
      out.varint(from - end - 1);
      out.varint(to - from);
      end = to;
    }
  }
}

function takeHave(from: ByteReader): Have {
  const have = new Map<string, Ranges>();
  let ranges = 0;
  while (from.left() > 0) {
    const writer = from.id();
    if (have.has(writer)) throw new BadBytes('a writer stands twice in one list');
    const many = from.varint();
    ranges += many;
    if (many === 0 || have.size >= REPLICATION.writers || ranges > REPLICATION.ranges)
      throw new BadBytes('a list has too much or nothing in it');
    const list: [number, number][] = [];
    for (let i = 0, end = 0; i < many; i++) {
      const gap = from.varint();
      if (i > 0 && gap === 0) throw new BadBytes('two ranges touch');
      const start = end + 1 + gap;
      end = start + from.varint();
      if (!Number.isSafeInteger(end)) throw new BadBytes('a range is too large');
      list.push([start, end]);
    }
    have.set(writer, list);
  }
  return have;
}

function putEntries(out: ByteWriter, entries: readonly Entry[]): void {
  for (let i = 0; i < entries.length;) {
    const writer = entries[i]?.writer ?? '';
    let end = i;
    while (entries[end]?.writer === writer) end += 1;
    out.id(writer);
    out.varint(end - i);
    for (; i < end; i++) {
      const entry = entries[i];
      if (entry === undefined) break;
      out.varint(entry.counter);
      out.varint(entry.sealed.length);
      out.bytes(entry.sealed);
    }
  }
}

function counterFrom(from: ByteReader): number {
  const counter = from.varint();
  if (counter === 0) throw new BadBytes('a counter is 0');
  return counter;
}

function takeEntries(from: ByteReader): Entry[] {
  const entries: Entry[] = [];
  while (from.left() > 0) {
    const writer = from.id();
    const many = from.varint();
    if (many === 0) throw new BadBytes('a group of entries is empty');
    for (let i = 0; i < many; i++) {
      const counter = counterFrom(from);
      const length = from.varint();
      if (length === 0 || length > SYNC.entryBytes) throw new BadBytes('an entry is empty or too large');
      if (entries.length >= REPLICATION.frameEntries) throw new BadBytes('it has too many entries');
      entries.push({ writer, counter, sealed: from.bytes(length) });
    }
  }
  return entries;
}

/** `flag`: REPLACE or MORE, or 0. */
function putAnswer(
  out: ByteWriter,
  { request, entries }: { readonly request: number | null; readonly entries: readonly Entry[] },
  flag: number,
): void {
  out.byte((request === null ? 0 : ASKED) | flag);
  if (request !== null) out.varint(request);
  putEntries(out, entries);
}

function takeAnswer(from: ByteReader): {
  readonly request: number | null;
  readonly flag: boolean;
  readonly entries: readonly Entry[];
} {
  const flags = from.byte();
  if (flags > 3) throw new BadBytes('a flag is unknown');
  return { request: flags & ASKED ? from.varint() : null, flag: flags > ASKED, entries: takeEntries(from) };
}

function putDigests(out: ByteWriter, list: readonly Digested[], bytes: number): void {
  for (const { writer, counter, digest } of list) {
    out.id(writer);
    out.varint(counter);
    for (let i = 0; i < bytes; i++) out.byte(Number.parseInt(digest.slice(2 * i, 2 * i + 2), 16));
  }
}

function takeDigests(from: ByteReader, bytes: number): Digested[] {
  const list: Digested[] = [];
  while (from.left() > 0) {
    if (list.length >= REPLICATION.frameEntries) throw new BadBytes('it has too many digests');
    const key = { writer: from.id(), counter: counterFrom(from) };
    list.push({ ...key, digest: [...from.bytes(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('') });
  }
  return list;
}

const CHECK_BYTES = 4;
const checkOf = (body: Uint8Array) => sha256(body).subarray(0, CHECK_BYTES);

/** Appends the checksum to a frame. */
export function checked(body: Uint8Array): Uint8Array {
  const frame = new Uint8Array(body.length + CHECK_BYTES);
  frame.set(body);
  frame.set(checkOf(body), body.length);
  return frame;
}

/** Verifies the checksum and returns the bytes before it. */
function bodyOf(frame: Uint8Array): Uint8Array {
  if (frame.length > SYNC.entryBytes + SYNC.frameBytes) throw new BadBytes('it is too large');
  const body = frame.subarray(0, Math.max(0, frame.length - CHECK_BYTES));
  const check = checkOf(body);
  if (check.some((byte, i) => byte !== frame[body.length + i]))
    throw new BadBytes('it was changed or cut short on the way');
  return body;
}

export function encodeFrame(frame: Frame): Uint8Array {
  const out = createWriter();
  out.byte(KINDS.indexOf(frame.kind) + 1);
  switch (frame.kind) {
    case 'have':
    case 'more':
    case 'less':
      putHave(out, frame.have);
      break;
    case 'want':
      out.varint(frame.request);
      putHave(out, frame.want);
      break;
    case 'entries':
      putAnswer(out, frame, frame.replace ? REPLACE : 0);
      break;
    case 'conflict':
      putAnswer(out, frame, frame.more ? MORE : 0);
      break;
    case 'refused':
      putDigests(out, frame.refused, DIGEST_BYTES.refused);
      break;
    case 'compare':
      out.varint(frame.request);
      putDigests(out, frame.compared, DIGEST_BYTES.compare);
      break;
  }
  return checked(out.done());
}

/**
 * The maximum size of a frame of this kind. A single entry of any allowed size fits. Lists have a
 * bound.
 */
const mostBytes = (kind: (typeof KINDS)[number]) =>
  kind === 'entries' || kind === 'conflict' ? SYNC.entryBytes + SYNC.frameBytes : SYNC.listBytes;

function frameFrom(bytes: Uint8Array): Frame {
  const body = bodyOf(bytes);
  const from = createReader(body);
  const kind = KINDS[from.byte() - 1];
  if (kind === undefined) throw new BadBytes('its kind is unknown');
  if (body.length > mostBytes(kind)) throw new BadBytes('it is too large');
  switch (kind) {
    case 'have':
    case 'more':
    case 'less':
      return { kind, have: takeHave(from) };
    case 'want':
      return { kind, request: from.varint(), want: takeHave(from) };
    case 'entries': {
      const { flag, ...answer } = takeAnswer(from);
      return { kind, replace: flag, ...answer };
    }
    case 'conflict': {
      const { flag, ...answer } = takeAnswer(from);
      return { kind, more: flag, ...answer };
    }
    case 'refused':
      return { kind, refused: takeDigests(from, DIGEST_BYTES.refused) };
    case 'compare':
      return { kind, request: from.varint(), compared: takeDigests(from, DIGEST_BYTES.compare) };
  }
}

/**
 * Reads bytes from outside. Any bytes give a frame or the reason why they are none. Never throws.
 */
export function decodeFrame(bytes: Uint8Array): Read {
  try {
    return { ok: true, frame: frameFrom(bytes) };
  } catch (error) {
    if (!(error instanceof BadBytes)) throw error;
    return { ok: false, reason: `A frame of replication cannot be read: ${error.message}.` };
  }
}

/** The first 16 bytes of the SHA-256, as hex. `EntryStore.drop` compares these. */
export const digestOf = (sealed: Uint8Array): string => bytesToHex(sha256(sealed).subarray(0, DIGEST_BYTES.refused));
