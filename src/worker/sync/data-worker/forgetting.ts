/** Seals entries anew without what the ledger has forgotten. */
import { runAgain } from '../../../shared/domain/platform/single-flight.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Replica } from '../../../shared/replication/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { type SyncDatabase, writeMeta } from './entry-store.ts';
import { withoutForgotten } from './forgotten.ts';
import type { Holding } from './holding.ts';
import { writeJson } from './json.ts';
import type { LedgerPort } from './ports.ts';
import { readPayload } from './records.ts';
import type { Writing } from './writing.ts';

interface ForgettingDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'forgets'>;
  readonly timers: Timers;
  readonly holding: Pick<Holding, 'open' | 'entries'>;
  readonly writing: Pick<Writing, 'seal'>;
  readonly replica: () => Pick<Replica, 'wrote'>;
  readonly onTrouble: (error: unknown) => void;
}

interface Forgetting {
  /** Removes everything that was forgotten. */
  remove(): Promise<void>;
  /** The same after a while: entries of a late device arrive in many batches. */
  removeSoon(): void;
  /** Removes what was forgotten since the last start. `removedIds`: requests that are done. */
  goOn(removedIds: readonly string[]): void;
  close(): void;
}

export function createForgetting({
  db,
  ledger,
  timers,
  holding,
  writing,
  replica,
  onTrouble,
}: ForgettingDeps): Forgetting {
  let cancel: (() => void) | null = null;

  // The requests that are done are stored, so that a start after a kill goes on.
  const remove = runAgain(async () => {
    const forgets = ledger.forgets();
    await holding.entries.rewrite(
      (entry) => {
        const opened = holding.open(entry);
        const payload = opened.ok ? readPayload(opened.payload) : null;
        const left = payload && withoutForgotten(payload, forgets);
        return left && writing.seal(entry.writer, entry.counter, writeJson(left));
      },
      (rewritten) => replica().wrote(rewritten, { replace: true }),
    );
    await writeMeta(db, { forgotten: forgets.map(({ _id }) => _id) });
  });

  return {
    remove,
    removeSoon() {
      cancel ??= timers.after(SYNC_WORKER.forgetLate, () => {
        cancel = null;
        remove().catch(onTrouble);
      });
    },
    goOn(removedIds) {
      if (ledger.forgets().some(({ _id }) => !removedIds.includes(_id))) remove().catch(onTrouble);
    },
    close: () => cancel?.(),
  };
}
