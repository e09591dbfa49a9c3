/** Tells tabs how it stands, not more often than they need. */
import type { Timers } from '../../domain/platform/timers.ts';
import type { SyncStatus } from '../../protocol/sync/page.ts';
import { SYNC_OWNER } from '../settings.ts';

export interface StatusTeller {
  /** Something may have changed. */
  stir(): void;
  close(): void;
}

export function createStatusTeller({
  timers,
  status,
  tell,
}: {
  readonly timers: Timers;
  readonly status: () => SyncStatus;
  readonly tell: (status: SyncStatus) => void;
}): StatusTeller {
  let told = '';
  let cancel: (() => void) | null = null;
  let stirred = false;

  function look() {
    const now = status();
    const text = JSON.stringify(now);
    if (text === told) return;
    told = text;
    tell(now);
  }

  function stir() {
    if (cancel) {
      stirred = true;
      return;
    }
    look();
    cancel = timers.after(SYNC_OWNER.statusEvery, () => {
      cancel = null;
      const again = stirred;
      stirred = false;
      if (again) stir();
    });
  }

  return { stir, close: () => cancel?.() };
}
