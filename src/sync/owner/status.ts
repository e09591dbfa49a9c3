/** Tells tabs how it stands, not more often than they need. */
import type { Timers } from '../../domain/platform/timers.ts';
import type { SyncStatus } from '../../protocol/sync/page.ts';
import { SYNC_OWNER } from '../settings.ts';

export interface StatusTeller {
  /** Something may have changed. */
  wake(): void;
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
  let announced = '';
  let cancel: (() => void) | null = null;
  let woken = false;

  function look() {
    const now = status();
    const text = JSON.stringify(now);
    if (text === announced) return;
    announced = text;
    tell(now);
  }

  function wake() {
    if (cancel) {
      woken = true;
      return;
    }
    look();
    cancel = timers.after(SYNC_OWNER.statusEvery, () => {
      cancel = null;
      const again = woken;
      woken = false;
      if (again) wake();
    });
  }

  return { wake, close: () => cancel?.() };
}
