import { beforeEach, describe, expect, it } from 'vitest';
import { newHousehold, renewed } from '../../../../../src/worker/sync/crypto/index.ts';
import { createRandom } from '../../../../support/random.ts';
import { createWorld, household, idOf, type Signal, type TestDevice, type World } from './direct-world.ts';
import { random } from '../support.ts';

const MINUTE = 60_000;
const [A, B, C] = [idOf('A'), idOf('B'), idOf('C')];
let world: World;
let a: TestDevice;
let b: TestDevice;

beforeEach(() => {
  world = createWorld();
  a = world.device(A);
  b = world.device(B);
  world.settle();
});

const opened = (device: TestDevice) => device.orders.filter(({ kind }) => kind === 'open').length;
const bytes = (length: number, of = 1) => new Uint8Array(length).fill(of);

function expectOneLine() {
  expect([a.direct.connections(), b.direct.connections()]).toEqual([[B], [A]]);
  expect([a.links.length, b.links.length, world.connections()]).toEqual([1, 1, 1]);
}

describe('two devices that the relay introduces', () => {
  // SPEC 10.1
  it('makes one connection when both devices begin, and exchanges over it', () => {
    world.online(A, B);
    expectOneLine();
    expect([opened(a), opened(b)]).toEqual([1, 1]);
    a.links[0]?.send(bytes(3, 1));
    b.links[0]?.send(bytes(4, 2));
    world.settle();
    expect([a.frames, b.frames]).toEqual([[bytes(4, 2)], [bytes(3, 1)]]);
  });

  it.each([A, B])('makes one connection when only %s knows yet that the other is there', (first) => {
    (first === A ? a : b).direct.setOnline([A, B]);
    world.settle();
    expectOneLine();
  });

  it('keep it when the relay is away', () => {
    world.online(A, B);
    a.direct.setOnline([]);
    b.direct.setOnline([]);
    world.pass(10 * MINUTE);
    expectOneLine();
  });

  // SPEC 6.8
  it.each([0, 1, 2, 3, 4, 5])('makes one connection after signal %i was lost', (lost) => {
    let count = 0;
    world.relay = (waiting) => waiting.splice(0).filter(() => count++ !== lost);
    world.online(A, B);
    world.pass(2 * MINUTE);
    expectOneLine();
  });

  it('makes one connection when signals are lost, repeated, late and out of order', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const chance = createRandom(seed);
      world = createWorld();
      a = world.device(A);
      b = world.device(B);
      const late: Signal[] = [];
      world.relay = (waiting) => {
        late.push(
          ...waiting
            .splice(0)
            .flatMap((signal) => (chance() < 0.3 ? [] : chance() < 0.4 ? [signal, signal] : [signal])),
        );
        return late
          .splice(0)
          .sort(() => chance() - 0.5)
          .filter((signal) => chance() < 0.7 || (late.push(signal), false));
      };
      world.online(A, B);
      world.pass(5 * MINUTE);
      world.relay = (waiting) => waiting.splice(0);
      world.pass(20 * MINUTE);
      expectOneLine();
    }
  });

  // SPEC 10.4, 10.5
  it('open nothing when everything that was ever said is said again', () => {
    world.online(A, B);
    const before = [opened(a), opened(b)];
    const said = [...world.history];
    for (const { from, to, data } of [...said, ...said.reverse()]) {
      (to === A ? a : b).direct.hearSignal(from, data);
      world.settle();
    }
    world.pass(MINUTE);
    expectOneLine();
    expect([opened(a), opened(b)]).toEqual(before);
  });

  // SPEC 10.4, 10.5
  it('open nothing on a device that has begun anew either, which has no connection and hears all of it again', () => {
    world.online(A, B);
    const said = [...world.history];
    // Nothing but what was said before comes through.
    world.relay = (waiting) => waiting.splice(0).filter(() => false);
    for (const id of [A, B]) {
      const again = world.device(id);
      world.settle();
      for (const { from, data } of [...said, ...said.toReversed()].filter(({ to }) => to === id)) {
        again.direct.hearSignal(from, data);
        world.settle();
      }
      world.pass(MINUTE);
      // The one that offers answers whatever asks, with an offer that nobody takes.
      if (id === B) expect(opened(again)).toBe(0);
      expect(again.direct.connections()).toEqual([]);
    }
  });

  // SPEC 6.1
  it('hear nothing that was changed, that another device said, or that was for another one', () => {
    const c = world.device(C);
    world.settle();
    world.relay = (waiting) =>
      waiting.splice(0).flatMap(({ from, to, data }) => [
        { from, to, data: `${data.slice(0, -2)}${data.endsWith('AA') ? 'BA' : 'AA'}` },
        { from: from === C ? A : C, to, data },
        { from, to: to === C ? A : C, data },
      ]);
    world.online(A, B, C);
    world.pass(MINUTE);
    expect([a, b, c].map(({ direct }) => direct.connections())).toEqual([[], [], []]);
    expect([a, b, c].map(opened)).toEqual([0, 0, 0]);
  });

  // SPEC 12.5
  it('backs off from an unreachable device, and retries soon after it returns', () => {
    world.reach = () => false;
    world.online(A, B);
    world.pass(60 * MINUTE);
    expect(opened(a)).toBeGreaterThan(2);
    expect(opened(a)).toBeLessThan(16);
    expect(world.connections()).toBe(0);
    world.reach = () => true;
    world.online(A);
    world.online(A, B);
    world.pass(MINUTE);
    expectOneLine();
  });

  it('opens no more connections than the limit', () => {
    const ids = [...'ABCDEFGHIJKL'].map(idOf);
    const all = [a, b, ...ids.slice(2).map((id) => world.device(id))];
    world.settle();
    world.online(...ids);
    world.pass(MINUTE);
    const counts = all.map(({ links }) => links.length);
    expect(Math.max(...counts)).toBe(8);
    expect(Math.min(...counts)).toBeGreaterThan(0);
  });
});

