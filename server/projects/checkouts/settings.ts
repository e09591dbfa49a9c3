/** Limits of repositories and checkouts. Times in ms. */
export const CHECKOUT_LIMITS = {
  /** Filling a checkout, or reading what is in it. */
  sandboxMs: 300_000,
  /** Preparing a checkout, and one check. */
  commandMs: 900_000,
  /** Bytes of one bundle, which carries commits between a checkout and the relay. */
  bundleBytes: 2_000_000_000,
  /** The oldest git that can merge without a working tree (git-merge-tree(1), `--write-tree`). */
  leastGit: [2, 38] as const,
  /** Age in ms from which on a lock of git was left by one that was killed. */
  staleLockMs: 60_000,
  /** ms to find out whether a repository can be used. */
  examineMs: 30_000,
  /**
   * Packs of a repository after which they are merged, and what no reference leads to is deleted.
   */
  packs: 40,
  /** Bytes of one repository of the relay. */
  repositoryBytes: 5_000_000_000,
  /** Tags of the base’s history that a checkout gets: the newest. */
  tags: 2_000,
  /** Files in one commit. A few hundred bytes can name more than any memory holds. */
  treeEntries: 1_000_000,
  /** ms for each step of a diff. */
  diffMs: 30_000,
  /** Changed files up to which git looks for renames. */
  renames: 1_000,
  /** Bytes of all files of one page of a diff that are compared together. */
  listedBytes: 60_000_000,
  /** Bytes of all patches of one page of a diff that are read. */
  diffBytes: 4_000_000,
  /** Bytes of a file up to which it is compared on its own, and of one part of its patch. */
  comparedBytes: 20_000_000,
  patchBytes: 500_000,
  /** Bytes of one copied file. */
  copiedBytes: 1_000_000,
  /** Bytes from which on the content of a copied file is refused in commits under any name. */
  secretBytes: 8,
  /** Bytes of one file that the relay commits for an agent that runs no git. */
  committedBytes: 50_000_000,
  /** A folder project: its files and folders, the bytes of one file, and of all together. */
  folderEntries: 10_000,
  folderFileBytes: 50_000_000,
  folderBytes: 1_000_000_000,
  /** Files of a folder project that are written into a checkout at once, up to this length each. */
  writtenAtOnce: 16,
  writtenTogetherBytes: 1_000_000,
  /** Skills of a repository that are listed, and how much of each is read. */
  skills: 50,
  skillBytes: 64_000,
  /** Characters of a branch’s readable end. */
  slug: 40,
  /** The first of the ports that checkouts are told, and how many each has. */
  firstPort: 20_000,
  portsEach: 10,
  portRanges: 2_000,
  /** Files that a sentence for people names. */
  namedFiles: 10,
  /** Characters of git’s own words in a sentence for people. */
  saidChars: 400,
} as const;
