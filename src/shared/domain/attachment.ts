/**
 * Pictures, PDFs and texts that a person sends along with a message: what is known of one without
 * its bytes.
 */
import { onOneLine } from './quoting.ts';

/** A picture as models are shown it. */
export interface Picture {
  readonly type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** In base64. */
  readonly data: string;
}

/** Every limit of them. */
export const ATTACHMENTS = {
  /** Of one message, and their bytes together. */
  count: 10,
  bytes: 20_000_000,
  /** Of a text: it is read as words. */
  textBytes: 500_000,
  /** In pixels: on the long side of a picture, more is of no use to a model. */
  longSide: 1_568,
  /**
   * Bytes of one document of the ledger: as base64 they are one part of a commit
   * (LEDGER.partChars).
   */
  pieceBytes: 96 * 1024,
  /** Characters. */
  name: 200,
} as const;

/**
 * What models are sent. Texts and code of every kind are `text/plain`, and nothing else of text is:
 * none of it is ever run or drawn.
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
/** A newer Roost may know more kinds. */
export const isPicture = (type: string): boolean => type.startsWith('image/');

export interface Attachment {
  readonly attachmentId: string;
  readonly name: string;
  /** One of ATTACHMENT_TYPES, or what a newer Roost knows. */
  readonly mediaType: string;
  readonly bytes: number;
  /** Of a picture, in pixels. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

/** As it is sent to the relay and on to a model. */
export interface SentAttachment extends Attachment {
  readonly mediaType: AttachmentType;
  /** In base64. */
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
 * By name, as it stands in transcripts, in inboxes and before models: `[Attached: beach.jpg,
 * picture of 800 × 600, 240 KB]`
 */
export function attachmentLine({ name, mediaType, bytes, width, height }: Attachment): string {
  const pixels = width === undefined || height === undefined ? '' : ` of ${width} × ${height}`;
  return `[Attached: ${onOneLine(name)}, ${KINDS.get(mediaType) ?? (isPicture(mediaType) ? `picture${pixels}` : 'file')}, ${size(bytes)}]`;
}

/** Names and sizes in a line as `attachmentLine` writes it; null: it is none. */
export const attachedIn = (line: string): { readonly name: string; readonly size: string } | null => {
  const { name, bytes } =
    /^\[Attached: (?<name>.+), (?:picture|PDF|text|file)[^,]*, (?<bytes>[^,]+)\]$/.exec(line)?.groups ?? {};
  return name === undefined || bytes === undefined ? null : { name, size: bytes };
};

/** Where one piece of the bytes lies in the ledger. */
export const pieceId = ({ attachmentId }: Pick<Attachment, 'attachmentId'>, index: number): string =>
  `attachment:${attachmentId}:${index}`;
export const piecesOf = ({ bytes }: Pick<Attachment, 'bytes'>): number =>
  Math.max(1, Math.ceil(bytes / ATTACHMENTS.pieceBytes));

/** With its bytes, as far as a relay of today takes it. */
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

/** What messages and events say of it. */
export const withoutBytes = ({ attachmentId, name, mediaType, bytes, width, height }: Attachment): Attachment => ({
  attachmentId,
  name,
  mediaType,
  bytes,
  ...(width === undefined || height === undefined ? {} : { width, height }),
});
