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
import type { Context } from 'hono';
import { syncEndpoints } from '../../src/shared/protocol/endpoints/sync.ts';
import { publicKey } from '../../src/shared/protocol/sync/control.ts';
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';
import { createRateLimit, type RateLimit } from '../access/index.ts';
import { answer, browserOf, type Env, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { createUpgrades, type Upgrades } from '../http/upgrade.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Logger } from '../platform/logger.ts';
import type { Db } from '../store/index.ts';
import { createHouseholds, type Households, type Registered } from './households.ts';
import { createHub, type Hub } from './hub.ts';
import { createOffers, type Offers } from './offers.ts';
import { SYNC_LIMITS, type SyncSettings, triesKey } from './settings.ts';
import { createSockets, type Sockets } from './socket.ts';
import { createEntryStore } from './entry-store.ts';

// The endpoints of synchronisation: admission of devices, offers to join, recovery, and the socket.

interface SyncRoutesDeps {
  readonly households: Households;
  readonly offers: Offers;
  readonly hub: Hub;
  readonly sockets: Sockets;
  readonly upgrades: Upgrades;
  /** Failed proofs, and look-ups of recovery boxes, by `triesKey`. */
  readonly failures: RateLimit;
  readonly lookups: RateLimit;
}

const addressOf = (context: Context<Env>) => context.get('address') ?? '';
function notThere(reason: 'unknown' | 'gone') {
  return reason === 'gone'
    ? problem(
        410,
        'offer-gone',
        'This code was used or has expired: it lasts five minutes and works once. Make a new one on the device that wants to join.',
      )
    : problem(404, 'no-offer', 'There is no such code. It may have been made at another relay.');
}

function refusal(refused: Exclude<Registered, { ok: true }>) {
  switch (refused.reason) {
    case 'households':
      return problem(
        409,
        'households-full',
        'This relay keeps as many households as it may. Its owner can set --households higher.',
      );
    case 'sign-in-households':
      return problem(
        409,
        'sign-in-full',
        `This browser has brought ${QUOTAS.householdsBySignIn} households to this relay, and a sign-in may bring no more. Use one of them, or open a new link of the relay for another.`,
      );
    case 'devices':
      return problem(
        409,
        'devices-full',
        'This household has as many devices as it may. Remove one that is no longer used.',
      );
    case 'removed':
      return problem(
        403,
        'device-removed',
        'This device was removed from its household. It can join again as a new device.',
      );
    case 'other-household':
      return problem(
        409,
        'other-household',
        'This relay knows the household with another key. Somebody who was removed may have brought it here before.',
      );
    case 'bad-proof':
      return problem(
        403,
        'bad-proof',
        'This device could not prove its identity, and that it has the household’s key.',
      );
    case 'bad-rotations':
      return problem(
        409,
        'bad-rotations',
        'The relay cannot follow from the key it knows to this one: a rotation of the household’s key is missing, or was not signed by the one before.',
      );
    case 'old-key':
      return problem(
        403,
        'old-key',
        'The household’s key was renewed since. Let this device join again, unless it can open what was sealed to it.',
        { fields: { epoch: refused.epoch, box: refused.box } },
      );
  }
}

function createSyncRoutes({
  households,
  offers,
  hub,
  sockets,
  upgrades,
  failures,
  lookups,
}: SyncRoutesDeps): readonly Handled[] {
  function checkRate(seconds: number, what: string): void {
    if (seconds > 0)
      throw problem(429, 'too-many-tries', `${what} Try again in ${seconds} s.`, {
        headers: { 'retry-after': String(seconds) },
      });
  }

  return answer(syncEndpoints, {
    syncSocket(_, context) {
      const { incoming } = context.env;
      if (!upgrades.isUpgrade(incoming))
        throw problem(426, 'not-a-socket', 'This address accepts only WebSockets.', {
          headers: { upgrade: 'websocket' },
        });
      // Every browser names the page that opens a socket. A client without an Origin is not a
      // browser.
      if (context.req.header('origin') === undefined)
        throw problem(403, 'other-site', 'A WebSocket must name its Origin, and it must be Roost’s own page.');
      const [browser, address] = [browserOf(context), addressOf(context)];
      upgrades.accept(incoming, {
        take: (socket) => sockets.open(socket, { browser, address }),
        refuse: () =>
          sockets.full(browser)
            ? problem(503, 'too-many-sockets', 'Too many devices are connected at once. Try again later.', {
                headers: { 'retry-after': '5' },
              })
            : null,
      });
      return new Response(null, { status: 204 });
    },
    async register({ household, body }, context) {
      const browser = browserOf(context);
      const tries = triesKey({ browser, address: addressOf(context) });
      checkRate(failures.wait(tries), 'Too many proofs of this browser have failed.');
      const registered = await households.register(household, body, browser);
      if (!registered.ok) {
        if (registered.reason === 'bad-proof' || registered.reason === 'bad-rotations') failures.take(tries);
        throw refusal(registered);
      }
      await hub.changed(household, registered.revoked);
      return { epoch: registered.epoch };
    },
    async openOffer({ offer }, context) {
      const made = await offers.make(offer, browserOf(context));
      if (made.ok) return { until: made.until };
      if (made.reason === 'gone') throw notThere('gone');
      if (made.reason === 'too-many-of-yours')
        throw problem(
          429,
          'too-many-offers',
          `This browser has begun to join too often: ${QUOTAS.offersBySignIn.open} tries may be open at once, and ${QUOTAS.offersBySignIn.known} within an hour. End one, or wait five minutes.`,
          { headers: { 'retry-after': '300' } },
        );
      throw problem(429, 'too-many-offers', 'Too many devices want to join at once. Try again in a few minutes.', {
        headers: { 'retry-after': '60' },
      });
    },
    async closeOffer({ offer }) {
      await offers.end(offer);
      return null;
    },
    async putSlot({ offer, slot, body }) {
      const written = await offers.write(offer, slot, body.data);
      if (written.ok) return null;
      if (written.reason === 'taken')
        throw problem(
          409,
          'slot-taken',
          'Another device has answered this code already. Make a new one on the device that wants to join.',
        );
      throw notThere(written.reason);
    },
    async getSlot({ offer, slot }) {
      const read = await offers.read(offer, slot);
      if (!read.ok) throw notThere(read.reason);
      return read.data === null ? null : { data: read.data };
    },
    async recovery({ recovery }, context) {
      checkRate(
        lookups.take(triesKey({ browser: browserOf(context), address: addressOf(context) })),
        'Recovery phrases were tried too often by this browser.',
      );
      const id = publicKey.safeParse(recovery);
      const found = id.success ? await households.recovery(id.data) : null;
      if (found === null)
        throw problem(
          404,
          'no-recovery',
          'This relay knows no household with this recovery phrase. Look at the words once more; the phrase may also be of another relay, or have been replaced by a newer one.',
        );
      return found;
    },
  });
}

interface SyncDeps {
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

interface Sync {
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
  const refreshing = setInterval(
    () =>
      void hub
        .refresh()
        .catch((error: unknown) => logger.error('The list of connected devices could not be updated.', { error })),
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
      clearInterval(refreshing);
      await sockets.close();
      await hub.close();
    },
  };
}
