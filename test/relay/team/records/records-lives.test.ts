/** Whatever a household sets and says at a relay: a page gives all of it back to another. */
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPriceTable } from '../../../../server/team/costs/usage-rows.ts';
import { openEventLog } from '../../../../server/log/index.ts';
import { createConfigs } from '../../../../server/team/gate/index.ts';
import { createConfigRecords } from '../../../../server/team/records/config-records.ts';
import { createRecords } from '../../../../server/team/records/index.ts';
import type { StoredEvent } from '../../../../src/shared/protocol/events.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { allowIn, holding, offered } from '../../../support/records.ts';
import { storeFor } from '../../../support/store-for.ts';
import { openThreadHouse } from '../../../support/threads.ts';

const PRICE = { model: '*', input: 1, output: 1, cacheRead: 1, cacheWrite: 1 };
const DEPS = {
  now: Date.now,
  onListenerError(error: unknown) {
    throw error;
  },
};
describe('any life', () => {
  const store = storeFor();

  /** A home on the store, with all that holds records. */
  async function openHome() {
    const house = await openThreadHouse(store());
    const { relay } = house;
    const told: StoredEvent[] = [];
    const log = await openEventLog({ ...DEPS, db: store().db, home: relay, newId: randomUUID });
    log.subscribe((stored) => void told.push(stored));
    const configs = createConfigs({
      ...DEPS,
      db: store().db,
      home: relay,
      alone: true,
      timeZone: 'UTC',
      tell: () => undefined,
    });
    const prices = createPriceTable(store().db, relay, true);
    const sources = [
      createConfigRecords({ db: store().db, home: relay, changing: configs.changing, forgetPrices: prices.forget }),
      house.threads.records,
    ];
    const records = createRecords({ ...DEPS, log, sources, onError: DEPS.onListenerError });
    return {
      configs,
      prices,
      records,
      threads: house.threads,
      stored: () => told.flatMap(documentsOf),
      toldOf: () => house.told,
      async all() {
        const { threads } = await house.threads.list('human', { before: null, limit: 100, closedToo: true });
        const said = await Promise.all(
          threads.map(async ({ threadId }) => {
            const page = await house.threads.read('human', threadId, { before: null, limit: 200, run: null });
            return page.ok ? page.messages.map((message) => ({ ...message, restored: undefined })) : page.reason;
          }),
        );
        return {
          household: (await configs.household()).own,
          agents: await Promise.all(['a', 'b', 'c'].map(async (agentId) => (await configs.agent(agentId)).own)),
          prices: await prices.read(),
          // How often each was changed is counted by every relay for itself.
          threads: threads.map((thread) => ({ ...thread, version: 0 })),
          said,
        };
      },
      close: () => log.close(),
    };
  }
  type Home = Awaited<ReturnType<typeof openHome>>;

  const usd = fc.option(fc.integer({ min: 0, max: 9 }));
  const agent = fc.constantFrom('a', 'b', 'c');
  const who = fc.constantFrom('human', 'a', 'b');
  const nth = fc.nat({ max: 3 });
  const step: fc.Arbitrary<(home: Home, threads: string[]) => Promise<unknown>> = fc.oneof(
    usd.map((daily_budget_usd) => (home: Home) => home.configs.setHousehold({ daily_budget_usd })),
    fc.tuple(agent, usd).map(
      ([id, daily_budget_usd]) =>
        (home: Home) =>
          home.configs.setAgent(id, { coordination: { daily_budget_usd } }),
    ),
    fc
      .option(fc.nat({ max: 99 }))
      .map((input) => (home: Home) => home.prices.write(input === null ? [] : [{ ...PRICE, input }])),
    fc.tuple(who, agent).map(([by, ref]) => async (home: Home, threads: string[]) => {
      const made = await home.threads.create(by, { title: `Thread ${threads.length}`, participantRefs: [ref] });
      if (made.ok) threads.push(made.thread.threadId);
    }),
    fc.tuple(who, nth, fc.string()).map(
      ([by, n, text]) =>
        (home: Home, threads: string[]) =>
          home.threads.send(by, threads[n] ?? '', { text: `said ${text}`, mentionRefs: [], clientId: null }),
    ),
    fc.tuple(nth, agent).map(
      ([n, ref]) =>
        (home: Home, threads: string[]) =>
          home.threads.add('human', threads[n] ?? '', ref),
    ),
    fc.tuple(nth, agent).map(
      ([n, ref]) =>
        (home: Home, threads: string[]) =>
          home.threads.remove('human', threads[n] ?? '', ref),
    ),
    nth.map((n) => (home: Home, threads: string[]) => home.threads.close('human', threads[n] ?? '', 'done')),
    // What happened so far is told; what happens before the next time is told together.
    fc.constant((home: Home) => home.records.recover()),
  );

  it('comes back whole from what a page has stored, in whatever order it is offered, and nobody is told', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), fc.nat(), async (life, seed) => {
        const [before, after] = [await openHome(), await openHome()];
        const threads: string[] = [];
        for (const happens of life) await happens(before, threads);
        await before.records.recover();
        const want = await before.all();
        // Old versions are offered too, as by a page that is behind.
        const mixed = before
          .stored()
          .map((doc, i) => ({ doc, key: Math.sin(seed + i * 7_919) }))
          .sort((a, b) => a.key - b.key)
          .map(({ doc }) => doc);
        for (const docs of [mixed.filter(({ type }) => type !== 'thread-message'), mixed]) {
          const answers = await after.records.offer(docs.map(offered));
          expect(answers.filter(({ answer }) => answer === 'refused')).toEqual([]);
        }
        // Wider limits and lower prices wait for a yes.
        await allowIn(after.records);
        await after.records.recover();
        expect(await after.all()).toEqual(want);
        expect(after.toldOf()).toEqual([]);
        const known = holding(mixed).filter(({ type }) => type !== 'thread-message');
        const compared = await after.records.compare(
          known.map((doc) => ({
            ...offered(doc),
            messages: want.threads.find((one) => one.threadId === doc['recordId'])?.messages,
          })),
        );
        expect(compared.every((each) => each === 'known')).toBe(true);
        // What was given back is in the household: it is not told as new.
        await after.records.recover();
        // A yes is a change of the person's, and told as one; nothing else is.
        const told = after.stored().filter(({ type }) => type !== 'limits' && type !== 'prices');
        expect(told).toEqual([]);
        await before.close();
        await after.close();
      }),
      { numRuns: 10 },
    );
  }, 120_000);
});
