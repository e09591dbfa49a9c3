/** What is wrong, by where it comes from; the page hears of the gravest. */
import type { StorageProblem } from '../../protocol/worker.ts';

/** Gravest first: without an owner nothing works, with a crash nobody knows, and so on. */
const SOURCES = ['owner', 'crash', 'ledger', 'relay'] as const;
export type ProblemSource = (typeof SOURCES)[number];

export interface Problems {
  set(source: ProblemSource, problem: StorageProblem | null): void;
  now(): StorageProblem | null;
}

export function createProblems(tell: (problem: StorageProblem | null) => void): Problems {
  const held = new Map<ProblemSource, StorageProblem>();
  const now = () => SOURCES.map((source) => held.get(source)).find((problem) => problem !== undefined) ?? null;
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
