/** Sign-in: one-time codes become signed-in browsers. Both are stored by hash. */
import { newId } from '../../src/shared/domain/platform/new-id.ts';
import { DEVICE_CODES } from '../../src/shared/protocol/device-code-settings.ts';
import type { DeviceCode, DeviceCodeState } from '../../src/shared/protocol/device-codes.ts';
import { deviceCodeEndpoints } from '../../src/shared/protocol/endpoints/access.ts';
import { answer, browserOf, type Handled } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import type { Db } from '../store/index.ts';
import { hashOf, newSecret } from './credentials.ts';

// Codes that a page shows for another device. They are stored by hash, with the sign-in that made
// each, the guest that used it and the guest's offer.

interface DeviceCodesDeps {
  readonly db: Db;
  /** The id of the relay. */
  readonly relay: string;
  readonly now: () => number;
  /** These sign-ins are over. */
  readonly onEnded: (browsers: readonly string[]) => void;
}

interface DeviceCodes {
  /** `host`: the sign-in that makes the code. Null: it has too many. */
  make(host: string): Promise<Omit<DeviceCode, 'address'> | null>;
  /**
   * Uses a code, once, for a sign-in that is about to begin, or for an existing one where it is not
   * `isNew`. Resolves with when the guest status ends, in ms since the epoch. Null: the code is
   * invalid.
   */
  take(code: string, guest: string, isNew: boolean): Promise<number | null>;
  /** Null: unknown, or of another sign-in. */
  stateOf(id: string, host: string): Promise<DeviceCodeState | null>;
  /** The guest stays. False: there is none. */
  letIn(id: string, host: string): Promise<boolean>;
  /**
   * Ends the code. A sign-in that rests on this code alone ends too, because it did not become a
   * device. That holds even where the person had compared the words. False: the code is unknown, or
   * of another sign-in.
   */
  end(id: string, host: string): Promise<boolean>;
  /** False: this sign-in did not come by a code that is still valid. */
  leaveOffer(guest: string, offer: string): Promise<boolean>;
}

export function createDeviceCodes({ db, relay, now, onEnded }: DeviceCodesDeps): DeviceCodes {
  const codes = () => db.selectFrom('device_codes').where('relay', '=', relay).where('ended_at', 'is', null);
  const madeAfter = () => now() - DEVICE_CODES.openMs;
  /** The period in which a guest may still become a device. */
  const oldestOffer = () => now() - DEVICE_CODES.guestMs;

  return {
    async make(host) {
      await db.deleteFrom('device_codes').where('relay', '=', relay).where('made_at', '<', oldestOffer()).execute();
      const open = await codes()
        .select('id')
        .where('host', '=', host)
        .where('guest', 'is', null)
        .where('made_at', '>=', madeAfter())
        .execute();
      if (open.length >= DEVICE_CODES.most) return null;
      const [id, code, madeAt] = [newId(), newSecret(), now()];
      await db
        .insertInto('device_codes')
        .values({ relay, id, code_hash: hashOf(code), host, guest: null, offer: null, made_at: madeAt, ended_at: null })
        .execute();
      return { id, code, until: madeAt + DEVICE_CODES.openMs };
    },
    async take(code, guest, isNew) {
      // One statement checks and uses the code, so only one of two concurrent calls finds it open.
      const updatedCode = await db
        .updateTable('device_codes')
        .set({ guest, guest_is_new: isNew })
        .where('relay', '=', relay)
        .where('code_hash', '=', hashOf(code))
        .where('guest', 'is', null)
        .where('ended_at', 'is', null)
        .where('made_at', '>=', madeAfter())
        // The sign-in that shows the code is signed in already, so it cannot use it.
        .where('host', '!=', guest)
        .returning('made_at')
        .executeTakeFirst();
      return updatedCode ? updatedCode.made_at + DEVICE_CODES.guestMs : null;
    },
    async stateOf(id, host) {
      const row = await db
        .selectFrom('device_codes')
        .select(['guest', 'offer', 'made_at', 'ended_at'])
        .where('relay', '=', relay)
        .where('id', '=', id)
        .where('host', '=', host)
        .executeTakeFirst();
      if (!row) return null;
      const { guest, offer } = row;
      const until = row.made_at + (guest === null ? DEVICE_CODES.openMs : DEVICE_CODES.guestMs);
      if (row.ended_at !== null || now() >= until) return { state: 'over', offer: null };
      return { state: guest === null ? 'open' : offer === null ? 'opened' : 'offered', offer };
    },
    async letIn(id, host) {
      const row = await codes().select('guest').where('id', '=', id).where('host', '=', host).executeTakeFirst();
      if (!row || row.guest === null) return false;
      const stays = await db
        .updateTable('browsers')
        .set({ guest_until: null })
        .where('relay', '=', relay)
        .where('token_hash', '=', row.guest)
        .executeTakeFirst();
      return stays.numUpdatedRows > 0n;
    },
    async end(id, host) {
      const ended = await db
        .updateTable('device_codes')
        .set({ ended_at: now(), offer: null })
        .where('relay', '=', relay)
        .where('id', '=', id)
        .where('host', '=', host)
        .where('ended_at', 'is', null)
        .returning(['guest', 'guest_is_new'])
        .executeTakeFirst();
      if (!ended) return false;
      if (ended.guest === null || !ended.guest_is_new) return true;
      const { guest } = ended;
      const out = await db
        .deleteFrom('browsers')
        .where('relay', '=', relay)
        .where((or) => or.or([or('token_hash', '=', guest), or('family', '=', guest)]))
        .returning('token_hash')
        .execute();
      if (out.length > 0) onEnded(out.map(({ token_hash }) => token_hash));
      return true;
    },
    async leaveOffer(guest, offer) {
      const left = await db
        .updateTable('device_codes')
        .set({ offer })
        .where('relay', '=', relay)
        .where('guest', '=', guest)
        .where('ended_at', 'is', null)
        .where('made_at', '>=', oldestOffer())
        .executeTakeFirst();
      return left.numUpdatedRows > 0n;
    },
  };
}

