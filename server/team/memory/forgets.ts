/**
 * What was forgotten for good, as far as the relay must know it: ids and times. A page hands it
 * over, also to a relay that was restored from an old backup. Every part that writes what somebody
 * said asks here first.
 */
import { cameFrom, type Forget, type Origin } from '../../../src/shared/domain/forgetting.ts';
import { forgetEndpoints } from '../../../src/shared/protocol/endpoints/forgets.ts';
import { type FinalForget, finalForgetSchema, type SentencePlaces } from '../../../src/shared/protocol/forgets.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import type { Db } from '../../store/index.ts';

type Covering = Pick<Forget, 'target' | 'at'>;

export interface Forgets {
  /** All requests. `within`: a transaction that has rows which are not committed yet. */
  all(within?: Db): Promise<readonly Covering[]>;
  /** Adds requests that are not known yet. */
  add(forgets: readonly FinalForget[]): Promise<void>;
  /** Requests of which something may be left here. */
  pending(): Promise<readonly FinalForget[]>;
  markDone(forgets: readonly FinalForget[]): Promise<void>;
  /** Ids of all requests, also of those that are not carried out yet. */
  ids(): Promise<readonly string[]>;
  doneIds(): Promise<readonly string[]>;
}

/** Whether one of these requests covers something that came from here. */
export const isForgottenBy = (forgets: readonly Covering[], origins: readonly Origin[]): boolean =>
  origins.some((origin) => forgets.some((forget) => cameFrom(origin, forget)));

export function createForgets({ db, home }: { readonly db: Db; readonly home: string }): Forgets {
  const rows = (within: Db) => within.selectFrom('forgets').where('home', '=', home);
  /** A request never changes, so each one is parsed once. */
  const parsed = new Map<string, FinalForget>();
  function parse({ forget, value_json }: { readonly forget: string; readonly value_json: string }): FinalForget {
    const value = parsed.get(forget) ?? finalForgetSchema.parse(JSON.parse(value_json));
    parsed.set(forget, value);
    return value;
  }
  return {
    all: async (within = db) => (await rows(within).select(['forget', 'value_json']).execute()).map(parse),
    async add(forgets) {
      for (const value of forgets)
        await db
          .insertInto('forgets')
          .values({ home, forget: value.forgetId, value_json: JSON.stringify(value) })
          .onConflict((conflict) => conflict.columns(['home', 'forget']).doNothing())
          .execute();
    },
    pending: async () =>
      (await rows(db).select(['forget', 'value_json']).where('done', '=', false).execute()).map(parse),
    async markDone(forgets) {
      const ids = forgets.map(({ forgetId }) => forgetId);
      if (ids.length === 0) return;
      await db.updateTable('forgets').set({ done: true }).where('home', '=', home).where('forget', 'in', ids).execute();
    },
    ids: async () => (await rows(db).select('forget').execute()).map(({ forget }) => forget),
    async doneIds() {
      const done = await rows(db).select('forget').where('done', '=', true).orderBy('forget').execute();
      return done.map(({ forget }) => forget);
    },
  };
}

interface ForgetRoutesDeps {
  readonly forgets: Forgets;
  /** Removes what pending requests cover. */
  readonly carryOut: () => Promise<void>;
  readonly findSentence: (text: string, isTool?: boolean) => Promise<SentencePlaces>;
}

export const createForgetRoutes = ({ forgets, carryOut, findSentence }: ForgetRoutesDeps): readonly Handled[] =>
  answer(forgetEndpoints, {
    forgets: async () => ({ forgetIds: [...(await forgets.doneIds())] }),
    async forget({ body }) {
      await forgets.add(body.forgets);
      await carryOut();
      return { forgetIds: [...(await forgets.doneIds())] };
    },
    findSentence: ({ body: { text, tool } }) => findSentence(text, tool),
  });
