/**
 * Four devices and a relay, 500 operations, in virtual time, with the real replication and the real
 * sealing: lines that drop, repeat, reorder, change and forge, cuts, partitions, restarts, full
 * disks, a relay and a device from an older copy, a relay that goes away, one device that joins
 * late. In the end everybody must have the same, and every document that was ever said to be kept,
 * and that some disk still had after a disk was lost, must be everywhere.
 */
import { highest } from '../../src/shared/domain/ranges.ts';
import { createReplica, type ReplicationSettings } from '../../src/shared/replication/index.ts';
import type { Stream } from '../../src/worker/sync/contract.ts';
import { digestOf, newHousehold } from '../../src/worker/sync/crypto/index.ts';
import { createMemoryEntries } from '../support/memory-entries.ts';
import { createRandom } from '../support/random.ts';
import { createVirtualTime } from '../support/virtual-time.ts';
import { demand } from './checks.ts';
import {
  copyOf,
  createDisk,
  placeOf,
  startDevice,
  type Device,
  type DeviceDisk,
  type Doc,
  type Truth,
} from './sync-device.ts';
import { createNetwork } from './sync-network.ts';
import { storeOn, type Life } from './sync-store.ts';

export const OPERATIONS = 500;
const RELAY = 'relay';
const DEVICES = ['a', 'b', 'c', 'd'];
/** Joins after half of the operations. */
const LATE = 'd';
/** Comes when all is over, and learns everything from the relay. */
const NEWCOMER = 'e';
/** ms of virtual time in which everything must have come together once all lines are good. */
const TOGETHER_MS = 10 * 60_000;

export interface SeedResult {
  readonly documents: number;
  readonly entries: number;
  /** ms of virtual time until all were equal, once the faults were over. */
  readonly togetherMs: number;
  /** What happened, how often. */
  readonly happened: Readonly<Record<string, number>>;
}

/**
 * Runs one seed. Rejects with a Fault that lists what is wrong. `restored`: devices are also put
 * back to older copies of their profiles, and go on from there; `blind`: without looking whether
 * anybody wrote there since; `times`: that many operations.
 */
