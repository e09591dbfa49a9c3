/**
 * Offers to join. Two browsers exchange messages through slots that are written once. Their content
 * is sealed.
 */
import { createHash, createPublicKey, verify } from 'node:crypto';
import { sql } from 'kysely';
import { SYNC } from '../../src/shared/protocol/sync/settings.ts';
import type { OfferSlot } from '../../src/shared/protocol/sync/control.ts';
import { QUOTAS } from '../platform/quotas.ts';
import { lockNamed } from '../store/dialect.ts';
import type { Db } from '../store/index.ts';
import { SYNC_LIMITS } from './settings.ts';

// Ed25519 (RFC 8032) and device ids, with Node's own cryptography.
// src/shared/protocol/sync/control.ts defines the signed bytes.

/**
 * Whether the owner of this public key signed these bytes. Keys and signatures are base64url, with
 * the lengths of their schemas.
 */
export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' });
  return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}

/** Does this id follow from these keys, as src/worker/sync/SPEC.md says? Nobody else's can. */
export const isDeviceOf = (
  device: string,
  { deviceKey, boxKey }: { readonly deviceKey: string; readonly boxKey: string },
): boolean =>
  createHash('sha256')
    .update('roost device id 1')
    .update(Buffer.from(deviceKey, 'base64url'))
    .update(Buffer.from(boxKey, 'base64url'))
    .digest()
    .subarray(0, SYNC.idBytes)
    .toString('base64url') === device;

interface OffersDeps {
  readonly db: Db;
  readonly relay: string;
  readonly now: () => number;
}

/** `gone`: it has ended or expired. `unknown`: nobody has made it. */
type NotThere = { readonly ok: false; readonly reason: 'unknown' | 'gone' };
export interface Offers {
  /** Does nothing where it exists already. `browser`: the sign-in that makes it. */
  make(
    offer: string,
    browser: string,
  ): Promise<
    | { readonly ok: true; readonly until: number }
    | { readonly ok: false; readonly reason: 'gone' | 'too-many' | 'too-many-of-yours' }
  >;
  /** Does nothing where the slot has the same data already. */
  write(
    offer: string,
    slot: OfferSlot,
    data: string,
  ): Promise<{ readonly ok: true } | NotThere | { readonly ok: false; readonly reason: 'taken' }>;
  /** Null: the slot is empty. */
  read(offer: string, slot: OfferSlot): Promise<{ readonly ok: true; readonly data: string | null } | NotThere>;
  /** The offer cannot be made again. Does nothing where it has ended already. */
  end(offer: string): Promise<void>;
}

export function createOffers({ db, relay, now }: OffersDeps): Offers {
  /** Ends offers that are too old, and forgets those that ended long ago. */
  async function sweep(trx: Db): Promise<void> {
    // An offer from the future is older than a change of the clock, so its age is unknown.
    const expired = await trx
      .updateTable('offers')
      .set({ ended_at: now() })
      .where('relay', '=', relay)
      .where('ended_at', 'is', null)
      .where((or) => or.or([or('made_at', '<=', now() - SYNC.offerMs), or('made_at', '>', now() + SYNC.offerMs)]))
      .returning('offer')
      .execute();
    if (expired.length > 0)
      await trx
        .deleteFrom('offer_slots')
        .where('relay', '=', relay)
        .where(
          'offer',
          'in',
          expired.map(({ offer }) => offer),
        )
        .execute();
    await trx
      .deleteFrom('offers')
      .where('relay', '=', relay)
      .where('ended_at', '<=', now() - SYNC_LIMITS.offerKnownMs)
      .execute();
  }
  const find = (trx: Db, offer: string) =>
    trx.selectFrom('offers').select(['made_at', 'ended_at']).where('relay', '=', relay).where('offer', '=', offer);
  const stateOf = (row: { readonly ended_at: number | null } | undefined): NotThere | null =>
    row === undefined ? { ok: false, reason: 'unknown' } : row.ended_at === null ? null : { ok: false, reason: 'gone' };
  const slotOf = async (trx: Db, offer: string, slot: OfferSlot) =>
    (
      await trx
        .selectFrom('offer_slots')
        .select('data')
        .where('relay', '=', relay)
        .where('offer', '=', offer)
        .where('slot', '=', slot)
        .executeTakeFirst()
    )?.data ?? null;

  return {
    make: (offer, browser) =>
      db.transaction().execute(async (trx) => {
        await sweep(trx);
        // One after another: two concurrent counts would both find room.
        await lockNamed(trx, `roost offers ${relay}`);
        const { open, own, remembered } = await trx
          .selectFrom('offers')
          .select([
            sql<string>`count(*) filter (where ended_at is null)`.as('open'),
            sql<string>`count(*) filter (where ended_at is null and browser = ${browser})`.as('own'),
            sql<string>`count(*) filter (where browser = ${browser})`.as('remembered'),
          ])
          .where('relay', '=', relay)
          .executeTakeFirstOrThrow();
        const there = await find(trx, offer).executeTakeFirst();
        if (there?.ended_at === null) return { ok: true, until: there.made_at + SYNC.offerMs };
        if (there) return { ok: false, reason: 'gone' };
        if (Number(own) >= QUOTAS.offersBySignIn.open || Number(remembered) >= QUOTAS.offersBySignIn.known)
          return { ok: false, reason: 'too-many-of-yours' };
        if (Number(open) >= SYNC_LIMITS.offers) return { ok: false, reason: 'too-many' };
        await trx
          .insertInto('offers')
          .values({ relay, offer, made_at: now(), browser })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return { ok: true, until: now() + SYNC.offerMs };
      }),
    write: (offer, slot, data) =>
      db.transaction().execute(async (trx) => {
        await sweep(trx);
        // Locked, so that it does not end in between.
        const state = stateOf(await find(trx, offer).forUpdate().executeTakeFirst());
        if (state) return state;
        await trx
          .insertInto('offer_slots')
          .values({ relay, offer, slot, data })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
        return (await slotOf(trx, offer, slot)) === data ? { ok: true } : { ok: false, reason: 'taken' };
      }),
    read: (offer, slot) =>
      db.transaction().execute(async (trx) => {
        await sweep(trx);
        return stateOf(await find(trx, offer).executeTakeFirst()) ?? { ok: true, data: await slotOf(trx, offer, slot) };
      }),
    end: (offer) =>
      db.transaction().execute(async (trx) => {
        await trx
          .updateTable('offers')
          .set({ ended_at: now() })
          .where('relay', '=', relay)
          .where('offer', '=', offer)
          .where('ended_at', 'is', null)
          .execute();
        await trx.deleteFrom('offer_slots').where('relay', '=', relay).where('offer', '=', offer).execute();
      }),
  };
}
