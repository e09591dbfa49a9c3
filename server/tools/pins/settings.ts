/** How much of a folder is looked at to say what a yes is to. */
export const PIN_LIMITS = {
  /** Files that are named one by one. All others are compared together. */
  files: 2_000,
  /** Files that files name in turn. Where there are more, the whole folder is looked at. */
  inTurn: 500,
  /** Files and folders that are looked at, and how deep. */
  entries: 100_000,
  /**
   * Bytes of a file up to which its content is compared. Of a longer one: its inode, size and
   * times.
   */
  hashedBytes: 20_000_000,
  /** Bytes of all files whose content is compared, in one look. */
  allHashedBytes: 100_000_000,
  /** Bytes of a file that is read for what it names. */
  readBytes: 1_000_000,
  /** Words of one file, and of all, that are looked up. */
  words: 5_000,
  allWords: 20_000,
  /** Words that are looked up before other work of the relay has its turn. */
  wordsAtOnce: 500,
  /** Folders from which a word may name a file. */
  bases: 16,
  /** Characters of a word that may name a file. */
  word: 500,
  /** Commands in commands that are read. */
  nested: 5,
  /** Characters of all texts that are kept, to be shown and compared. */
  texts: 100_000,
} as const;
export type PinLimits = { readonly [Name in keyof typeof PIN_LIMITS]: number };
