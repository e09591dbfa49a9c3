/** Every name and limit of the second copy outside IndexedDB. ms where a name says nothing else. */
export const MIRROR = {
  /** Our directory in the origin's private file system. */
  directory: 'roost',
  /** The mark's file there, and its key in localStorage. */
  markFile: 'mark.json',
  markKey: 'roost-mark',
  /** The file of noted database failures, and how long a failure counts. */
  failuresFile: 'failures.json',
  failuresWithin: 10 * 60_000,
  /** How long to wait for the first tab to send the mark in localStorage. */
  offeredWithin: 2_000,
  /**
   * After this many failures the database is emptied and filled again. After `failuresMost` it is
   * left as it is.
   */
  failuresToEmpty: 2,
  failuresMost: 4,
  /** The suffix of segments. Their names are rising numbers. */
  segmentSuffix: '.sealed',
  /** A segment of this many bytes is full, because appending to a file copies it. */
  segmentBytes: 256 * 1024,
  /** The index of full segments. Each is read all the same at one start in `rereadEvery`. */
  contentsFile: 'contents.json',
  rereadEvery: 50,
  /** Entries are written at most this long after they were sealed. */
  writeAfter: 100,
  /** Pause before a failed write (on a full disk, for example) is tried again. */
  writeRetry: 5_000,
  /** A file system that does not answer within this counts as absent. */
  openWithin: 3_000,
  /** A read that takes longer counts as failed. */
  answerWithin: 10_000,
  /** Entries in one batch of a read. */
  readEntries: 500,
  /** Pause between two segments that are read while nothing waits. */
  readPause: 20,
  /** The mark is written at most this often, when its contents have changed. */
  markEvery: 2_000,
} as const;
