/** The table of prices: the person's where there is one, else Roost's own. */
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import { DEFAULT_PRICES } from '../../../src/shared/domain/prices.ts';
import { pricesSchema, type Price } from '../../../src/shared/protocol/costs.ts';
import { PRICES_SCOPE, writeConfig } from '../gate/index.ts';
import type { Db } from '../../store/index.ts';

/** `alone`: no other process can have this store open. */
export function createPriceTable(db: Db, home: string, alone = false) {
  async function fromStore(): Promise<readonly Price[]> {
    const row = await db
      .selectFrom('configs')
      .select('config_json')
      .where('home', '=', home)
      .where('scope', '=', PRICES_SCOPE)
      .executeTakeFirst();
    const { prices } = row ? pricesSchema.parse(JSON.parse(row.config_json)) : { prices: [] };
    return prices.length === 0 ? DEFAULT_PRICES : prices;
  }
  /** Read once where nobody else can change it. */
  const known = keepLoaded(fromStore);

  return {
    read: alone ? known.get : fromStore,
    /** None at all: Roost's own again. */
    async write(prices: readonly Price[]): Promise<void> {
      try {
        await writeConfig(db, { home, scope: PRICES_SCOPE, config_json: JSON.stringify({ prices }) });
      } finally {
        // Also what was read while it was being written.
        known.forget();
      }
    },
    /** They were changed in the store. */
    forget: known.forget,
  };
}
export type PriceTable = ReturnType<typeof createPriceTable>;
