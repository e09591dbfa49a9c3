import { describe, expect, it } from 'vitest';
import type { Backlog, Link, ReplicaDeps } from '../../../../src/shared/replication/index.ts';
import { createReplica, REPLICATION } from '../../../../src/shared/replication/index.ts';
import { checked, decodeFrame, encodeFrame, type Frame } from '../../../../src/shared/replication/frames.ts';
import type { Entry, EntryKey } from '../../../../src/shared/protocol/sync/page.ts';
import { createMemoryEntries, type MemoryEntries } from '../../../support/memory-entries.ts';
import { join, steady, type Carrier, type End } from '../../../support/replicas.ts';
import { createVirtualTime, type VirtualTime } from '../../../support/virtual-time.ts';

const W = (letter: string) => `${letter.repeat(21)}A`;
const entry = (writer: string, counter: number, bytes = 299, fill = counter % 251): Entry => ({
  writer,
  counter,
  sealed: new Uint8Array(bytes).fill(fill),
});
const log = (writer: string, many: number, bytes?: number) =>
  Array.from({ length: many }, (_none, i) => entry(writer, i + 1, bytes));

interface Told {
  readonly stored: EntryKey[];
  readonly backlogs: (Backlog | null)[];
  readonly conflicts: { readonly key: EntryKey; readonly theirs: Uint8Array }[];
  readonly refused: EntryKey[];
  readonly ahead: string[];
  readonly troubles: unknown[];
}
type Side = End & { readonly store: MemoryEntries; readonly told: Told };

function side(
  time: VirtualTime,
  name: string,
  kind: Link['kind'],
  entries: readonly Entry[] = [],
  deps: Partial<ReplicaDeps> = {},
  memory = createMemoryEntries(),
): Side {
  memory.write(entries);
  const told: Told = { stored: [], backlogs: [], conflicts: [], refused: [], ahead: [], troubles: [] };
  const replica = createReplica({
    store: memory,
    timers: time,
    priority: () => 0,
    forwards: kind === 'relay',
    onStored: (keys) => told.stored.push(...keys),
    onBacklog: (backlog) => told.backlogs.push(backlog),
    onConflict: (key, theirs) => told.conflicts.push({ key, theirs }),
    onRefused: (keys) => told.refused.push(...keys),
    onAhead: (writer) => told.ahead.push(writer),
    onTrouble: (error) => told.troubles.push(error),
    ...deps,
  });
  return { replica, name, kind, store: memory, told };
}
const write = ({ store, replica }: Side, entries: readonly Entry[], options?: { replace: boolean }) => {
  store.write(entries);
  replica.wrote(entries, options);
};
/** Frames that pass from a to b and back, as they were meant. */
function listening(frames: Frame[], carry: Carrier = steady): Carrier {
  return (frame) => {
    const read = decodeFrame(frame);
    if (read.ok) frames.push(read.frame);
    return carry(frame);
  };
}

