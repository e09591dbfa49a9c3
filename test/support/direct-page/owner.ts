/**
 * A SharedWorker in the owner's place: it has direct connections, and what comes on them is kept as
 * digests.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Link } from '../../../src/shared/replication/index.ts';
import { SYNC_METHODS } from '../../../src/shared/protocol/sync/methods.ts';
import type { WorkerNews } from '../../../src/shared/protocol/worker.ts';
import { createDirect } from '../../../src/worker/sync/direct/index.ts';
import { configOf, type DirectCalls, type FromDirectOwner } from './calls.ts';

/** Bytes that may wait for a connection before the next frame is held back. */
const ROOM = 1024 * 1024;

const config = configOf(self.name);
const ports = new Set<MessagePort>();
const tell = (message: FromDirectOwner) => {
  for (const port of ports) port.postMessage(message);
};
const news = (item: WorkerNews) => tell({ news: item });

interface Exchange {
  readonly link: Link;
  waiting: Uint8Array[];
}
const exchanges = new Set<Exchange>();
const received: string[] = [];
let mostBuffered = 0;

function pump({ link, waiting }: Exchange) {
  while (waiting.length > 0 && link.buffered() < ROOM) {
    const [frame] = waiting.splice(0, 1);
    if (frame) link.send(frame);
    mostBuffered = Math.max(mostBuffered, link.buffered());
  }
}

const direct = createDirect({
  deviceId: config.deviceId,
  keys: () => ({ household: config.household, keyring: [{ epoch: 1, key: new Uint8Array(32).fill(7) }] }),
  sendSignal: (to, data) => tell({ signal: { from: config.deviceId, to, data } }),
  order: (order) => news({ news: 'direct', order }),
  connect(link) {
    const exchange: Exchange = { link, waiting: [] };
    exchanges.add(exchange);
    return {
      take: (frame) => void received.push(`${frame.length} ${bytesToHex(sha256(frame))}`),
      gone: () => void exchanges.delete(exchange),
      drained: () => pump(exchange),
    };
  },
  isMember: () => true,
  onConnections: () => undefined,
  timers: {
    after(ms, run) {
      const handle = setTimeout(run, ms);
      return () => clearTimeout(handle);
    },
  },
  random: (length) => crypto.getRandomValues(new Uint8Array(length)),
  now: Date.now,
});

const calls: {
  readonly [Name in keyof DirectCalls]: (
    ...args: Parameters<DirectCalls[Name]>
  ) => ReturnType<DirectCalls[Name]> | Promise<ReturnType<DirectCalls[Name]>>;
} = {
  direct(report) {
    direct.report(...SYNC_METHODS.direct.in.parse([report]));
    return null;
  },
  setOnline(deviceIds) {
    direct.setOnline(deviceIds);
    return null;
  },
  hearSignal(from, data) {
    direct.hearSignal(from, data);
    return null;
  },
  makeOffer: () => direct.makeOffer(),
  takeText: (text) => direct.takeText(text),
  connections: () => direct.connections(),
  send(frames) {
    const [exchange] = exchanges;
    if (!exchange) throw new Error('There is no connection.');
    exchange.waiting.push(...frames);
    pump(exchange);
    return frames.map((frame) => `${frame.length} ${bytesToHex(sha256(frame))}`);
  },
  received: () => received,
  waiting: () => ({
    mostBuffered,
    buffered: [...exchanges].reduce((sum, { link, waiting }) => sum + link.buffered() + waiting.length, 0),
  }),
};

addEventListener('connect', (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  if (!port) return;
  ports.add(port);
  port.onmessage = async ({
    data,
  }: MessageEvent<{ readonly id: number; readonly call: keyof DirectCalls; readonly args: unknown[] }>) => {
    const answer = calls[data.call] as (...args: unknown[]) => unknown;
    try {
      port.postMessage({ id: data.id, value: await answer(...data.args) });
    } catch (error) {
      port.postMessage({ id: data.id, error: error instanceof Error ? error.message : String(error) });
    }
  };
});
