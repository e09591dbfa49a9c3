/** Stamps from the future: none of them holds for ever, and what came after what stays in order. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rosterOf } from '../../src/shared/domain/agent.ts';
import { finalForgets, FORGET_AFTER, pendingForgets } from '../../src/shared/domain/forgetting.ts';
import { settingsOf } from '../../src/shared/domain/settings.ts';
import {
  createClock,
  formatStamp,
  LAST_TIME,
  MAX_AHEAD_MS,
  MAX_TIME,
  parseStamp,
} from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { plainDocument } from '../../src/worker/ledger/ledger.ts';
import { createWriter } from '../../src/page/state/documents.ts';
import { eventsOf, talk } from '../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { identityDoc } from '../support/documents.ts';

const NOW = Date.UTC(2026, 10, 22);
const DAY = 86_400_000;
const YEAR = 365 * DAY;
const at = (time: number) => formatStamp({ time, counter: 999_999, node: 'zzzz' });

/** A device: what it holds, and a page that has seen all of it. */
function createDevice(node: string, wall: { now: number }) {
  const held = new Map<string, Doc>();
  const clock = createClock({ now: () => wall.now, node });
  let made = 0;
  const writer = createWriter({ clock, newId: () => `${node}${++made}`, now: () => wall.now });
  const take = (docs: readonly Doc[]) => {
    for (const doc of docs.map(plainDocument)) {
      held.set(doc._id, doc);
      clock.follow(doc.at);
    }
  };
  const all = () => [...held.values()];
  return {
    take,
    all,
    clock,
    writer,
    name: () =>
      settingsOf(
        all().flatMap((doc) =>
          doc.type === 'setting' ? [{ id: doc._id, key: String(doc['key']), value: doc['value'], at: doc.at }] : [],
        ),
      ).humanName,
    agent: () => {
      const identity = { ...identityDoc(1, 'a1', 0), id: 'i' };
      const changes = all().flatMap((doc) =>
        doc.type === 'agent-change'
          ? [{ id: doc._id, agentId: 'a1', at: doc.at, change: doc['change'] as { kind: 'rename'; name: string } }]
          : [],
      );
      return rosterOf([identity], changes).byId.get('a1')?.name;
    },
  };
}

describe.each([
  ['a day and a bit', DAY + 1],
  ['a year', YEAR],
  ['eleven years', 11 * YEAR],
  ['to the end of the year 9999', LAST_TIME - NOW],
])('A name dated ahead by %s', (_, ahead) => {
  const planted: Doc[] = [
    { _id: 'setting:x', type: 'setting', schema: 1, at: at(NOW + ahead), key: 'humanName', value: 'Mallory' },
    {
      _id: 'agent-change:x',
      type: 'agent-change',
      schema: 1,
      at: at(NOW + ahead),
      agentId: 'a1',
      change: { kind: 'rename', name: 'Mallory' },
    },
  ];

  it('yields to the next edit, on its own device and on every other one', () => {
    const wall = { now: NOW };
    const [one, two] = [createDevice('a', wall), createDevice('b', wall)];
    two.take([two.writer.setting('humanName', 'Ada')]);
    for (const device of [one, two]) device.take(planted);
    expect([one.name(), one.agent()]).toEqual(['Mallory', 'Mallory']);
    one.take([one.writer.setting('humanName', 'Grace'), one.writer.change('a1', { kind: 'rename', name: 'Lyra' })]);
    two.take(one.all());
    one.take(two.all());
    for (const device of [one, two]) expect([device.name(), device.agent()]).toEqual(['Grace', 'Lyra']);
  });
});

describe('A stamp that no clock could follow', () => {
  it.each([LAST_TIME + 2 * YEAR, MAX_TIME])('%i is no stamp of a document', (time) => {
    expect(() =>
      plainDocument({ _id: 'setting:x', type: 'setting', schema: 1, at: at(time), key: 'humanName', value: 'Mallory' }),
    ).toThrow(/10000/);
  });
});

describe("A device's own clock that was a year ahead and is set right", () => {
  it('keeps the order after a clock that was a year ahead is set right', () => {
    const wall = { now: NOW + YEAR };
    const device = createDevice('a', wall);
    const before = device.writer.queuedMessage({ clientId: '1', agentId: 'lead', text: 'Before.' });
    device.take([before, device.writer.setting('humanName', 'Ada')]);
    wall.now = NOW;
    // Another page of it, that has only read what is there.
    const later = createDevice('b', wall);
    later.take(device.all());
    const after = later.writer.queuedMessage({ clientId: '2', agentId: 'lead', text: 'After.' });
    later.take([after, later.writer.setting('humanName', 'Grace')]);
    expect(after.at > before.at).toBe(true);
    expect(later.name()).toBe('Grace');
    expect(later.clock.lead()).toBeGreaterThan(MAX_AHEAD_MS);
  });

  it('still forgets what was to be forgotten', () => {
    const wall = { now: NOW };
    const device = createDevice('a', wall);
    device.clock.follow(at(NOW + YEAR));
    const asked = device.writer.forget({ kind: 'agent', agentId: 'a1' });
    const kept = device.writer.forgetUndo(asked._id);
    expect(pendingForgets([asked], [kept], NOW)).toEqual([]);
    expect(finalForgets([asked], [kept], NOW + FORGET_AFTER)).toEqual([]);
    wall.now = NOW + FORGET_AFTER;
    expect(finalForgets([asked], [device.writer.forgetUndo(asked._id)], wall.now)).toEqual([asked]);
  });
});

describe('A relay that is asked to begin after a stamp from the future', () => {
  let relay: OpenRelay;
  let browser: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":1}'] });
    browser = await relay.signIn();
  });
  afterAll(() => relay.close());
  const start = (after: string, more = {}) =>
    browser.fetch('/api/sessions', {
      method: 'POST',
      json: { human: { name: 'Ada' }, lead: { name: 'Sol', soul: null, transcript: null }, after, ...more },
    });
  const stamps = async () =>
    (await eventsOf(browser)).flatMap(({ data }) =>
      typeof data === 'object' && data !== null && 'at' in data && typeof data.at === 'string' ? [data.at] : [],
    );

  it('refuses it with words, and its clock stays', async () => {
    const refused = await start(at(Date.now() + DAY + 60_000));
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      type: expect.stringContaining('clock-ahead'),
      detail: expect.stringContaining('more than a day ahead of the relay’s clock'),
    });
    expect((await start(at(MAX_TIME), { ahead: true })).status).toBe(400);
    expect((await start(at(Date.now() + DAY - 60_000))).status).toBe(201);
    await talk(browser, 'Hello.');
    for (const stamp of await stamps()) expect(parseStamp(stamp)?.time).toBeLessThan(Date.now() + MAX_AHEAD_MS);
    await browser.fetch('/api/sessions/current', { method: 'DELETE' });
  });

  it('accepts stamps from the future when the person says so, and asks once', async () => {
    const far = at(Date.now() + YEAR);
    expect((await start(far, { ahead: true })).status).toBe(201);
    await talk(browser, 'After.');
    expect((await stamps()).at(-1)).toSatisfy((stamp: string) => stamp > far);
    await browser.fetch('/api/sessions/current', { method: 'DELETE' });
    expect((await start(at(Date.now() + YEAR))).status).toBe(201);
  });
});
