import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectAllAfterKills } from '../../support/killed-log.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

const KILLS = 6;

describe.each(STORES)('the event log on %s, its process killed again and again', (kind) => {
  let place: StorePlace;
  beforeAll(async () => {
    place = await createStorePlace(kind);
  });
  afterAll(() => place.remove());

  it(
    `has everything that was acknowledged, in order and once, after each of ${KILLS} kills`,
    { timeout: 300_000 },
    async () => {
      await expectAllAfterKills(place, KILLS);
    },
  );
});
