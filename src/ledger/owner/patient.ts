/** Waiting for databases of a browser that does not say why it opens none. */
import type { After } from '../../domain/platform/timers.ts';
import type { StorageProblem } from '../../protocol/worker.ts';
import { LEDGER } from '../settings.ts';
import { sentence } from '../../domain/sentence.ts';

const HANGS = sentence`The browser does not open its storage. Close other tabs of Roost; if that does not help, close the browser and start it again. This page goes on by itself as soon as it can.`;

interface PatientDeps {
  readonly after: After;
  readonly onProblem: (problem: StorageProblem | null) => void;
}

/** What `opening` gives. Some browsers, at some times, neither open a database nor say that they cannot: that is told after a moment. */
export async function patient<Result>({ after, onProblem }: PatientDeps, opening: Promise<Result>): Promise<Result> {
  let announced = false;
  const cancel = after(LEDGER.openGrace, () => {
    announced = true;
    onProblem({ kind: 'blocked', detail: HANGS });
  });
  try {
    return await opening;
  } finally {
    cancel();
    if (announced) onProblem(null);
  }
}