describe('a tab', () => {
  it('reopens connections for a tab that takes over, and ends the old ones in the replica', () => {
    world.online(A, B);
    const [before] = a.links;
    a.newTab();
    world.pass(10_000);
    expectOneLine();
    expect(a.links[0]).not.toBe(before);
    expect(opened(a)).toBe(2);
  });

  it('reopens connections before the other side has noticed, and leaves one', () => {
    for (const one of [a, b]) {
      world.online(A, B);
      one.loseTab();
      one.newTab();
      world.pass(MINUTE);
      expectOneLine();
    }
  });

  it('sends no orders to a tab that is not there', () => {
    world = createWorld();
    a = world.device(A);
    b = world.device(B);
    a.loseTab();
    world.online(A, B);
    world.pass(MINUTE);
    expect(a.orders).toEqual([]);
    a.newTab();
    world.pass(10_000);
    expectOneLine();
  });

  it('closes a connection of a tab that nobody knows of', () => {
    a.direct.report({ kind: 'opened', connection: 'unknown' });
    a.direct.report({ kind: 'closed', connection: 'unknown' });
    expect(a.orders).toEqual([{ kind: 'close', connection: 'unknown' }]);
  });

  it('says what has left, and until then it counts as buffered', () => {
    world.online(A, B);
    const [link] = a.links;
    world.flowing = false;
    link?.send(bytes(100));
    world.settle();
    expect(link?.buffered()).toBe(100);
    world.flowing = true;
    link?.send(bytes(50));
    world.settle();
    expect(link?.buffered()).toBe(0);
    expect(a.drained).toBeGreaterThan(0);
    expect(b.frames.map(({ length }) => length)).toEqual([100, 50]);
  });

  it('passes frames to a tab without a larger buffer behind them', () => {
    world.online(A, B);
    a.links[0]?.send(bytes(1_000).subarray(10, 20));
    expect(a.orders.flatMap((order) => (order.kind === 'frame' ? [order.frame.buffer.byteLength] : []))).toEqual([10]);
  });
});

