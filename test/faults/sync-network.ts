/** Lines that drop, repeat, reorder, delay, change and forge frames, and break. */
import { decodeFrame, encodeFrame } from '../../src/shared/replication/frames.ts';
import type { Entry } from '../../src/shared/protocol/sync/page.ts';
import { join, steady, type Carrier, type End, type Line } from '../support/replicas.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

export interface Weather {
  /** Shares of all frames. */
  readonly drops: number;
  readonly repeats: number;
  readonly flips: number;
  readonly forges: number;
  readonly slowestMs: number;
}

export interface Network {
  /** Joins these two whenever both are up, and again after a cut, until they are parted. */
  pair(a: string, b: string): void;
  part(a: string, b: string): void;
  isPaired(a: string, b: string): boolean;
  /** Somebody is there; null: it is gone. */
  set(name: string, end: End | null): void;
  /** Cuts one line, as chance has it. */
  cutOne(): void;
  /** Nobody reaches it, and it nobody, for so many ms. */
  isolate(name: string, ms: number): void;
  /** No more faults: all lines are made anew. */
  calm(): void;
}

/** Changes what lies in an entry, or where it lies, so that the frame itself is without fault. */
function forged(entries: readonly Entry[], random: () => number): readonly Entry[] {
  const which = Math.floor(random() * entries.length);
  return entries.map((entry, i) => {
    if (i !== which) return entry;
    if (random() < 0.3) return { ...entry, counter: entry.counter + 1 + Math.floor(random() * 3) };
    const sealed = entry.sealed.slice();
    // Its first bytes say which Roost and which key sealed it: those of later ones are kept until
    // they can be opened.
    const at = 3 + Math.floor(random() * (sealed.length - 3));
    sealed[at] = (sealed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    return { ...entry, sealed };
  });
}

export function carrierOf(weather: Weather, random: () => number): Carrier {
  const ms = () => 1 + Math.floor(random() * weather.slowestMs);
  function onTheWay(frame: Uint8Array): Uint8Array {
    const chance = random();
    if (chance < weather.flips) {
      const changed = frame.slice();
      const at = Math.floor(random() * changed.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      return changed;
    }
    if (chance < weather.flips + weather.forges) {
      const read = decodeFrame(frame);
      if (read.ok && read.frame.kind === 'entries' && read.frame.entries.length > 0)
        return encodeFrame({ ...read.frame, entries: forged(read.frame.entries, random) });
    }
    return frame;
  }
  return (frame) => {
    if (random() < weather.drops) return [];
    const copies = random() < weather.repeats ? 2 : 1;
    return Array.from({ length: copies }, () => ({ ms: ms(), frame: onTheWay(frame) }));
  };
}

export function createNetwork({
  time,
  random,
  weather,
}: {
  readonly time: VirtualTime;
  readonly random: () => number;
  readonly weather: Weather;
}): Network {
  const ends = new Map<string, End>();
  const lines = new Map<string, Line>();
  const pairs = new Map<string, readonly [string, string]>();
  const isolated = new Map<string, number>();
  let carry = carrierOf(weather, random);
  let calm = false;
  const keyOf = (a: string, b: string) => [a, b].sort().join('–');
  const isOut = (name: string) => (isolated.get(name) ?? 0) > time.now();

  function tryJoin(key: string): void {
    const pair = pairs.get(key);
    if (!pair || lines.has(key)) return;
    const [a, b] = pair.map((name) => ends.get(name));
    if (!a || !b || pair.some(isOut)) {
      if (a && b) time.after(50, () => tryJoin(key));
      return;
    }
    const line = join(time, a, b, {
      carry: (frame) => carry(frame),
      onCut: () => {
        lines.delete(key);
        time.after(calm ? 20 : 20 + Math.floor(random() * 500), () => tryJoin(key));
      },
    });
    lines.set(key, line);
  }
  const cutOf = (name: string) => {
    for (const [key, pair] of pairs) if (pair.includes(name)) lines.get(key)?.cut();
  };

  return {
    pair(a, b) {
      pairs.set(keyOf(a, b), [a, b]);
      tryJoin(keyOf(a, b));
    },
    part(a, b) {
      pairs.delete(keyOf(a, b));
      lines.get(keyOf(a, b))?.cut();
    },
    isPaired: (a, b) => pairs.has(keyOf(a, b)),
    set(name, end) {
      ends.delete(name);
      cutOf(name);
      if (!end) return;
      ends.set(name, end);
      for (const [key, pair] of pairs) if (pair.includes(name)) tryJoin(key);
    },
    cutOne() {
      const live = [...lines.values()];
      live[Math.floor(random() * live.length)]?.cut();
    },
    isolate(name, ms) {
      isolated.set(name, time.now() + ms);
      cutOf(name);
    },
    calm() {
      calm = true;
      carry = steady;
      isolated.clear();
      // Lines lose nothing while they last: what was lost, everybody who reconnects looks at anew.
      for (const line of [...lines.values()]) line.cut();
      for (const key of pairs.keys()) tryJoin(key);
    },
  };
}
