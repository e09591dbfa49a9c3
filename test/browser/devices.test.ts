/**
 * One team on several devices, as a person lives it: real Chromium profiles, one relay, the
 * rehearsal mind. What a person does is done on the page; what would take many screens to look at
 * is asked of the page's owner.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../src/shared/protocol/documents/kinds.ts';
import { createGuest, createProfile, type Guest, type Profile, QUIET } from '../support/chromium.ts';
import { deviceOf, openDevice, pair, untilEqual, type DeviceBrowser } from '../support/devices.ts';
import { identityDoc, messageDoc, settingDoc, stampOf } from '../support/documents.ts';
import { searchFor } from '../support/planted-words.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const ARGS = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];
const DESK = { width: 1280, height: 800 };
const PHONE = { width: 360, height: 740 };
const FACT = 'the harbour light is painted marigold';

let relay: TestRelay;
const profiles: Profile[] = [];
let first: BrowserContext;
let desk: Visitor;
let laptop: DeviceBrowser;
let phone: DeviceBrowser;

/** All but the socket that tells a second relay of the first. */
const copyHome = (from: string, to: string) =>
  cp(from, to, { recursive: true, filter: (path) => !path.endsWith('.sock') });

async function open(options: Parameters<typeof openDevice>[2] = {}): Promise<DeviceBrowser> {
  const device = await openDevice(relay.url, first, options);
  if (!profiles.includes(device.profile)) profiles.push(device.profile);
  return device;
}

beforeAll(async () => {
  relay = await startRelay({ args: ARGS });
  const profile = await createProfile();
  profiles.push(profile);
  first = await profile.open({ viewport: DESK, ...QUIET });
  desk = await createVisitor(first, relay.link);
  laptop = deviceOf(profile, first, desk.page);
});
afterAll(async () => {
  await Promise.all(profiles.map((profile) => profile.remove()));
  await relay.stop();
});

