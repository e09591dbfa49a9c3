/**
 * What it costs that nothing is acknowledged before it is on disk: events one at a time, and many
 * that wait together, beside a bare append with an `fsync` each to a file on the same disk, and a
 * row each in a bare SQLite with the same settings. They run in turns, so that what else the
 * machine does meets all of them.
 * Beside them stand the figures of PGlite, the embedded store before.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from '@photostructure/sqlite';
import { openEventLog } from '../../server/log/index.ts';
import { PRAGMAS } from '../../server/store/embedded.ts';
import { openStore } from '../../server/store/index.ts';
import { median } from './figures.ts';
import { definePart, withOpened } from './part.ts';

/**
 * Rounds; acknowledgements in each; how many wait at once; events that are appended while the event
 * loop is watched.
 */
const FULL = { rounds: 12, each: 200, together: 100, watched: 10_000 };
const SMOKE: typeof FULL = { rounds: 1, each: 8, together: 4, watched: 8 };
/**
 * Measured once in the same way, on two cores with 3,045 bare appends a second. Its events went
 * into a log of their own beside it. A second, and ms.
 */
const PGLITE = { rows: 1_028, events: 3_577, waiting: 16_934, openMs: 411 } as const;
/** Of the rate of a bare SQLite, for one acknowledgement at a time. */
const SHARE = 0.4;
/** A second. */
const PROMISED_TOGETHER = 10_000;
/** ms for which the event loop is held, in all but one of a hundred looks. */
const HELD_MS = 5;
/** ms between two looks at the event loop. */
const RESOLUTION_MS = 1;
const TEXT = 'x'.repeat(200);

export const store = definePart({
  name: 'store',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: ({ rounds, each, together, watched }) =>
    withOpened(async (keep) => {
      const folder = keep(await mkdtemp(join(tmpdir(), 'roost-bench-store-')), (made) => rm(made, { recursive: true }));
      const opening = performance.now();
      const opened = keep(await openStore({ folder: join(folder, 'store'), databaseUrl: null }), (one) => one.close());
      const openMs = performance.now() - opening;
      const file = keep(await open(join(folder, 'bare'), 'a'), (one) => one.close());
      const log = keep(
        await openEventLog({
          db: opened.db,
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
      const sqlite = keep(new DatabaseSync(join(folder, 'bare.db')), (one) => one.close());
      for (const pragma of PRAGMAS) sqlite.exec(`pragma ${pragma}`);
      sqlite.exec('create table taken (log text, client_json text, event_id bigint, primary key (log, client_json))');
      const insert = sqlite.prepare('insert into taken values (?, ?, ?)');
      const bareRow = () => Promise.resolve(insert.run('bare', `row ${client++}`, 1));
      const rates = {
        bare: [] as number[],
        bareRow: [] as number[],
        row: [] as number[],
        one: [] as number[],
        many: [] as number[],
      };
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
        rates.bareRow.push(await rateOf(1, bareRow));
        rates.row.push(await rateOf(1, row));
        rates.one.push(await rateOf(1, append));
        rates.many.push(await rateOf(together, append));
      }
      const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      delay.enable();
      for (let i = 0; i < watched / together; i++) await Promise.all(Array.from({ length: together }, append));
      delay.disable();
      const heldMs = (ns: number) => ns / 1e6 - RESOLUTION_MS;
      const before = (value: number) => ({ kind: 'peer', what: 'with PGlite', value }) as const;
      const limit = (what: string, share: number) =>
        ({ kind: 'least', what, value: median(rates.bareRow) * share }) as const;
      return {
        title: 'The embedded store, and the disk',
        method: `${rounds} rounds of ${each} each, medians; every acknowledgement is on disk before it is given`,
        figures: [
          { what: 'a bare append and fsync each', value: median(rates.bare), unit: '/s', beside: null },
          {
            what: 'a row each, one at a time',
            value: median(rates.row),
            unit: '/s',
            beside: { kind: 'peer', what: 'a row each in a bare SQLite', value: median(rates.bareRow) },
          },
          {
            what: 'an event that is said once, one at a time',
            value: median(rates.one),
            unit: '/s',
            beside: limit(`${SHARE} of a row each in a bare SQLite`, SHARE),
          },
          {
            what: `  the same, ${together} waiting`,
            value: median(rates.many),
            unit: '/s',
            beside: { kind: 'least', what: 'promised', value: PROMISED_TOGETHER },
          },
          { what: 'a row each', value: median(rates.row), unit: '/s', beside: before(PGLITE.rows) },
          { what: 'an event that is said once', value: median(rates.one), unit: '/s', beside: before(PGLITE.events) },
          {
            what: `  the same, ${together} waiting`,
            value: median(rates.many),
            unit: '/s',
            beside: before(PGLITE.waiting),
          },
          {
            what: `the event loop is held, p99 of ${watched.toLocaleString('en')} events`,
            value: heldMs(delay.percentile(99)),
            unit: 'ms',
            beside: { kind: 'limit', what: 'the limit', value: HELD_MS },
          },
          { what: '  the longest hold', value: heldMs(delay.max), unit: 'ms', beside: null },
          { what: 'making and opening it', value: openMs, unit: 'ms', beside: before(PGLITE.openMs) },
        ],
      };
    }),
});
