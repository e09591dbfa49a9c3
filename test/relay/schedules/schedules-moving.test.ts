/**
 * What is due belongs to one relay: a household that uses several never has it run at two, whatever
 * its devices know of each other.
 */
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { offeredRecordsSchema } from '../../../src/shared/protocol/records.ts';
import type { EventOf } from '../../../src/shared/protocol/events.ts';
import { eventsOf, eventually } from '../../support/homes.ts';
import { openHealthSchema } from '../../../src/shared/protocol/http.ts';
import { browserOf, openTestRelay, type Browser } from '../../support/open-relay.ts';
import { allowAll, askedOf } from '../../support/records.ts';
import { createHome } from '../../support/relay.ts';
import { createRandom } from '../../support/random.ts';
import { SNAPSHOT, createHandClock, routine } from '../../support/schedules.ts';
import { openSessionBench, payload, type Bench, type Household } from '../../support/session.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 10, 23, 6, 0);
const LYRA = payload(0, { name: 'Lyra' });
const TEAM = { agents: [{ agentId: LYRA.id, name: LYRA.name, position: LYRA.position, retired: false }] };

type Told = EventOf<'record'>['record'] & { readonly at: string };
/** What a device has stored: the newest version of each. */
type Device = Map<string, Told>;
const hear = (device: Device, told: Iterable<Told>) => {
  for (const each of told) if ((device.get(each.id)?.at ?? '') < each.at) device.set(each.id, each);
};

