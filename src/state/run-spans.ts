/** Runs in no session, as a conversation tells of them: what began them, and how they ended. */
import type { RunId } from '../domain/ids.ts';
import type { RunDoc } from '../protocol/documents.ts';
import type { RunCause, RunOutcome } from '../protocol/runs.ts';

export interface RunSpan {
  readonly runId: RunId;
  /** null where its beginning has not been heard of. */
  readonly cause: RunCause | null;
  readonly startedAt: number | null;
  /** null while it lasts, or its end has not been heard of. */
  readonly end: { readonly endedAt: number; readonly outcome: RunOutcome; readonly reason: string | null } | null;
}

export const unknownRun = (runId: RunId): RunSpan => ({ runId, cause: null, startedAt: null, end: null });

export function runSpansOf(docs: Iterable<RunDoc>): ReadonlyMap<string, RunSpan> {
  const spans = new Map<string, RunSpan>();
  for (const { runId, phase } of docs) {
    const held = spans.get(runId) ?? unknownRun(runId);
    if (phase.kind === 'start') spans.set(runId, { ...held, cause: phase.cause, startedAt: phase.startedAt });
    else
      spans.set(runId, {
        ...held,
        end: { endedAt: phase.endedAt, outcome: phase.outcome, reason: phase.reason },
      });
  }
  return spans;
}
