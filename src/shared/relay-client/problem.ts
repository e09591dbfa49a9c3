/** What can go wrong between this page and the relay, as data with a sentence of what to do. */
import { parseJson } from '../domain/platform/json.ts';
import { problemSchema, type Problem } from '../protocol/http.ts';
import { sentence } from '../domain/sentence.ts';

export type RelayProblem =
  /** No answer at all: the relay does not run, or the machine slept. */
  | { readonly kind: 'unreachable'; readonly message: string }
  | { readonly kind: 'timeout'; readonly message: string }
  /** 401: this browser has no session cookie, or has lost the page key. */
  | { readonly kind: 'locked-out'; readonly message: string }
  /** The relay said no, and why. */
  | { readonly kind: 'refused'; readonly status: number; readonly problem: Problem; readonly message: string }
  /** Something answered that is not this relay, or another version of it. */
  | { readonly kind: 'unreadable'; readonly status: number; readonly message: string };

export type RelayResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: RelayProblem };

export const SENTENCES = {
  unreachable: sentence`The relay cannot be reached. Start it again with "npm start", then try once more.`,
  timeout: sentence`The relay did not answer in time. Try again; if it stays silent, start it again with "npm start".`,
  lockedOut: sentence`This browser is not let in, or has lost its key. Press Enter in the terminal where Roost runs, and open the link that it prints.`,
  unreadable: sentence`The relay gave an answer that this page cannot read. Reload the page; if that does not help, start the relay again.`,
} as const;

/** The problem behind an answer that is not 2xx. */
export function problemOf({ status, text }: { readonly status: number; readonly text: string }): RelayProblem {
  if (status === 401) return { kind: 'locked-out', message: SENTENCES.lockedOut };
  const problem = problemSchema.safeParse(parseJson(text));
  if (!problem.success) return { kind: 'unreadable', status, message: SENTENCES.unreadable };
  return { kind: 'refused', status, problem: problem.data, message: problem.data.detail };
}
