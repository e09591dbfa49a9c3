/** Every name, limit and pause of the ledger. */
export const LEDGER = {
  /** The Web Lock whose holder is the ledger's one worker. */
  lock: 'roost-ledger',
  /**
   * Our IndexedDB databases: the journal with the worker's notes, and the views. Each rebuild of
   * the views has its own.
   */
  journalDatabase: 'roost-journal',
  viewsDatabase: 'roost-views-',
  /**
   * Name of the storage buckets that the worker moves into where IndexedDB is beyond repair: this
   * and a rising number. Lower-case letters, digits, `-`, `_`.
   */
  bucket: 'roost-',
  /** Created and deleted again, to test whether that works. */
  probeDatabase: 'roost-probe',
  /** ms. If opening a database takes longer, the page is notified. The worker goes on waiting. */
  openGrace: 5_000,

  /** About so many documents of waiting calls go into one outbox row. */
  outboxDocuments: 100,
  /**
   * Documents go from the journal into the views when no more have arrived for `viewsQuiet` ms, and
   * after `viewsMost` ms at the latest …
   */
  viewsQuiet: 10,
  viewsMost: 1_000,
  /** … or when this many wait. While twice as many wait, the ledger accepts no more. */
  viewsWait: 10_000,
  /** Documents that go into the views in one transaction. */
  viewsBatch: 2_000,
  /** Fireproof's databases: one for each volume, under this path, and one for its keys. */
  volumePath: 'roost-volumes',
  keyBag: 'roost-keys',
  /** Name of the key in Fireproof's key bag that encrypts every volume. */
  keyName: '@roost@',

  /** A commit into a volume is due when this many documents wait … */
  groupDocuments: 20,
  /**
   * … takes at most this many while catching up, because a commit of five times as many costs
   * little more …
   */
  groupMost: 100,
  /** … and at most this many characters, and waits for more documents at most this long, in ms. */
  groupChars: 512 * 1024,
  groupMs: 250,
  /** A longer text is stored in parts. Characters. */
  partChars: 128 * 1024,
  /** A volume with this many documents is compacted, checked and sealed. */
  volumeDocuments: 2_000,
  /**
   * A volume of more CARs than this is compacted between two commits, because each commit lists all
   * CARs before it.
   */
  compactAboveCars: 100,
  /**
   * Commits into volumes give way to writes, because a Fireproof commit takes most of the worker's
   * time. None begins within this many ms of the last write …
   */
  volumesQuiet: 250,
  /** … for at most this many ms, or until this many documents wait. */
  volumesWaitMost: 5_000,
  volumesWaitDocuments: 1_000,
  /**
   * While a lost team is being restored, no commit begins within this many ms of the last write,
   * however long that takes.
   */
  volumesRestored: 2_000,
  /** Journal rows that are read at once on their way into a volume. */
  journalStride: 20,
  /** Documents per transaction of a rebuild. */
  rebuildBatch: 500,
  /** After this many failures in a row the worker checks whether the volume can be read at all. */
  volumeTries: 3,
  /** The most fault descriptions that are stored for a volume. */
  faultsKept: 20,
  /** ms between two checks whether something is due to be forgotten. */
  forgetEvery: 60 * 60 * 1000,
  /**
   * `wakingFirst`: messages of a waking that are searched for distinctive words. `wakingWords`:
   * characters of those words.
   */
  wakingFirst: 6,
  wakingWords: 160,
  /**
   * Sessions that are read together for an agent's wake context, at first and at most. A few
   * conversations fill the space.
   */
  wakeSessions: { first: 4, most: 64 },
  /**
   * Consecutive greetings that are counted exactly. Of more, the context only says that there are
   * more.
   */
  wakeGreetings: 64,
  /** Messages that are read together, at first and at most. One message may have a megabyte. */
  wakeMessages: { first: 8, most: 64 },
  /** Messages that are read together to find the unread ones of a conversation. */
  unreadStride: 64,
  /** Newest messages of a session of greetings that are searched for its words. */
  greetingSearch: 4,
  /** ms before a commit that failed is tried again. */
  commitRetry: 5_000,
  /** ms to wait for another worker to end before the page is notified. */
  lockGrace: 2_000,
} as const;

/** The IndexedDB database in which Fireproof stores a volume. */
export const volumeDatabase = (name: string) => `${LEDGER.volumePath}.${name}`;

/** The tabs' side of the connection to the worker. ms. */
export const WORKER_CONNECTION = {
  /** Without a welcome for this long, the page is notified that no worker has the ledger. */
  silence: 10_000,
  /**
   * If calls are under way and nothing arrives for this long, the tab pings the worker. After as
   * long again it opens a new connection.
   */
  renew: 1_000,
  /** Pause before a broken connection is opened again. */
  reopen: 50,
  /** Pause between two checks whether a worker has the ledger by now. */
  workerPoll: 100,
  /** The BroadcastChannel between tabs and worker where there is no SharedWorker. */
  channel: 'roost-owner',
} as const;
