/** Which agents may take a task from a review column, as its history says. Pure. */
import { type Column, kindOfColumn } from './projects.ts';
import { PERSON } from './threads.ts';

interface Board {
  readonly columns: readonly Column[];
}

/** An entry of a task's history, as far as claims and moves read it. */
interface Entry {
  readonly time: number;
  readonly by: string;
  readonly what: string;
  /** Where the task was moved to. Null: it was not moved. */
  readonly columnId: string | null;
}

/** The claims in a history. `isReview`: the task was taken from a review column. */
function claimsIn(project: Board, history: readonly Entry[]) {
  let from: string | null = null;
  return history.flatMap((entry) => {
    const isReview = from !== null && kindOfColumn(project, from) === 'review';
    if (entry.what === 'claimed') return [{ ...entry, isReview }];
    from = entry.columnId ?? from;
    return [];
  });
}

/**
 * Who has worked on the task or reviewed it in this round. Nobody of these takes it from review: no
 * agent reviews its own work, or reviews the same work twice. A round begins with a claim from
 * another column, and with each move of the person.
 */
export function takersOf(project: Board, history: readonly Entry[]): ReadonlySet<string> {
  const begun = history.findLastIndex(({ by, columnId }) => by === PERSON && columnId !== null);
  const claims = claimsIn(project, history.slice(Math.max(0, begun)));
  const first = Math.max(
    0,
    claims.findLastIndex(({ isReview }) => !isReview),
  );
  return new Set(claims.slice(first).map(({ by }) => by));
}

/** How often agents have taken the task from review since then, and whether the last claim did. */
export function reviewsSince(
  project: Board,
  history: readonly Entry[],
  since: number,
): { readonly count: number; readonly isLast: boolean } {
  const claims = claimsIn(project, history);
  return {
    count: claims.filter(({ isReview, time }) => isReview && time > since).length,
    isLast: claims.at(-1)?.isReview ?? false,
  };
}
