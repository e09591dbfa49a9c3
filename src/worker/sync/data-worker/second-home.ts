/**
 * Makes files and database hold the same entries, whichever of the two lost some. Where everything
 * was lost, files are read first, then the relay is asked. New data goes under new writers
 * meanwhile, so nothing that comes back is overwritten.
 */
import { subtract } from '../../../shared/domain/ranges.ts';
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { MIRROR, type SealedLog } from '../mirror/index.ts';
import { SYNC_WORKER } from '../settings.ts';
import { type DeviceEntryStore, readMeta, type SyncDatabase, writeMeta } from './entry-store.ts';
import type { SyncState } from './members.ts';
import type { LedgerPort } from './ports.ts';
import type { Returning } from './records.ts';

interface SecondHomeDeps {
  readonly entries: Pick<DeviceEntryStore, 'have' | 'put' | 'read' | 'takeAgain'>;
  readonly log: SealedLog | null;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly timers: Timers;
  /** Null: nothing was lost, as far as is known. */
  readonly returning: Returning | null;
  /** Has the replica read the store again. */
  readonly reread: () => Promise<void>;
  /** Has the relay announced its entries? */
  readonly relayHasAnnounced: () => boolean;
  readonly db: SyncDatabase;
  readonly syncState: SyncState;
  /** Everything that could be found is here. Called once. */
  readonly onReturned: () => void;
  /** Files had entries that the database lacked, and no loss was known. */
  readonly onFound: () => void;
  readonly isClosed: () => boolean;
}

interface SecondHome {
  /**
   * Reads and fills the files. `toRelay` begins to ask the relay. Where data was lost, it is called
   * after the files were read.
   */
  begin(toRelay: () => void): Promise<void>;
  /** The connection to the relay, or its backlog, has changed. */
  check(): void;
  /** A write into the files failed some time ago. Writes what they lack. */
  refill(): Promise<void>;
  progress(): { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
}

export function createSecondHome(deps: SecondHomeDeps): SecondHome {
  const { db, entries, log, ledger, timers, returning, syncState } = deps;
  const onTrouble = syncState.trouble('files');
  let fromFiles: { readonly done: number; readonly of: number } | null = null;
  let asked = false;
  let over = returning === null;
  let looking: Promise<void> | null = null;
  /** The relay admitted this device and has had time to announce its entries. */
  let patient = false;
  let cancel: (() => void) | null = null;

  const pause = () => new Promise<void>((resolve) => void timers.after(MIRROR.readPause, resolve));

  /** Takes what the database lacks. */
  async function takeFromFiles(from: SealedLog) {
    let stored = 0;
    // While a lost team is being restored, everything readable is read. Otherwise entries that are
    // here are skipped.
    const here = over ? await entries.have() : null;
    await from.read(
      async (some, progress) => {
        if (!over) {
          fromFiles = progress;
          syncState.changed();
        }
        stored += (await entries.put(some, { replace: false })).stored.length;
      },
      here
        ? {
            pause,
            isHere: (have) =>
              [...have].every(([writer, ranges]) => subtract(ranges, here.get(writer) ?? []).length === 0),
          }
        : {},
    );
    if (stored === 0) return;
    await deps.reread();
    if (over) deps.onFound();
  }

  /** Writes what the files lack. */
  async function fill(to: SealedLog) {
    for (const [writer, ranges] of await entries.have())
      for (const [first, last] of subtract(ranges, to.have().get(writer) ?? []))
        for (let at = first; at <= last && !deps.isClosed();) {
          const some = await entries.read(writer, at, last, { newestFirst: false, maxBytes: MIRROR.segmentBytes });
          to.add(some);
          // Bounds the entries in memory.
          await to.flush();
          at = (some.at(-1)?.counter ?? last) + 1;
        }
  }

  async function finish() {
    const { documents, agents, lead } = await ledger.team();
    const { link, backlog, filesRead } = syncState.now();
    const whole =
      returning !== null && documents >= returning.team.documents && agents >= returning.team.agents && lead !== null;
    const heardAll = link === 'off' || (link === 'live' && backlog === null && (deps.relayHasAnnounced() || patient));
    if (over || !filesRead || (!whole && !heardAll)) return;
    over = true;
    cancel?.();
    deps.onReturned();
    syncState.changed();
  }

  function check() {
    if (over) return;
    if (asked && syncState.now().link === 'live') {
      cancel ??= timers.after(SYNC_WORKER.relayHasNone, () => {
        patient = true;
        check();
      });
    }
    looking ??= finish()
      .catch(onTrouble)
      .finally(() => {
        looking = null;
      });
  }

  return {
    async begin(toRelay) {
      if (over) toRelay();
      else await entries.takeAgain(() => undefined);
      if (log) {
        if (await readMeta(db, 'filesStale')) {
          await log.clear();
          await writeMeta(db, { filesStale: false });
        }
        try {
          await takeFromFiles(log);
        } catch (error) {
          onTrouble(error);
        }
      }
      fromFiles = null;
      syncState.set({ filesRead: true });
      if (!asked && !over) toRelay();
      asked = true;
      check();
      if (log) await fill(log);
    },
    check,
    async refill() {
      if (log && syncState.now().filesRead && !deps.isClosed()) await fill(log);
    },
    progress() {
      if (fromFiles) return { from: 'files', ...fromFiles };
      const { backlog } = syncState.now();
      return backlog && { from: 'relay', ...backlog };
    },
  };
}
