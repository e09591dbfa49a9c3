/** How a run ended, by its answer and by who ended that, in sentences for people. */
import type { RunOutcome } from '../../src/protocol/runs.ts';
import type { AnswerOutcome } from './answer.ts';
import type { Interruption } from './interruption.ts';
import { sentence } from '../../src/domain/sentence.ts';

export const RUN_BROKEN = sentence`Something in the relay broke. The relay’s log says more.`;
export const ENDED_ELSEWHERE = sentence`Another relay of this home has ended it.`;
export const ENDED_WITH_RELAY: Interruption = { by: 'closing', status: 'interrupted' };
export const tookTooLong = (ms: number): string =>
  sentence`It was not done within ${ms >= 1000 ? `${Math.round(ms / 1000)} s` : `${ms} ms`}.`;

export function endOfRun(
  { status, error }: Pick<AnswerOutcome, 'status' | 'error'>,
  interruption: Interruption | null,
): readonly [RunOutcome, string | null] {
  switch (interruption?.by) {
    case 'person':
      return ['stopped', null];
    case 'closing':
      return ['stopped', sentence`The relay was ended.`];
    case 'relay':
      return interruption.error === RUN_BROKEN ? ['failed', RUN_BROKEN] : ['timed-out', interruption.error];
    case undefined:
      return status === 'complete' ? ['done', null] : ['failed', error ?? sentence`Its answer was cut off.`];
    default:
      return interruption satisfies never;
  }
}
