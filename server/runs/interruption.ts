import type { MessageStatus } from '../../src/protocol/documents.ts';
import type { AnswerOutcome } from './answer.ts';

/** Who ended an answer before it ended itself. */
export type Interruption =
  | { readonly by: 'person' }
  | { readonly by: 'closing'; readonly status: MessageStatus }
  /** It took too long, or is no longer wanted. */
  | { readonly by: 'relay'; readonly error: string };

/** How an answer ended, for those who read it. */
export function statusOf(
  outcome: Pick<AnswerOutcome, 'status' | 'error'>,
  interruption: Interruption | null,
): { status: MessageStatus; error: string | null } {
  switch (interruption?.by) {
    case undefined:
      return { status: outcome.status, error: outcome.error };
    case 'person':
      return { status: 'stopped', error: null };
    case 'closing':
      return { status: interruption.status, error: null };
    case 'relay':
      return { status: 'interrupted', error: interruption.error };
    default:
      return interruption satisfies never;
  }
}
