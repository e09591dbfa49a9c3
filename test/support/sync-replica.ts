/** The replica of a device, over a real sync socket. */
import { randomBytes } from 'node:crypto';
import { createReplica, type Replica, type ReplicaDeps } from '../../src/shared/replication/index.ts';
import type { Entry } from '../../src/shared/protocol/sync/page.ts';
import { createMemoryEntries, type MemoryEntries } from './memory-entries.ts';
import { enter, newSyncId, type Home, type TestDevice, type TestHousehold, type TestSocket } from './sync-device.ts';

export interface TestReplica {
  readonly store: MemoryEntries;
  readonly replica: Replica;
  readonly writer: string;
  /** Writes entries of its own, one after the other; answers with them. */
  write(...sealed: readonly (string | Uint8Array)[]): readonly Entry[];
  overwrite(entry: Entry): void;
  /** Registers and connects; the line is lost when the socket closes. */
  connect(home: Home): Promise<TestSocket>;
  /** How many of its entries the relay has said that it has. */
  acknowledged(): number;
  /** The most that it has ever said, also when it is gone. */
  everAcknowledged(): number;
  /** How many entries are here. */
  count(): number;
  close(): Promise<void>;
}

const bytesOf = (sealed: string | Uint8Array) =>
  typeof sealed === 'string' ? new TextEncoder().encode(sealed) : sealed;
const countOf = (ranges: readonly (readonly [number, number])[] = []) =>
  ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0);
/** What nobody can make smaller, or read. */
export const noise = (bytes: number): Uint8Array => new Uint8Array(randomBytes(bytes));

export function createTestReplica(
  household: TestHousehold,
  device: TestDevice,
  { store = createMemoryEntries(), ...deps }: Partial<ReplicaDeps> & { readonly store?: MemoryEntries } = {},
): TestReplica {
  const writer = newSyncId();
  let counter = 0;
  const timers = {
    after(ms: number, run: () => void) {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  };
  let most = 0;
  const acknowledged = () => countOf(replica.peerHas('relay').get(writer));
  const onPeers = () => (most = Math.max(most, acknowledged()));
  const replica = createReplica({ timers, priority: () => 0, own: (id) => id === writer, onPeers, ...deps, store });
  return {
    store,
    replica,
    writer,
    write(...sealed) {
      const entries = sealed.map((each) => ({ writer, counter: ++counter, sealed: bytesOf(each) }));
      store.write(entries);
      replica.wrote(entries);
      return entries;
    },
    overwrite(entry) {
      store.write([entry]);
      replica.wrote([entry], { replace: true });
    },
    async connect(home) {
      const line = await enter(home, household, device);
      const end = replica.connect({
        kind: 'relay',
        name: 'relay',
        send: (frame) => line.socket.send(frame, () => end.drained()),
        buffered: () => line.socket.bufferedAmount,
        close: () => line.socket.terminate(),
      });
      line.onFrame((frame) => end.take(frame));
      void line.closed.then(() => end.gone());
      return line;
    },
    acknowledged,
    everAcknowledged: () => most,
    count: () => [...store.all.values()].reduce((sum, entries) => sum + entries.size, 0),
    close: () => replica.close(),
  };
}
