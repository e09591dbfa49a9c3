/**
 * Prepares a file for a message. Pictures are redrawn, no larger than a model reads. This removes
 * the camera's metadata (place, time, device) and everything that is not a pixel. Loaded with the
 * first file.
 */
import { ATTACHMENTS, type AttachmentType } from '../../../shared/domain/attachment.ts';
import { anyFileText } from '../../../shared/domain/file-text.ts';
import { errorText } from '../../state/ports.ts';
import { t } from '../../language/t.ts';
import type { PreparedFile } from '../../state/attachments.ts';
import { bytes as inWords } from '../text/sizes.ts';

// Detects animated pictures by their first bytes: GIF89a, Animated PNG and animated WebP. Pure.

/** Bytes of a picture that are examined. The second frame of an animation begins within them. */
export const EXAMINED = 5_000_000;

const includes = (bytes: Uint8Array, text: string, most: number) =>
  String.fromCharCode(...bytes.subarray(0, most)).includes(text);

/** In a GIF, each frame begins with an extension with its duration (GIF89a, section 23). */
function momentsOf(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(0x21); at >= 0 && count < 2; at = bytes.indexOf(0x21, at + 1))
    if (bytes[at + 1] === 0xf9 && bytes[at + 2] === 0x04 && bytes[at + 7] === 0x00) count += 1;
  return count;
}

/** @param bytes the first EXAMINED of a file. */
export function moves(bytes: Uint8Array): boolean {
  if (includes(bytes, 'GIF8', 4)) return momentsOf(bytes) > 1;
  // Before the first chunk of image data.
  if (includes(bytes, 'PNG', 4)) return includes(bytes, 'acTL', 1_024);
  return includes(bytes, 'WEBP', 12) && includes(bytes, 'ANIM', 64);
}

// Facts about a PDF that are needed before it is sent: number of pages, and whether it is
// encrypted. Nothing in it is run or drawn.

/** Most bytes of a PDF's tables that are decompressed. No honest PDF has more. */
const UNPACKED = 60_000_000;

export interface PdfFacts {
  /** null: it cannot be determined. */
  readonly pages: number | null;
  /** Encrypted, with or without a password. No model can read it. */
  readonly locked: boolean;
}

/** One character for one byte. */
const latinText = (bytes: Uint8Array) => new TextDecoder('latin1').decode(bytes);

/** Decompresses as much as possible, up to `most` bytes. Trailing data or an error ends it. */
async function unpacked(bytes: Uint8Array<ArrayBuffer>, most: number): Promise<string> {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate')).getReader();
  const parts: string[] = [];
  let size = 0;
  try {
    while (size < most) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      parts.push(latinText(value));
    }
    await reader.cancel();
  } catch {
    // The data before the error is valid.
  }
  return parts.join('');
}

/** `/Type /Page`, and not `/Pages`. */
const pagesIn = (text: string) => text.match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0;

/**
 * ISO 32000: pages are objects of their own, plain or packed in object streams (7.5.7). The trailer
 * declares encryption (7.6).
 */
export async function pdfFacts(bytes: Uint8Array<ArrayBuffer>): Promise<PdfFacts> {
  const text = latinText(bytes);
  const locked = /\/Encrypt\s*(?:\d+\s+\d+\s+R|<<)/.test(text);
  let pages = pagesIn(text);
  let left = UNPACKED;
  for (const { index } of text.matchAll(/\/Type\s*\/ObjStm/g)) {
    const begins = /stream\r?\n/g;
    begins.lastIndex = index;
    const from = begins.exec(text) ? begins.lastIndex : -1;
    const to = text.indexOf('endstream', from);
    if (from < 0 || to < 0 || left <= 0) break;
    const objects = await unpacked(bytes.subarray(from, to), left);
    left -= objects.length;
    pages += pagesIn(objects);
  }
  return { pages: pages > 0 ? pages : null, locked };
}

/**
 * `reason`: a sentence for people that begins with the file's name. `note`: how the file was
 * changed.
 */
export type Prepared =
  | { readonly ok: true; readonly file: PreparedFile; readonly note?: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Pictures with at least this many bytes are not opened. The largest ones of a camera are smaller.
 */
const PICTURE_BYTES = 100_000_000;
/** Size limit of a lossless picture in bytes; larger ones are written with loss. */
const EXACT_BYTES = 1_500_000;
const JPEG_QUALITY = 0.85;
/**
 * Invisible characters in a name can reverse what follows, and turn `gnp.exe` into `exe.png`.
 * Joiners of letters and emoji stay.
 */
const UNSEEN = /(?![\u200c\u200d])[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/gu;
/** The facts of a PDF in a browser that cannot decompress. */
const NO_FACTS: PdfFacts = { pages: null, locked: false };

const latin = (head: Uint8Array) => String.fromCharCode(...head);
/** The type by its first bytes. The file name proves nothing. */
function kindOf(head: Uint8Array): 'picture' | 'photo' | 'heic' | 'pdf' | 'other' {
  const text = latin(head);
  if (text.startsWith('\xff\xd8\xff')) return 'photo';
  if (text.startsWith('\x89PNG') || /^GIF8[79]a/.test(text) || /^RIFF[^]{4}WEBP/.test(text)) return 'picture';
  if (/^[^]{4}ftyp(?:heic|heix|hevc|mif1|msf1|avif)/.test(text)) return 'heic';
  return text.includes('%PDF-') ? 'pdf' : 'other';
}

const base64Of = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'));
    reader.readAsDataURL(blob);
  });
