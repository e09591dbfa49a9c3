/** Why a file cannot be taken, or work on it cannot begin. */
import { sentence } from '../../shared/domain/sentence.ts';

export const ARCHIVE_ERROR_KINDS = [
  'needs-passphrase',
  'wrong-passphrase',
  'not-an-archive',
  'damaged',
  'cut-short',
  'newer-version',
  'too-large',
  'no-worker',
] as const;
export type ArchiveErrorKind = (typeof ARCHIVE_ERROR_KINDS)[number];

/** `message` is for people, and says what to do. Nothing has been written when it is thrown. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
  readonly kind: ArchiveErrorKind;
  constructor(kind: ArchiveErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export const CUT_SHORT = sentence`This file is not whole: its end is missing or damaged. Copy it from where it came once more, or use another copy. Nothing was imported.`;
export const DAMAGED = sentence`This file is damaged. Copy it from where it came once more, or use another copy. Nothing was imported.`;

/**
 * The error of a file that the browser cannot read any more: it was moved, changed, or its drive is
 * gone. null: another error.
 */
export function unreadableFile(error: unknown): ArchiveError | null {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name !== 'NotReadableError' && name !== 'NotFoundError') return null;
  return new ArchiveError(
    'damaged',
    sentence`The browser cannot read this file any more: it was moved, changed, or its drive is gone. Choose it once more.`,
    { cause: error },
  );
}
