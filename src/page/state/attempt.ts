import type { RelayResult } from '../../shared/relay-client/index.ts';
import { errorText, problemText } from './ports.ts';

/** How something that was asked for went. */
export type Done = { readonly ok: true } | { readonly ok: false; readonly reason: string };
export const DONE: Done = { ok: true };

/** How a call of the relay went. */
export const doneOf = (result: RelayResult<unknown>): Done =>
  result.ok ? DONE : { ok: false, reason: problemText(result.problem) };

/** A call of the owner, whose failure the person is told of. */
export async function attempt(work: Promise<unknown>): Promise<Done> {
  try {
    await work;
    return DONE;
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}
