/**
 * The tab's side of direct connections. Only tabs can have peer connections, so one tab of a
 * browser carries the connections that the data worker orders: the tab with the Web Lock. When it
 * closes, the next tab reports that it is ready, and the worker orders the connections anew.
 */
import type { Timers } from '../../../shared/domain/platform/timers.ts';
import type { DirectOrder, DirectReport } from '../../../shared/protocol/sync/page.ts';
import type { OwnerNews } from '../../../shared/protocol/worker.ts';
import { DIRECT } from '../direct/settings.ts';
import { openConnection, type CarriedConnection } from './connection.ts';

export interface CarrierOwner {
  call(name: 'direct', report: DirectReport): Promise<null>;
  subscribe(listener: (news: OwnerNews) => void): () => void;
}

export interface CarrierDeps {
  readonly owner: CarrierOwner;
  /** Absent in old browsers. There only one tab works at a time, so no lock is needed. */
  readonly locks: LockManager | undefined;
  readonly newConnection: () => RTCPeerConnection;
  readonly timers: Timers;
}

export interface Carrier {
  /** Closes every connection and lets the next tab carry. */
  close(): void;
}

export function createCarrier({ owner, locks, newConnection, timers }: CarrierDeps): Carrier {
  const connections = new Map<string, CarriedConnection>();
  const closing = new AbortController();
  let carrying = false;
  let letGo: () => void = () => undefined;

  function report(said: DirectReport) {
    // A worker that refuses the report has another version. Close: another tab may fit it.
    owner.call('direct', said).catch(close);
  }

  function closeConnections() {
    for (const connection of connections.values()) connection.close();
    connections.clear();
  }

  function begin() {
    closeConnections();
    report({ kind: 'ready' });
  }

  function open(id: string, offer: boolean) {
    if (connections.has(id)) return;
    connections.set(
      id,
      openConnection({
        connection: newConnection(),
        timers,
        offer,
        listener: {
          signal: (data) => report({ kind: 'signal', connection: id, data }),
          opened: () => report({ kind: 'opened', connection: id }),
          frame: (frame) => report({ kind: 'frame', connection: id, frame }),
          sent: (bytes) => report({ kind: 'sent', connection: id, bytes }),
          closed() {
            connections.delete(id);
            report({ kind: 'closed', connection: id });
          },
        },
      }),
    );
  }

  function follow(order: DirectOrder) {
    const connection = connections.get(order.connection);
    switch (order.kind) {
      case 'open':
        return open(order.connection, order.offer);
      case 'signal':
        return connection?.signal(order.data);
      case 'frame':
        return connection?.send(order.frame);
      case 'close':
        connection?.close();
        connections.delete(order.connection);
        return;
    }
  }

  const unsubscribe = owner.subscribe((news) => {
    if (!carrying) return;
    if (news.news === 'direct') follow(news.order);
    // The worker has restarted and knows of no connections.
    else if (news.news === 'welcome') begin();
  });

  function close() {
    if (closing.signal.aborted) return;
    closing.abort();
    carrying = false;
    unsubscribe();
    closeConnections();
    letGo();
  }

  async function carry() {
    const released = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    if (closing.signal.aborted) return;
    carrying = true;
    begin();
    await released;
  }

  if (locks) {
    locks.request(DIRECT.lock, { signal: closing.signal }, carry).catch((error: unknown) => {
      if (!closing.signal.aborted) throw error;
    });
  } else void carry();

  return { close };
}
