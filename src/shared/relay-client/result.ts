/** How a call of the relay ends. Free of schemas: a page is painted without their library. */
import type { Problem } from '../protocol/http.ts';

/** A problem between page and relay, as data. Its message says what to do. */
export type RelayProblem =
  /** No response: the relay does not run, or the machine slept. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'timeout'; readonly message: string }
  /** 401: this browser has no session cookie, or has lost the page key. */
  | { readonly kind: 'locked-out'; readonly message: string }
  /** The relay refused the call and gave a reason. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly problem: Problem;
      readonly message: string;
      /** See `newerOf`. */
      readonly newer?: unknown;
    }
  /** The response is not from this relay, or from another version of it. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly message: string };

export type RelayResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: RelayProblem };

/**
 * The record as it is now, where a change of it named an old version. It was read by the schema of
 * the answer to this very call, and so has the type of that.
 */
export function newerOf<Value>(result: RelayResult<Value>): Value | undefined {
  if (result.ok || result.problem.kind !== 'refused') return undefined;
  return result.problem.newer as Value | undefined;
}
