import { KEPT_DAYS } from '../../../src/shared/protocol/endpoints/history.ts';

/** Limits of the history of agents' files. */
export const HISTORY_LIMITS = {
  /** The oldest git that can record: SHA-256 objects, and packs that are merged by size. */
  leastGit: [2, 34] as const,
  /** Bytes of a file. Larger ones are listed as not recorded. */
  fileBytes: 50_000_000,
  /** Longer contents are streamed and not compared with others, so that memory stays small. */
  bigFileBytes: 1_000_000,
  /** Files, folders and links of one folder. */
  entries: 100_000,
  /** Deepest nesting of folders. */
  depth: 200,
  /** ms that a run waits for its recording. After that it goes on without one. */
  recordMs: 60_000,
  /** ms that one restore may take. */
  restoreMs: 10 * 60_000,
  /** ms that a restore waits for the end of the agent's turn. */
  busyMs: 1_500,
  /** ms that any other call of git may take. */
  gitMs: 120_000,
  /** Bytes of one answer of git. */
  answerBytes: 200_000_000,
  /** Days that points are stored. */
  keptDays: KEPT_DAYS,
  /** Share of the agent's room that its history may take. Oldest points are dropped first. */
  share: 0.5,
  /** Points after which their packs are merged. */
  mergeAfter: 40,
  /** ms between two looks for what is too old. */
  tidyMs: 6 * 60 * 60_000,
  /** Recordings of different agents at once. */
  atOnce: 4,
  /** Files that are read at once, up to this many bytes each. Longer ones are read one by one. */
  readAtOnce: 16,
  readTogetherBytes: 1_000_000,
  /**
   * ms before a recording within which a file's times are not trusted: it may change again with the
   * same times.
   */
  racyMs: 2_000,
  /** Entries that are named as not recorded. */
  notRecorded: 10_000,
  /** Work without a recording that is listed. */
  gaps: 20,
} as const;
type Limits = typeof HISTORY_LIMITS;
export type HistoryLimits = {
  readonly [Name in keyof Limits]: Limits[Name] extends number ? number : Limits[Name];
};