describe('two replicas', () => {
  it('know what is missing by the time they say that a peer has it', async () => {
    const time = createVirtualTime();
    const told: boolean[] = [];
    const here: Side = side(time, 'a', 'device', [], {
      onPeers: () => here.replica.peerHas('relay').size > 0 && told.push((here.told.backlogs.at(-1) ?? null) !== null),
    });
    join(time, here, side(time, 'b', 'relay', log(W('B'), 40)));
    await time.pass(1_000);
    expect(told[0]).toBe(true);
    expect(here.told.backlogs.at(-1)).toBeNull();
  });

  it('leaves two replicas equal after they met, whatever each had', async () => {
    const time = createVirtualTime();
    const a = side(time, 'a', 'device', [...log(W('A'), 40), ...log(W('C'), 3)]);
    const b = side(time, 'b', 'device', [...log(W('B'), 2_000), entry(W('C'), 7)]);
    join(time, a, b);
    await time.pass(1_000);
    expect(a.store.lines()).toEqual(b.store.lines());
    expect(a.replica.have()).toEqual(b.replica.have());
    expect(a.replica.have()).toEqual(
      new Map([
        [W('A'), [[1, 40]]],
        [W('B'), [[1, 2_000]]],
        [
          W('C'),
          [
            [1, 3],
            [7, 7],
          ],
        ],
      ]),
    );
    expect(a.replica.peerHas('device')).toEqual(b.replica.have());
    expect(a.replica.peerHas('relay').size).toBe(0);
  });

  it('hand on an entry that is larger than a frame, alone', async () => {
    const time = createVirtualTime();
    const a = side(time, 'a', 'device', [entry(W('A'), 1, 3_000_000), entry(W('A'), 2), entry(W('A'), 3, 2_000_000)]);
    const b = side(time, 'b', 'device');
    const frames: Frame[] = [];
    join(time, a, b, { carry: listening(frames) });
    await time.pass(1_000);
    expect(b.store.lines()).toEqual(a.store.lines());
    const sizes = frames.flatMap((frame) =>
      frame.kind === 'entries' ? [frame.entries.map(({ sealed }) => sealed.length)] : [],
    );
    expect(sizes.filter((list) => list.some((bytes) => bytes > 1_000_000)).every((list) => list.length === 1)).toBe(
      true,
    );
  });

  it('fetch the lower class first, and the newest of a writer first, with progress', async () => {
    const time = createVirtualTime();
    const newcomer = side(time, 'new', 'device', [], {
      priority: (writer) => (writer === W('P') ? 0 : 1),
      settings: { requests: 1, askEntries: 100 },
    });
    const old = side(time, 'old', 'device', [...log(W('T'), 300), ...log(W('P'), 150)]);
    join(time, newcomer, old);
    await time.pass(1_000);
    const { stored, backlogs } = newcomer.told;
    expect(stored).toHaveLength(450);
    expect(stored.findLastIndex(({ writer }) => writer === W('P'))).toBe(149);
    expect(stored[0]).toEqual({ writer: W('P'), counter: 150 });
    expect(stored[150]?.counter).toBe(300);
    expect(backlogs[0]).toEqual({
      done: 0,
      of: 450,
      background: 0,
      byPriority: new Map([
        [0, { missing: 150 }],
        [1, { missing: 300 }],
      ]),
    });
    expect(backlogs.at(-1)).toBeNull();
    const done = backlogs.flatMap((backlog) => (backlog ? [backlog.done] : []));
    expect(done).toEqual([...done].sort((x, y) => x - y));
    expect(backlogs.every((backlog) => backlog === null || backlog.of === 450)).toBe(true);
  });

  it.each([
    ['fetched', 'relay'],
    ['handed over', 'device'],
  ] as const)('let no word wait for the pieces of a large file that is being %s', async (_what, kind) => {
    const time = createVirtualTime();
    const priority = (writer: string) => (writer === W('F') ? REPLICATION.background : 1);
    // What a person's device knows of its writers, a relay does not.
    const knows = (side: Link['kind']) => (side === 'device' ? { priority } : {});
    const words = (first: number) => log(W('T'), first + 11, 60_000).slice(first - 1);
    const from = side(time, 'from', kind, [...log(W('F'), 160, 130_000), ...words(1)], knows(kind));
    const to = side(
      time,
      'to',
      kind === 'relay' ? 'device' : 'relay',
      [],
      knows(kind === 'relay' ? 'device' : 'relay'),
    );
    /** A line of 2.5 MB a second, which hands on one frame after the other. */
    let free = 0;
    join(time, to, from, {
      carry(frame) {
        free = Math.max(free, time.now()) + frame.length / 2_500;
        return [{ ms: free - time.now(), frame }];
      },
    });
    await time.pass(1_000);
    const { stored, backlogs } = to.told;
    const before = stored.length;
    expect(before).toBeGreaterThan(15);
    write(from, words(13));
    await time.pass(20_000);
    expect(stored).toHaveLength(184);
    const pieces = (keys: readonly EntryKey[]) => keys.filter(({ writer }) => writer === W('F')).length;
    // What was said before it comes first, and before what is said meanwhile only what was under
    // way.
    expect(pieces(stored.slice(0, 12))).toBe(0);
    const last = stored.findLastIndex(({ writer }) => writer === W('T'));
    expect(pieces(stored.slice(before, last))).toBeLessThan(kind === 'relay' ? 5 : 9);
    if (kind !== 'relay') return;
    // Nobody waits for a file: it is no part of what is fetched, and is told apart.
    expect(backlogs[0]).toMatchObject({ done: 0, of: 12, background: 160 });
    expect(backlogs.some((backlog) => backlog?.of === 0 && backlog.background > 100)).toBe(true);
    expect(backlogs.at(-1)).toBeNull();
  });

  it('go on where they were after the line was cut', async () => {
    const time = createVirtualTime();
    const a = side(time, 'a', 'device', log(W('A'), 5_000));
    const b = side(time, 'b', 'device');
    for (let cut = 0; cut < 40 && b.told.stored.length < 5_000; cut++) {
      const line = join(time, a, b);
      await time.pass(16);
      line.cut();
      await time.pass(1);
    }
    expect(b.store.lines()).toEqual(a.store.lines());
    expect(new Set(b.told.stored.map(({ counter }) => counter)).size).toBe(b.told.stored.length);
  });

  it('close a line over which something comes that cannot be read, and no other', async () => {
    const time = createVirtualTime();
    const [a, b, c] = [side(time, 'a', 'device'), side(time, 'b', 'device'), side(time, 'c', 'device', log(W('C'), 3))];
    const reasons: string[] = [];
    const bad = join(time, a, b, {
      carry: () => [{ ms: 1, frame: checked(Uint8Array.from([77])) }],
      onClose: (reason) => reasons.push(reason),
    });
    const good = join(time, a, c);
    await time.pass(100);
    expect([bad.live(), good.live()]).toEqual([false, true]);
    expect(reasons[0]).toBe('A frame of replication cannot be read: its kind is unknown.');
    expect(a.store.lines()).toEqual(c.store.lines());
  });
});

