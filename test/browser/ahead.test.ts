/**
 * A device of the household that dates what it writes far ahead, by a wrong clock or on purpose, as
 * the person at another one sees it: two real Chromium contexts, one relay, what is written goes
 * through the real synchronisation.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatStamp, LAST_TIME } from '../../src/shared/domain/stamp.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { deviceOf, openDeviceIn, pair, type DeviceBrowser } from '../support/devices.ts';
import { settingDoc } from '../support/documents.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const YEAR = 365 * 86_400_000;
const at = (time: number) => formatStamp({ time, counter: 999_999, node: 'zzzz' });

let relay: TestRelay;
const profiles = [createGuest(), createGuest()] as const;
let desk: Visitor;
let laptop: DeviceBrowser<Guest>;
let phone: DeviceBrowser<Guest>;
beforeAll(async () => {
  relay = await startRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  const [own, other] = profiles;
  const context = await own.open(QUIET);
  desk = await createVisitor(context, relay.link);
  laptop = deviceOf(own, context, desk.page);
  await desk.begin('Ada');
  phone = await openDeviceIn(other, relay.url, context);
  await pair(laptop, phone);
});
afterAll(async () => {
  await Promise.all(profiles.map((profile) => profile.remove()));
  await relay.stop();
});

const called = async ({ owner }: DeviceBrowser<Guest>) =>
  (await owner.call('household')).settings.find(({ key }) => key === 'humanName')?.value;
const waiting = async (entries: number) =>
  (await laptop.until(`${entries} that wait`, ({ ahead }) => (ahead?.entries ?? 0) === entries)).ahead;

// SPEC 7.1, 7.2
it('shows nothing typed ahead before the person takes it, and prefers the person’s own edit, as the page says', async () => {
  const { page } = desk;
  const far = Date.now() + YEAR;
  await phone.owner.call('append', [{ ...settingDoc(901, 'humanName', 'Mallory'), at: at(far) }]);
  expect(await waiting(1)).toMatchObject({ latest: far, taken: true });
  // Nobody moves the clocks of a household to their end.
  await phone.owner.call('append', [{ ...settingDoc(902, 'leadName', 'Mallory too'), at: at(LAST_TIME) }]);
  expect(await waiting(2)).toMatchObject({ latest: LAST_TIME, taken: false });
  expect(await called(laptop)).toBe('Ada');

  await goWithin(page, '/settings/devices');
  await page.getByText('2 entries wait: dated in the future.').waitFor();
  await desk.press('Take in');
  await page.getByText('1 entry waits: dated in the future.').waitFor();
  await expect.poll(() => called(laptop)).toBe('Mallory');
  expect(await waiting(1)).toMatchObject({ latest: LAST_TIME });

  await goWithin(page, '/settings');
  const box = page.getByLabel('Your name');
  await expect.poll(() => box.inputValue()).toBe('Mallory');
  await box.fill('Grace');
  await box.press('Enter');
  await page.getByText('Something here is dated 365 days ahead of this device’s clock.').waitFor();
  await expect.poll(() => called(laptop)).toBe('Grace');
  await expect.poll(() => called(phone)).toBe('Grace');
});

it('starts the session where the person continues after it', async () => {
  await goWithin(desk.page, '/');
  await desk.press('SUMMON');
  await desk.page.getByText(/more than a day ahead of the relay’s clock/).waitFor();
  await desk.press('Continue');
  await desk.page.getByRole('button', { name: 'End session' }).waitFor();
  await desk.press('End session');
});
