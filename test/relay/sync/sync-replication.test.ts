import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryEntries } from '../../support/memory-entries.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../support/open-relay.ts';
import { createDatabase } from '../../support/postgres.ts';
import { createHome, startRelay } from '../../support/relay.ts';
import { STORES, USUAL_STORES } from '../../support/stores.ts';
import { hello, newTestDevice, newTestHousehold, register, renew } from '../../support/sync-device.ts';
import { createTestReplica, noise, type TestReplica } from '../../support/sync-replica.ts';

const textsOf = ({ store }: TestReplica) =>
  [...store.all.values()]
    .flatMap((entries) => [...entries.values()].map((sealed) => new TextDecoder().decode(sealed)))
    .sort();

describe.each(USUAL_STORES)('what a household writes, with the relay’s store on %s', (kind) => {
  let relay: OpenRelay;
  let home: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({
      args: ['--households', '100'],
      sync: { householdBytes: 200_000 },
      store: kind,
    });
    home = await relay.signIn();
  });
  afterAll(async () => {
    await relay.close();
  });

  it('reaches all of its devices, whoever is online when', async () => {
    const household = newTestHousehold();
    const [one, other, late] = [0, 1, 2].map(() => createTestReplica(household, newTestDevice()));
    if (!one || !other || !late) throw new Error('three were made');
    one.write('before anybody was there');
    const lines = [await one.connect(home), await other.connect(home)];
    one.write('a', 'b');
    other.write('c');
    await expect.poll(() => [one.count(), other.count()]).toEqual([4, 4]);
    await expect.poll(() => [one.acknowledged(), other.acknowledged()]).toEqual([3, 1]);
    for (const line of lines) await line.close();
    other.write('written while it was away');
    // The relay alone has it all; what it does not have yet comes with the next who does.
    lines.push(await late.connect(home));
    await expect.poll(() => late.count()).toBe(4);
    lines.push(await other.connect(home));
    await expect
      .poll(() => textsOf(late))
      .toEqual(['a', 'b', 'before anybody was there', 'c', 'written while it was away']);
    for (const line of lines) await line.close();
    for (const replica of [one, other, late]) await replica.close();
  });

  it('reaches no other household', async () => {
    const [one, stranger] = [
      createTestReplica(newTestHousehold(), newTestDevice()),
      createTestReplica(newTestHousehold(), newTestDevice()),
    ];
    const lines = [await one.connect(home), await stranger.connect(home)];
    one.write('a');
    stranger.write('b');
    await expect.poll(() => [one.acknowledged(), stranger.acknowledged()]).toEqual([1, 1]);
    expect([one.count(), stranger.count()]).toEqual([1, 1]);
    for (const line of lines) await line.close();
    for (const replica of [one, stranger]) await replica.close();
  });

  it('is overwritten everywhere when something in it was forgotten', async () => {
    const household = newTestHousehold();
    const [one, other, late] = [0, 1, 2].map(() => createTestReplica(household, newTestDevice()));
    if (!one || !other || !late) throw new Error('three were made');
    const lines = [await one.connect(home), await other.connect(home)];
    const [entry] = one.write('with a secret');
    await expect.poll(() => other.count()).toBe(1);
    if (!entry) throw new Error('it was written');
    one.overwrite({ ...entry, sealed: new TextEncoder().encode('without') });
    await expect.poll(() => textsOf(other)).toEqual(['without']);
    for (const line of lines) await line.close();
    const line = await late.connect(home);
    await expect.poll(() => textsOf(late)).toEqual(['without']);
    await line.close();
    for (const replica of [one, other, late]) await replica.close();
  });

  it('is dropped when a device that can open it refuses it, and is fetched from one with the right entry', async () => {
    const household = newTestHousehold();
    const isForged = ({ sealed }: { sealed: Uint8Array }) => new TextDecoder().decode(sealed) === 'forged';
    const forger = createTestReplica(household, newTestDevice());
    const author = createTestReplica(household, newTestDevice());
    const reader = createTestReplica(household, newTestDevice(), { store: createMemoryEntries(isForged) });
    author.write('genuine');
    // In the author's place, before the author has come.
    const forged = { writer: author.writer, counter: 1, sealed: new TextEncoder().encode('forged') };
    forger.store.write([forged]);
    forger.replica.wrote([forged]);
    const lines = [await forger.connect(home)];
    await expect.poll(() => forger.replica.peerHas('relay').get(author.writer)).toEqual([[1, 1]]);
    await lines[0]?.close();
    lines.push(await reader.connect(home));
    lines.push(await author.connect(home));
    await expect.poll(() => textsOf(reader)).toEqual(['genuine']);
    for (const line of lines) await line.close();
    for (const replica of [forger, author, reader]) await replica.close();
  });

  it('stays on the devices, which are told, when the relay is full; acknowledged entries stay there', async () => {
    const household = newTestHousehold();
    const [one, late, elsewhere] = [
      createTestReplica(household, newTestDevice()),
      createTestReplica(household, newTestDevice()),
      createTestReplica(newTestHousehold(), newTestDevice()),
    ];
    const line = await one.connect(home);
    one.write(noise(150_000));
    await expect.poll(() => one.acknowledged()).toBe(1);
    one.write(noise(60_000));
    expect(await line.next('refused')).toMatchObject({
      what: 'entries',
      reason: expect.stringMatching(/no more room .* stays on your devices.*--household-gb/),
    });
    expect(one.acknowledged()).toBe(1);
    const second = await late.connect(home);
    expect(await second.next('refused'), 'who comes later is told too').toMatchObject({ what: 'entries' });
    await expect.poll(() => late.count()).toBe(1);
    const third = await elsewhere.connect(home);
    elsewhere.write(noise(100_000));
    await expect.poll(() => elsewhere.acknowledged(), { message: 'others have room of their own' }).toBe(1);
    for (const each of [line, second, third]) await each.close();
    for (const replica of [one, late, elsewhere]) await replica.close();
  });

  it('comes in any number to who was away', async () => {
    const household = newTestHousehold();
    const [one, late] = [createTestReplica(household, newTestDevice()), createTestReplica(household, newTestDevice())];
    one.write(...Array.from({ length: 600 }, (_, i) => `entry ${i} ${'.'.repeat(200)}`));
    const first = await one.connect(home);
    await expect.poll(() => one.acknowledged()).toBe(600);
    await first.close();
    const second = await late.connect(home);
    await expect.poll(() => late.count()).toBe(600);
    expect(textsOf(late)).toEqual(textsOf(one));
    await second.close();
    for (const replica of [one, late]) await replica.close();
  });
});