/** `addressOf`: where other machines reach the relay. Null where that is unknown. */
export function createDeviceCodeRoutes(codes: DeviceCodes, addressOf: () => string | null): readonly Handled[] {
  const unknown = () => problem(404, 'no-code', 'There is no such code any more. Make a new one.');
  const orUnknown = (there: boolean) => {
    if (!there) throw unknown();
    return null;
  };
  return answer(deviceCodeEndpoints, {
    async makeDeviceCode(_, context) {
      const made = await codes.make(browserOf(context));
      if (made) return { ...made, address: addressOf() };
      throw problem(
        409,
        'too-many-codes',
        `${DEVICE_CODES.most} codes of this browser can still be opened. Use one of them, or wait a few minutes.`,
      );
    },
    async deviceCode({ id }, context) {
      const state = await codes.stateOf(id, browserOf(context));
      if (!state) throw unknown();
      return state;
    },
    letDeviceIn: async ({ id }, context) => orUnknown(await codes.letIn(id, browserOf(context))),
    endDeviceCode: async ({ id }, context) => orUnknown(await codes.end(id, browserOf(context))),
    async leaveJoinOffer({ body: { offer } }, context) {
      if (await codes.leaveOffer(browserOf(context), offer)) return null;
      throw problem(
        409,
        'no-code',
        'The code by which this device came has ended. Show a new one on the other device.',
      );
    },
  });
}

/** A token bucket per caller: `burst` calls at once, `perSecond` in the long run. */
export interface RateLimit {
  /** Takes one token. 0: permitted. Otherwise the seconds, rounded up, until there is a token. */
  take(caller: string): number;
  /** As `take`, without taking a token. */
  wait(caller: string): number;
}

interface RateLimitDeps {
  readonly perSecond: number;
  readonly burst: number;
  /** Monotonic ms: a clock that is set back must not refuse anybody. */
  readonly elapsed: () => number;
}

/** Callers with a full bucket are forgotten once there are this many. */
const CALLERS_KEPT = 1_000;

export function createRateLimit({ perSecond, burst, elapsed }: RateLimitDeps): RateLimit {
  const buckets = new Map<string, { tokens: number; at: number }>();
  const fill = (bucket: { tokens: number; at: number }) =>
    Math.min(burst, bucket.tokens + ((elapsed() - bucket.at) / 1_000) * perSecond);
  const secondsOf = (tokens: number) => (tokens >= 1 ? 0 : Math.ceil((1 - tokens) / perSecond));
  return {
    wait(caller) {
      const bucket = buckets.get(caller);
      return bucket ? secondsOf(fill(bucket)) : 0;
    },
    take(caller) {
      if (buckets.size > CALLERS_KEPT)
        for (const [key, bucket] of buckets) if (fill(bucket) >= burst) buckets.delete(key);
      const bucket = buckets.get(caller) ?? { tokens: burst, at: elapsed() };
      const tokens = fill(bucket);
      buckets.set(caller, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: elapsed() });
      return secondsOf(tokens);
    },
  };
}

/** ms between two updates of when a browser was last seen. */
export const NOTE_EVERY_MS = 24 * 3_600_000;

