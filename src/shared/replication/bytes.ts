/**
 * Bytes written and read in order: varints (LEB128, unsigned, up to 2^53 - 1), ids of writers, runs
 * of bytes.
 */
import { base64urlnopad } from '@scure/base';
import { SYNC } from '../protocol/sync/settings.ts';

const ID_CHARS = Math.ceil((SYNC.idBytes * 8) / 6);

/** What cannot be read: the sentence says what is wrong with it. */
export class BadBytes extends Error {}

export interface ByteWriter {
  byte(value: number): void;
  varint(value: number): void;
  bytes(value: Uint8Array): void;
  /** 22 characters of base64url as 16 bytes. Throws where it is something else. */
  id(value: string): void;
  length(): number;
  done(): Uint8Array;
}

export function createWriter(): ByteWriter {
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

export interface ByteReader {
  /** Bytes that are left. */
  left(): number;
  byte(): number;
  varint(): number;
  /** A copy, so that what is kept does not hold on to the frame. */
  bytes(length: number): Uint8Array;
  id(): string;
}

/** Every method throws BadBytes where the bytes end too early or are not what they should be. */
export function createReader(bytes: Uint8Array): ByteReader {
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
