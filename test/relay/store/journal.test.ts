import { mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEventLog, type OpenEventLog } from '../../../server/team/events/index.ts';
import { type Journal, journalsIn, type Store } from '../../../server/store/index.ts';
import type { StoredEvent } from '../../../src/shared/protocol/events.ts';
import { createRandom } from '../../support/random.ts';
import { createStorePlace, type StorePlace } from '../../support/stores.ts';

/** Each of an answer of its own: words of one that come together are one event. */
const text = (words: string) => ({ kind: 'text', messageId: `m${words.slice(0, 8)}`, text: words }) as const;

describe('a journal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'roost-journal-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const found = async (bytes = 1_000) => {
    const journal = await journalsIn(folder, bytes)('log');
    await journal.close();
    return journal.found.map(String);
  };

  it('has what was written, in order, when it is opened again', async () => {
    expect(await found()).toEqual([]);
    const journal = await journalsIn(folder, 1_000)('log');
    expect(await journal.write(Buffer.from('one'))).toBe(true);
    expect(await journal.write(Buffer.from('two 🪺'))).toBe(true);
    await journal.close();
    expect(await found()).toEqual(['one', 'two 🪺']);
    expect(await readdir(join(folder, 'roost_journal'))).toEqual(['log']);
  });

  it('takes no more than it has room for, and never changes its length', async () => {
    const journal = await journalsIn(folder, 100)('log');
    expect(await journal.write(Buffer.alloc(60, 'a'))).toBe(true);
    expect(await journal.write(Buffer.alloc(60, 'b'))).toBe(false);
    expect(await journal.write(Buffer.alloc(8, 'c'))).toBe(true);
    expect(await journal.write(Buffer.alloc(1, 'd'))).toBe(false);
    await journal.close();
    expect(await found(100)).toEqual(['a'.repeat(60), 'c'.repeat(8)]);
  });

  it('knows nothing of what was written before it began anew, however the records lie', async () => {
    const journal = await journalsIn(folder, 1_000)('log');
    for (const words of ['aaaa', 'bbbb', 'cccc']) await journal.write(Buffer.from(words));
    journal.beginAnew();
    await journal.write(Buffer.from('dddd'));
    await journal.close();
    expect(await found()).toEqual(['dddd']);
  });

  it('leaves out a record that was torn, at whichever byte, and what follows it', async () => {
    const journal = await journalsIn(folder, 200)('log');
    for (const words of ['first', 'second', 'third']) await journal.write(Buffer.from(words));
    await journal.close();
    const file = await open(join(folder, 'roost_journal', 'log'), 'r+');
    const second = 16 + 'first'.length;
    for (let at = second; at < second + 16 + 'second'.length; at++) {
      const byte = Buffer.alloc(1);
      await file.read(byte, 0, 1, at);
      await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
      expect(await found(200), `byte ${at}`).toEqual(['first']);
      await file.write(byte, 0, 1, at);
    }
    await file.close();
    expect(await found(200)).toEqual(['first', 'second', 'third']);
  });
});

describe('the event log on a journal', () => {
  let place: StorePlace;
  let store: Store;
  beforeAll(async () => {
    place = await createStorePlace('pglite');
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
  });

  /**
   * Bytes of its journal: some records, so that it begins anew often, and now and then one does not
   * fit at all.
   */
  const BYTES = 2_000;
  const journals = new Map<string, Journal>();
  /** Nothing more reaches the journal of this log; what it holds is found by the next. */
  const kill = (relay: string) => journals.get(relay)?.close();
  const openLog = (relay: string): Promise<OpenEventLog> =>
    openEventLog({
      db: store.db,
      async openJournal(name) {
        const journal = await journalsIn(place.folder, BYTES)(name);
        journals.set(relay, journal);
        return journal;
      },
      home: relay,
      now: Date.now,
      newId: () => `log of ${relay}`,
      onListenerError: (error) => {
        throw error;
      },
      pruneEveryMs: 0,
      retentionMs: -60_000,
    });

  it('answers before its tables know, and the next process has it all the same', async () => {
    const log = await openLog('left');
    const stored = await log.append([text('one'), text('two')]);
    const once = await log.appendOnce('client', [text('three')]);
    expect(await store.db.selectFrom('events').selectAll().where('log', '=', log.id).execute()).toEqual([]);
    await kill('left');
    const next = await openLog('left');
    expect(next.head()).toBe(3);
    expect((await next.read(0, 10)).slice(0, 2)).toEqual(stored);
    expect(await next.appendOnce('client', [text('again')])).toEqual({ eventId: once.eventId, repeated: true });
    await next.close();
  });

  it('puts what was appended into its tables by itself', async () => {
    const log = await openLog('quiet');
    await log.append([text('one')]);
    await expect
      .poll(async () => (await store.db.selectFrom('events').select('id').where('log', '=', log.id).execute()).length, {
        timeout: 30_000,
      })
      .toBe(1);
    await log.close();
  });

  it.each([1, 2, 3])('is what was acknowledged, over kills, full journals and long events, life %i', async (seed) => {
    const random = createRandom(seed);
    const upTo = (most: number) => Math.floor(random() * most);
    const relay = `life ${seed}`;
    let log = await openLog(relay);
    const model: StoredEvent[] = [];
    const clients = new Map<string, number>();
    let dropped = 0;
    for (let step = 0; step < 60; step++) {
      const writes = await Promise.all(
        Array.from({ length: 1 + upTo(8) }, async (_none, i) => {
          const events = Array.from({ length: 1 + upTo(3) }, () =>
            text(`${step}.${i} ${'x'.repeat(random() < 0.05 ? 3_000 : upTo(200))}`),
          );
          if (random() < 0.5) return { events: await log.append(events), client: null };
          const client = `client ${upTo(300)}`;
          return { ...(await log.appendOnce(client, events)), client, given: events };
        }),
      );
      for (const write of writes) {
        if (write.client === null) model.push(...write.events);
        else if (write.repeated) expect(clients.get(write.client)).toBe(write.eventId);
        else {
          expect(clients.has(write.client)).toBe(false);
          clients.set(write.client, write.eventId);
          model.push(...write.given.map((event, i) => ({ id: write.eventId + i, event })));
        }
      }
      model.sort((a, b) => a.id - b.id);
      if (random() < 0.1) {
        if (random() < 0.5) await log.close();
        else await kill(relay);
        log = await openLog(relay);
      }
      if (random() < 0.1) {
        const [end] = await log.append([{ kind: 'session-ended', sessionId: 's', reason: 'ended', time: 1 }]);
        if (!end) throw new Error('nothing was stored');
        model.push(end);
        await log.ack(log.head());
        const [oldest] = await log.read(0, 1);
        dropped = (oldest?.id ?? 1) - 1;
        for (const [client, id] of clients) if (id <= dropped) clients.delete(client);
      }
      expect(log.head()).toBe(model.length);
      if (random() < 0.3) expect(await log.read(dropped, 10_000)).toEqual(model.slice(dropped));
    }
    expect(await log.read(dropped, 10_000)).toEqual(model.slice(dropped));
    for (const [client, id] of clients) expect(await log.written(client)).toBe(id);
    await log.close();
  });
});