describe('over HTTP, of two real relays', () => {
  const listSchema = z.object({ schedules: z.array(scheduledSchema) });
  const list = async (browser: Browser) =>
    listSchema.parse(await (await browser.fetch('/v1/pulse-routines')).json()).schedules;
  /**
   * A page is opened there: it hears what the relay tells, and gives it what it knows that is
   * newer.
   */
  async function visit(device: Device, browser: Browser): Promise<void> {
    const listen = async () => {
      for (const { event, data } of await eventsOf(browser)) {
        const told = data as EventOf<'record'>;
        if (event === 'record' && told.record.type === 'schedule' && told.at !== undefined)
          hear(device, [{ ...told.record, at: told.at }]);
      }
    };
    await listen();
    const records = [...device.values()];
    const answer = await browser.fetch('/api/records', { method: 'POST', json: { records } });
    offeredRecordsSchema.parse(await answer.json());
    await listen();
  }
  const untilTold = (device: Device, browser: Browser, what: (told: Told) => boolean) =>
    eventually(
      async () => (await visit(device, browser), [...device.values()].map((told) => what(told))),
      (all) => all.every((one) => one),
    );
  const move = async (browser: Browser, gone: boolean) =>
    expect((await browser.fetch('/v1/pulse-routines-move', { method: 'POST', json: { gone } })).status).toBe(204);

  it('it is due at the new one only once the old one has let go of it, or the person says that there is none', async () => {
    const args = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];
    const relays = [await openTestRelay({ args }), await openTestRelay({ args })] as const;
    try {
      const [old, fresh] = [await relays[0].signIn(), await relays[1].signIn()];
      for (const browser of [old, fresh]) {
        await browser.fetch('/api/home', { method: 'POST', json: { beside: false } });
        await browser.fetch('/api/team', { method: 'PUT', json: TEAM });
      }
      const timing = { kind: 'every', minutes: 1, offset: null } as const;
      const json = routine({ agentId: LYRA.id, timing, context: 'own_runs', maxTurns: 7 });
      expect((await old.fetch('/v1/pulse-routines', { method: 'POST', json })).status).toBe(201);
      const phone: Device = new Map();
      await untilTold(phone, old, () => true);
      await eventually(
        async () => (await visit(phone, old), phone.size),
        (size) => size === 1,
      );

      await visit(phone, fresh);
      expect(await list(fresh)).toMatchObject([{ elsewhere: 'due', nextAt: null }]);
      expect((await list(old))[0]).toMatchObject({ elsewhere: null, nextAt: expect.any(Number) });
      const scheduleId = (await list(fresh))[0]?.scheduleId ?? '';
      // Neither switching it on nor running it now makes it run here as well.
      for (const [path, method] of [
        ['toggle', 'POST'],
        ['trigger', 'POST'],
      ] as const)
        expect((await fresh.fetch(`/v1/pulse-routines/${scheduleId}/${path}`, { method })).status).toBeGreaterThan(399);

      await move(fresh, false);
      expect((await list(fresh))[0]?.elsewhere).toBe('asked');
      await untilTold(phone, fresh, ({ value }) => 'wanted' in value && value.wanted !== null);
      expect((await list(old))[0]?.elsewhere).toBe(null);
      await eventually(
        async () => (await visit(phone, old), (await list(old))[0]?.elsewhere),
        (where) => where === 'due',
      );
      expect((await list(fresh))[0]).toMatchObject({ elsewhere: 'asked', nextAt: null });
      await eventually(
        async () => (await visit(phone, old), await visit(phone, fresh), (await list(fresh))[0]?.elsewhere),
        (where) => where === null,
      );
      expect((await list(old))[0]).toMatchObject({ elsewhere: 'due', nextAt: null });
      // It was never set here: it runs once the person has said yes to what it says.
      expect((await list(fresh))[0]).toMatchObject({ elsewhere: null, nextAt: null });
      expect(await askedOf(fresh)).toMatchObject([{ type: 'schedule', after: { schedule: { kind: 'routine' } } }]);
      await allowAll(fresh);
      const { created_at, updated_at } = (await list(old))[0] ?? {};
      expect(created_at).toEqual(expect.any(Number));
      expect((await list(fresh))[0]).toMatchObject({
        ...{ nextAt: expect.any(Number), created_at, updated_at },
        schedule: { context: 'own_runs', maxTurns: 7 },
      });

      // Nobody is asked where the person says that the other runs no more; a page that comes there
      // stops it all the same.
      await move(old, true);
      expect((await list(old))[0]).toMatchObject({ elsewhere: null, nextAt: expect.any(Number) });
      await eventually(
        async () => (await visit(phone, old), await visit(phone, fresh), (await list(fresh))[0]?.elsewhere),
        (where) => where === 'due',
      );
    } finally {
      await Promise.all(relays.map((relay) => relay.close()));
    }
  });

  it('it is not due at a copy of the relay’s folder, which says so, until the person says that the first is gone', async () => {
    const args = ['--rehearsal', '{"delayMs":0,"wordMs":0}'];
    const folder = await mkdtemp(join(tmpdir(), 'roost-copies-'));
    const [home, copied] = [await createHome({ store: 'sqlite' }), join(folder, 'copied')];
    const first = await openTestRelay({ args, home });
    const browser = await first.signIn();
    const json = routine({ agentId: LYRA.id, timing: { kind: 'every', minutes: 1, offset: null } });
    const isCopied = async (url: string) =>
      openHealthSchema.parse(await (await fetch(`${url}/health`)).json()).clock.copied;
    try {
      await browser.fetch('/api/home', { method: 'POST', json: { beside: false } });
      await browser.fetch('/api/team', { method: 'PUT', json: TEAM });
      expect((await browser.fetch('/v1/pulse-routines', { method: 'POST', json })).status).toBe(201);
    } finally {
      await first.close();
    }
    await cp(home, copied, { recursive: true });
    // The same folder under another name is no copy.
    await rename(home, join(folder, 'renamed'));
    const said: string[] = [];
    const relays = [
      await openTestRelay({ args, home: join(folder, 'renamed') }),
      await openTestRelay({ args, home: copied, say: (line) => void said.push(line) }),
    ] as const;
    const { cookie, ...signIn } = await browser.signIn();
    const [old, fresh] = relays.map(({ url }) =>
      browserOf(url, { ...signIn, cookie: cookie.replace(/_\d+=/, `_${new URL(url).port}=`) }),
    );
    try {
      if (!old || !fresh) throw new Error('One is missing.');
      expect((await list(old))[0]).toMatchObject({ elsewhere: null, nextAt: expect.any(Number) });
      expect((await list(fresh))[0]).toMatchObject({ elsewhere: 'due', nextAt: null });
      expect([await isCopied(old.url), await isCopied(fresh.url)]).toEqual([false, true]);
      expect(said.join()).toContain('This home is a copy of another');
      await relays[1].restart();
      expect([(await list(fresh))[0]?.elsewhere, await isCopied(fresh.url)]).toEqual(['due', true]);
      await move(fresh, true);
      expect((await list(fresh))[0]).toMatchObject({ elsewhere: null, nextAt: expect.any(Number) });
      await expect.poll(() => isCopied(fresh.url)).toBe(false);
      // It has a name of its own: the first hears that it is due there no more.
      const phone: Device = new Map();
      await eventually(
        async () => (await visit(phone, fresh), await visit(phone, old), (await list(old))[0]?.elsewhere),
        (where) => where === 'due',
      );
      expect((await list(fresh))[0]?.elsewhere).toBe(null);
    } finally {
      await Promise.all(relays.map((relay) => relay.close()));
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('over what devices carry between relays, in any order', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  const told = (house: Household): Told[] =>
    house
      .of('record')
      .flatMap(({ record, at }) => (record.type === 'schedule' && at !== undefined ? [{ ...record, at }] : []));
  async function visit(device: Device, { team, ...house }: Household): Promise<void> {
    hear(device, told({ team, ...house }));
    const known = [...device.values()];
    const statuses = await team.records.compare(known);
    await team.records.offer(known.filter((_one, i) => statuses[i] !== 'known'));
    await team.records.recover();
    hear(device, told({ team, ...house }));
  }

  it.each([1, 2, 3])('keeps one account of each moment, and ends with one relay (seed %i)', async (seed) => {
    const random = createRandom(seed);
    const pick = <Value>(from: readonly Value[]): Value => from[Math.floor(random() * from.length)] as Value;
    const sites = await Promise.all(
      // Their clocks are minutes apart.
      [0, 3, -2].map(async (minutes) => {
        const clock = createHandClock(START + minutes * MINUTE);
        const house = await bench.open({ script: () => [{ say: 'Here.' }], now: clock.now, onError: 'expected' });
        await house.team.directory.set(TEAM);
        await house.team.snapshots.leave(LYRA.id, SNAPSHOT, 'v1');
        await house.team.schedules.clock.start();
        return { house, clock };
      }),
    );
    const first = sites[0]?.house.team.schedules;
    const written = await first?.add(routine({ agentId: LYRA.id, timing: { kind: 'every', minutes: 10, offset: 0 } }));
    if (!written?.ok) throw new Error('It was not taken.');
    const { scheduleId, schedule } = written.scheduled;
    const devices: Device[] = [new Map(), new Map()];
    const here = async () => {
      const all = await Promise.all(sites.map(({ house }) => house.team.schedules.get(scheduleId)));
      return all.flatMap((one, i) => (one && one.elsewhere === null ? [i] : []));
    };
    for (let step = 0; step < 60; step++) {
      const { house } = pick(sites);
      const { schedules } = house.team;
      const what = random();
      if (what < 0.5) await visit(pick(devices), house);
      else if (what < 0.6) for (const device of devices) hear(device, pick(devices).values());
      else if (what < 0.7) await schedules.move(false);
      else if (what < 0.78) await schedules.change(scheduleId, { ...schedule, name: `Round ${step}` });
      else
        for (const { house: each, clock } of sites) {
          clock.pass(7 * MINUTE);
          each.team.schedules.clock.wake();
          await each.team.schedules.clock.whenQuiet();
        }
      expect((await here()).length, `step ${step}`).toBeLessThan(2);
    }
    const wants = sites[2]?.house;
    await wants?.team.schedules.move(false);
    for (let round = 0; round < 6; round++)
      for (const { house } of sites) for (const device of devices) await visit(device, house);
    // Those that others had asked for have gone round; the last who asks has it.
    await wants?.team.schedules.move(false);
    for (let round = 0; round < 6; round++)
      for (const { house } of sites) for (const device of devices) await visit(device, house);
    expect((await here()).length).toBe(1);
    const accounts = await Promise.all(
      sites.map(({ house, clock }) => house.team.schedules.history(0, clock.now(), { most: 1_000 })),
    );
    const ran = accounts.flat().filter(({ runId }) => runId !== null);
    expect(ran.length).toBeGreaterThan(0);
    expect(new Set(ran.map(({ dueAt }) => dueAt)).size).toBe(ran.length);
    for (const { house } of sites) await house.close();
  });
});