describe('a relay between devices', () => {
  it('hands on at once what one wrote; the sender sends less than 500 bytes for it', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay');
    const [a, b] = [side(time, 'a', 'device', log(W('A'), 7)), side(time, 'b', 'device', log(W('B'), 9))];
    const line = join(time, a, relay);
    join(time, b, relay);
    await time.pass(1_000);
    const before = line.sent.a;
    const got = line.sent.b;
    write(a, [entry(W('A'), 8)]);
    await time.pass(30);
    expect(b.store.lines()).toEqual(a.store.lines());
    expect(a.replica.peerHas('relay').get(W('A'))).toEqual([[1, 8]]);
    expect(line.sent.a - before).toBe(299 + 26);
    expect(line.sent.b - got).toBeLessThan(30);
  });

  it('leaves out of the relay what two directly connected devices can exchange', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay');
    const [a, b] = [side(time, 'a', 'device'), side(time, 'b', 'device')];
    const lines = [join(time, a, relay), join(time, b, relay), join(time, a, b)];
    await time.pass(100);
    const before = lines.map(({ sent }) => sent.a);
    write(a, [entry(W('A'), 1)]);
    await time.pass(5_000);
    expect(b.store.lines()).toEqual(a.store.lines());
    const toRelay = (lines[0]?.sent.a ?? 0) - (before[0] ?? 0);
    const direct = (lines[2]?.sent.a ?? 0) - (before[2] ?? 0);
    expect(toRelay + direct).toBeLessThan(500);
    expect(direct).toBeLessThan(30);
  });

  it('sends entries over a direct connection as they are written, without the relay', async () => {
    const time = createVirtualTime();
    const [a, b, c] = [side(time, 'a', 'device'), side(time, 'b', 'device'), side(time, 'c', 'device')];
    join(time, a, b);
    join(time, b, c);
    await time.pass(100);
    write(a, [entry(W('A'), 1)]);
    await time.pass(50);
    expect(c.store.lines()).toEqual(a.store.lines());
  });

  it('tells everybody who has an entry that it has it now, not only who handed it on; and that it agrees', async () => {
    const time = createVirtualTime();
    const own = { own: (writer: string) => writer === W('A') };
    const a = side(time, 'a', 'device', log(W('A'), 5), own);
    const b = side(time, 'b', 'device', log(W('A'), 5));
    const relay = side(time, 'relay', 'relay', log(W('A'), 3));
    join(time, b, relay);
    join(time, a, relay);
    await time.pass(50);
    expect(a.replica.peerHas('relay')).toEqual(a.replica.have());
    expect(b.replica.peerHas('relay')).toEqual(b.replica.have());
    expect(a.replica.agrees(W('A'))).toBe(true);
    write(a, [entry(W('A'), 6)]);
    expect(a.replica.agrees(W('A'))).toBe(false);
    await time.pass(50);
    expect(a.replica.agrees(W('A'))).toBe(true);
  });

  it('restores the tail that the relay lost', async () => {
    const time = createVirtualTime();
    const a = side(time, 'a', 'device', log(W('A'), 500));
    const relay = side(time, 'relay', 'relay', log(W('A'), 120));
    join(time, a, relay);
    await time.pass(500);
    expect(relay.store.lines()).toEqual(a.store.lines());
  });
});

