/** How a run ended, by its answer and by who ended that, in sentences for people. */
import type { MessageStatus } from '../../../src/shared/protocol/documents.ts';
import type { RunOutcome } from '../../../src/shared/protocol/runs.ts';
import { sentence } from '../../../src/shared/domain/sentence.ts';

export const RUN_BROKEN = sentence`Something in the relay broke. The relay’s log says more.`;
/** `12 s`, `3 min` */
export const timeText = (ms: number) =>
  ms >= 120_000 ? `${Math.round(ms / 60_000)} min` : `${Math.max(1, Math.round(ms / 1_000))} s`;

/** `patienceMs`: how long it was waited for. */
export const databaseAway = (patienceMs: number): string =>
  sentence`The relay could not reach its database for ${timeText(patienceMs)}. What was said until then is kept.`;
/** The connection broke where it must not be done twice. */
export const DATABASE_BROKE = sentence`The relay lost the connection to its database in the middle of this. What was said until then is kept.`;
export const ENDED_ELSEWHERE = sentence`Another relay of this home has ended it.`;

/** Who ended an answer before it ended itself. */
export type Interruption =
  | { readonly by: 'person' }
  | { readonly by: 'closing'; readonly status: MessageStatus }
  /** Its database cannot be reached, and was waited for in vain. */
  | { readonly by: 'database'; readonly error: string }
  /** It took too long, or is no longer wanted. */
  | { readonly by: 'relay'; readonly error: string };

/** How an answer ended by itself. */
interface Ending {
  readonly status: MessageStatus;
  /** A sentence for people, where it failed. */
  readonly error: string | null;
  /** It made as many requests to its mind as it may. */
  readonly outOfTurns?: true;
}

/** How an answer ended, for those who read it. */
export function statusOf(outcome: Ending, interruption: Interruption | null): Ending {
  switch (interruption?.by) {
    case undefined:
      return { status: outcome.status, error: outcome.error };
    case 'person':
      return { status: 'stopped', error: null };
    case 'closing':
      return { status: interruption.status, error: null };
    case 'database':
      // It may have been done by then.
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
      return ['stopped', sentence`The relay was ended.`];
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
