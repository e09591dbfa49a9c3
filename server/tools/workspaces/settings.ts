/** Sizes and counts of workspaces. */
export const WORKSPACE_LIMITS = {
  /** Files and folders in it. */
  entries: 100_000,
  /** Folders in each other, as Roost makes them. */
  depth: 32,
  /** Folders in each other that are looked into: a program besides Roost may have made more. */
  walkedDepth: 200,
  /** Characters of a path, and bytes of one name in it. */
  path: 1_000,
  name: 255,
  /**
   * Bytes of a file that a tool reads or writes as text; larger ones are for whoever downloads
   * them.
   */
  textBytes: 10_000_000,
  /**
   * Bytes of the files of one zip: its format has 32 bits for places, and what describes the files
   * needs some of them.
   */
  zipBytes: 4_200_000_000,
  /** Files and folders of one zip, and how many are named that are not in it. */
  zipEntries: 500_000,
  zipNamed: 10_000,
  /** Files that are taken from pages at once. */
  uploadsAtOnce: 4,
  /**
   * ms after which the room that is used is counted anew: programs besides Roost may write in a
   * folder.
   */
  countedForMs: 30_000,
  /** Of what lies at a path: see `LiesLimits`. */
  lies: { hashedBytes: 20_000_000, contentBytes: 200_000, entries: 100_000, deepest: 200 },
} as const;
type Limits = typeof WORKSPACE_LIMITS;
export type WorkspaceLimits = {
  readonly [Name in keyof Limits]: Limits[Name] extends number ? number : Limits[Name];
};

/** What a call of a tool gives back at most. */
export const FILE_TOOL_LIMITS = {
  /** Characters; where the rest lies is said. */
  characters: 30_000,
  /** Entries of a list, and those behind them that are counted. */
  listed: 500,
  counted: 100_000,
  /** Lines that are found. */
  found: 200,
  /** Characters of one line that was found. */
  line: 300,
  /** Bytes that one search looks through, and of one file. */
  searchedBytes: 200_000_000,
  searchedFileBytes: 5_000_000,
  /** Files and folders that were passed over and are named; the others are counted. */
  passedNamed: 5,
} as const;
