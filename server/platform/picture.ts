/**
 * Recognises pictures by their first bytes, because names prove nothing, and checks whether a mind
 * can be shown them.
 */
import type { Picture } from '../../src/shared/domain/attachment.ts';

/**
 * Limits of one picture that a tool shows: bytes, and pixels per side. The Messages API takes 5 MB
 * of base64, and 8,000 pixels.
 */
export const PICTURE_LIMITS = { bytes: 3_700_000, side: 8_000 } as const;

interface PictureHead {
  readonly type: Picture['type'];
  /** In pixels. */
  readonly width: number;
  readonly height: number;
}

type Size = Omit<PictureHead, 'type'>;

/**
 * Reads the first segment that describes a frame (ISO 10918-1, B.2.2). Other segments give their
 * length and are skipped.
 */
function jpegSize(bytes: Buffer): Size | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff;) {
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker))
      return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** RFC 9649: simple, lossless, or extended. */
function webpSize(bytes: Buffer): Size | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/** Null: it is no picture that models can be shown. */
export function pictureHead(given: Uint8Array): PictureHead | null {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  if (bytes.length < 30) return null;
  const starts = (text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text;
  if (starts('\x89PNG\r\n\x1a\n') && starts('IHDR', 12))
    return { type: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
  if (starts('GIF87a') || starts('GIF89a'))
    return { type: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
  const [type, size] = starts('\xff\xd8\xff')
    ? (['image/jpeg', jpegSize(bytes)] as const)
    : starts('RIFF') && starts('WEBP', 8)
      ? (['image/webp', webpSize(bytes)] as const)
      : [null, null];
  return type === null || size === null ? null : { type, ...size };
}

/** Whether a mind can be shown the picture, by its size. */
export const isShowable = ({ width, height }: PictureHead, bytes: number): boolean =>
  bytes <= PICTURE_LIMITS.bytes && Math.min(width, height) > 0 && Math.max(width, height) <= PICTURE_LIMITS.side;
