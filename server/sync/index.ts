/**
 * Synchronisation at the relay: it stores sealed entries and passes them between the devices of a
 * household.
 *
 * `hub.ts` joins sockets to the household's replica, `households.ts` knows which devices belong to
 * it, `entry-store.ts` has the entries, and `offers.ts` carries pairing.
 *
 * Invariants:
 * - The relay cannot read an entry. It has ids, sizes, times and public keys.
 * - A device is admitted by its signature and by a proof with the household's key.
 * - A removed device is disconnected at once, on every relay of the store.
 * - Each household has a quota, and each frame a limit.
 *
 * It does not know documents, agents, or sessions. `src/worker/sync/SPEC.md` has the protocol.
 */
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';
import { createRateLimit } from '../access/index.ts';
import type { Logger } from '../platform/logger.ts';
import { syncEndpoints } from '../../src/shared/protocol/endpoints/sync.ts';
import type { Handled } from '../http/endpoint.ts';
import type { Db } from '../store/index.ts';
import { createUpgrades, type Upgrades } from '../http/upgrade.ts';
import { createEntryStore } from './entry-store.ts';
import { createHouseholds } from './households.ts';
import { createHub } from './hub.ts';
import { createOffers } from './offers.ts';
import { createSyncRoutes } from './routes.ts';
import { SYNC_LIMITS, type SyncSettings } from './settings.ts';
import { createSockets } from './socket.ts';

export interface SyncDeps {
  readonly db: Db;
  /** The id of the relay. */
  readonly relay: string;
  readonly now: () => number;
  /** Monotonic ms, whatever happens to the wall clock. For durations. */
  readonly elapsed: () => number;
  readonly timers: { after(ms: number, run: () => void): () => void };
  /** No other process writes to this store. */
  readonly alone: boolean;
  /** These sign-ins have ended. */
  readonly onRevoked: (browsers: readonly string[]) => void;
  /**
   * A device with this sign-in has proved its household. `joins`: it joined just now, with the
   * household's key.
   */
  readonly onMember: (household: string, browser: string, joins: boolean) => Promise<void>;
  readonly logger: Logger;
  readonly settings: SyncSettings;
}

export interface Sync {
  readonly endpoints: readonly Handled[];
  readonly upgrades: Upgrades;
  /**
   * Ends every socket in good order. Resolves when the data that arrived is stored or discarded.
   */
  close(): Promise<void>;
}

export function createSync({
  db,
  relay,
  now,
  elapsed,
  timers,
  alone,
  onRevoked,
  onMember,
  logger,
  settings,
}: SyncDeps): Sync {
  const households = createHouseholds({
    db,
    relay,
    now,
    most: settings.households,
    mostBySignIn: settings.householdsBySignIn,
    onMember,
  });
  const hub = createHub({
    households,
    storeOf: (household) => createEntryStore({ db, relay, household, now, mostBytes: settings.householdBytes }),
    timers,
    alone,
    onRevoked(browsers) {
      sockets.cut(browsers);
      onRevoked(browsers);
    },
    logger,
  });
  const failures = createRateLimit({
    perSecond: SYNC_LIMITS.failuresPerSecond,
    burst: SYNC_LIMITS.failureBurst,
    elapsed,
  });
  const lookups = createRateLimit({ perSecond: SYNC_LIMITS.lookupsPerSecond, burst: SYNC_LIMITS.lookupBurst, elapsed });
  const sockets = createSockets({
    households,
    hub,
    failures,
    elapsed,
    onError: (error) => logger.error('A sync socket failed.', { error }),
  });
  const upgrades = createUpgrades({ path: syncEndpoints.syncSocket.path, messageBytes: SYNC_LIMITS.messageBytes });

  // Finds changes by other processes. Where there are none, it only records at intervals who is
  // connected.
  const looks = setInterval(
    () =>
      void hub.look().catch((error: unknown) => logger.error('Who is connected could not be looked after.', { error })),
    alone ? SYNC_LIMITS.noteSeenMs : SYNC.heartbeatMs,
  );
  return {
    endpoints: createSyncRoutes({
      households,
      offers: createOffers({ db, relay, now }),
      hub,
      sockets,
      upgrades,
      failures,
      lookups,
    }),
    upgrades,
    async close() {
      clearInterval(looks);
      await sockets.close();
      await hub.close();
    },
  };
}
