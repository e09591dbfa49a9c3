/** Every name, limit and pause of the ledger. */
export const LEDGER = {
  /** The Web Lock whose holder owns the ledger. */
  lock: 'roost-ledger',
  /**
   * Our IndexedDB databases: the journal with what the owner remembers, and the views, one for each
   * time they were written anew.
   */
  journalDatabase: 'roost-journal',
  viewsDatabase: 'roost-views-',
  /**
   * Storage buckets that the owner moves into where IndexedDB is beyond repair: this and a rising
   * number. Lower-case letters, digits, `-`, `_`.
   */
  bucket: 'roost-',
  /** Made and deleted again, to see whether that works. */
  probeDatabase: 'roost-probe',
  /**
   * Opening a database for longer than this, in ms, is told to the page; it is waited for all the
   * same.
   */
  openGrace: 5_000,

  /**
   * Documents of calls that waited together go out to other devices in rows of this many, or a few
   * more.
   */
  outboxDocuments: 100,
  /**
   * Documents go from the journal into the views when no more came for `viewsQuiet` ms, and after
   * `viewsMost` ms at the latest …
   */
  viewsQuiet: 10,
  viewsMost: 1_000,
  /** … or when this many wait. While twice as many wait, nothing more is accepted. */
  viewsWait: 10_000,
  /** Documents that go into the views in one transaction. */
  viewsBatch: 2_000,
  /** Fireproof's databases: one per volume, under this path, and one for its keys. */
  volumePath: 'roost-volumes',
  keyBag: 'roost-keys',
  /** The key in Fireproof's key bag that every volume is encrypted with. */
  keyName: '@roost@',

  /** A commit into a volume is due when this many documents wait … */
  groupDocuments: 20,
  /**
   * … takes at most this many, where more wait: catching up, a commit costs little more for five
   * times as much …
   */
  groupMost: 100,
  /** … and this many characters, and waits for company at most this long, in ms. */
  groupChars: 512 * 1024,
  groupMs: 250,
  /** A text longer than this is stored in parts, in characters. */
  partChars: 128 * 1024,
  /** A volume with this many documents is compacted, checked and sealed. */
  volumeDocuments: 2_000,
  /**
   * A volume in more CARs than this is compacted between two commits: each commit lists all CARs
   * before it.
   */
  compactAboveCars: 100,
  /**
   * Commits into volumes give way to writes: Fireproof takes most of the worker for a commit, so
   * none begins within this many ms of the last write …
   */
  volumesQuiet: 250,
  /** … for this many ms, or until this many documents wait. */
  volumesWaitMost: 5_000,
  volumesWaitDocuments: 1_000,
  /**
   * While a lost team is being brought back, no commit within this many ms of the last write,
   * however long that takes.
   */
  volumesRestored: 2_000,
  /** Journal rows that are read at once on their way into a volume. */
  journalStride: 20,
  /** Rebuilding the views: documents per transaction. */
  rebuildBatch: 500,
  /** Failures in a row after which a volume is looked at: can it be read at all? */
  volumeTries: 3,
  /** What was found wrong with a volume: at most this many sentences are kept. */
  faultsKept: 20,
  /** ms between two looks whether something is to be forgotten by now. */
  forgetEvery: 60 * 60 * 1000,
  /**
   * Messages of a waking that are looked at for words that tell it apart, and characters of those
   * words.
   */
  wakingFirst: 6,
  wakingWords: 160,
  /**
   * What an agent takes along: sessions that are looked at together, at first and at most: a few
   * conversations fill the room.
   */
  wakeSessions: { first: 4, most: 64 },
  /** Greetings on end that are counted one by one: of more it is said that there are more. */
  wakeGreetings: 64,
  /** Messages that are read together, at first and at most: one may be a megabyte. */
  wakeMessages: { first: 8, most: 64 },
  /** Messages that are looked at together for what is new in a conversation. */
  unreadStride: 64,
  /** Newest messages of a session of nothing but greetings that are looked at for its words. */
  greetingLook: 4,
  /** ms before a commit that failed is tried again. */
  commitRetry: 5_000,
  /** ms to wait for another owner to go before the page is told of it. */
  lockGrace: 2_000,
} as const;

/** The IndexedDB database that Fireproof keeps a volume in. */
export const volumeDatabase = (name: string) => `${LEDGER.volumePath}.${name}`;

/** The tabs' side of the connection to the owner; ms. */
export const OWNER_CONNECTION = {
  /** Without a welcome for this long, the page is told that nobody owns the ledger. */
  silence: 10_000,
  /**
   * While calls are under way and nothing was heard for this long, the owner is asked whether it is
   * there; after as long again a new line is opened.
   */
  renew: 1_000,
  /** Pause before a line that broke is opened again. */
  reopen: 50,
  /** Pause between two looks whether somebody owns the ledger by now. */
  lookForOwner: 100,
  /** The channel on which tabs and owner speak where there is no SharedWorker. */
  channel: 'roost-owner',
} as const;
