/**
 * Carries direct connections in this tab while the household is shared and the page is not in the
 * back/forward cache.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { Carrier, CarrierPort } from './carrier.ts';

interface Owner extends Omit<CarrierPort, 'call'> {
  readonly call: CarrierPort['call'] & ((name: 'syncStatus') => Promise<SyncStatus>);
}

/** Call it after the first paint. The carrier's code is fetched when the household is shared. */
export function carryWhenShared(dataWorker: Owner, timers: Timers): void {
  if (typeof RTCPeerConnection === 'undefined') return;
  let carrier: Promise<Carrier> | null = null;
  let shared = false;
  let shown = true;

  async function begin(): Promise<Carrier> {
    const { createCarrier } = await import('./carrier.ts');
    // No servers: only addresses of this machine and its networks are offered.
    return createCarrier({
      dataWorker,
      locks: navigator.locks,
      newConnection: () => new RTCPeerConnection({ iceServers: [] }),
      timers,
    });
  }

  function check() {
    if (shared && shown) {
      carrier ??= begin().catch((error: unknown) => {
        // The next status notice fetches it again. Every change of the status sends one.
        carrier = null;
        throw error;
      });
    } else {
      void carrier?.then((begun) => begun.close());
      carrier = null;
    }
  }

  function hear(status: SyncStatus) {
    shared = status.kind === 'shared';
    check();
  }
  dataWorker.subscribe((news) => {
    if (news.news === 'sync') hear(news.status);
  });
  void dataWorker.call('syncStatus').then(hear);
  // A page in the back/forward cache would hold the lock and carry nothing.
  addEventListener('pagehide', () => {
    shown = false;
    check();
  });
  addEventListener('pageshow', () => {
    shown = true;
    check();
  });
}