describe('a replica on a bad line', () => {
  it('asks again for what does not come, and elsewhere', async () => {
    const time = createVirtualTime();
    const dumb = side(time, 'dumb', 'device', log(W('A'), 900));
    const good = side(time, 'good', 'device', log(W('A'), 900));
    const a = side(time, 'a', 'device');
    // Says what it has and never answers.
    join(time, a, dumb, { carry: (frame) => (frame[0] === 1 ? steady(frame) : []) });
    await time.pass(100);
    join(time, a, good);
    await time.pass(60_000);
    expect(a.store.lines()).toEqual(good.store.lines());
  });

  it('heals whatever was lost by saying everything it has from time to time', async () => {
    const time = createVirtualTime();
    const [a, relay] = [side(time, 'a', 'device'), side(time, 'relay', 'relay')];
    let lost = false;
    join(time, a, relay, { carry: (frame) => (lost ? [] : steady(frame)) });
    await time.pass(100);
    lost = true;
    write(a, [entry(W('A'), 1)]);
    await time.pass(100);
    lost = false;
    expect(relay.store.all.size).toBe(0);
    await time.pass(31_000);
    expect(relay.store.lines()).toEqual(a.store.lines());
  });

  it('does not fetch the same entry from two peers at once', async () => {
    const time = createVirtualTime();
    const [b, c, a] = [
      side(time, 'b', 'device', log(W('X'), 3_000)),
      side(time, 'c', 'device', log(W('X'), 3_000)),
      side(time, 'a', 'device'),
    ];
    const frames: Frame[] = [];
    join(time, a, b, { carry: listening(frames) });
    join(time, a, c, { carry: listening(frames) });
    await time.pass(2_000);
    const came = frames.flatMap((frame) => (frame.kind === 'entries' ? frame.entries : []));
    expect(came).toHaveLength(3_000);
    expect(a.store.lines()).toEqual(b.store.lines());
  });

  it('never hands more to a line than it takes: entries are read when there is room', async () => {
    const time = createVirtualTime();
    const memory = createMemoryEntries();
    let read = 0;
    const counting = {
      ...memory,
      read: (...args: Parameters<typeof memory.read>) => ((read += 1), memory.read(...args)),
    };
    const full = side(time, 'full', 'device', log(W('A'), 4_000), { store: counting }, memory);
    let buffered = 0;
    const end = full.replica.connect({
      kind: 'device',
      name: 'slow',
      send: (frame) => (buffered += frame.length),
      buffered: () => buffered,
      close: () => undefined,
    });
    await time.pass(10);
    end.take(encodeFrame({ kind: 'have', have: new Map() }));
    for (let i = 0; i < 60; i++)
      end.take(encodeFrame({ kind: 'want', request: i, want: new Map([[W('A'), [[1, 4_000]]]]) }));
    await time.pass(10_000);
    expect(buffered).toBeLessThan(1024 * 1024);
    expect(read).toBeLessThan(8);
    const before = buffered;
    buffered = 0;
    end.drained();
    await time.pass(10);
    expect(buffered).toBeGreaterThan(0);
    expect(before).toBeGreaterThan(0);
  });
});

