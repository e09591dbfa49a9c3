/** A tab that carries direct connections for a worker in the owner's place, for tests to drive. */
import type { WorkerNews } from '../../../src/shared/protocol/worker.ts';
import { createCarrier } from '../../../src/worker/sync/carrier/carrier.ts';
import { DIRECT } from '../../../src/worker/sync/direct/settings.ts';
import type { DirectCalls, FromDirectOwner, Signal } from './calls.ts';

export interface DirectPage {
  call<Name extends keyof DirectCalls>(
    name: Name,
    ...args: Parameters<DirectCalls[Name]>
  ): Promise<ReturnType<DirectCalls[Name]>>;
  /** Sends so many frames of so many random bytes. Answers the length and digest of each. */
  sendFrames(count: number, length: number): Promise<readonly string[]>;
  /** Peer connections of this tab that are not closed. */
  connections(): number;
}

declare global {
  interface Window {
    direct: DirectPage;
    /** The test's way from one browser to the other. */
    passSignal?: (signal: Signal) => Promise<void>;
  }
}

const { port } = new SharedWorker(new URL('./owner.ts', import.meta.url), {
  type: 'module',
  name: decodeURIComponent(location.search.slice(1)),
});
const listeners = new Set<(news: WorkerNews) => void>();
const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
let calls = 0;
port.onmessage = ({ data }: MessageEvent<FromDirectOwner>) => {
  if ('news' in data) for (const listener of listeners) listener(data.news);
  else if ('signal' in data) void window.passSignal?.(data.signal);
  else if ('error' in data) waiting.get(data.id)?.reject(new Error(data.error));
  else waiting.get(data.id)?.resolve(data.value);
};
const call: DirectPage['call'] = (name, ...args) =>
  new Promise((resolve, reject) => {
    const id = calls++;
    waiting.set(id, { resolve: (value) => resolve(value as never), reject });
    port.postMessage({ id, call: name, args });
  });

const connections: RTCPeerConnection[] = [];
window.direct = {
  call,
  sendFrames(count, length) {
    const random = () => {
      const bytes = new Uint8Array(length);
      for (let at = 0; at < length; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
      return bytes;
    };
    return call('send', Array.from({ length: count }, random));
  },
  connections: () => connections.filter(({ connectionState }) => connectionState !== 'closed').length,
};

createCarrier({
  dataWorker: {
    call,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  },
  locks: navigator.locks,
  newConnection() {
    const connection = new RTCPeerConnection();
    connections.push(connection);
    return connection;
  },
  timers: {
    after(ms, run) {
      // Silence is waited for ten times less long.
      const handle = setTimeout(run, ms === DIRECT.keepAliveMs ? ms / 10 : ms);
      return () => clearTimeout(handle);
    },
  },
});
