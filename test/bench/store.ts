/**
 * What it costs that nothing is acknowledged before it is on disk: events one at a time, and many
 * who wait together, beside a bare append with an `fsync` each to a file on the same disk, and a
 * row each in a table of the engine; in turns, so that what else the machine does meets both.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../server/team/events/index.ts';
import { openStore } from '../../server/store/index.ts';
import { copyStoreTemplate } from '../support/store-template.ts';
import { median } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/** Rounds; acknowledgements in each; how many wait at once. */
const FULL = { rounds: 12, each: 200, together: 100 };
const SMOKE: typeof FULL = { rounds: 1, each: 8, together: 4 };
/** Of the rate of a bare `fsync`, for one acknowledgement at a time. */
const SHARE = 0.8;
/** A second. */
const PROMISED_TOGETHER = 10_000;
const TEXT = 'x'.repeat(200);

export const store = definePart({
  name: 'store',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ rounds, each, together }) =>
    withOpened(async (keep) => {
      const folder = keep(await mkdtemp(join(tmpdir(), 'roost-bench-store-')), (made) => rm(made, { recursive: true }));
      await copyStoreTemplate(join(folder, 'store'));
      const opening = performance.now();
      const opened = keep(await openStore({ folder: join(folder, 'store'), databaseUrl: null }), (one) => one.close());
      const openMs = performance.now() - opening;
      const file = keep(await open(join(folder, 'bare'), 'a'), (one) => one.close());
      const log = keep(
        await openEventLog({
          db: opened.db,
          openJournal: opened.openJournal,
          home: 'bench',
          now: Date.now,
          newId: () => 'bench',
          onListenerError: () => undefined,
        }),
        (one) => one.close(),
      );
      let client = 0;
      const append = () => log.appendOnce(`client ${client++}`, [{ kind: 'text', messageId: 'm', text: TEXT }]);
      const rateOf = async (count: number, run: () => Promise<unknown>) => {
        const started = performance.now();
        for (let i = 0; i < each / count; i++) await Promise.all(Array.from({ length: count }, run));
        return each / ((performance.now() - started) / 1_000);
      };
      const rates = { bare: [] as number[], row: [] as number[], one: [] as number[], many: [] as number[] };
      const bare = async () => {
        await file.write(TEXT);
        await file.sync();
      };
      const row = () =>
        opened.db
          .insertInto('taken')
          .values({ log: 'bare', client_json: `row ${client++}`, event_id: 1 })
          .execute();
      for (let round = 0; round < rounds; round++) {
        rates.bare.push(await rateOf(1, bare));
        rates.row.push(await rateOf(1, row));
        rates.one.push(await rateOf(1, append));
        rates.many.push(await rateOf(together, append));
      }
      const limit = (what: string, share: number) =>
        ({ kind: 'least', what, value: median(rates.bare) * share }) as const;
      return {
        title: 'The embedded store, and the disk',
        method: `${rounds} rounds of ${each} each, medians; every acknowledgement is on disk before it is given`,
        figures: [
          { what: 'a bare append and fsync each', value: median(rates.bare), unit: '/s', beside: null },
          {
            what: 'a row each, one at a time',
            value: median(rates.row),
            unit: '/s',
            beside: { kind: 'peer', what: 'a bare fsync each', value: median(rates.bare) },
          },
          {
            what: 'an event that is said once, one at a time',
            value: median(rates.one),
            unit: '/s',
            beside: limit(`${SHARE} of a bare fsync each`, SHARE),
          },
          {
            what: `  the same, ${together} waiting`,
            value: median(rates.many),
            unit: '/s',
            beside: { kind: 'least', what: 'promised', value: PROMISED_TOGETHER },
          },
          { what: 'opening it', value: openMs, unit: 'ms', beside: null },
        ],
      };
    }),
});
