/** Why a file cannot be taken, or work on it cannot begin. */

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
