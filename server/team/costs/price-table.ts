/** The table of prices: the person's where there is one, else Roost's own. */
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import { DEFAULT_PRICES } from '../../../src/shared/domain/prices.ts';
import { pricesSchema, type Price } from '../../../src/shared/protocol/costs.ts';
import { PRICES_SCOPE, writeConfig } from '../gate/index.ts';
import type { Db } from '../../store/index.ts';

interface VersionedPrices {
  readonly prices: readonly Price[];
  readonly version: number;
}

/** `alone`: no other process can have this store open. */
export function createPriceTable(db: Db, home: string, alone = false) {
  async function fromStore(): Promise<VersionedPrices> {
    const row = await db
      .selectFrom('configs')
      .select(['config_json', 'version'])
      .where('home', '=', home)
      .where('scope', '=', PRICES_SCOPE)
      .executeTakeFirst();
    const { prices } = row ? pricesSchema.parse(JSON.parse(row.config_json)) : { prices: [] };
    return { prices: prices.length === 0 ? DEFAULT_PRICES : prices, version: row?.version ?? 0 };
  }
  /** Read once where nobody else can change it. */
  const known = keepLoaded(fromStore);

  const withVersion = alone ? known.get : fromStore;

  return {
    withVersion,
    read: async (): Promise<readonly Price[]> => (await withVersion()).prices,
    /**
     * None at all: Roost's own again. False: the table is not at the `version` that is named, and
     * was not written.
     */
    async write(prices: readonly Price[], version?: number): Promise<boolean> {
      try {
        return await writeConfig(db, { home, scope: PRICES_SCOPE, config_json: JSON.stringify({ prices }) }, version);
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
