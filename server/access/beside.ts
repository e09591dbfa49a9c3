/**
 * A sign-in beside the one that a browser came with, for a browser that shares that one with
 * another household. Both sign-ins belong to the home of the household that was proved last. The
 * new one has the same page key, so a lost answer locks nobody out. It ends where a removed device
 * has used the first one.
 */
import type { Context } from 'hono';
import { browserOf, type Env } from '../http/endpoint.ts';
import { problem } from '../http/problem.ts';
import { QUOTAS } from '../platform/quotas.ts';
import type { Db } from '../store/index.ts';
import { hashOf, newSecret } from './secrets.ts';

export interface BesideDeps {
  readonly db: Db;
  /** Names the relay. */
  readonly relay: string;
  readonly now: () => number;
}

/**
 * Gives the caller one, with the answer; answers which. Throws a problem where there are too many.
 */
export type GiveBeside = (context: Context<Env>) => Promise<string>;

const full = () =>
  problem(
    409,
    'sign-ins-full',
    `This browser has been given ${QUOTAS.signInsBesideOne} sign-ins beside its own, and may have no more. Delete its cookies of this address, press Enter in the terminal where Roost runs, and open the link that it prints.`,
  );

export const createGiveBeside =
  ({ db, relay, now }: BesideDeps): GiveBeside =>
  async (context) => {
    const browser = browserOf(context);
    const rows = db.selectFrom('browsers').where('relay', '=', relay);
    const mine = rows.select(['family', 'key_hash']).where('token_hash', '=', browser);
    const { family: known, key_hash } = await mine.executeTakeFirstOrThrow();
    const family = known ?? browser;
    const given = await rows.select('token_hash').where('family', '=', family).execute();
    if (given.length >= QUOTAS.signInsBesideOne) throw full();
    const [token, time] = [newSecret(), now()];
    await db
      .insertInto('browsers')
      .values({
        ...{ relay, token_hash: hashOf(token), made_at: time, seen_at: time },
        ...{ key_hash, home: null, guest_until: null, family },
      })
      .execute();
    context.set('given', token);
    return hashOf(token);
  };
