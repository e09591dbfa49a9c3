/** All limits of scheduled work. */
import { CATCH_UP_LIMITS, type CatchUpLimits } from '../../src/shared/domain/schedule/timing.ts';

/** Limits of scripts. */
export const SCRIPT_LIMITS = {
  /** Bytes of a script. The person is shown all of it. */
  bytes: 100_000,
  /** Bytes of the end of the output that are stored. */
  output: 4_000,
  /** ms between SIGTERM and SIGKILL. */
  termMs: 1_000,
  /**
   * Declined texts remembered per script, the newest first. The person is not asked about them
   * again.
   */
  declined: 200,
} as const;

export interface ScheduleLimits {
  /** ms after which a claim that was not renewed expires. */
  readonly leaseMs: number;
  /** ms between two renewals. */
  readonly renewMs: number;
  /**
   * ms for which the database must have been reachable before an expired claim counts as dead. The
   * other processes need this time to renew theirs.
   */
  readonly steadyMs: number;
  /** Longest time between two ticks of the clock, in ms. Each tick is recorded. */
  readonly checkMs: number;
  /**
   * ms without a tick after which the clock counts as stopped. This allows for one missed tick, and
   * reports a stop within two minutes.
   */
  readonly stillMs: number;
  /** ms between two checks that the clock runs. */
  readonly watchMs: number;
  /** Most runs and scripts of one household at once. */
  readonly atOnce: number;
  /** How many of them may be caught up at once. */
  readonly lateAtOnce: number;
  /** Attempts to judge due rows that are locked by another process, and ms between two. */
  readonly judgeTries: number;
  readonly judgeAgainMs: number;
  /**
   * ms until a waiting occurrence is tried again: when nobody knows how long it must wait, when the
   * model's provider refuses all requests for a while, and at most. There is a maximum because the
   * person may remove the obstacle earlier.
   */
  readonly waitAgainMs: number;
  readonly refusedAgainMs: number;
  readonly waitMostMs: number;
  /** Attempts to write an outcome while the store is unreachable, and ms between two. */
  readonly endTries: number;
  readonly endAgainMs: number;
  /** Schedules per transaction. */
  readonly batch: number;
  /** Occurrences per schedule that get a row each after an absence. Earlier ones share one row. */
  readonly rowsAfterAbsence: number;
  /** ms that ended occurrences are stored. */
  readonly keptMs: number;
  /** Consecutive failures that pause a schedule. */
  readonly failuresPause: number;
  /**
   * Runs in `leftMs` that are begun for the same ready tasks, where the agent takes none of them.
   * More are begun once one of the tasks changes.
   */
  readonly leftMost: number;
  readonly leftMs: number;
  /** Outcomes per schedule that are read to count consecutive skips or failures. */
  readonly endsInARow: number;
  readonly perAgent: number;
  readonly perHousehold: number;
  /** Characters of an agent's last words that are stored. */
  readonly saidChars: number;
  /**
   * Longest time of a run started by a wake, in ms, if the agent has no
   * `pulse_container_timeout_ms` of its own.
   */
  readonly wakeRunMs: number;
  /** ms that a start of a task waits for an agent that is at work outside a session. */
  readonly startWaitMs: number;
  /**
   * For a continued run: most calls, characters of the input and of the outcome of each, and
   * characters in all.
   */
  readonly goOnCalls: number;
  readonly goOnCallChars: number;
  readonly goOnChars: number;
  readonly catchUp: CatchUpLimits;
}

export const SCHEDULE_LIMITS: ScheduleLimits = {
  leaseMs: 60_000,
  renewMs: 20_000,
  steadyMs: 40_000,
  checkMs: 60_000,
  stillMs: 90_000,
  watchMs: 15_000,
  atOnce: 4,
  lateAtOnce: 2,
  judgeTries: 3,
  judgeAgainMs: 20,
  waitAgainMs: 5_000,
  refusedAgainMs: 15 * 60_000,
  waitMostMs: 5 * 60_000,
  endTries: 600,
  endAgainMs: 1_000,
  batch: 200,
  rowsAfterAbsence: 500,
  keptMs: 90 * 86_400_000,
  failuresPause: 5,
  leftMost: 5,
  leftMs: 86_400_000,
  endsInARow: 100,
  perAgent: 50,
  perHousehold: 10_000,
  saidChars: 600,
  wakeRunMs: 600_000,
  startWaitMs: 5_000,
  goOnCalls: 200,
  goOnCallChars: 1_500,
  goOnChars: 20_000,
  catchUp: CATCH_UP_LIMITS,
};