const hex = (digest: ArrayBuffer) =>
  [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

async function fileOf(
  blob: Blob,
  {
    name,
    mediaType,
    newId,
    ...pixels
  }: { name: string; mediaType: AttachmentType; newId: () => string; width?: number; height?: number },
): Promise<Prepared> {
  const sha256 = hex(await crypto.subtle.digest('SHA-256', Uint8Array.from(new Uint8Array(await blob.arrayBuffer()))));
  const data = await base64Of(blob);
  return { ok: true, file: { attachmentId: newId(), name, mediaType, bytes: blob.size, ...pixels, sha256, data } };
}

/** The name with the extension of the new type. */
const renamed = (name: string, ending: string) => `${name.replace(/\.[^.]{1,5}$/, '')}.${ending}`;

const blobOf = (canvas: HTMLCanvasElement, type: string): Promise<Blob | null> =>
  new Promise((resolve) => canvas.toBlob(resolve, type, JPEG_QUALITY));

/** The redrawn picture; null: this browser cannot read it. Of an animation, its first frame. */
async function drawn(file: Blob, isPhoto: boolean) {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap || bitmap.width === 0 || bitmap.height === 0) return null;
  const scale = Math.min(1, ATTACHMENTS.longSide / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.imageSmoothingQuality = 'high';
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const { width, height } = canvas;
  const exact = isPhoto ? null : await blobOf(canvas, 'image/png');
  if (exact && exact.size <= EXACT_BYTES)
    return { blob: exact, mediaType: 'image/png' as const, ending: 'png', width, height };
  // Transparent areas would turn black.
  context.globalCompositeOperation = 'destination-over';
  context.fillStyle = 'white';
  context.fillRect(0, 0, width, height);
  const blob = await blobOf(canvas, 'image/jpeg');
  return blob && { blob, mediaType: 'image/jpeg' as const, ending: 'jpg', width, height };
}

/** If both sizes are equal when rounded, the difference is shown. */
const tooLarge = (size: number, most: number = ATTACHMENTS.bytes): string =>
  t`is ${inWords(size)} large; a file must be smaller than ${inWords(most)}.`;

async function pdfOf(file: File, { name, newId }: { name: string; newId: () => string }): Promise<Prepared> {
  const { pages, locked } = await pdfFacts(new Uint8Array(await file.arrayBuffer())).catch(() => NO_FACTS);
  if (locked)
    return {
      ok: false,
      reason: t`${name} is locked, with a password or against copying, and models cannot read it. Print it into a new PDF, and attach that.`,
    };
  const prepared = await fileOf(file, { name, mediaType: 'application/pdf', newId });
  return prepared.ok && pages !== null ? { ...prepared, file: { ...prepared.file, pages } } : prepared;
}

export async function prepareFile(file: File, newId: () => string): Promise<Prepared> {
  const name = file.name.replace(UNSEEN, '').slice(-ATTACHMENTS.name) || 'pasted';
  const no = (why: string): Prepared => ({ ok: false, reason: `${name} ${why}` });
  try {
    if (file.size === 0) return no(t`is empty, or a folder: choose the files in it.`);
    const kind = kindOf(new Uint8Array(await file.slice(0, 1024).arrayBuffer()).subarray(0, 32));
    if (kind === 'picture' || kind === 'photo' || kind === 'heic') {
      if (file.size > PICTURE_BYTES) return no(tooLarge(file.size, PICTURE_BYTES));
      const picture = await drawn(file, kind === 'photo' || kind === 'heic');
      if (!picture && kind === 'heic')
        return no(t`is a HEIC or AVIF picture, which this browser cannot read. Save it as JPEG, and attach that.`);
      if (!picture) return no(t`cannot be read: the picture is damaged, or larger than this browser can open.`);
      const { blob, mediaType, ending, width, height } = picture;
      const prepared = await fileOf(blob, { name: renamed(name, ending), mediaType, newId, width, height });
      const moved = moves(new Uint8Array(await file.slice(0, EXAMINED).arrayBuffer()));
      return prepared.ok && moved
        ? { ...prepared, note: t`${name} is animated. Only its first picture is sent.` }
        : prepared;
    }
    if (file.size > ATTACHMENTS.bytes) return no(tooLarge(file.size));
    if (kind === 'pdf') return await pdfOf(file, { name, newId });
    const text = anyFileText(new Uint8Array(await file.arrayBuffer()));
    if (text === null) return no(t`is no picture, PDF or text: models read nothing else.`);
    if (file.size > ATTACHMENTS.textBytes) return no(tooLarge(file.size, ATTACHMENTS.textBytes));
    // SVG and HTML are treated as text: they are read, and never drawn or run. The text is UTF-8.
    return await fileOf(new Blob([text]), { name, mediaType: 'text/plain', newId });
  } catch (error) {
    return no(t`could not be read: ${errorText(error)}`);
  }
}
