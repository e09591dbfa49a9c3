import { afterAll, beforeAll, describe, it } from 'vitest';
import { expectAllAfterKills } from '../../support/killed-log.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

describe.each(STORES)('the event log on %s, its process killed', (kind) => {
  let place: StorePlace;
  beforeAll(async () => {
    place = await createStorePlace(kind);
  });
  afterAll(() => place.remove());

  it('keeps all acknowledged events, in order and once, also after a second kill', { timeout: 120_000 }, async () => {
    await expectAllAfterKills(place, 2);
  });
});
