/** Limits of workspaces. */
export const WORKSPACE_LIMITS = {
  /** Files and folders in it. */
  entries: 100_000,
  /** Deepest nesting that Roost creates. */
  depth: 32,
  /** Deepest nesting that is read, since another program may have created more. */
  walkedDepth: 200,
  /** Characters of a path, and bytes of one name in it. */
  path: 1_000,
  name: 255,
  /** Bytes of a file that a tool reads or writes as text. Larger ones can only be downloaded. */
  textBytes: 10_000_000,
  /**
   * Bytes of the files of one zip. Its format has 32 bits for offsets, and some of them are needed
   * for metadata.
   */
  zipBytes: 4_200_000_000,
  /** Files and folders of one zip, and how many omitted ones are named. */
  zipEntries: 500_000,
  zipNamed: 10_000,
  /** Concurrent uploads. */
  uploadsAtOnce: 4,
  /** ms after which the used room is counted again, since other programs may write in a folder. */
  countedForMs: 30_000,
  /** See `LiesLimits`. */
  lies: { hashedBytes: 20_000_000, contentBytes: 200_000, entries: 100_000, deepest: 200 },
} as const;
type Limits = typeof WORKSPACE_LIMITS;
export type WorkspaceLimits = {
  readonly [Name in keyof Limits]: Limits[Name] extends number ? number : Limits[Name];
};

/** Limits of a tool's result. */
export const FILE_TOOL_LIMITS = {
  /** Characters. The result says where the rest is. */
  characters: 30_000,
  /** Entries of a list, and further ones that are counted. */
  listed: 500,
  counted: 100_000,
  /** Matching lines. */
  found: 200,
  /** Characters of one matching line. */
  line: 300,
  /** Bytes that one search reads, in total and of one file. */
  searchedBytes: 200_000_000,
  searchedFileBytes: 5_000_000,
  /** Skipped files and folders that are named. The others are counted. */
  passedNamed: 5,
} as const;
