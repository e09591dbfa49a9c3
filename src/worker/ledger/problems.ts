/** What is wrong, by where it comes from; the page hears of the gravest. */
import type { StorageProblem } from '../../shared/protocol/worker.ts';

export interface Problems<Source extends string> {
  set(source: Source, problem: StorageProblem | null): void;
  now(): StorageProblem | null;
}

/** `sources`: gravest first. `tell` hears of every change of the gravest problem. */
export function createProblems<Source extends string>(
  sources: readonly Source[],
  tell: (problem: StorageProblem | null) => void,
): Problems<Source> {
  const held = new Map<Source, StorageProblem>();
  const now = () => sources.map((source) => held.get(source)).find((problem) => problem !== undefined) ?? null;
  return {
    now,
    set(source, problem) {
      const before = now();
      if (problem) held.set(source, problem);
      else held.delete(source);
      const after = now();
      if (after?.kind !== before?.kind || after?.detail !== before?.detail) tell(after);
    },
  };
}
