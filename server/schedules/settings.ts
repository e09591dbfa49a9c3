/** Every limit of what runs while nobody is there, in one place. */
import { CATCH_UP_LIMITS, type CatchUpLimits } from '../../src/shared/domain/schedule/timing.ts';

/** Of scripts. */
export const SCRIPT_LIMITS = {
  /** Bytes of one. The person is shown all of it. */
  bytes: 100_000,
  /** Bytes of the end of its output that are kept. */
  output: 4_000,
  /** ms between asking a script to end and ending it. */
  termMs: 1_000,
  /**
   * Texts of one script that the person declined, the newest: none of them is asked about again.
   */
  declined: 200,
} as const;

export interface ScheduleLimits {
  /** ms that a claim holds without a sign of life. */
  readonly leaseMs: number;
  /** ms between two signs of life. */
  readonly renewMs: number;
  /**
   * ms for which the database must have been there before a claim that was not renewed is taken for
   * dead: as long as others need to renew theirs.
   */
  readonly steadyMs: number;
  /** ms: the clock looks at least so often, and says so. */
  readonly checkMs: number;
  /**
   * ms without a look after which the clock stands still: one look is left out, and it is said
   * within two minutes.
   */
  readonly stillMs: number;
  /** ms between two looks whether it goes. */
  readonly watchMs: number;
  /** Most runs and scripts at once, of one household. */
  readonly atOnce: number;
  /** Most of them that are made up for, at once. */
  readonly lateAtOnce: number;
  /** Looks, and ms between two, for what is due and is being written by somebody at that moment. */
  readonly judgeTries: number;
  readonly judgeAgainMs: number;
  /**
   * ms until something due that waits for its agent is tried again: where nobody knows when that
   * will do, where the model's provider refuses everything for a while, and at most, because the
   * person may change what it waits for.
   */
  readonly waitAgainMs: number;
  readonly refusedAgainMs: number;
  readonly waitMostMs: number;
  /** Times, and ms between two, that an end is written where the store is away. */
  readonly endTries: number;
  readonly endAgainMs: number;
  /** Schedules that are looked at in one transaction. */
  readonly batch: number;
  /** Moments of one schedule that get a row each after an absence; those before them share one. */
  readonly rowsAfterAbsence: number;
  /** ms that what came to an end is kept. */
  readonly keptMs: number;
  /** So many failures in a row pause a schedule. */
  readonly failuresPause: number;
  /** Ends of one that are looked at to tell how often in a row it was skipped or failed. */
  readonly endsInARow: number;
  readonly perAgent: number;
  readonly perHousehold: number;
  /** Characters of an agent's last words that are kept. */
  readonly saidChars: number;
  /**
   * ms that a run may take that somebody’s wake began, where its agent has no
   * `pulse_container_timeout_ms` of its own.
   */
  readonly wakeRunMs: number;
  /**
   * Of a run that is gone on with: calls that are looked at, characters of each one’s input and
   * outcome, and of all together.
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
  endsInARow: 100,
  perAgent: 50,
  perHousehold: 10_000,
  saidChars: 600,
  wakeRunMs: 600_000,
  goOnCalls: 200,
  goOnCallChars: 1_500,
  goOnChars: 20_000,
  catchUp: CATCH_UP_LIMITS,
};