describe('a store that fails', () => {
  it('reports a failing store, acknowledges nothing meanwhile, and retries', async () => {
    const time = createVirtualTime();
    const memory = createMemoryEntries();
    let full = true;
    const failing = {
      ...memory,
      put: (...args: Parameters<typeof memory.put>) =>
        full ? Promise.reject(new Error('The disk is full.')) : memory.put(...args),
    };
    const relay = side(time, 'relay', 'relay', [], { store: failing }, memory);
    const a = side(time, 'a', 'device');
    join(time, a, relay);
    await time.pass(100);
    write(a, [entry(W('A'), 1)]);
    await time.pass(5_000);
    expect(relay.told.troubles.map(String)).toContain('Error: The disk is full.');
    expect(relay.told.troubles).not.toContain(null);
    expect(a.replica.peerHas('relay').size).toBe(0);
    full = false;
    await time.pass(2_000);
    expect(relay.told.troubles.at(-1)).toBeNull();
    expect(a.replica.peerHas('relay').get(W('A'))).toEqual([[1, 1]]);
    expect(relay.store.lines()).toEqual(a.store.lines());
  });

  it('survives a store that fails before anything is known of it', async () => {
    const time = createVirtualTime();
    const memory = createMemoryEntries();
    let tries = 0;
    const failing = {
      ...memory,
      have: () => (++tries < 3 ? Promise.reject(new Error('It is locked.')) : memory.have()),
    };
    const a = side(time, 'a', 'device', log(W('A'), 3), { store: failing }, memory);
    const b = side(time, 'b', 'device', log(W('B'), 3));
    join(time, a, b);
    await time.pass(10_000);
    expect(a.store.lines()).toEqual(b.store.lines());
    expect(a.told.troubles).toHaveLength(3);
  });
});

describe('entries that are not what they say', () => {
  it('refuses forged entries, drops them at the relay, and fetches them from elsewhere', async () => {
    const time = createVirtualTime();
    const forged = ({ sealed }: Entry) => sealed[0] === 255;
    const relay = side(time, 'relay', 'relay', [entry(W('A'), 1, 299, 255), entry(W('A'), 2)]);
    const a = side(time, 'a', 'device', log(W('A'), 2));
    const b = side(time, 'b', 'device', [], {}, createMemoryEntries(forged));
    join(time, a, relay);
    join(time, b, relay);
    await time.pass(5_000);
    expect(b.told.refused).toEqual([{ writer: W('A'), counter: 1 }]);
    expect(relay.store.lines()).toEqual(a.store.lines());
    expect(b.store.lines()).toEqual(a.store.lines());
  });

  it("does not drop a device's entries because a relay calls them forged", async () => {
    const time = createVirtualTime();
    const a = side(time, 'a', 'device', log(W('A'), 2));
    const relay = side(
      time,
      'relay',
      'relay',
      [],
      {},
      createMemoryEntries(() => true),
    );
    join(time, a, relay);
    await time.pass(5_000);
    expect(relay.told.refused.length).toBeGreaterThan(0);
    expect(a.replica.have().get(W('A'))).toEqual([[1, 2]]);
  });
});

