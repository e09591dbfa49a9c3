/**
 * The tab's side of direct lines. Peer connections exist in tabs alone, so one tab of a browser carries the lines
 * that the owner orders: the one that has the Web Lock. When it closes, the next one says that it is ready, and
 * the owner orders anew.
 */
import type { Timers } from '../../domain/platform/timers.ts';
import type { DirectOrder, DirectReport } from '../../protocol/sync/page.ts';
import type { OwnerNews } from '../../protocol/worker.ts';
import { DIRECT } from '../direct/settings.ts';
import { openLine, type CarriedLine } from './line.ts';

export interface CarrierOwner {
  call(name: 'direct', report: DirectReport): Promise<null>;
  subscribe(listener: (news: OwnerNews) => void): () => void;
}

export interface CarrierDeps {
  readonly owner: CarrierOwner;
  /** Absent in old browsers, where one tab works at a time and needs no lock. */
  readonly locks: LockManager | undefined;
  readonly newConnection: () => RTCPeerConnection;
  readonly timers: Timers;
}

export interface Carrier {
  /** Closes every line, and lets the next tab carry. */
  close(): void;
}

export function createCarrier({ owner, locks, newConnection, timers }: CarrierDeps): Carrier {
  const lines = new Map<string, CarriedLine>();
  const closing = new AbortController();
  let carrying = false;
  let letGo: () => void = () => undefined;

  function report(said: DirectReport) {
    // An owner that refuses what this tab says is of another version: it is not to be waited for, and another tab may suit it.
    owner.call('direct', said).catch(close);
  }

  function closeLines() {
    for (const line of lines.values()) line.close();
    lines.clear();
  }

  function begin() {
    closeLines();
    report({ kind: 'ready' });
  }

  function open(id: string, offer: boolean) {
    if (lines.has(id)) return;
    lines.set(
      id,
      openLine({
        connection: newConnection(),
        timers,
        offer,
        listener: {
          signal: (data) => report({ kind: 'signal', line: id, data }),
          opened: () => report({ kind: 'opened', line: id }),
          frame: (frame) => report({ kind: 'frame', line: id, frame }),
          sent: (bytes) => report({ kind: 'sent', line: id, bytes }),
          closed() {
            lines.delete(id);
            report({ kind: 'closed', line: id });
          },
        },
      }),
    );
  }

  function follow(order: DirectOrder) {
    const line = lines.get(order.line);
    switch (order.kind) {
      case 'open':
        return open(order.line, order.offer);
      case 'signal':
        return line?.signal(order.data);
      case 'frame':
        return line?.send(order.frame);
      case 'close':
        line?.close();
        lines.delete(order.line);
        return;
    }
  }

  const unsubscribe = owner.subscribe((news) => {
    if (!carrying) return;
    if (news.news === 'direct') follow(news.order);
    // The owner has begun anew, and knows of no lines.
    else if (news.news === 'welcome') begin();
  });

  function close() {
    if (closing.signal.aborted) return;
    closing.abort();
    carrying = false;
    unsubscribe();
    closeLines();
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