export async function runDevicesSeed(
  seed: number,
  {
    restored = false,
    blind = false,
    times = OPERATIONS,
  }: { readonly restored?: boolean; readonly blind?: boolean; readonly times?: number } = {},
): Promise<SeedResult> {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const oneOf = <T>(list: readonly [T, ...T[]]): T => list[below(list.length)] ?? list[0];
  const bytes = (length: number) => Uint8Array.from({ length }, () => below(256));
  const time = createVirtualTime();
  const rough = random();
  const network = createNetwork({
    time,
    random,
    weather: {
      drops: 0.05 * rough,
      repeats: 0.05 * rough,
      flips: 0.003 * rough,
      forges: 0.02 * rough,
      slowestMs: oneOf([5, 60, 400]),
    },
  });
  const settings: Partial<ReplicationSettings> = {
    frameBytes: oneOf([600, 4_000, 256 * 1024]),
    bufferBytes: oneOf([2_000, 512 * 1024]),
    pushBytes: oneOf([500, 64 * 1024]),
    askEntries: oneOf([3, 40, 512]),
    askRanges: oneOf([1, 64]),
    queueBytes: oneOf([2_000, 8 * 1024 * 1024]),
    putBytes: oneOf([1_000, 1024 * 1024]),
    announceMs: oneOf([3_000, 30_000]),
    answerMs: oneOf([1_000, 10_000]),
    compareEntries: oneOf([3, 256]),
    peerTasks: oneOf([4, 64]),
  };
  const keys = newHousehold(bytes);
  const truth: Truth = { acknowledged: new Map(), sealed: new Map(), places: new Map() };
  const faults: string[] = [];
  const happened: Record<string, number> = {};

  const disks = new Map<string, DeviceDisk>();
  const copies = new Map<string, DeviceDisk>();
  const devices = new Map<string, Device>();
  const lives = new Map<string, Life>();
  let relayDisk = createMemoryEntries();
  let relayCopy = relayDisk.copy();
  const notes = (name: string) => (error: unknown) => {
    if (error !== null && String(error) !== 'Error: The disk is full.')
      faults.push(`${name} had trouble: ${String(error)}`);
  };

  function begin(name: string): Life {
    const life = { alive: true, failsUntil: 0 };
    lives.set(name, life);
    return life;
  }
  /** It dies where it stands: what it has not written is lost. */
  function kill(name: string): void {
    const life = lives.get(name);
    if (life) life.alive = false;
    lives.delete(name);
    devices.delete(name);
    network.set(name, null);
  }
  function startRelay(): void {
    const world = { time, random, life: begin(RELAY) };
    const { life } = world;
    const replica = createReplica({
      store: storeOn(relayDisk, world),
      timers: { after: (ms, run) => time.after(ms, () => (life.alive ? run() : undefined)) },
      priority: () => 0,
      forwards: true,
      onTrouble: notes(RELAY),
      settings,
    });
    network.set(RELAY, { replica, name: RELAY, kind: 'relay' });
  }
  function start(name: string): void {
    const disk = disks.get(name) ?? createDisk(keys, bytes);
    disks.set(name, disk);
    if (!copies.has(name)) copies.set(name, copyOf(disk));
    const device = startDevice({
      disk,
      keys,
      bytes,
      truth,
      world: { time, random, life: begin(name) },
      settings,
      blind,
      onTrouble: notes(name),
    });
    devices.set(name, device);
    network.set(name, { replica: device.replica, name, kind: 'device' });
  }
  const restart = (name: string) => {
    if (lives.has(name)) return;
    if (name === RELAY) startRelay();
    else start(name);
  };
  const away = (name: string, ms: number) => {
    kill(name);
    time.after(ms, () => restart(name));
  };

  /**
   * After a disk was lost or spoilt: documents that nobody has any more are not to be found again.
   */
  function mourn(): void {
    const left = new Set<string>();
    for (const entries of [relayDisk.all, ...[...disks.values()].map((disk) => disk.entries.all)]) {
      for (const ofWriter of entries.values())
        for (const sealed of ofWriter.values()) left.add(truth.sealed.get(digestOf(sealed))?.id ?? '');
    }
    for (const id of truth.acknowledged.keys()) {
      if (left.has(id)) continue;
      truth.acknowledged.delete(id);
      happened['document lost with the only disk'] = (happened['document lost with the only disk'] ?? 0) + 1;
    }
  }

  let documents = 0;
  const doc = (): Doc => {
    const id = `doc-${documents++}`;
    return { id, text: `${id}: ${bytes(random() < 0.03 ? 4_000 : 80).join(' ')}` };
  };
  const running = () => DEVICES.filter((name) => devices.has(name));
  const someone = (): string | null => running()[below(Math.max(1, running().length))] ?? null;

  const everything: readonly (readonly [weight: number, what: string, run: () => void])[] = [
    [
      50,
      'written',
      () => {
        const device = devices.get(someone() ?? '');
        const stream: Stream = random() < 0.3 ? 'people' : random() < 0.1 ? 'attachments' : 'talk';
        // A full disk: it was said aloud, and nothing was promised.
        device
          ?.write(stream, Array.from({ length: 1 + below(3) }, doc))
          .catch((error: unknown) => notes('a device')(error));
      },
    ],
    [10, 'line cut', () => network.cutOne()],
    [4, 'device isolated', () => network.isolate(someone() ?? RELAY, 200 + below(8_000))],
    [2, 'relay isolated', () => network.isolate(RELAY, 200 + below(8_000))],
    [5, 'device restarted', () => away(someone() ?? RELAY, below(1_500))],
    [2, 'relay restarted', () => away(RELAY, below(1_500))],
    [1, 'relay away for long', () => away(RELAY, 4_000 + below(20_000))],
    [
      4,
      'direct connection changed',
      () => {
        const [a, b] = [someone(), someone()];
        if (a === null || b === null || a === b) return;
        if (network.isPaired(a, b)) network.part(a, b);
        else network.pair(a, b);
      },
    ],
    [
      3,
      'disk full for a while',
      () => {
        const life = lives.get(random() < 0.3 ? RELAY : (someone() ?? RELAY));
        if (life) life.failsUntil = time.now() + below(4_000);
      },
    ],
    [
      3,
      'copy made',
      () => {
        const name = someone();
        const disk = disks.get(name ?? '');
        if (name !== null && disk && random() < 0.7) copies.set(name, copyOf(disk));
        else relayCopy = relayDisk.copy();
      },
    ],
    [
      1,
      'device restored from an older copy',
      () => {
        const name = someone();
        const copy = copies.get(name ?? '');
        if (name === null || !copy) return;
        kill(name);
        disks.set(name, copyOf(copy));
        mourn();
        time.after(below(1_500), () => restart(name));
      },
    ],
    [
      1,
      'relay restored from an older copy',
      () => {
        kill(RELAY);
        relayDisk = relayCopy.copy();
        mourn();
        time.after(below(1_500), () => restart(RELAY));
      },
    ],
    [
      1,
      'entry spoilt on the relay’s disk',
      () => {
        const all = [...relayDisk.all].flatMap(([writer, entries]) =>
          [...entries].map(([counter, sealed]) => ({ writer, counter, sealed: sealed.slice() })),
        );
        const entry = all[below(all.length)];
        if (!entry) return;
        const at = 3 + below(entry.sealed.length - 3);
        entry.sealed[at] = (entry.sealed[at] ?? 0) ^ 1;
        relayDisk.write([entry]);
        mourn();
      },
    ],
    [8, 'nothing for a while', () => undefined],
  ];
  const operations = everything.filter(([, what]) => restored || what !== 'device restored from an older copy');
  const weights = operations.reduce((sum, [weight]) => sum + weight, 0);

  startRelay();
  for (const name of DEVICES) {
    network.pair(name, RELAY);
    if (name !== LATE) start(name);
  }
  for (let operation = 0; operation < times; operation++) {
    if (operation === Math.floor(times / 2)) start(LATE);
    let chance = random() * weights;
    const [, what, run] = operations.find(([weight]) => (chance -= weight) < 0) ??
      operations[0] ?? [0, '', () => undefined];
    happened[what] = (happened[what] ?? 0) + 1;
    run();
    await time.pass(what.startsWith('nothing') ? below(3_000) : below(80));
  }

  // The faults are over: everybody is there, and reaches everybody.
  network.calm();
  for (const name of [RELAY, ...DEVICES]) restart(name);
  for (const life of lives.values()) life.failsUntil = 0;
  for (const a of DEVICES) for (const b of DEVICES) if (a < b) network.pair(a, b);
  const storesOf = (names: readonly string[]) =>
    new Map([
      [RELAY, relayDisk],
      ...names.flatMap((name) => {
        const disk = disks.get(name);
        return disk ? [[name, disk.entries] as const] : [];
      }),
    ]);
  const lacking = (names: readonly string[]) =>
    names.flatMap((name) =>
      [...truth.acknowledged]
        .filter(([id, text]) => disks.get(name)?.docs.get(id) !== text)
        .map(([id]) => `${name} has ${disks.get(name)?.docs.has(id) ? 'another text for' : 'no'} ${id}`),
    );
  const equal = (names: readonly string[]) => {
    const stores = [...storesOf(names).values()];
    const counts = stores.map(({ all }) => [...all.values()].reduce((sum, entries) => sum + entries.size, 0));
    if (counts.some((count) => count !== counts[0])) return false;
    const places = stores.map((store) => JSON.stringify([...store.haveNow()].sort()));
    return places.every((place) => place === places[0]) && lacking(names).length === 0;
  };
  async function together(names: readonly string[]): Promise<number> {
    const began = time.now();
    // Twice in a row: what is on its way still might change it.
    for (let quiet = 0; time.now() - began < TOGETHER_MS && quiet < 2;) {
      await time.pass(100);
      quiet = equal(names) ? quiet + 1 : 0;
    }
    return time.now() - began - 200;
  }
  const togetherMs = await together(DEVICES);
  start(NEWCOMER);
  network.pair(NEWCOMER, RELAY);
  const everybody = [...DEVICES, NEWCOMER];
  await together(everybody);
  // What a relay’s disk has spoilt shows when somebody asks for it, and has to be healed then.
  await time.pass(60_000);

  faults.push(...lacking(everybody));
  const stores = storesOf(everybody);
  const all = new Set(
    [...stores.values()].flatMap((store) =>
      [...store.all].flatMap(([writer, entries]) => [...entries.keys()].map((counter) => placeOf({ writer, counter }))),
    ),
  );
  for (const [name, store] of stores) {
    const held = new Set<string>();
    for (const [writer, entries] of store.all) {
      for (const [counter, sealed] of entries) {
        held.add(placeOf({ writer, counter }));
        if (!truth.places.get(placeOf({ writer, counter }))?.has(digestOf(sealed)))
          faults.push(`${name} has ${placeOf({ writer, counter })}, which nobody wrote so`);
      }
    }
    for (const place of all) if (!held.has(place)) faults.push(`${name} has no entry ${place}`);
  }
  for (const name of everybody) {
    for (const [id, text] of disks.get(name)?.docs ?? [])
      if (![...truth.sealed.values()].some((written) => written.id === id && written.text === text))
        faults.push(`${name} has ${id}, which nobody wrote`);
    const device = devices.get(name);
    for (const [writer, ranges] of device?.replica.have() ?? [])
      if (highest(ranges) !== highest(disks.get(name)?.entries.haveNow().get(writer) ?? []))
        faults.push(`${name} keeps wrong account of ${writer}`);
  }
  for (const name of [RELAY, ...everybody]) kill(name);
  demand(`After ${times} operations`, faults.slice(0, 20));
  return { documents: truth.acknowledged.size, entries: all.size, togetherMs, happened };
}
