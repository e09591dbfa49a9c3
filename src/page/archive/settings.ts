/** Every size and bound of the archive. */
export const ARCHIVE = {
  /** The version of the files written here, and the newest that can be read. */
  version: 1,
  /** Documents in one call to the ledger, at most … */
  batchDocuments: 500,
  /** … and characters of them as JSON, about: what a page can hand on without being felt. */
  batchChars: 128 * 1024,
  /** Documents in the first page that is asked for, before it is known how long they are. */
  firstPage: 50,
  /** Bytes of a file that are handed to the sink at a time, about. */
  chunkBytes: 256 * 1024,
  /** The longest line that is read, in bytes; what the ledger takes is far shorter. */
  lineBytes: 256 * 1024 * 1024,
  /** Levels of one document: lists and objects in each other. */
  depth: 500,
  /** age's default work factor for passphrases: scrypt with N = 2^18. */
  scryptLogN: 18,
  /** Ids of differing documents that a preview names, at most. */
  namedIds: 100,

  /**
   * One agent's zip, or Markdown file: bytes as it comes, files in it, and bytes of all that is
   * unpacked.
   */
  zipBytes: 256 * 1024 * 1024,
  zipEntries: 20_000,
  unpackedBytes: 512 * 1024 * 1024,
  /**
   * How much a zip is unpacked at a time, in packed bytes: deflate makes at most about 1,032 of
   * each.
   */
  inflateStep: 16 * 1024,
  /** Longest name of a file or folder that is written, in UTF-16 units. */
  fileNameChars: 80,
} as const;