describe('One team on every device', { timeout: 240_000 }, () => {
  /** As a camera would: only the link is carried over. Whoever opens it is let in by it alone. */
  async function byOneCode(guest: Guest) {
    await goWithin(desk.page, '/settings/devices');
    await desk.page.getByRole('button', { name: 'Add a device' }).click();
    const link = desk.page.getByText(/^http\S+#join=\S+$/);
    const tablet = await (await guest.open({ viewport: PHONE, ...QUIET })).newPage();
    await tablet.goto(await link.innerText());
    await tablet.getByRole('heading', { name: 'Are these the same on both?' }).waitFor();
    await desk.page.getByRole('heading', { name: 'Are these the same on both?' }).waitFor();
    expect(await tablet.evaluate(() => [location.pathname, location.hash])).toEqual(['/', '']);
    return tablet;
  }

  it('summons a team, joins it from another device by a code and six words, and shows the same messages there', async () => {
    await desk.begin();
    await desk.press('SUMMON');
    const summoned = await desk.untilAll('awake');
    await desk.open(1);
    await desk.ask(`WriteMeta that ${FACT}.`);

    phone = await open({ viewport: PHONE, ...QUIET });
    const { page } = phone;
    await page.getByRole('button', { name: 'I have Roost on another device' }).click();
    await page.getByRole('button', { name: 'Show the code' }).click();
    const code = page.getByRole('img', { name: /code/i });
    await code.waitFor();
    const picture = await code.screenshot();

    await goWithin(desk.page, '/settings/devices');
    await desk.page.getByRole('button', { name: 'Add a device' }).click();
    await desk.page.getByRole('button', { name: 'Continue' }).click();
    await desk.page.getByText('The new device shows a code instead').click();
    await desk.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'code.png', mimeType: 'image/png', buffer: picture });
    const words = (at: typeof page) =>
      at.getByRole('list', { name: 'The six words' }).getByRole('listitem').allInnerTexts();
    await desk.page.getByRole('list', { name: 'The six words' }).waitFor();
    await page.getByRole('list', { name: 'The six words' }).waitFor();
    expect(await words(desk.page)).toHaveLength(6);
    expect(await words(page)).toEqual(await words(desk.page));
    await page.bringToFront();
    await page.getByRole('button', { name: 'Yes, all six' }).click();
    await desk.page.bringToFront();
    await desk.page.getByRole('button', { name: 'Yes, all six' }).click();
    await desk.page.getByText(/ added$/).waitFor();
    await untilEqual([laptop, phone], 20);
    await desk.press('Done');

    // One code does it all: it lets the browser in, and the same six words stand on both.
    const guest = createGuest();
    const refused = await byOneCode(guest);
    await desk.press('No');
    await expect.poll(() => refused.evaluate(async () => (await fetch('/api/home')).status)).toBe(401);
    await desk.page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    const tablet = await byOneCode(guest);
    expect(await words(tablet)).toEqual(await words(desk.page));
    await tablet.getByRole('button', { name: 'Yes, all six' }).click();
    await desk.press('Yes, all six');
    await desk.page.getByText(/ added$/).waitFor();
    await tablet
      .getByRole('list', { name: 'The team' })
      .getByRole('button', { name: /, seat 1, awake/ })
      .waitFor();
    await desk.press('Done');
    await guest.remove();

    // What goes along with a message is there when the page is read again, and on the other device.
    await goWithin(desk.page, '/');
    await desk.open(1);
    await desk.page
      .locator('.compose input[type=file]')
      .setInputFiles({ name: 'harbour.png', mimeType: 'image/png', buffer: picture });
    await desk.page.getByRole('list', { name: 'Attached' }).getByText('harbour.png').waitFor();
    await desk.page.getByText(/^No model is connected\. The demo reads only the names of files/).waitFor();
    await desk.page.getByRole('button', { name: 'Send', exact: true }).click();
    await desk.page
      .getByText(/I got harbour\.png.* I cannot look inside\./)
      .first()
      .waitFor();
    await desk.page.reload();
    const thumbnail = (at: typeof page) => at.getByRole('img', { name: 'harbour.png' });
    const isDrawn = (at: typeof page) =>
      thumbnail(at).evaluate(async (image) => {
        if (!(image instanceof HTMLImageElement)) return false;
        await image.decode();
        return image.naturalWidth > 100;
      });
    expect(await isDrawn(desk.page)).toBe(true);

    // The session ends here; it is woken there.
    await goWithin(desk.page, '/');
    await desk.press('End session');
    await desk.untilAll('sleeping');
    // What one does by itself meanwhile is there as what it is, too.
    await goWithin(desk.page, '/schedule');
    await desk.press(/^Morning round: /);
    await desk.press('Save');
    await desk.page.getByText(/^Updated today/).waitFor();
    await desk.press('Run now: Morning round');
    await desk.press('History: Morning round');
    const outcome = desk.page.getByRole('list', { name: 'History' }).getByRole('listitem');
    await outcome.getByText('done').waitFor();
    const said = (await outcome.locator('.history-said').innerText()).trim();
    await phone.until('the last sessions', ({ arriving, backlog }) => arriving.length === 0 && backlog === null);
    await page.bringToFront();
    const pocket = await createVisitor(phone.context, relay.url);
    const there = await pocket.untilAll('sleeping');
    expect(there.map(({ name }) => name)).toEqual(summoned.map(({ name }) => name));
    await pocket.open(1);
    await pocket.untilRead(/routine “Morning round” · done$/);
    expect(await isDrawn(pocket.page)).toBe(true);
    expect(await pocket.reading()).toContain(said);
    await pocket.hearth();
    await pocket.press(/^WAKE/);
    await pocket.untilAll('awake');
    await pocket.open(1);
    expect(await pocket.reading()).toContain(FACT);
    expect(await pocket.ask('What did I tell you about the harbour light?')).toContain('marigold');
    // What was read here is not new there, and what is new is new on both.
    const unread = async ({ owner }: DeviceBrowser) =>
      new Map((await owner.call('unread')).conversations.map((row) => [row.agentId, row.unread]));
    const read = [...(await phone.owner.call('household')).identities].find(({ position }) => position === 0)?.agentId;
    await expect
      .poll(async () => [...(await unread(laptop))], { timeout: 20_000 })
      .toEqual([...(await unread(phone))].map(([agentId, count]) => [agentId, agentId === read ? 0 : count]));
    // What is changed on one stands in the log of the other with its device, and is undone there
    // for both.
    await goWithin(pocket.page, '/settings/advanced');
    const quiet = pocket.page.getByRole('textbox', { name: 'End a quiet session after Everybody' });
    await quiet.fill('45');
    await quiet.press('Enter');
    await goWithin(desk.page, '/settings/changes');
    const change = desk.page
      .getByRole('listitem')
      .filter({ hasText: 'You changed “End a quiet session after” from 30 minutes to 45 minutes.' });
    await change.getByText(/^on (?!this device)/).waitFor();
    await change.getByRole('button', { name: /^Undo: / }).click();
    await change.getByText('There is nothing to undo: the earlier value is back.').waitFor();
    await expect.poll(() => quiet.inputValue()).toBe('');
    expect(pocket.complaints).toEqual([]);
    await pocket.page.close();
  });

  it('converges after both were offline and both wrote, and one of their clocks is an hour ahead', async () => {
    await Promise.all([laptop, phone].map(({ context }) => context.setOffline(true)));
    const before = (await laptop.owner.documents()).size;
    const ahead = Date.now() + 3_600_000;
    await laptop.owner.call('append', [settingDoc(1, 'humanName', 'Marcus of the laptop')]);
    await phone.owner.call('append', [
      { ...settingDoc(2, 'humanName', 'Marcus of the phone'), at: `${String(ahead).padStart(15, '0')}-000000-phone` },
    ]);
    await Promise.all([laptop, phone].map(({ context }) => context.setOffline(false)));
    await untilEqual([laptop, phone], before + 2);
    const names = await Promise.all(
      [laptop, phone].map(
        async ({ owner }) => (await owner.call('household')).settings.find(({ key }) => key === 'humanName')?.value,
      ),
    );
    expect(names).toEqual(['Marcus of the phone', 'Marcus of the phone']);
  });

  it('hands on what only a newer Roost knows', async () => {
    const newer = {
      _id: 'from-the-future',
      schema: SCHEMA_VERSION + 7,
      at: stampOf(3),
      type: 'constellation',
      stars: [{ name: 'Vega', far: 25 }],
    };
    await phone.owner.call('append', [newer]);
    await untilEqual([laptop, phone]);
    expect((await laptop.owner.documents()).get(newer._id)).toEqual(newer);
  });

  it('tells the other devices its new name, though it was closed before it could', async () => {
    await phone.page.evaluate(
      () =>
        new Promise<void>((resolve, reject) => {
          const opening = indexedDB.open('roost-sync');
          opening.onerror = () => reject(opening.error ?? new Error('It could not be opened.'));
          opening.onsuccess = () => {
            const put = opening.result.transaction('meta', 'readwrite').objectStore('meta').put('Pocket', 'name');
            put.onsuccess = () => resolve();
            put.onerror = () => reject(put.error ?? new Error('It could not be written.'));
          };
        }),
    );
    await phone.context.close();
    phone = await open({ profile: phone.profile, viewport: PHONE });
    await laptop.until('the name', ({ devices }) => devices.some(({ name }) => name === 'Pocket'));
  });

  it('leaves nothing in the relay that could be read: no soul, no name, no word', async () => {
    const planted = ['Quillwort-Abernathy', 'my lantern is made of thistledown', 'the password is heron-eleven'];
    await laptop.owner.call('append', [
      { ...identityDoc(900, 'agent-planted', 8, planted[1]), name: planted[0] ?? '' },
      {
        ...messageDoc(901),
        _id: 'message:planted',
        agentId: 'agent-planted',
        blocks: [{ kind: 'text', text: planted[2] ?? '' }],
      },
    ]);
    await untilEqual([laptop, phone]);
    await laptop.until('all handed over', ({ toSend }) => toSend === 0);
    const copy = await mkdtemp(join(tmpdir(), 'roost-copy-'));
    try {
      await copyHome(relay.home, copy);
      // The name alone may stand in the directory, which agents that are awake are found by.
      expect(await searchFor(planted.slice(1)).inFolder(copy)).toEqual([]);
    } finally {
      await rm(copy, { recursive: true, force: true });
    }
  });

  // SPEC 4.4, 4.5
  it('continues from a copy of its profile without losing what either of the two wrote', async () => {
    const { profile } = phone;
    await phone.context.close();
    const copy = await createProfile();
    profiles.push(copy);
    await cp(profile.directory, copy.directory, { recursive: true });
    phone = await open({ profile, viewport: PHONE });
    await phone.owner.call('append', [settingDoc(10, 'leadModel', 'after the copy')]);
    await phone.until('all handed over', ({ link, toSend }) => link === 'live' && toSend === 0);
    await phone.context.close();
    // The copy knows nothing of that, and writes in the very same places.
    const restored = await open({ profile: copy, viewport: PHONE });
    await restored.owner.call('append', [settingDoc(11, 'agentModel', 'on the copy')]);
    await untilEqual([laptop, restored]);
    const docs = await laptop.owner.documents();
    expect(
      [settingDoc(10, 'leadModel', '')._id, settingDoc(11, 'agentModel', '')._id].map((id) => docs.has(id)),
    ).toEqual([true, true]);
    phone = restored;
  });

  it('sends a relay that was restored from an old copy what it lacks', async () => {
    const copy = await mkdtemp(join(tmpdir(), 'roost-copy-'));
    const again = async () => {
      relay = await startRelay({ args: ARGS, home: relay.home, port: relay.port });
    };
    await relay.kill('SIGTERM');
    await copyHome(relay.home, copy);
    await again();
    // It would try by itself, a while later.
    await laptop.owner.call('reconnect');
    await laptop.owner.call('append', [settingDoc(20, 'maxAnswerTokens', 2_000)]);
    await laptop.until('all handed over', ({ link, toSend }) => link === 'live' && toSend === 0);
    await relay.kill('SIGTERM');
    await rm(relay.home, { recursive: true });
    await cp(copy, relay.home, { recursive: true });
    await rm(copy, { recursive: true });
    await again();
    await laptop.owner.call('reconnect');
    await laptop.until('all handed over again', ({ link, toSend }) => link === 'live' && toSend === 0);
    // Whoever comes now, and meets nobody but the relay, gets all of it.
    const { words } = await laptop.owner.call('makePhrase');
    await laptop.owner.call('keepPhrase', {
      answers: [3, 11, 20].map((position) => ({ position, word: words[position - 1] ?? '' })),
    });
    const known = await laptop.owner.documents();
    const third = await open();
    await expect(
      third.owner.call('restore', { phrase: words.toReversed().join(' '), deviceName: 'Attic' }),
    ).rejects.toThrow();
    expect(await third.owner.call('syncStatus')).toEqual({ kind: 'alone', joining: null, kept: null });
    await third.owner.call('restore', { phrase: words.join(' '), deviceName: 'Attic' });
    await untilEqual([laptop, third], known.size);
    await third.context.close();
  });

  // SPEC 3.8
  it('locks a removed device out at once, which then reads nothing that is written after', async () => {
    const { devices } = await laptop.until('the relay', ({ link }) => link === 'live');
    const { deviceId } = await phone.until('the relay', ({ link }) => link === 'live');
    expect(devices.map((one) => one.deviceId)).toContain(deviceId);
    await laptop.owner.call('removeDevice', { deviceId, keep: [] });
    expect((await laptop.status()).devices.map((one) => one.deviceId)).not.toContain(deviceId);
    await expect.poll(async () => (await phone.owner.call('syncStatus')).kind).toBe('removed');
    const after = identityDoc(30, 'agent-after', 7, 'nobody who was removed reads this');
    await laptop.owner.call('append', [after]);
    await laptop.until('all handed over', ({ toSend }) => toSend === 0);
    await phone.page.goto(new URL('/settings/devices', relay.url).href);
    await phone.page
      .getByText(/was removed/)
      .first()
      .waitFor();
    expect((await phone.owner.documents()).has(after._id)).toBe(false);
  });

  it('brings a second team into the first where both had one', async () => {
    const other = await open();
    await other.owner.call('append', [identityDoc(40, 'agent-other', 3, 'I come from elsewhere.')]);
    await pair(laptop, other, ['Laptop', 'Tablet']);
    await untilEqual([laptop, other]);
    expect((await laptop.owner.documents()).has(identityDoc(40, 'agent-other', 3)._id)).toBe(true);
  });
});
