/** What this device holds of its household: sealed entries, and what was in them, which goes to the ledger and to the members. */
import type { Timers } from '../../domain/platform/timers.ts';
import type { Entry } from '../../protocol/sync/entries.ts';
import type { Opened } from '../contract.ts';
import { digestOf, openEntry } from '../crypto/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import type { Ahead } from './ahead.ts';
import type { Beside } from './beside.ts';
import type { SyncDatabase } from './database.ts';
import { createEntryRows, type EntryRows } from './entry-rows.ts';
import { createEntryStore, type DeviceEntryStore } from './entry-store.ts';
import type { Heard } from './heard.ts';
import { createInbound } from './inbound.ts';
import type { Keys } from './keys.ts';
import type { Members } from './members.ts';
import type { LedgerPort } from './ports.ts';
import type { Standing } from './standing.ts';

export interface HoldingDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'append'>;
  readonly timers: Timers;
  readonly keys: Keys;
  readonly members: Members;
  readonly heard: Heard;
  readonly ahead: Ahead;
  readonly beside: Beside;
  readonly standing: Standing;
}

export interface Holding {
  readonly entries: DeviceEntryStore;
  readonly rows: EntryRows;
  open(entry: Entry): Opened;
  /** Tries those again that wait. */
  openShut(): Promise<void>;
  close(): void;
}

export function createHolding({
  db,
  ledger,
  timers,
  keys,
  members,
  heard,
  ahead,
  beside,
  standing,
}: HoldingDeps): Holding {
  let lookAgain: (() => void) | null = null;
  const open = ({ writer, counter, sealed }: Entry) => openEntry({ keys: keys.household(), writer, counter, sealed });
  const rows = createEntryRows(db);
  const entries = createEntryStore({
    rows,
    open,
    digestOf,
    take: createInbound({ ledger, members, keys, heard, onMisfit: standing.trouble('misfit') }),
    onKept: beside.add,
    onChanged: beside.replace,
    isAhead: ahead.isAhead,
    onShut(count, waiting) {
      // Its time comes, or the clock of this device is set right.
      if (waiting.entries > 0)
        lookAgain ??= timers.after(SYNC_OWNER.aheadAgain, () => {
          lookAgain = null;
          void entries.openShut().catch(standing.trouble('storing'));
        });
      standing.set({ shut: count, ahead: waiting });
    },
  });
  return { entries, rows, open, openShut: entries.openShut, close: () => lookAgain?.() };
}
