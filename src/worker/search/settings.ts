/** Every name, limit and pause of the search. */
export const SEARCH = {
  /** The index's own IndexedDB database. It can be deleted at any time, and is then rebuilt. */
  database: 'roost-search',
  /**
   * Bump this when the contents of the index or the way of cutting words change. An older index is
   * rebuilt.
   */
  version: 4,

  /** ms from opening the ledger until work on the index begins. Opening the page comes first. */
  startAfter: 1_500,
  /**
   * ms without a new document before the waiting ones are indexed. A search has it done at once.
   */
  quiet: 1_000,
  /** ms that a search waits for the newest messages to be indexed. */
  waitForNew: 150,
  /** ms of one slice of work on the index. Other work runs in between. */
  slice: 8,
  /** ms of pause after each slice while an agent answers. */
  restWhileTalking: 60,
  /** ms of one slice of answering a search. A person waits for it. */
  answerSlice: 25,
  /** ms before work that failed is tried again. */
  retry: 60_000,
  /** Bytes that must be free before failed work is tried again. */
  roomLeast: 200_000_000,
  /**
   * New documents that are remembered until they are indexed. Beyond that, the index is compared
   * with the ledger.
   */
  waitingMost: 2_000,
  /** Times that the ledger counts its documents while new ones come. */
  countTries: 5,
  /** Ids, and documents, that are read from the ledger at once. A document may have a megabyte. */
  idsAtOnce: 1_000,
  documentsAtOnce: 40,
  /** Characters of a text that are cut into words at once. */
  charsAtOnce: 32_000,

  /**
   * A segment is written when it has this many documents, or about this many occurrences of words.
   */
  segmentDocuments: 2_000,
  segmentPlaces: 200_000,
  /**
   * Segments of about one size that may exist. More are merged, unless they would have more than
   * `largestSegment` documents.
   */
  segmentsOfSize: 8,
  largestSegment: 200_000,
  /** Bytes of one part of a segment. */
  blockBytes: 4_000,
  postingsBytes: 32_000,
  /** Ids in one part. */
  idsInPart: 256,
  /** UTF-16 units of a word that count. Nobody types more of a key or a hash. */
  termChars: 40,
  /** The most words that begin inside a word, and the least letters of each. */
  wordsInside: 6,
  insideLeast: 2,
  /**
   * Bytes of the index that stay in memory between searches, and ms without a search after which
   * they are freed.
   */
  cacheBytes: 12_000_000,
  cacheFor: 60_000,

  /**
   * A word with at least this many letters is looked for in every document. For shorter ones the
   * newest `enough` documents suffice.
   */
  wordFrom: 3,
  enough: 2_000,
  /**
   * Typed words that are looked for. Letters of a word from which one typing error is forgiven, and
   * from which two are.
   */
  wordsMost: 24,
  forgiveFrom: 4,
  forgiveTwoFrom: 8,
  /**
   * Words of a sentence that are in more than this share of all documents, and in more than
   * `commonLeast`, are not looked for. Where all are common, the `tellingLeast` rarest are. A
   * document needs `leastOfSentence` of the weight of the words that are looked for.
   */
  commonShare: 0.05,
  commonLeast: 50,
  tellingLeast: 3,
  leastOfSentence: 0.3,
  /** If no document has all words, one of this many may be missing. */
  oneWrongOf: 4,
  /** Documents that are read after the first ranking, and ranked by how close their words stand. */
  readMost: 50,
  /**
   * Characters of each that are read for this, and the limit where not all words are found in them.
   */
  readFirst: 3_000,
  readChars: 60_000,
  /** Characters of a shown passage, and those before its first match. */
  passage: 180,
  passageBefore: 50,
} as const;