describe('two entries in one place', () => {
  it('reports a conflict when two entries of one place meet, and changes nothing', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 3));
    const a = side(time, 'a', 'device', log(W('A'), 2));
    // What it lacks does not come yet, so that it writes in a place that is taken.
    join(time, a, relay, { carry: (frame) => (frame[0] === 4 ? [] : steady(frame)) });
    await time.pass(100);
    const mine = entry(W('A'), 3, 299, 200);
    write(a, [mine]);
    await time.pass(100);
    expect(a.told.conflicts).toEqual([{ key: { writer: W('A'), counter: 3 }, theirs: entry(W('A'), 3).sealed }]);
    expect(relay.told.conflicts).toEqual([{ key: { writer: W('A'), counter: 3 }, theirs: mine.sealed }]);
    expect(a.store.lines()).not.toEqual(relay.store.lines());
    expect(a.store.all.get(W('A'))?.get(3)).toEqual(mine.sealed);
  });

  it("lets the writer's device find all conflicts when both sides have the same places", async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 1_000));
    const other = log(W('A'), 1_000).map((each) => (each.counter > 600 ? entry(W('A'), each.counter, 300, 7) : each));
    const a = side(time, 'a', 'device', other, { own: (writer) => writer === W('A') });
    join(time, a, relay);
    await time.pass(2_000);
    expect(new Set(a.told.conflicts.map(({ key }) => key.counter))).toEqual(
      new Set(Array.from({ length: 400 }, (_none, i) => 601 + i)),
    );
    expect(a.told.ahead).toEqual([]);
  });

  it('finds few conflicts in the middle of a writer that the device left', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 1_000));
    const other = log(W('A'), 1_000).map((each) => (each.counter === 555 ? entry(W('A'), 555, 300, 7) : each));
    const a = side(time, 'a', 'device', other, { own: () => true, left: () => true });
    join(time, a, relay);
    await time.pass(2_000);
    expect(a.told.conflicts.map(({ key }) => key.counter)).toEqual([555]);
  });

  it('reports conflicts once all are known, and again on the next connection if unsettled', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 600));
    const other = log(W('A'), 590).map((each) => (each.counter > 300 ? entry(W('A'), each.counter, 300, 7) : each));
    const a = side(time, 'a', 'device', other, { own: () => true, settings: { compareEntries: 20 } });
    const line = join(time, a, relay);
    await time.pass(100);
    expect(a.told.conflicts).toEqual([]);
    line.cut();
    join(time, a, relay);
    await time.pass(2_000);
    expect(a.told.conflicts.map(({ key }) => key.counter)).toEqual(Array.from({ length: 290 }, (_none, i) => 301 + i));
    // What would cover it up is not fetched yet.
    expect(a.replica.have().get(W('A'))).toEqual([[1, 590]]);
  });

  it('reports a restored device, not a conflict, when a device lacks its own entries', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 30));
    const a = side(time, 'a', 'device', log(W('A'), 20), { own: (writer) => writer === W('A') });
    join(time, a, relay);
    await time.pass(1_000);
    expect(a.told.ahead).toContain(W('A'));
    expect(a.told.conflicts).toEqual([]);
    expect(a.store.lines()).toEqual(relay.store.lines());
  });

  it('become one where the newer is to replace the older, everywhere, and it comes to rest', async () => {
    const time = createVirtualTime();
    const all = [
      side(time, 'relay', 'relay', log(W('A'), 3)),
      ...['a', 'b', 'c'].map((name) => side(time, name, 'device', log(W('A'), 3))),
    ];
    const [relay, a, b, c] = all;
    if (!relay || !a || !b || !c) throw new Error('four are there');
    const frames: Frame[] = [];
    for (const device of [a, b, c]) join(time, device, relay, { carry: listening(frames) });
    join(time, b, c, { carry: listening(frames) });
    await time.pass(500);
    write(a, [entry(W('A'), 2, 256, 99)], { replace: true });
    await time.pass(5_000);
    for (const each of all) expect(each.store.all.get(W('A'))?.get(2)).toEqual(entry(W('A'), 2, 256, 99).sealed);
    const handed = frames.filter((frame) => frame.kind === 'entries' && frame.replace).length;
    await time.pass(60_000);
    expect(frames.filter((frame) => frame.kind === 'entries' && frame.replace)).toHaveLength(handed);
  });

  it('become one later where the relay was away when it was replaced', async () => {
    const time = createVirtualTime();
    const relay = side(time, 'relay', 'relay', log(W('A'), 3));
    const a = side(time, 'a', 'device', log(W('A'), 3), { own: () => true });
    await a.replica.ready;
    write(a, [entry(W('A'), 3, 256, 99)], { replace: true });
    join(time, a, relay);
    await time.pass(5_000);
    expect(relay.store.lines()).toEqual(a.store.lines());
    expect(a.told.conflicts).toEqual([]);
  });
});