const KILLS = 2;
describe.each(STORES)('a relay on %s that is killed', (kind) => {
  it(`has everything that it had acknowledged, after each of ${KILLS} kills`, { timeout: 120_000 }, async () => {
    const home = await createHome({ store: kind });
    const household = newTestHousehold();
    const writer = createTestReplica(household, newTestDevice());
    const start = (port: number) => startRelay({ home, port });
    try {
      let relay = await start(0);
      const signIn = await relay.signIn();
      const browser = { url: relay.url, signIn: () => Promise.resolve(signIn) };
      for (let kills = 0; kills < KILLS; kills++) {
        const wanted = writer.everAcknowledged() + Math.floor(Math.random() * 60);
        const line = await writer.connect(browser);
        const writing = setInterval(() => writer.write(...Array.from({ length: 5 }, () => noise(300))), 2);
        await expect.poll(() => writer.everAcknowledged(), { interval: 1 }).toBeGreaterThan(wanted);
        clearInterval(writing);
        await relay.kill('SIGKILL');
        // What it said until its last moment is here.
        await line.closed;
        relay = await start(relay.port);
        const reader = createTestReplica(household, newTestDevice());
        const second = await reader.connect(browser);
        await expect.poll(() => reader.count()).toBeGreaterThanOrEqual(writer.everAcknowledged());
        const written = writer.store.all.get(writer.writer);
        for (const [counter, sealed] of reader.store.all.get(writer.writer) ?? [])
          expect(Buffer.compare(sealed, written?.get(counter) ?? new Uint8Array())).toBe(0);
        await second.close();
        await reader.close();
      }
      await relay.kill('SIGTERM');
    } finally {
      await writer.close();
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('a relay that was put back from an older copy', () => {
  it('gets from the devices what it lacks: entries, rotations, and removed devices', { timeout: 120_000 }, async () => {
    const home = await createHome({ store: 'sqlite' });
    const copy = join(home, 'store-copy');
    const store = join(home, 'store');
    const household = newTestHousehold();
    const [device, other, gone] = [newTestDevice(), newTestDevice(), newTestDevice()];
    const one = createTestReplica(household, device);
    try {
      let relay = await openTestRelay({ home });
      let browser = await relay.signIn();
      await register(browser, household, gone);
      one.write('early');
      const first = await one.connect(browser);
      await expect.poll(() => one.acknowledged()).toBe(1);
      await relay.close();
      await cp(store, copy, { recursive: true });

      relay = await openTestRelay({ home });
      browser = await relay.signIn();
      const second = await one.connect(browser);
      one.write('late', 'later');
      await expect.poll(() => one.acknowledged()).toBe(3);
      const next = renew(household, { removed: [gone], stay: [device, other] });
      second.send({ kind: 'rotate', rotation: next.rotation });
      await second.next('rotated');
      await relay.close();
      expect(await second.closed).toBe(1001);
      await rm(store, { recursive: true });
      await cp(copy, store, { recursive: true });

      relay = await openTestRelay({ home });
      browser = await relay.signIn();
      // The one that was removed would be let in again, until somebody says so.
      expect((await register(browser, next, device)).status).toBe(200);
      const third = await one.connect(browser).catch((error: unknown) => error);
      expect(third, 'the old key counts no more').toMatchObject({ status: 403 });
      const same = createTestReplica(next, device, { store: one.store });
      const fourth = await same.connect(browser);
      await expect.poll(() => [...(same.replica.peerHas('relay').get(one.writer) ?? [])]).toEqual([[1, 3]]);
      await fourth.close();
      const fresh = createTestReplica(next, other);
      const fifth = await fresh.connect(browser);
      await expect.poll(() => textsOf(fresh)).toEqual(['early', 'late', 'later']);
      expect((await register(browser, household, gone)).status).toBe(403);
      await fifth.close();
      await first.close();
      for (const replica of [same, fresh]) await replica.close();
      await relay.close();
    } finally {
      await one.close();
      await rm(home, { recursive: true, force: true });
    }
  });
});

describe('two relay processes on one Postgres', () => {
  it('hand on what came to the other, and who was removed there', async () => {
    const database = await createDatabase();
    const homes = [await createHome({ store: null }), await createHome({ store: null })] as const;
    const household = newTestHousehold();
    const gone = newTestDevice();
    try {
      const one = await openTestRelay({ home: homes[0], databaseUrl: database.url });
      await cp(join(homes[0], 'roost.json'), join(homes[1], 'roost.json'));
      const other = await openTestRelay({ home: homes[1], databaseUrl: database.url });
      const [here, there] = [await one.signIn(), await other.signIn()];
      const device = newTestDevice();
      const writer = createTestReplica(household, device);
      const reader = createTestReplica(household, gone);
      const first = await writer.connect(here);
      const second = await reader.connect(there);
      writer.write('a', 'b');
      await expect.poll(() => writer.acknowledged()).toBe(2);
      const late = createTestReplica(household, newTestDevice());
      const third = await late.connect(there);
      const events = (await there.fetch('/api/events')).body?.getReader();
      await expect.poll(() => [late.count(), reader.count()], { message: 'also who was there before' }).toEqual([2, 2]);
      first.send({ kind: 'rotate', rotation: renew(household, { removed: [gone], stay: [device] }).rotation });
      await first.next('rotated');
      // The next who comes there makes it look.
      const again = await hello(await other.signIn(), household, device);
      await again.next('welcome');
      await second.next('removed');
      expect((await there.fetch('/api/rehearsal')).status).toBe(401);
      for (let end = false; !end;) end = (await events?.read())?.done ?? true;
      for (const line of [first, third, again]) await line.close();
      for (const replica of [writer, reader, late]) await replica.close();
      await one.close();
      await other.close();
    } finally {
      await database.drop();
      for (const home of homes) await rm(home, { recursive: true, force: true });
    }
  });
});
