import type { RelayResult } from '../../shared/relay-client/index.ts';
import { errorText, problemText } from './ports.ts';

/** The outcome of an action. */
export type Done = { readonly ok: true } | { readonly ok: false; readonly reason: string };
export const DONE: Done = { ok: true };

/** The outcome of a call to the relay. */
export const doneOf = (result: RelayResult<unknown>): Done =>
  result.ok ? DONE : { ok: false, reason: problemText(result.problem) };

/** A call to the data worker; the outcome carries its error for people. */
export async function attempt(work: Promise<unknown>): Promise<Done> {
  try {
    await work;
    return DONE;
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}