describe('a line', () => {
  it('closes a connection at both ends when the replica gives it up, and tries again', () => {
    world.online(A, B);
    a.links[0]?.close('It says nothing that can be read.');
    world.settle();
    expect([a.links.length, b.links.length, world.connections()]).toEqual([0, 0, 0]);
    world.pass(MINUTE);
    expectOneLine();
  });

  // SPEC 6.7
  it('closes the connection of a removed device at once, and ignores what it sends', () => {
    world.online(A, B);
    const keys = renewed(a.keys, random);
    b.members.clear();
    a.members.delete(B);
    a.direct.removed([B]);
    expect([a.direct.connections(), a.links]).toEqual([[], []]);
    a.keys = keys;
    world.settle();
    expect(world.connections()).toBe(0);
    b.members.add(A);
    world.online(A, B);
    world.pass(5 * MINUTE);
    expect(world.connections()).toBe(0);
    expect(opened(a)).toBe(1);
  });

  // SPEC 10.6
  it('reopens a connection when the key is renewed, once both have the new key', () => {
    world.online(A, B);
    const keys = renewed(a.keys, random);
    a.keys = keys;
    a.direct.removed([C]);
    world.settle();
    expect(world.connections()).toBe(0);
    world.pass(5_000);
    expect(world.connections()).toBe(0);
    b.keys = keys;
    b.direct.removed([C]);
    world.pass(MINUTE);
    expectOneLine();
  });

  it('connects to a device once its record has arrived', () => {
    a.members.clear();
    b.members.clear();
    world.online(A, B);
    expect(opened(a)).toBe(0);
    a.members.add(B);
    b.members.add(A);
    a.direct.removed([]);
    world.settle();
    expectOneLine();
  });

  it('tries nothing more after this side closes', () => {
    world.online(A, B);
    a.direct.close();
    world.settle();
    expect([a.links.length, b.links.length, world.connections()]).toEqual([0, 0, 0]);
    expect(a.direct.connections()).toEqual([]);
    const before = opened(a);
    a.direct.setOnline([]);
    world.pass(5 * MINUTE);
    expect(opened(a)).toBe(before);
  });
});

/** Resolves with what it comes to, once the devices are at rest. */
function made<Value>(promise: Promise<Value>): Promise<Value> {
  world.settle();
  return promise;
}
/** Calls of texts go on after a microtask. */
async function taken(device: TestDevice, text: string): Promise<string | null> {
  const promise = device.direct.takeText(text);
  await Promise.resolve();
  world.settle();
  return promise;
}

