/** Why nothing can be written: as data for the page, and as the error of a refused write. */
import type { StorageProblem } from '../../shared/protocol/worker.ts';
import { errorMessage } from '../../shared/domain/platform/error-message.ts';
import { sentence } from '../../shared/domain/names.ts';

// The current problems by source. The page is notified of the gravest.

interface Problems<Source extends string> {
  set(source: Source, problem: StorageProblem | null): void;
  now(): StorageProblem | null;
}

/** `sources`: gravest first. `tell` is called on every change of the gravest problem. */
export function createProblems<Source extends string>(
  sources: readonly Source[],
  tell: (problem: StorageProblem | null) => void,
): Problems<Source> {
  const problems = new Map<Source, StorageProblem>();
  const now = () => sources.map((source) => problems.get(source)).find((problem) => problem !== undefined) ?? null;
  return {
    now,
    set(source, problem) {
      const before = now();
      if (problem) problems.set(source, problem);
      else problems.delete(source);
      const after = now();
      if (after?.kind !== before?.kind || after?.detail !== before?.detail) tell(after);
    },
  };
}

export class StorageProblemError extends Error {
  override readonly name = 'StorageProblemError';
  readonly problem: StorageProblem;
  constructor(problem: StorageProblem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}

/**
 * Does the error mean that the browser's database cannot return what it stored? The texts are those
 * of Chromium (156) and Firefox: "Internal error …", "Data lost due to missing file", "Failed to
 * read large IndexedDB value". A closed database is not one of these.
 */
export function isUnreadable(error: unknown): boolean {
  if (error instanceof StorageProblemError) return error.problem.kind === 'unreadable';
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  const text = errorMessage(error);
  if (/connection|closed|closing|terminated/i.test(text)) return false;
  return (
    name === 'NotReadableError' ||
    name === 'UnknownError' ||
    /Internal error|Data lost due to|Failed to read large IndexedDB value|backing store/.test(text)
  );
}

/** The problem behind an error of IndexedDB or Fireproof. */
export function storageProblemOf(error: unknown): StorageProblem {
  if (error instanceof StorageProblemError) return error.problem;
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name === 'QuotaExceededError' || errorMessage(error).includes('QuotaExceeded'))
    return {
      kind: 'quota',
      detail: sentence`The browser has no space left for this page. Free some disk space, or remove data of other sites. Roost then continues to save.`,
    };
  if (isUnreadable(error))
    return {
      kind: 'unreadable',
      detail: sentence`${errorMessage(error)} Roost looks for it in the second copy. If this page does not continue, reload it.`,
    };
  return { kind: 'broken', detail: sentence`The browser’s storage failed: ${errorMessage(error)}. Reload the page.` };
}