interface SignInDeps {
  readonly db: Db;
  /** The id of the relay. */
  readonly relay: string;
  readonly now: () => number;
  /** ms for which an unused code is valid. */
  readonly linkMs: number;
  /** ms for which a browser stays signed in after its last visit. */
  readonly cookieMs: number;
  readonly deviceCodes: Pick<DeviceCodes, 'take'>;
}

export interface SignIn {
  /** A new code for one sign-in. Earlier unused codes stay valid until they expire. */
  newCode(): Promise<string>;
  /**
   * Uses a code, once, and returns a cookie token and a new page key. Null where the code is
   * invalid. A browser with a token of ours keeps its sign-in, and only its key changes. A device's
   * code admits a guest.
   */
  take(code: string, token?: string): Promise<Entered | null>;
  /**
   * Whether this is a token of ours. `renew`: the cookie should be set again, to extend it. `own`:
   * the page key belongs to this sign-in too. So the caller is the page, and not another server of
   * this host, to which the browser also sends the cookie.
   */
  check(
    token: string,
    key?: string,
  ): Promise<
    | { readonly ok: false }
    | {
        readonly ok: true;
        readonly browser: string;
        readonly renew: boolean;
        readonly own: boolean;
        readonly guest: boolean;
      }
  >;
}

interface Entered {
  readonly token: string;
  readonly key: string;
  /** The browser signed in by a code that a device shows. */
  readonly byDevice: boolean;
}

export function createSignIn({ db, relay, now, linkMs, cookieMs, deviceCodes }: SignInDeps): SignIn {
  return {
    async newCode() {
      const code = newSecret();
      await db
        .deleteFrom('codes')
        .where('relay', '=', relay)
        .where('made_at', '<', now() - linkMs)
        .execute();
      await db
        .insertInto('codes')
        .values({ relay, code_hash: hashOf(code), made_at: now() })
        .execute();
      return code;
    },
    async take(code, browserToken) {
      // One statement checks and uses the code, so only one of two concurrent calls finds the row.
      const usedCode = await db
        .deleteFrom('codes')
        .where('relay', '=', relay)
        .where('code_hash', '=', hashOf(code))
        .where('made_at', '>=', now() - linkMs)
        .returning('code_hash')
        .executeTakeFirst();
      const there =
        browserToken === undefined
          ? undefined
          : await db
              .selectFrom('browsers')
              .select('guest_until')
              .where('relay', '=', relay)
              .where('token_hash', '=', hashOf(browserToken))
              .where('seen_at', '>=', now() - cookieMs)
              .executeTakeFirst();
      const token = browserToken === undefined || there === undefined ? newSecret() : browserToken;
      const guestUntil = usedCode ? null : await deviceCodes.take(code, hashOf(token), there?.guest_until !== null);
      if (!usedCode && guestUntil === null) return null;
      const key = newSecret();
      const byDevice = !usedCode;
      if (there !== undefined) {
        await db
          .updateTable('browsers')
          // A permanent sign-in stays permanent, whatever link it opens.
          .set({ key_hash: hashOf(key), seen_at: now(), guest_until: there.guest_until === null ? null : guestUntil })
          .where('relay', '=', relay)
          .where('token_hash', '=', hashOf(token))
          .execute();
        return { token, key, byDevice };
      }
      await db
        .deleteFrom('browsers')
        .where('relay', '=', relay)
        .where((or) => or.or([or('seen_at', '<', now() - cookieMs), or('guest_until', '<=', now())]))
        .execute();
      await db
        .insertInto('browsers')
        .values({
          relay,
          token_hash: hashOf(token),
          made_at: now(),
          seen_at: now(),
          key_hash: hashOf(key),
          home: null,
          guest_until: guestUntil,
          family: null,
        })
        .execute();
      return { token, key, byDevice };
    },
    async check(token, key) {
      const browser = hashOf(token);
      const row = await db
        .selectFrom('browsers')
        .select(['seen_at', 'key_hash', 'guest_until'])
        .where('relay', '=', relay)
        .where('token_hash', '=', browser)
        .where('seen_at', '>=', now() - cookieMs)
        .executeTakeFirst();
      if (!row || (row.guest_until !== null && row.guest_until <= now())) return { ok: false };
      const renew = row.seen_at < now() - NOTE_EVERY_MS;
      if (renew) await db.updateTable('browsers').set({ seen_at: now() }).where('token_hash', '=', browser).execute();
      return {
        ok: true,
        browser,
        renew,
        own: key !== undefined && row.key_hash === hashOf(key),
        guest: row.guest_until !== null,
      };
    },
  };
}
