/**
 * Attachments: pictures, PDFs and texts that a person sends with a message. This module describes
 * them without their bytes.
 */
import { onOneLine } from './quoting.ts';

/** A picture in the form that models receive. */
export interface Picture {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Base64. */
  readonly data: string;
}

/** Limits of attachments. */
export const ATTACHMENTS = {
  /** Per message: number of attachments, and their total bytes. */
  count: 10,
  bytes: 20_000_000,
  /** Maximum bytes of a text attachment. The model reads it as text. */
  textBytes: 500_000,
  /** Longest side of a picture, in pixels. A larger picture is of no use to a model. */
  longSide: 1_568,
  /**
   * Bytes of one document of the ledger. In base64, one piece is one part of a commit
   * (LEDGER.partChars).
   */
  pieceBytes: 96 * 1024,
  /** Characters. */
  name: 200,
} as const;

/**
 * Media types that models receive. Texts and code of every kind are `text/plain`, and no other text
 * type is allowed: attachments are never executed or rendered.
 */
export const ATTACHMENT_TYPES = [
  'image/jpeg',
  'image/png',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/plain',
] as const;
export type AttachmentType = (typeof ATTACHMENT_TYPES)[number];
/** Takes any `image/` type, because a newer Roost may know more kinds. */
export const isPicture = (type: string): boolean => type.startsWith('image/');

export interface Attachment {
  readonly attachmentId: string;
  readonly name: string;
  /** One of ATTACHMENT_TYPES, or a type that a newer Roost knows. */
  readonly mediaType: string;
  readonly bytes: number;
  /** Pictures only, in pixels. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** An attachment as the page sends it to the relay and the relay to a model. */
export interface SentAttachment extends Attachment {
  readonly mediaType: AttachmentType;
  /** Base64. */
  readonly data: string;
}

/** `512 B`, `21 KB`, `1.4 MB` */
const size = (bytes: number) =>
  bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${Math.round(bytes / 1e3)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

const KINDS: ReadonlyMap<string, string> = new Map([
  ['application/pdf', 'PDF'],
  ['text/plain', 'text'],
]);

/**
 * An attachment in one line, by name, for transcripts, inboxes and models: `[Attached: beach.jpg,
 * picture of 800 × 600, 240 KB]`
 */
export function attachmentLine({ name, mediaType, bytes, width, height }: Attachment): string {
  const pixels = width === undefined || height === undefined ? '' : ` of ${width} × ${height}`;
  return `[Attached: ${onOneLine(name)}, ${KINDS.get(mediaType) ?? (isPicture(mediaType) ? `picture${pixels}` : 'file')}, ${size(bytes)}]`;
}

/** Reads the name and size back from a line of `attachmentLine`. Null: the line is not one. */
export const attachedIn = (line: string): { readonly name: string; readonly size: string } | null => {
  const { name, bytes } =
    /^\[Attached: (?<name>.+), (?:picture|PDF|text|file)[^,]*, (?<bytes>[^,]+)\]$/.exec(line)?.groups ?? {};
  return name === undefined || bytes === undefined ? null : { name, size: bytes };
};

/** Ledger id of one piece of an attachment's bytes. */
export const pieceId = ({ attachmentId }: Pick<Attachment, 'attachmentId'>, index: number): string =>
  `attachment:${attachmentId}:${index}`;
export const piecesOf = ({ bytes }: Pick<Attachment, 'bytes'>): number =>
  Math.max(1, Math.ceil(bytes / ATTACHMENTS.pieceBytes));

/**
 * The attachment with its bytes. Null: the bytes are missing, or this version does not know the
 * media type.
 */
export function withBytes(file: Attachment, data: string | null): SentAttachment | null {
  const mediaType = ATTACHMENT_TYPES.find((type) => type === file.mediaType);
  if (data === null || mediaType === undefined) return null;
  const { attachmentId, name, bytes, width, height } = file;
  return {
    attachmentId,
    name,
    mediaType,
    bytes,
    data,
    ...(width === undefined || height === undefined ? {} : { width, height }),
  };
}

/** The attachment as messages and events describe it. */
export const withoutBytes = ({ attachmentId, name, mediaType, bytes, width, height }: Attachment): Attachment => ({
  attachmentId,
  name,
  mediaType,
  bytes,
  ...(width === undefined || height === undefined ? {} : { width, height }),
});
