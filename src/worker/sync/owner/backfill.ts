/** Which agents' last conversations are still on their way here. */
import { runAgain } from '../../../shared/domain/platform/single-flight.ts';
import type { LedgerPort } from './ports.ts';
import type { Tip } from './records.ts';

export interface Backfill {
  arriving(): readonly string[];
  /** Looks again: documents or tips have come. */
  look(): Promise<void>;
}

export function createBackfill({
  ledger,
  tips,
  onChange,
}: {
  readonly ledger: Pick<LedgerPort, 'countTalks'>;
  readonly tips: () => readonly Tip[];
  readonly onChange: () => void;
}): Backfill {
  let arriving: readonly string[] = [];

  async function once() {
    const known = tips();
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
