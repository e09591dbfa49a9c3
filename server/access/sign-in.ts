/** Sign-in: one-time codes become signed-in browsers. Both are stored by hash. */
import type { Db } from '../store/index.ts';
import type { DeviceCodes } from './device-codes.ts';
import { hashOf, newSecret } from './credentials.ts';

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
  /** By a code that a device shows. */
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
    async take(code, known) {
      // One statement checks and uses the code, so only one of two concurrent calls finds the row.
      const taken = await db
        .deleteFrom('codes')
        .where('relay', '=', relay)
        .where('code_hash', '=', hashOf(code))
        .where('made_at', '>=', now() - linkMs)
        .returning('code_hash')
        .executeTakeFirst();
      const there =
        known === undefined
          ? undefined
          : await db
              .selectFrom('browsers')
              .select('guest_until')
              .where('relay', '=', relay)
              .where('token_hash', '=', hashOf(known))
              .where('seen_at', '>=', now() - cookieMs)
              .executeTakeFirst();
      const token = known === undefined || there === undefined ? newSecret() : known;
      const guestUntil = taken ? null : await deviceCodes.take(code, hashOf(token), there?.guest_until !== null);
      if (!taken && guestUntil === null) return null;
      const key = newSecret();
      const byDevice = !taken;
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
