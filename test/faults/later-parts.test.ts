import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProfile, type Profile } from '../support/chromium.ts';
import { createVisitor } from '../support/visitor.ts';
import { readShown } from './evidence.ts';
import { createHouse, letIn, type House } from './household.ts';

let house: House;
/** A browser that has nothing of the page in its cache. */
let other: Profile;
beforeEach(async () => {
  house = await createHouse(1);
  other = await createProfile();
});
afterEach(async () => {
  await other.remove();
  await house.close();
});

describe('A page whose relay goes before anything was said on it', () => {
  it('shows what it has and keeps what is written: nothing is left to be fetched', async () => {
    const visitor = house.visitor();
    await visitor.press('SUMMON');
    await visitor.untilAll('awake');
    const fresh = await other.open();
    await letIn(fresh, house.relay());
    // Without a place to ask for, a file goes among the downloads.
    await fresh.addInitScript(() => void Object.defineProperty(globalThis, 'showSaveFilePicker', { value: undefined }));
    const morning = await createVisitor(fresh, house.relay().url);
    await morning.begin();
    await morning.untilAll('awake');
    await morning.page.waitForFunction(async () => {
      const fetched = performance.getEntriesByType('resource').map(({ name }) => name);
      const databases = await indexedDB.databases();
      const later = [/settings-page.*js$/, /forget-dialog.*js$/, /adopt-dialog.*js$/, /sink.*js$/, /worker.*js$/].every((part) => fetched.some((name) => part.test(name)));
      return later && databases.some(({ name }) => name === 'roost-keys');
    });
    await house.relay().kill('SIGKILL');
    await morning.untilAll('sleeping');
    await morning.open(1);
    expect((await readShown(morning.page)).flatMap((row) => row.texts)).not.toEqual([]);
    await morning.say('Kept for the morning.');
    await morning.untilRead(/Kept on this device/);
    await morning.page.getByRole('link', { name: 'Settings' }).click();
    await morning.page.getByLabel('Your name').waitFor();
    await morning.page.getByRole('link', { name: 'Export & import' }).click();
    await morning.page.getByRole('checkbox', { name: 'Under a passphrase' }).uncheck();
    await Promise.all([morning.page.waitForEvent('download'), morning.press('Export everything')]);
    await morning.page.getByText('Exported.').waitFor();
    expect(await morning.page.getByRole('alert').allInnerTexts()).toEqual([expect.stringContaining('The relay cannot be reached')]);
    expect(morning.complaints).toEqual([]);
  });
});
