/**
 * How a run ended, as a sentence for people. It depends on the answer and on who interrupted it.
 */
import type { MessageStatus } from '../../../src/shared/protocol/documents.ts';
import type { RunOutcome } from '../../../src/shared/protocol/runs.ts';
import { sentence } from '../../../src/shared/domain/names.ts';

export const RUN_BROKEN = sentence`The relay had an error. The relay’s log says more.`;
/** `12 s`, `3 min` */
export const timeText = (ms: number) =>
  ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.max(1, Math.round(ms / 1_000))} s`;

/** `patienceMs`: how long the relay waited for its database. */
export const databaseAway = (patienceMs: number): string =>
  sentence`The relay could not reach its database for ${timeText(patienceMs)}. What was said until then is stored.`;
/** The connection broke during work that must not be repeated. */
export const DATABASE_BROKE = sentence`The relay lost the connection to its database in the middle of this. What was said until then is stored.`;
export const ENDED_ELSEWHERE = sentence`Another relay of this home has ended it.`;

/** What interrupted an answer before it ended. */
export type Interruption =
  | { readonly by: 'person' }
  | { readonly by: 'closing'; readonly status: MessageStatus }
  /** The relay's database cannot be reached and did not come back in time. */
  | { readonly by: 'database'; readonly error: string }
  /** The answer took too long or is no longer needed. */
  | { readonly by: 'relay'; readonly error: string };

/** How an answer ended without an interruption. */
interface Ending {
  readonly status: MessageStatus;
  /** A sentence for people, if it failed. */
  readonly error: string | null;
  /** The answer reached its limit of requests to the mind. */
  readonly outOfTurns?: true;
}

/** The status of an answer, as people see it. */
export function statusOf(outcome: Ending, interruption: Interruption | null): Ending {
  switch (interruption?.by) {
    case undefined:
      return { status: outcome.status, error: outcome.error };
    case 'person':
      return { status: 'stopped', error: null };
    case 'closing':
      return { status: interruption.status, error: null };
    case 'database':
      // The answer may have been complete before the interruption.
      return outcome.status === 'complete'
        ? { status: outcome.status, error: null }
        : { status: 'interrupted', error: interruption.error };
    case 'relay':
      return { status: 'interrupted', error: interruption.error };
    default:
      return interruption satisfies never;
  }
}

export const ENDED_WITH_RELAY: Interruption = { by: 'closing', status: 'interrupted' };
export const tookTooLong = (ms: number): string =>
  sentence`It was not done within ${ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`}.`;

export function endOfRun(
  { status, error, outOfTurns }: Ending,
  interruption: Interruption | null,
): readonly [RunOutcome, string | null] {
  switch (interruption?.by) {
    case 'person':
      return ['stopped', null];
    case 'closing':
      return ['stopped', sentence`The relay stopped in the middle of it.`];
    case 'database':
      return status === 'complete' ? ['done', null] : ['failed', interruption.error];
    case 'relay':
      return interruption.error === RUN_BROKEN ? ['failed', RUN_BROKEN] : ['timed-out', interruption.error];
    case undefined:
      if (status === 'complete') return ['done', null];
      return [outOfTurns ? 'timed-out' : 'failed', error ?? sentence`Its answer was cut off.`];
    default:
      return interruption satisfies never;
  }
}
