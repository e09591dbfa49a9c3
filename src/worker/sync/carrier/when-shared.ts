/**
 * Carries direct connections in this tab for as long as the household is shared and the page is not
 * put away.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { SyncStatus } from '../../../shared/protocol/sync/page.ts';
import type { Carrier, CarrierOwner } from './carrier.ts';

interface Owner extends Omit<CarrierOwner, 'call'> {
  readonly call: CarrierOwner['call'] & ((name: 'syncStatus') => Promise<SyncStatus>);
}

/** Call when the page is painted: what carries is fetched where there is something to carry. */
export function carryWhenShared(owner: Owner, timers: Timers): void {
  if (typeof RTCPeerConnection === 'undefined') return;
  let carrier: Promise<Carrier> | null = null;
  let shared = false;
  let shown = true;

  async function begin(): Promise<Carrier> {
    const { createCarrier } = await import('./carrier.ts');
    // No servers: only addresses of this machine and its networks are offered.
    return createCarrier({
      owner,
      locks: navigator.locks,
      newConnection: () => new RTCPeerConnection({ iceServers: [] }),
      timers,
    });
  }

  function look() {
    if (shared && shown) {
      carrier ??= begin().catch((error: unknown) => {
        // Fetched again with the next news of the status; it comes with every change.
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
    look();
  }
  owner.subscribe((news) => {
    if (news.news === 'sync') hear(news.status);
  });
  void owner.call('syncStatus').then(hear);
  // A page that is kept for the back button would hold the lock and carry nothing.
  addEventListener('pagehide', () => {
    shown = false;
    look();
  });
  addEventListener('pageshow', () => {
    shown = true;
    look();
  });
}
