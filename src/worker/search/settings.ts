/** Every name, limit and pause of the search. */
export const SEARCH = {
  /**
   * The index's own IndexedDB database: it can be thrown away at any time, and is made anew then.
   */
  database: 'roost-search',
  /**
   * Goes up with every change of what stands in the index, or of how words are cut: an older one is
   * made anew.
   */
  version: 4,

  /**
   * ms after the ledger was opened before the index is looked at: whoever opens the page comes
   * first.
   */
  startAfter: 1_500,
  /**
   * ms without a new document after which what came is put into the index. Whoever searches has it
   * done at once.
   */
  quiet: 1_000,
  /** ms for which somebody who searches waits for what was said just now. */
  waitForNew: 150,
  /** ms at a time for which the index is worked on; others have their turn in between. */
  slice: 8,
  /** ms of rest after each of these while somebody answers. */
  restWhileTalking: 60,
  /** The same for an answer: somebody waits for it. */
  answerSlice: 25,
  /** ms before work that failed is tried again. */
  retry: 60_000,
  /** Bytes that the browser must still have room for, before what failed is tried again. */
  roomLeast: 200_000_000,
  /**
   * New documents that are remembered until they are indexed; of more, the ledger is asked which
   * they were.
   */
  waitingMost: 2_000,
  /** Ids, and documents, that are asked of the ledger at once: a document may have a megabyte. */
  idsAtOnce: 1_000,
  documentsAtOnce: 40,
  /** Characters of a text that are cut into words at once. */
  charsAtOnce: 32_000,

  /** A segment is written when it has this many documents, or about this many places of words. */
  segmentDocuments: 2_000,
  segmentPlaces: 200_000,
  /**
   * Of about equally large segments at most this many; then they become one, unless that had more
   * than so many documents.
   */
  segmentsOfSize: 8,
  largestSegment: 200_000,
  /** Bytes of one part of a segment. */
  blockBytes: 4_000,
  postingsBytes: 32_000,
  /** Ids in one part. */
  idsInPart: 256,
  /** UTF-16 units of a word that count: nobody types more of a key or a hash. */
  termChars: 40,
  /** Words that begin inside a word, at most, and letters of the shortest of them. */
  wordsInside: 6,
  insideLeast: 2,
  /**
   * Bytes of the index that are kept in memory between two searches, and for how long nobody need
   * have searched, in ms.
   */
  cacheBytes: 12_000_000,
  cacheFor: 60_000,

  /**
   * Letters from which the beginning of a word says enough to be asked of every document; of fewer,
   * the newest that many have it will do.
   */
  wordFrom: 3,
  enough: 2_000,
  /**
   * Words of what is typed that are looked for; letters of a word from which a typing error is
   * forgiven, and from which two are.
   */
  wordsMost: 24,
  forgiveFrom: 4,
  forgiveTwoFrom: 8,
  /** Words of which each may be wrong, one in so many, where not all are found together. */
  oneWrongOf: 4,
  /**
   * Of the best by words alone, so many are read, and ordered by how their words stand together.
   */
  readMost: 50,
  /**
   * Characters of each that are read for that, and of one in which not all words were found by
   * then.
   */
  readFirst: 3_000,
  readChars: 60_000,
  /** Characters of a passage that is shown, and of them before the first word that was found. */
  passage: 180,
  passageBefore: 50,
} as const;
