/**
 * Connections in the store. They are sealed, including the API key, with a key that is in the
 * relay's folder.
 */
import { z } from 'zod';
import { modelSchema, protocolSchema } from '../../../src/shared/protocol/models.ts';
import type { Sealer } from '../../platform/sealer.ts';
import type { HomeStore } from '../../store/index.ts';

const storedModelSchema = z.object({
  kind: z.enum(['claude', 'server']),
  address: z.string().nullable(),
  // Older rows have no protocol.
  protocol: protocolSchema.default('messages'),
  key: z.string().nullable(),
  models: z.array(modelSchema),
  leadModel: z.string(),
  agentModel: z.string(),
  /** Windows in tokens, by model, that the server has stated when it refused a request. */
  windows: z.record(z.string(), z.number()).default({}),
});
/** The stored part of a connection. `address`: as in `Way`. */
export type StoredModel = z.infer<typeof storedModelSchema>;

export interface ModelRows {
  /** Oldest first. Rows that this relay's key does not open are left out. */
  all(): Promise<(StoredModel & { readonly connectionId: string })[]>;
  put(connectionId: string, kept: StoredModel): Promise<void>;
  /** False: there was none. */
  remove(connectionId: string): Promise<boolean>;
}

export interface ModelRowsDeps extends HomeStore {
  readonly sealer: Sealer;
  /** ms since the epoch. */
  readonly now: () => number;
}

export function createModelRows({ db, home, sealer, now }: ModelRowsDeps): ModelRows {
  const about = (connectionId: string) => JSON.stringify(['model connection', home, connectionId]);
  return {
    async all() {
      const rows = await db
        .selectFrom('model_connections')
        .selectAll()
        .where('home', '=', home)
        .orderBy('made_at')
        .orderBy('connection')
        .execute();
      return rows.flatMap(({ connection, sealed }) => {
        const text = sealer.open(sealed, about(connection));
        if (text === null) return [];
        const kept = storedModelSchema.safeParse(JSON.parse(text));
        return kept.success ? [{ ...kept.data, connectionId: connection }] : [];
      });
    },
    async put(connectionId, kept) {
      const sealed = sealer.seal(JSON.stringify(kept), about(connectionId));
      await db
        .insertInto('model_connections')
        .values({ home, connection: connectionId, sealed, made_at: now() })
        .onConflict((conflict) => conflict.columns(['home', 'connection']).doUpdateSet({ sealed }))
        .execute();
    },
    async remove(connectionId) {
      const { numDeletedRows } = await db
        .deleteFrom('model_connections')
        .where('home', '=', home)
        .where('connection', '=', connectionId)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}
