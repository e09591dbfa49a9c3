/**
 * Every name, limit and pause of synchronisation on a device; ms where a name says nothing else.
 */
export const SYNC_OWNER = {
  /** Our IndexedDB database: keys, sealed entries, what is known of the other devices. */
  database: 'roost-sync',
  /** Documents, and characters of them as JSON, that go into one entry when many wait. */
  entryDocuments: 100,
  entryChars: 128 * 1024,
  /**
   * Rows of the outbox that are looked at in one go, and documents of them that are sealed in one,
   * or a few more.
   */
  outboxRows: 500,
  outboxDocuments: 500,
  /**
   * What waits to be sealed goes when no more came for `sealQuiet` ms, and after `sealMost` ms at
   * the latest: appends that people wait for come first.
   */
  sealQuiet: 15,
  sealMost: 150,
  /** Entries of attachments that are sealed in one go. */
  sealPieces: 8,
  /**
   * What the relay tells every device is sealed by one of them: each waits this long, and as long
   * again at random, whether another did.
   */
  relayedWait: 400,
  relayedJitter: 1_600,
  /** Ids of documents that came from elsewhere, remembered for that. */
  heardIds: 20_000,
  /** Documents sealed in one go when a household begins to share. */
  firstSeal: 500,
  /**
   * Places where somebody else has something else are gathered this long before new writers are
   * taken.
   */
  forks: 200,
  /** Entries read in one go to be handed on. */
  readStride: 64,
  /** The last conversations are told to the other devices this long after a session ended. */
  tipsAfter: 300,
  /** What waits because it is dated ahead is looked at again this often. */
  aheadAgain: 10 * 60_000,
  /** Pause before sealing that failed (a full disk) is tried again. */
  sealRetry: 5_000,
  /** Entries that are here within a moment: no call goes ahead of them. */
  soonHere: 500,
  /** A relay that has said nothing of its entries this long after it let us in has none. */
  relayHasNone: 3_000,
  /** Of a device's secret. */
  seedBytes: 32,
  /** Characters of a device’s name. */
  nameChars: 200,
  /** A record that says it was written further ahead of this clock counts for none. */
  clockAhead: 24 * 60 * 60_000,
  /** Changes of the status are told at most this often. */
  statusEvery: 100,
  /** From asking for the socket to its welcome. */
  connect: 10_000,
  /** A rotation of the keys must be confirmed by the relay within this. */
  rotate: 15_000,
} as const;
