/** Why nothing can be written, as data for the page and as the error that a refused write rejects with. */
import type { StorageProblem } from '../protocol/worker.ts';

export class StorageProblemError extends Error {
  override readonly name = 'StorageProblemError';
  readonly problem: StorageProblem;
  constructor(problem: StorageProblem, options?: ErrorOptions) {
    super(problem.detail, options);
    this.problem = problem;
  }
}

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** The problem behind an error of IndexedDB or Fireproof. */
export function storageProblemOf(error: unknown): StorageProblem {
  if (error instanceof StorageProblemError) return error.problem;
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  if (name === 'QuotaExceededError' || textOf(error).includes('QuotaExceeded'))
    return {
      kind: 'quota',
      detail: 'The browser has no more room for this page. Free some disk space, or remove data of other sites; writing goes on by itself.',
    };
  return { kind: 'broken', detail: `The browser’s storage failed: ${textOf(error)}. Reload the page; nothing that was stored is lost.` };
}
