/** Which agents' last conversations are still on their way here. */
import { runAgain } from '../../domain/platform/single-flight.ts';
import type { LedgerPort } from './ports.ts';
import type { Head } from './records.ts';

export interface Arrivals {
  arriving(): readonly string[];
  /** Looks again: documents or heads have come. */
  look(): Promise<void>;
}

export function createArrivals({
  ledger,
  heads,
  onChange,
}: {
  readonly ledger: Pick<LedgerPort, 'countTalks'>;
  readonly heads: () => readonly Head[];
  readonly onChange: () => void;
}): Arrivals {
  let arriving: readonly string[] = [];

  async function once() {
    const known = heads();
    const counts = await ledger.countTalks(known);
    const late = known
      .filter(({ messages }, i) => (counts[i] ?? 0) < messages)
      .map(({ agentId }) => agentId)
      .sort();
    if (late.join('\n') === arriving.join('\n')) return;
    arriving = late;
    onChange();
  }

  return {
    arriving: () => arriving,
    look: runAgain(once),
  };
}
