/**
 * Start and end of sessions and runs, as far as the ledger knows. A run is outside any session and
 * has a cause.
 */
import type { RunId } from '../../shared/domain/ids.ts';
import type { EndReason, RunDoc, SessionDoc } from '../../shared/protocol/documents.ts';
import type { RunCause, RunOutcome } from '../../shared/protocol/runs.ts';

export interface SessionSpan {
  readonly startedAt: number | null;
  readonly end: { readonly endedAt: number; readonly reason: EndReason } | null;
}

export interface RunSpan {
  readonly runId: RunId;
  /** null if its beginning is not known. */
  readonly cause: RunCause | null;
  readonly startedAt: number | null;
  /** null while it runs, or if its end is not known. */
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

export function sessionSpansOf(sessions: Iterable<SessionDoc>): ReadonlyMap<string, SessionSpan> {
  const spans = new Map<string, SessionSpan>();
  for (const { sessionId, phase } of sessions) {
    const held = spans.get(sessionId) ?? { startedAt: null, end: null };
    if (phase.kind === 'start') spans.set(sessionId, { ...held, startedAt: phase.startedAt });
    else spans.set(sessionId, { ...held, end: { endedAt: phase.endedAt, reason: phase.reason } });
  }
  return spans;
}
