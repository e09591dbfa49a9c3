/**
 * What is kept beside IndexedDB, against what is in it: files and database are made to hold the
 * same entries, whichever of the two lost something. Where everything was lost, files are read
 * first, then the relay is asked; what is written meanwhile goes under new writers, so nothing that
 * comes back is overwritten.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import { subtract } from '../../../shared/domain/ranges.ts';
import { MIRROR, type SealedLog } from '../mirror/index.ts';
import { SYNC_OWNER } from '../settings.ts';
import { readMeta, writeMeta, type SyncDatabase } from './database.ts';
import type { DeviceEntryStore } from './entry-store.ts';
import type { LedgerPort } from './ports.ts';
import type { Returning } from './records.ts';
import type { Standing } from './standing.ts';

export interface SecondHomeDeps {
  readonly entries: Pick<DeviceEntryStore, 'have' | 'put' | 'read' | 'takeAgain'>;
  readonly log: SealedLog | null;
  readonly ledger: Pick<LedgerPort, 'team'>;
  readonly timers: Timers;
  /** null: nothing was lost, as far as is known. */
  readonly returning: Returning | null;
  /** The replica looks at what is here now. */
  readonly reread: () => Promise<void>;
  /** Has the relay said what it has? */
  readonly relayHasAnnounced: () => boolean;
  readonly db: SyncDatabase;
  readonly standing: Standing;
  /** Everything that could be found is here. Once. */
  readonly onReturned: () => void;
  /** Files had what the database did not, and nobody knew of a loss. */
  readonly onFound: () => void;
  readonly isClosed: () => boolean;
}

export interface SecondHome {
  /**
   * Reads and fills the files; `toRelay` begins to ask the relay, where something was lost after
   * what the files have.
   */
  begin(toRelay: () => void): Promise<void>;
  /** The connection to the relay, or what comes over it, has changed. */
  look(): void;
  /** A write into the files failed a while ago: what they lack is written now. */
  refill(): Promise<void>;
  progress(): { readonly from: 'files' | 'relay'; readonly done: number; readonly of: number } | null;
}

export function createSecondHome(deps: SecondHomeDeps): SecondHome {
  const { db, entries, log, ledger, timers, returning, standing } = deps;
  const onTrouble = standing.trouble('files');
  let fromFiles: { readonly done: number; readonly of: number } | null = null;
  let asked = false;
  let over = returning === null;
  let looking: Promise<void> | null = null;
  /** The relay let us in, and had the time to say what it has. */
  let patient = false;
  let cancel: (() => void) | null = null;

  const pause = () => new Promise<void>((resolve) => void timers.after(MIRROR.lookPause, resolve));

  /** Whatever the database lacks. */
  async function takeFromFiles(from: SealedLog) {
    let stored = 0;
    // Who waits for a team gets all that can be read; else what is here already need not be read
    // again.
    const here = over ? await entries.have() : null;
    await from.read(
      async (some, progress) => {
        if (!over) {
          fromFiles = progress;
          standing.changed();
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

  /** Whatever the files lack. */
  async function fill(to: SealedLog) {
    for (const [writer, ranges] of await entries.have())
      for (const [first, last] of subtract(ranges, to.have().get(writer) ?? []))
        for (let at = first; at <= last && !deps.isClosed();) {
          const some = await entries.read(writer, at, last, { newestFirst: false, maxBytes: MIRROR.segmentBytes });
          to.add(some);
          // Not all of it in memory at once.
          await to.flush();
          at = (some.at(-1)?.counter ?? last) + 1;
        }
  }

  async function finish() {
    const { documents, agents, lead } = await ledger.team();
    const { link, backlog, filesRead } = standing.now();
    const whole =
      returning !== null && documents >= returning.team.documents && agents >= returning.team.agents && lead !== null;
    const heardAll = link === 'off' || (link === 'live' && backlog === null && (deps.relayHasAnnounced() || patient));
    if (over || !filesRead || (!whole && !heardAll)) return;
    over = true;
    cancel?.();
    deps.onReturned();
    standing.changed();
  }

  function look() {
    if (over) return;
    if (asked && standing.now().link === 'live') {
      cancel ??= timers.after(SYNC_OWNER.relayHasNone, () => {
        patient = true;
        look();
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
      standing.set({ filesRead: true });
      if (!asked && !over) toRelay();
      asked = true;
      look();
      if (log) await fill(log);
    },
    look,
    async refill() {
      if (log && standing.now().filesRead && !deps.isClosed()) await fill(log);
    },
    progress() {
      if (fromFiles) return { from: 'files', ...fromFiles };
      const { backlog } = standing.now();
      return backlog && { from: 'relay', ...backlog };
    },
  };
}
