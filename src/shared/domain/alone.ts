/** The run that something was said in, where that was in no session. */
import type { RunId, SessionId } from './ids.ts';

export const aloneIn = ({
  sessionId,
  runId,
}: {
  readonly sessionId: SessionId | null;
  readonly runId?: RunId | undefined;
}): string | null => (sessionId === null ? (runId ?? null) : null);
/** The same as a field, which is left out where it was in a session. */
export function whereAlone(said: Parameters<typeof aloneIn>[0]): { readonly aloneIn?: string } {
  const runId = aloneIn(said);
  return runId === null ? {} : { aloneIn: runId };
}
