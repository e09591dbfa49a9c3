/**
 * Frames on a data channel, whose messages are bounded. A message is:
 *
 *     00                      keep-alive
 *     01 | length u32 | part  begins a frame of `length` bytes
 *     02 | part               goes on with it
 *
 * A part has at least one byte, a frame ends with its last byte, and the next one begins after
 * that: the channel is reliable and keeps the order. Integers are big-endian.
 */
const KEEP_ALIVE = 0;
const BEGIN = 1;
const GO_ON = 2;
const BEGIN_HEADER = 5;
const GO_ON_HEADER = 1;

export const keepAlive = (): Uint8Array<ArrayBuffer> => Uint8Array.of(KEEP_ALIVE);

/**
 * The messages of one frame, each of at most `most` bytes, made as they are asked for. Throws for
 * an empty frame.
 */
export function* cut(frame: Uint8Array, most: number): Generator<Uint8Array<ArrayBuffer>, void> {
  if (frame.length === 0) throw new RangeError('A frame has at least one byte.');
  const first = new Uint8Array(Math.min(most, BEGIN_HEADER + frame.length));
  first[0] = BEGIN;
  new DataView(first.buffer).setUint32(1, frame.length);
  let at = first.length - BEGIN_HEADER;
  first.set(frame.subarray(0, at), BEGIN_HEADER);
  yield first;
  while (at < frame.length) {
    const part = frame.subarray(at, at + most - GO_ON_HEADER);
    const piece = new Uint8Array(GO_ON_HEADER + part.length);
    piece[0] = GO_ON;
    piece.set(part, GO_ON_HEADER);
    at += part.length;
    yield piece;
  }
}

export type Joined =
  /** A keep-alive, or a part of a frame that is not whole yet. */
  | { readonly kind: 'nothing' }
  /** In a buffer of its own. */
  | { readonly kind: 'frame'; readonly frame: Uint8Array<ArrayBuffer> }
  /** Not a message of ours, out of turn, or too long: the line is of no more use. */
  | { readonly kind: 'wrong' };

const NOTHING: Joined = { kind: 'nothing' };
const WRONG: Joined = { kind: 'wrong' };

/** Puts frames of at most `most` bytes together again, message by message. */
export function createJoiner(most: number): (message: Uint8Array) => Joined {
  let frame: Uint8Array<ArrayBuffer> | null = null;
  let filled = 0;

  function fill(into: Uint8Array<ArrayBuffer>, part: Uint8Array): Joined {
    if (part.length === 0 || part.length > into.length - filled) return WRONG;
    into.set(part, filled);
    filled += part.length;
    if (filled < into.length) {
      frame = into;
      return NOTHING;
    }
    frame = null;
    filled = 0;
    return { kind: 'frame', frame: into };
  }

  return (message) => {
    switch (message[0]) {
      case KEEP_ALIVE:
        return message.length === 1 ? NOTHING : WRONG;
      case BEGIN: {
        if (frame || message.length < BEGIN_HEADER) return WRONG;
        const length = new DataView(message.buffer, message.byteOffset, message.byteLength).getUint32(1);
        return length > most ? WRONG : fill(new Uint8Array(length), message.subarray(BEGIN_HEADER));
      }
      case GO_ON:
        return frame ? fill(frame, message.subarray(GO_ON_HEADER)) : WRONG;
      default:
        return WRONG;
    }
  };
}
