/** What an agent did while no session ran, in one quiet line. */
import type { RunCause, RunOutcome } from '../../protocol/runs.ts';

/** `nameOf`: of an agent, by its id. */
export function causeText(cause: RunCause | null, nameOf: (agentId: string) => string): string {
  switch (cause?.kind) {
    case undefined:
      return 'at work by itself';
    case 'session':
      return 'in a session';
    case 'wake': {
      const by = cause.by === 'human' ? 'you' : nameOf(cause.by);
      return `woken by ${by}`;
    }
    case 'pulse':
      return `routine “${cause.routine}”`;
    case 'reminder':
      return `reminder “${cause.name}”`;
    case 'script':
      return `script “${cause.name}” failed (${cause.status})`;
    default:
      return cause satisfies never;
  }
}

export function outcomeText(outcome: RunOutcome): string {
  switch (outcome) {
    case 'done':
      return 'done';
    case 'failed':
      return 'failed';
    case 'stopped':
      return 'stopped';
    case 'timed-out':
      return 'took too long';
    case 'crashed':
      return 'cut off: the relay crashed';
    default:
      return outcome satisfies never;
  }
}
