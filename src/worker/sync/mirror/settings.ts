/** Every name and limit of what is kept beside IndexedDB; ms where a name says nothing else. */
export const MIRROR = {
  /** Our directory in the origin's private file system. */
  directory: 'roost',
  /** The key's file there, and the key's name in localStorage. */
  markFile: 'mark.json',
  markKey: 'roost-mark',
  /**
   * The database failed where it was read: that often, one start after the other, and that long ago
   * at most.
   */
  failuresFile: 'failures.json',
  failuresWithin: 10 * 60_000,
  /** The first tab says what localStorage holds within this. */
  offeredWithin: 2_000,
  /**
   * So many failures, and it is emptied and filled anew; after so many more it is left as it is.
   */
  failuresToEmpty: 2,
  failuresMost: 4,
  /** Segments are named by rising numbers with this at the end. */
  segmentSuffix: '.sealed',
  /** A segment with this many bytes is written no more: adding to a file copies it. */
  segmentBytes: 256 * 1024,
  /** What each full segment holds; and one start in so many reads it all the same. */
  contentsFile: 'contents.json',
  lookEvery: 50,
  /** Entries are written at most this long after they were sealed. */
  writeAfter: 100,
  /** Pause before a write that failed (a full disk) is tried again. */
  writeRetry: 5_000,
  /** A file system that does not answer within this is taken for none. */
  openWithin: 3_000,
  /** What is read of it and does not come within this is not there. */
  answerWithin: 10_000,
  /** Entries handed over in one go when everything is read. */
  readEntries: 500,
  /** Pause between two segments that are looked through while nobody waits. */
  lookPause: 20,
  /** The mark is written anew when what it says of the team has changed, at most this often. */
  markEvery: 2_000,
} as const;
