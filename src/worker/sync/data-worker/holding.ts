/**
 * The entries of this device and their contents. Documents go to the ledger, records to the
 * members.
 */
import { sentence } from '../../../shared/domain/names.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { Entry } from '../../../shared/protocol/sync/page.ts';
import type { Opened } from '../contract.ts';
import { digestOf, openEntry } from '../crypto/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import type { Ahead } from './mark-writer.ts';
import type { FileMirror } from './exchange.ts';
import {
  createEntryRows,
  createEntryStore,
  type DeviceEntryStore,
  type EntryRows,
  type SyncDatabase,
} from './entry-store.ts';
import type { Received } from './relay-connection.ts';
import type { Keys } from './keys.ts';
import type { Members, SyncState } from './members.ts';
import type { LedgerPort } from './ports.ts';
import { isForgotten } from './forgotten.ts';
import type { ReadPayload } from './records.ts';

/** Takes contents from other devices into the ledger and the list of members. */
const MISFIT = sentence`Another device sent something that this Roost cannot read. Update Roost here; the rest is not affected.`;

interface InboundDeps {
  readonly ledger: Pick<LedgerPort, 'append' | 'forgets'>;
  readonly members: Pick<Members, 'hear'>;
  readonly keys: Pick<Keys, 'hearRecovery'>;
  readonly heard: Pick<Received, 'add'>;
  readonly onMisfit: (error: Error) => void;
  /** These documents were forgotten. Their entries must be sealed without them. */
  readonly onForgotten: () => void;
}

/** Is the error an invalid document, rather than a failed write? */
const isMisfit = (error: unknown) =>
  error instanceof Error && (error.name === 'ZodError' || error.name === '$ZodError' || error instanceof TypeError);

function idOf(doc: unknown): string[] {
  return typeof doc === 'object' && doc !== null && '_id' in doc && typeof doc._id === 'string' ? [doc._id] : [];
}

/**
 * Returns the function that takes the payloads of entries. It resolves when all of them are
 * durable, and rejects where they cannot be stored.
 */
export function createInbound({ ledger, members, keys, heard, onMisfit, onForgotten }: InboundDeps) {
  /** An invalid document does not keep the others out. */
  async function append(docs: readonly unknown[]) {
    if (docs.length === 0) return;
    try {
      await ledger.append(docs);
    } catch (error) {
      if (!isMisfit(error)) throw error;
      for (const doc of docs) {
        try {
          await ledger.append([doc]);
        } catch (one) {
          if (!isMisfit(one)) throw one;
          onMisfit(new Error(MISFIT));
        }
      }
    }
  }

  return async function take(payloads: readonly ReadPayload[]): Promise<void> {
    const docs = payloads.flatMap((payload) => payload.docs ?? []);
    // Before they are in the ledger, so that copies that wait here are not sealed.
    heard.add(docs.flatMap(idOf));
    await append(docs);
    const forgets = ledger.forgets();
    if (forgets.length > 0 && docs.some((doc) => isForgotten(doc, forgets))) onForgotten();
    await members.hear({
      devices: payloads.flatMap((payload) => payload.devices ?? []),
      tips: payloads.flatMap((payload) => payload.tips ?? []),
    });
    for (const { recovery } of payloads) if (recovery) await keys.hearRecovery(recovery);
  };
}

export interface HoldingDeps {
  readonly db: SyncDatabase;
  readonly ledger: Pick<LedgerPort, 'append' | 'forgets'>;
  readonly timers: Timers;
  readonly keys: Keys;
  readonly members: Members;
  readonly heard: Received;
  readonly ahead: Ahead;
  readonly fileMirror: FileMirror;
  readonly syncState: SyncState;
  readonly onForgotten: () => void;
}

export interface Holding {
  readonly entries: DeviceEntryStore;
  readonly rows: EntryRows;
  open(entry: Entry): Opened;
  /** Tries waiting entries again. */
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
  fileMirror,
  syncState,
  onForgotten,
}: HoldingDeps): Holding {
  let cancelRetry: (() => void) | null = null;
  const open = ({ writer, counter, sealed }: Entry) => openEntry({ keys: keys.household(), writer, counter, sealed });
  const rows = createEntryRows(db);
  const entries = createEntryStore({
    rows,
    open,
    digestOf,
    take: createInbound({ ledger, members, keys, heard, onMisfit: syncState.trouble('misfit'), onForgotten }),
    onKept: fileMirror.add,
    onChanged: fileMirror.replace,
    isAhead: ahead.isAhead,
    onShut(count, waiting) {
      // Their time comes, or the clock of this device is corrected.
      if (waiting.entries > 0)
        cancelRetry ??= timers.after(SYNC_WORKER.aheadAgain, () => {
          cancelRetry = null;
          void entries.openShut().catch(syncState.trouble('storing'));
        });
      syncState.set({ shut: count, ahead: waiting });
    },
  });
  return { entries, rows, open, openShut: entries.openShut, close: () => cancelRetry?.() };
}
