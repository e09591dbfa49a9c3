/** How much of a folder is read to pin a yes. */
export const PIN_LIMITS = {
  /** Files that are listed one by one. All others are compared as a group. */
  files: 2_000,
  /** Files named by files. Where there are more, the whole folder counts. */
  inTurn: 500,
  /** Files and folders that are read. */
  entries: 100_000,
  /**
   * Bytes of a file up to which its content is compared. A longer file is compared by inode, size
   * and times.
   */
  hashedBytes: 20_000_000,
  /** Bytes of all files whose content is compared, per read. */
  allHashedBytes: 100_000_000,
  /** Bytes of a file that is searched for names. */
  readBytes: 1_000_000,
  /** Words that are looked up: per file, and in total. */
  words: 5_000,
  allWords: 20_000,
  /** Words that are looked up before the relay's other work gets a turn. */
  wordsAtOnce: 500,
  /** Folders relative to which a word may name a file. */
  bases: 16,
  /** Characters of a word that may name a file. */
  word: 500,
  /** Nesting of commands within commands. */
  nested: 5,
  /** Characters of all texts that are stored, to be shown and compared. */
  texts: 100_000,
} as const;
export type PinLimits = { readonly [Name in keyof typeof PIN_LIMITS]: number };
