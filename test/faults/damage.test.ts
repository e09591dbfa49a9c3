import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kindNamed } from './damage-kinds.ts';
import { fromBucketToBucket, INTERRUPTIONS, switchOff } from './damage-restore.ts';
import { createDamagedHome, type DamagedHome } from './damage.ts';

/**
 * Each road by which a household comes back, once. Every kind of damage at both relays, and
 * everything that may break into a restore, in a household for which it takes a while: `npm run
 * faults -- damage` and `damage-restore`.
 */
const MESSAGES = 60;

let home: DamagedHome;
beforeAll(async () => {
  home = await createDamagedHome({ messages: MESSAGES, from: 'sources', hasOlder: false });
});
afterAll(() => home.close());

describe('A browser that lost what it stored', () => {
  it('restores everything from the relay, says so once, and nothing written after its part was switched off', async () => {
    expect(await switchOff(home)).toBe(1);
  });

  it('restores everything from files at an empty relay, and says so once', async () => {
    await home.freshRelay();
    const { told } = await home.round(kindNamed('the log of IndexedDB, cut'), { next: 'owner' });
    expect(told).toBe(1);
  });

  it('has everything, once, in each of two tabs that are opened at once', async () => {
    await INTERRUPTIONS.find(({ name }) => name === 'two tabs are opened at once')?.run(home);
  });

  it('moves into a storage bucket when no database opens, and asks to persist it', async () => {
    expect(await fromBucketToBucket(home, 1)).toEqual({ used: ['roost-1'], isKept: true });
  });
});
