/**
 * Every name, limit and pause of synchronisation on a device. ms where a name says nothing else.
 */
export const SYNC_WORKER = {
  /** Our IndexedDB database: keys, sealed entries, records of the other devices. */
  database: 'roost-sync',
  /** Documents, and their characters as JSON, that go into one entry when many wait. */
  entryDocuments: 100,
  entryChars: 128 * 1024,
  /**
   * Outbox rows that are read at once, and about how many of their documents are sealed at once.
   */
  outboxRows: 500,
  outboxDocuments: 500,
  /**
   * Waiting rows are sealed when no more have arrived for `sealQuiet` ms, and after `sealMost` ms
   * at the latest. Appends that people wait for come first.
   */
  sealQuiet: 15,
  sealMost: 150,
  /** Entries of attachments that are sealed at once. */
  sealPieces: 8,
  /**
   * One device should seal what the relay sends to all. Each waits this long, and up to
   * `relayedJitter` more at random, for another to do it.
   */
  relayedWait: 400,
  relayedJitter: 1_600,
  /** Ids of documents from other devices that are remembered for this. */
  heardIds: 20_000,
  /** Documents that are sealed at once when a household begins to share. */
  firstSeal: 500,
  /** How long conflicts are collected before new writers are drawn. */
  forks: 200,
  /** Entries that are read at once to be passed on. */
  readStride: 64,
  /** Pause after the end of a session before its tips are sent to the other devices. */
  tipsAfter: 300,
  /** Pause between two checks of entries that wait because of a future date. */
  aheadAgain: 10 * 60_000,
  /** Pause before late entries with forgotten documents are sealed without them. */
  forgetLate: 2_000,
  /** Pause before failed sealing (on a full disk, for example) is tried again. */
  sealRetry: 5_000,
  /** Entries that arrive within a moment. No call goes ahead of them. */
  soonHere: 500,
  /** A relay that has announced no entries this long after it admitted this device has none. */
  relayHasNone: 3_000,
  /** Bytes of a device's secret. */
  seedBytes: 32,
  /** Characters of a device’s name. */
  nameChars: 200,
  /** A record dated further ahead of this clock is ignored. */
  clockAhead: 24 * 60 * 60_000,
  /** Changes of the status are sent at most this often. */
  statusEvery: 100,
  /** From asking for the socket to its welcome. */
  connect: 10_000,
  /** The relay must confirm a rotation of the keys within this. */
  rotate: 15_000,
} as const;
