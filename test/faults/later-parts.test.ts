import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readShown } from './evidence.ts';
import { createHouse, type House } from './household.ts';

/** Its browser has nothing of the page in its cache at first. */
let house: House;
beforeEach(async () => {
  house = await createHouse(1);
});
afterEach(async () => {
  await house.close();
});

describe('A page whose relay goes before anything was said on it', () => {
  it('shows what it has and stores what is written, with nothing left to fetch', async () => {
    const morning = house.visitor();
    // Without a place to ask for, a file goes among the downloads.
    await morning.page.evaluate(
      () => void Object.defineProperty(globalThis, 'showSaveFilePicker', { value: undefined }),
    );
    await morning.press('SUMMON');
    await morning.untilAll('awake');
    // The service worker is registered when the page has all that it may ask for.
    const hasAll = () =>
      morning.page.evaluate(
        async () =>
          (await navigator.serviceWorker.getRegistration()) !== undefined &&
          (await indexedDB.databases()).some(({ name }) => name === 'roost-keys'),
      );
    await expect.poll(hasAll, { timeout: 60_000 }).toBe(true);
    await house.relay().kill('SIGKILL');
    await morning.untilAll('sleeping');
    await morning.open(1);
    expect((await readShown(morning.page)).flatMap((row) => row.texts)).not.toEqual([]);
    await morning.say('Kept for the morning.');
    await morning.untilRead(/Kept on this device/);
    await morning.page.getByRole('button', { name: 'More places' }).click();
    await morning.page.getByRole('menuitem', { name: /^Settings/ }).click();
    await morning.page.getByLabel('Your name').waitFor();
    await morning.page.getByRole('link', { name: /^Devices and data/ }).click();
    await morning.page.getByRole('link', { name: 'Export & import' }).click();
    await morning.page.getByRole('checkbox', { name: 'With a passphrase' }).uncheck();
    await Promise.all([morning.page.waitForEvent('download'), morning.press('Export everything')]);
    await morning.page.getByText('Exported.').waitFor();
    expect(await morning.page.getByRole('alert').allInnerTexts()).toEqual([
      expect.stringContaining('The relay cannot be reached'),
    ]);
    expect(morning.complaints).toEqual([]);
  });
});
