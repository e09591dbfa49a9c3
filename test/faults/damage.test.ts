import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from './damage-kinds.ts';
import { INTERRUPTIONS, switchOff } from './damage-restore.ts';
import { createDamagedHome, type DamagedHome } from './damage.ts';

/** The most telling kinds of damage; all of them by `npm run faults -- damage`. */
const SHORT = ['indexedDB gone', 'the log of IndexedDB, cut', 'the manifest of IndexedDB, deleted'];
const MESSAGES = 60;

let home: DamagedHome;
beforeAll(async () => {
  home = await createDamagedHome({ messages: MESSAGES, from: 'sources' });
});
afterAll(() => home.close());

describe('A restore that is broken into', () => {
  it.each(INTERRUPTIONS)('brings everything back, once: $name', async ({ run }) => {
    await run(home);
  });
});

describe('The relay’s part, switched off by the person', () => {
  it('hands nothing more to the relay, and says what that means', async () => {
    await switchOff(home);
  });
});

describe.each(['a relay that has everything', 'a relay that has nothing'])('A browser that lost what it stored, at %s', (relay) => {
  beforeAll(async () => {
    if (relay.endsWith('nothing')) await home.freshRelay();
  });
  it.each(KINDS.filter(({ name }) => SHORT.includes(name)))('has everything again after this, and says so once: $name', async (kind) => {
    const { told } = await home.round(kind);
    expect(told).toBe(1);
  });
});
