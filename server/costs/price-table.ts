/** The table of prices: the person's where there is one, else Roost's own. */
import { keepLoaded } from '../../src/domain/platform/single-flight.ts';
import { DEFAULT_PRICES } from '../../src/domain/prices.ts';
import { pricesSchema, type Price } from '../../src/protocol/costs.ts';
import type { Db } from '../store/index.ts';

const SCOPE = 'prices';

/** `alone`: no other process can have this store open. */
export function createPriceTable(db: Db, relay: string, alone = false) {
  async function fromStore(): Promise<readonly Price[]> {
    const row = await db
      .selectFrom('configs')
      .select('config_json')
      .where('relay', '=', relay)
      .where('scope', '=', SCOPE)
      .executeTakeFirst();
    return row ? pricesSchema.parse(JSON.parse(row.config_json)).prices : DEFAULT_PRICES;
  }
  /** Read once where nobody else can change it. */
  const known = keepLoaded(fromStore);

  async function toStore(prices: readonly Price[]): Promise<void> {
    if (prices.length === 0) {
      await db.deleteFrom('configs').where('relay', '=', relay).where('scope', '=', SCOPE).execute();
      return;
    }
    const config_json = JSON.stringify({ prices });
    await db
      .insertInto('configs')
      .values({ relay, scope: SCOPE, config_json })
      .onConflict((conflict) => conflict.columns(['relay', 'scope']).doUpdateSet({ config_json }))
      .execute();
  }

  return {
    read: alone ? known.get : fromStore,
    /** None at all: Roost's own again. */
    async write(prices: readonly Price[]): Promise<void> {
      try {
        await toStore(prices);
      } finally {
        // Also what was read while it was being written.
        known.forget();
      }
    },
  };
}
export type PriceTable = ReturnType<typeof createPriceTable>;
