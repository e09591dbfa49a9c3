/**
 * What it costs that nothing is acknowledged before it is on disk: events one at a time, and many who wait together,
 * beside a bare append with an `fsync` each to a file on the same disk, and a row each in a table of the engine; in turns, so that what else the machine does
 * meets both.
 */
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../server/events/index.ts';
import { openStore } from '../../server/store/index.ts';
import { copyStoreTemplate } from '../support/store-template.ts';
import { median, type Section } from './figures.ts';

const ROUNDS = 12;
const EACH = 200;
const TOGETHER = 100;
/** Of the rate of a bare `fsync`, for one acknowledgement at a time. */
const SHARE = 0.8;
/** A second. */
const PROMISED_TOGETHER = 10_000;
const TEXT = 'x'.repeat(200);

export async function storeFigures(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-store-'));
  await copyStoreTemplate(join(folder, 'store'));
  const opening = performance.now();
  const store = await openStore({ folder: join(folder, 'store'), databaseUrl: null });
  const openMs = performance.now() - opening;
  const file = await open(join(folder, 'bare'), 'a');
  try {
    const log = await openEventLog({
      db: store.db,
      openJournal: store.openJournal,
      home: 'bench',
      now: Date.now,
      newId: () => 'bench',
      onListenerError: () => undefined,
    });
    let client = 0;
    const append = () => log.appendOnce(`client ${client++}`, [{ kind: 'text', messageId: 'm', text: TEXT }]);
    const rateOf = async (count: number, run: () => Promise<unknown>) => {
      const started = performance.now();
      for (let i = 0; i < EACH / count; i++) await Promise.all(Array.from({ length: count }, run));
      return EACH / ((performance.now() - started) / 1_000);
    };
    const rates = { bare: [] as number[], row: [] as number[], one: [] as number[], many: [] as number[] };
    const bare = async () => {
      await file.write(TEXT);
      await file.sync();
    };
    const row = () =>
      store.db
        .insertInto('taken')
        .values({ log: 'bare', client_json: `row ${client++}`, event_id: 1 })
        .execute();
    for (let round = 0; round < ROUNDS; round++) {
      rates.bare.push(await rateOf(1, bare));
      rates.row.push(await rateOf(1, row));
      rates.one.push(await rateOf(1, append));
      rates.many.push(await rateOf(TOGETHER, append));
    }
    await log.close();
    const limit = (what: string, share: number) =>
      ({ kind: 'least', what, value: median(rates.bare) * share }) as const;
    return {
      title: 'The embedded store, and the disk',
      method: `${ROUNDS} rounds of ${EACH} each, medians; every acknowledgement is on disk before it is given`,
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
          what: `  the same, ${TOGETHER} waiting`,
          value: median(rates.many),
          unit: '/s',
          beside: { kind: 'least', what: 'promised', value: PROMISED_TOGETHER },
        },
        { what: 'opening it', value: openMs, unit: 'ms', beside: null },
      ],
    };
  } finally {
    await file.close();
    await store.close();
    await rm(folder, { recursive: true });
  }
}
