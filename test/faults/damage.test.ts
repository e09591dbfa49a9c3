import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KINDS } from './damage-kinds.ts';
import { fromBucketToBucket, INTERRUPTIONS, switchOff } from './damage-restore.ts';
import { createDamagedHome, type DamagedHome } from './damage.ts';

/** One telling kind of damage for each relay; every kind at both by `npm run faults -- damage`. */
const AT_A_RELAY_WITH_EVERYTHING = ['indexedDB and opfs gone'];
const AT_A_FRESH_RELAY = ['the log of IndexedDB, cut'];
const MESSAGES = 60;

let home: DamagedHome;
beforeAll(async () => {
  home = await createDamagedHome({ messages: MESSAGES, from: 'sources', hasOlder: false });
});
afterAll(() => home.close());

const kinds = (names: readonly string[]) => KINDS.filter(({ name }) => names.includes(name));
/** By `npm run faults -- damage-restore`: all of them, in a household for which it takes a while. */
const short = INTERRUPTIONS.filter(({ isShort }) => isShort);

describe('A restore that is broken into', () => {
  it.each(short)('brings everything back, once: $name', async ({ run }) => {
    await run(home);
  });
});

describe('The relay’s part, switched off by the person', () => {
  it('hands nothing more to the relay, and says what that means', async () => {
    await switchOff(home);
  });
});

describe('A browser that lost what it stored, at a relay that has everything', () => {
  it.each(kinds(AT_A_RELAY_WITH_EVERYTHING))(
    'has everything again after this, and says so once: $name',
    async (kind) => {
      const { told } = await home.round(kind, { next: 'owner' });
      expect(told).toBe(1);
    },
  );
});

describe('A browser that lost what it stored, at a relay that has nothing', () => {
  beforeAll(() => home.freshRelay());

  it.each(kinds(AT_A_FRESH_RELAY))('has everything again after this, and says so once: $name', async (kind) => {
    const { told } = await home.round(kind, { next: 'owner' });
    expect(told).toBe(1);
  });

  it('moves into a storage bucket where no database opens any more, and into the next where that is damaged too', async () => {
    expect(await fromBucketToBucket(home)).toEqual(['roost-2']);
  });
});