describe('two devices without a relay', () => {
  const offerOf = (device: TestDevice) => made(device.direct.makeOffer());
  const answerOf = async (device: TestDevice, offer: string) => (await taken(device, offer)) ?? '';

  // SPEC 11.1, 11.2, 11.3
  it('connects two devices by one text each way, whatever line breaks the texts have', async () => {
    const offer = await offerOf(b);
    expect(offer).toMatch(/^ROOST-DIRECT1\.[\w-]+$/);
    const answer = await answerOf(a, `\n  ${offer.replace(/(.{40})/g, '$1 \r\n')}\n`);
    expect(await taken(b, answer)).toBeNull();
    expectOneLine();
  });

  // SPEC 11.4
  it('connects two devices although their clocks are an hour apart', async () => {
    a.ahead = 60 * MINUTE;
    const answer = await answerOf(b, await offerOf(a));
    expect(await taken(a, answer)).toBeNull();
    expectOneLine();
    const other = await answerOf(a, await offerOf(b));
    expect(await taken(b, other)).toBeNull();
    world.pass(1_000);
    expectOneLine();
  });

  it('leaves one connection when each device took the other’s offer', async () => {
    const [fromA, fromB] = [await offerOf(a), await offerOf(b)];
    const [toB, toA] = [await answerOf(a, fromB), await answerOf(b, fromA)];
    const both = [a.direct.takeText(toA), b.direct.takeText(toB)];
    await Promise.resolve();
    world.settle();
    expect(await Promise.all(both)).toEqual([null, null]);
    world.pass(1_000);
    expectOneLine();
  });

  // SPEC 11.4
  it('leaves time to carry the texts, and answers the same offer the same way', async () => {
    const offer = await offerOf(a);
    world.pass(10 * MINUTE);
    const answer = await answerOf(b, offer);
    world.pass(4 * MINUTE);
    expect(await answerOf(b, offer)).toBe(answer);
    expect(await taken(a, answer)).toBeNull();
    expectOneLine();
  });

  it('connects through the returning relay while a text still waits for its answer', async () => {
    await answerOf(b, await offerOf(a));
    world.online(A, B);
    expectOneLine();
  });

  it('get a connection through the relay again after the one by text broke', async () => {
    expect(await taken(a, await answerOf(b, await offerOf(a)))).toBeNull();
    world.online(A, B);
    a.newTab();
    world.pass(10_000);
    expectOneLine();
  });

  // SPEC 11.4
  it('hear that an answer came too late', async () => {
    const offer = await offerOf(a);
    const answer = await answerOf(b, offer);
    world.pass(15 * MINUTE);
    await expect(taken(a, answer)).rejects.toThrow('has expired');
    expect(world.connections()).toBe(0);
  });

  // SPEC 11.4
  it('hear that an offer is too old', async () => {
    const offer = await offerOf(a);
    world.pass(80 * MINUTE);
    await expect(taken(b, offer)).rejects.toThrow('no longer works');
  });

  it('hear that an offer is good once', async () => {
    const offer = await offerOf(a);
    expect(await taken(a, await answerOf(b, offer))).toBeNull();
    await expect(taken(b, offer)).rejects.toThrow('no longer works');
  });

  it('hear that they do not reach each other', async () => {
    world.reach = () => false;
    const answer = await answerOf(b, await offerOf(a));
    const taking = taken(a, answer);
    const outcome = expect(taking).rejects.toThrow('cannot reach each other');
    await Promise.resolve();
    world.pass(MINUTE);
    await outcome;
  });

  it.each([
    ['is for joining a household', () => 'ROOST1.ABCDEF', 'begins with ROOST-DIRECT'],
    ['was not copied whole', (text: string) => text.slice(0, -5), 'not a whole text'],
    ['was changed', (text: string) => text.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')), 'not a whole text'],
    ['is of a newer Roost', (text: string) => text.replace('DIRECT1', 'DIRECT2'), 'newer Roost'],
    ['is none', () => '', 'begins with ROOST-DIRECT'],
  ])('hear that a text %s', async (_what, change, says) => {
    await expect(taken(b, change(await offerOf(a)))).rejects.toThrow(says);
  });

  it('hear that a text is of this very device, for another one, of another household, or of a removed device', async () => {
    const offer = await offerOf(a);
    await expect(taken(a, offer)).rejects.toThrow('for another device');
    const c = world.device(C, newHousehold(random));
    world.settle();
    await expect(taken(c, offer)).rejects.toThrow('not from a device of your household');
    c.keys = household;
    await expect(taken(c, await answerOf(b, offer))).rejects.toThrow('for another device');
    c.direct.removed([A]);
    await expect(taken(c, offer)).rejects.toThrow('not from a device of your household');
    c.keys = renewed(household, random);
    await expect(taken(c, await offerOf(b))).rejects.toThrow('another key');
  });

  it('hear that they are on no network', async () => {
    const offer = await offerOf(a);
    world.hasAddress = false;
    await expect(taken(b, offer)).rejects.toThrow('one network');
    await expect(offerOf(b)).rejects.toThrow('one network');
    expect(b.orders.filter(({ kind }) => kind === 'close').length).toBe(2);
  });

  it('hear that no tab carries', async () => {
    world = createWorld();
    a = world.device(A);
    await expect(a.direct.makeOffer()).rejects.toThrow('cannot open a direct connection');
  });

  it('replaces the oldest offer when too many are open', async () => {
    const offers = [];
    for (let count = 0; count < 4; count++) offers.push(await offerOf(a));
    const [first = '', , , last = ''] = offers;
    await expect(taken(a, await answerOf(b, first))).rejects.toThrow('has expired');
    expect(await taken(a, await answerOf(b, last))).toBeNull();
  });
});
