import type { KyselyPlugin } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EVENT_LOG_DEFAULTS, openEventLog, type OpenEventLog } from '../../../server/log/index.ts';
import { formatStamp } from '../../../src/shared/domain/stamp.ts';
import { documentsOf } from '../../../src/shared/protocol/intake.ts';
import type { Store } from '../../../server/store/index.ts';
import type { RoostEvent, StoredEvent } from '../../../src/shared/protocol/events.ts';
import { applyEvent, NO_SESSION } from '../../../src/shared/protocol/live.ts';
import { createStorePlace, STORES, type StorePlace } from '../../support/stores.ts';

const HARD_TEXT = ' \u0000 \ud800 \udfff \u0007\u2028"\\ 🪺 שלום </soul>]]>';
const MIND = { kind: 'rehearsal', leadModel: 'm', agentModel: 'm' } as const;
const text = (words: string, messageId = 'm1'): RoostEvent => ({ kind: 'text', messageId, text: words });
const started = (sessionId: string, time = 1): RoostEvent => ({ kind: 'session-started', time, sessionId, mind: MIND });
const ended = (sessionId: string, time = 2): RoostEvent => ({
  kind: 'session-ended',
  time,
  sessionId,
  reason: 'ended',
});
const awake = (agentId: string): RoostEvent => ({ kind: 'agent-awake', time: 1, agentId, position: 0, sessionId: 's' });

describe.each(STORES)('the event log on %s', (kind) => {
  let place: StorePlace;
  let store: Store;
  let clock = 1_000_000;
  let homes = 0;
  const failures: unknown[] = [];

  beforeAll(async () => {
    place = await createStorePlace(kind);
    store = await place.open();
  });
  afterAll(async () => {
    await store.close();
    await place.remove();
    expect(failures).toEqual([]);
  });

  const open = (relay: string, db = store.db): Promise<OpenEventLog> =>
    openEventLog({
      db,
      home: relay,
      now: () => clock,
      newId: () => `log-of-${relay}-${++homes}`,
      onListenerError: (error) => failures.push(error),
      pruneEveryMs: 0,
    });
  const openNew = () => open(`home-${++homes}`);
  /** Each transaction of a log moves its head once. */
  async function openCounted() {
    let moves = 0;
    const counting: KyselyPlugin = {
      transformQuery({ node }) {
        if (node.kind === 'UpdateQueryNode') moves += 1;
        return node;
      },
      transformResult: ({ result }) => Promise.resolve(result),
    };
    const log = await open(`home-${++homes}`, store.db.withPlugin(counting));
    return { log, transactions: () => moves };
  }

  it('gives ids without gaps, in the order of the appends, and tells listeners in that order before the append resolves', async () => {
    const log = await openNew();
    const heard: StoredEvent[] = [];
    log.subscribe((stored) => heard.push(stored));
    const appends = Array.from({ length: 100 }, (_, i) => log.append([text(`${i}a`), text(`${i}b`)]));
    const first = await appends[0];
    expect(heard.slice(0, 2)).toEqual(first);
    const stored = (await Promise.all(appends)).flat();
    expect(stored.map(({ id }) => id)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
    expect(stored.map(({ event }) => (event.kind === 'text' ? event.text : ''))).toEqual(
      Array.from({ length: 100 }, (_, i) => [`${i}a`, `${i}b`]).flat(),
    );
    expect(heard).toEqual(stored);
    expect(log.head()).toBe(200);
    expect(await log.read(0, 1_000)).toEqual(stored);
    expect(await log.read(150, 10)).toEqual(stored.slice(150, 160));
  });

  it('commits together what is appended together', async () => {
    const { log, transactions } = await openCounted();
    await Promise.all(Array.from({ length: 200 }, (_, i) => log.append([text(String(i), `m${i}`)])));
    expect(transactions()).toBeLessThan(20);
  });

  it('makes one event of the words of an answer that wait for one commit, and of none that something stands between', async () => {
    const log = await openNew();
    await log.append([text('at once')]);
    const heard: StoredEvent[] = [];
    log.subscribe((stored) => heard.push(stored));
    const said = (words: string, messageId?: string) => log.append([text(words, messageId)]);
    const appends = [
      said('a'),
      said('b', 'm2'),
      said('c'),
      said('d', 'm2'),
      log.append([awake('x')]),
      said('e'),
      said('f'),
    ];
    const stored = await Promise.all(appends);
    await said('g');
    expect(heard.map(({ event }) => (event.kind === 'text' ? `${event.messageId} ${event.text}` : event.kind))).toEqual(
      ['m1 ac', 'm2 bd', 'agent-awake', 'm1 ef', 'm1 g'],
    );
    // Each append is told where its words stand.
    expect(stored.map(([first]) => first?.id)).toEqual([2, 3, 2, 3, 4, 5, 5]);
    expect(await log.read(1, 100)).toEqual(heard);
  });

  it('writes words of a stream at once after a pause, and not an event for each of them otherwise', async () => {
    const log = await openNew();
    const began = performance.now();
    let appends = 0;
    for (; performance.now() - began < 400; appends++) {
      void log.append([text('x')]);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await log.close();
    const events = await log.read(0, 1_000);
    const said = events.map(({ event }) => (event.kind === 'text' ? event.text : '')).join('');
    expect(said).toHaveLength(appends);
    expect(events[0]?.event).toMatchObject({ text: 'x' });
    expect(events.length).toBeLessThanOrEqual((performance.now() - began) / EVENT_LOG_DEFAULTS.windowMs + 2);
  });

  it('writes what comes at one moment in one transaction, client ids too', async () => {
    const { log, transactions } = await openCounted();
    await Promise.all([log.append([text('a'), text('b')]), log.append([text('c')])]);
    expect(transactions()).toBe(1);
    await Promise.all([
      log.appendOnce('x', [text('d'), text('e')]),
      log.append([text('f')]),
      log.appendOnce('y', [text('g')]),
    ]);
    expect(transactions()).toBe(2);
    const repeated = await Promise.all([
      log.appendOnce('z', [text('h')]),
      log.appendOnce('y', [text('no')]),
      log.append([text('i'), text('j')]),
      log.appendOnce('z', [text('no')]),
      log.appendOnce('x', [text('no')]),
    ]);
    expect(repeated).toMatchObject([
      { eventId: 8, repeated: false },
      { eventId: 7, repeated: true },
      [{ id: 9 }, { id: 10 }],
      { eventId: 8, repeated: true },
      { eventId: 4, repeated: true },
    ]);
    expect((await log.read(0, 100)).map(({ id, event }) => `${id}${event.kind === 'text' ? event.text : ''}`)).toEqual(
      [...'abcdefghij'].map((words, i) => `${i + 1}${words}`),
    );
  });

  it('stamps what is written in its own order, also where the clock goes back, over a restart too', async () => {
    const home = `home-${++homes}`;
    clock += 10 * 86_400_000;
    const then = clock;
    const log = await open(home);
    const written = [...(await log.append([started('a'), awake('x'), ended('a')]))];
    clock -= 86_400_000;
    written.push(...(await log.append([started('b', clock), ended('b', clock)])));
    const again = await open(home);
    written.push(...(await again.append([started('c', clock)])));
    clock = then + 365 * 86_400_000;
    written.push(...(await again.append([ended('c', clock)])));
    clock = then;
    const last = await open(home);
    written.push(...(await last.append([started('d', clock), text('no stamp')])));
    const docs = written.flatMap(documentsOf);
    expect(docs.map(({ _id }) => _id)).toEqual(
      ['a:start', 'a:end', 'b:start', 'b:end', 'c:start', 'c:end', 'd:start'].map((id) => `session:${id}`),
    );
    expect(docs.map(({ at }) => at)).toEqual(docs.map(({ at }) => at).toSorted());
    expect(new Set(docs.map(({ at }) => at)).size).toBe(docs.length);
    // What a household knows from elsewhere is earlier too.
    const ahead = formatStamp({ time: then + 2 * 365 * 86_400_000, counter: 7, node: 'page' });
    last.follow(ahead);
    const [after] = (await last.append([ended('d', clock)])).flatMap(documentsOf);
    expect((after?.at ?? '') > ahead).toBe(true);
    // The times themselves are what the clock said.
    expect(after).toMatchObject({ phase: { endedAt: clock } });
  });

  it('ends a session once, also when a process that hung ends it again', async () => {
    const home = `home-${++homes}`;
    const hung = await open(home);
    await hung.append([started('a')]);
    const other = await open(home);
    await other.append([ended('a')]);
    await hung.append([ended('a', 9), text('later')]);
    const all = (await other.read(0, 10)).map(({ event }) => event);
    expect(all).toMatchObject([started('a'), ended('a'), text('later')]);
  });

  it('brings every string back exactly, NUL and lone surrogates too', async () => {
    const log = await openNew();
    await log.append([text(HARD_TEXT)]);
    expect(await log.read(0, 10)).toEqual([{ id: 1, event: text(HARD_TEXT) }]);
  });

  it('takes a client id once, under concurrency, in any batch, and after reopening', async () => {
    const log = await openNew();
    const clientId = `client ${HARD_TEXT}`;
    expect(await log.written(clientId)).toBeNull();
    await log.append([text('before')]);
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => log.appendOnce(clientId, [text(`try ${i}`), text('more')])),
    );
    const fresh = answers.filter(({ repeated }) => !repeated);
    expect(fresh).toHaveLength(1);
    expect(new Set(answers.map(({ eventId }) => eventId))).toEqual(new Set([2]));
    expect(await log.appendOnce(clientId, [text('later')])).toEqual({ eventId: 2, repeated: true });
    expect(log.head()).toBe(3);

    const again = await open(`home-${homes - 1}`);
    expect(again.id).toBe(log.id);
    expect(await again.written(clientId)).toBe(2);
    expect(await again.appendOnce(clientId, [text('much later')])).toEqual({ eventId: 2, repeated: true });
    expect(await again.read(0, 10)).toHaveLength(3);
  });

  it('takes a client id once although two openings of one log write at the same time', async () => {
    const one = await openNew();
    const other = await open(`home-${homes - 1}`);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => (i % 2 ? one : other).appendOnce(`c${i >> 1}`, [text(String(i))])),
    );
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(10);
    expect((await one.read(0, 100)).map(({ id }) => id)).toEqual(Array.from({ length: 10 }, (_, i) => i + 1));
  });

  it('says a message once where two processes are given it at the same moment, again and again', async () => {
    const one = await openNew();
    const other = await open(`home-${homes - 1}`);
    for (let round = 0; round < 20; round++) {
      const clients = Array.from({ length: 5 }, (_, i) => `round ${round} ${i}`);
      const answers = await Promise.all(
        [one, other].map((log) => Promise.all(clients.map((client) => log.appendOnce(client, [text(client)])))),
      );
      expect(answers[0]?.map(({ eventId }) => eventId)).toEqual(answers[1]?.map(({ eventId }) => eventId));
    }
    expect((await one.read(0, 1_000)).map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  });

  it('keeps the logs of two homes apart', async () => {
    const one = await openNew();
    const other = await openNew();
    await one.append([text('one')]);
    await other.append([text('other'), text('more')]);
    expect(one.id).not.toBe(other.id);
    expect(await one.read(0, 10)).toEqual([{ id: 1, event: text('one') }]);
    expect(await other.read(0, 10)).toHaveLength(2);
    await one.appendOnce('same', [text('x')]);
    expect((await other.appendOnce('same', [text('x')])).repeated).toBe(false);
  });

  it('rebuilds the snapshot of the running session when it is opened again', async () => {
    const log = await openNew();
    expect(log.snapshot()).toEqual(NO_SESSION);
    const stored = [
      ...(await log.append([started('s0'), ended('s0')])),
      ...(await log.append([
        started('s1', 5),
        awake('a'),
        text('words'),
        { kind: 'answer-started', time: 6, messageId: 'm', agentId: 'a', sessionId: 's1' },
        text('more', 'm'),
      ])),
    ];
    const folded = stored.reduce(applyEvent, NO_SESSION);
    expect(log.snapshot()).toEqual(folded);
    const again = await open(`home-${homes - 1}`);
    expect(again.snapshot()).toEqual(folded);
    expect(again.head()).toBe(7);
    expect(again.snapshot().answering).toMatchObject([{ messageId: 'm', agentId: 'a' }]);
    const stood = again.snapshot().answering[0]?.at;
    expect(stood).toMatch(/-relay$/);
    expect(again.snapshot().lastEnd?.sessionId).toBe('s0');
  });

  it('drops only what a browser has, is old enough, and is not of the running session or its last end', async () => {
    const log = await openNew();
    const ids = async () => (await log.read(0, 100)).map(({ id }) => id);
    await log.append([started('s0'), text('a'), ended('s0'), started('s1'), text('b')]);
    await log.ack(5);
    expect(await ids()).toEqual([1, 2, 3, 4, 5]);
    clock += EVENT_LOG_DEFAULTS.retentionMs + 1;
    await log.append([text('c')]);
    await log.ack(1);
    expect(await ids(), 'an acknowledgement never goes back').toEqual([4, 5, 6]);
    await log.append([ended('s1')]);
    await log.ack(1_000_000);
    expect(await ids()).toEqual([6, 7]);
    clock += EVENT_LOG_DEFAULTS.retentionMs + 1;
    await log.ack(7);
    expect(await ids()).toEqual([7]);
    const again = await open(`home-${homes - 1}`);
    expect(again.snapshot()).toEqual(log.snapshot());
    expect(again.snapshot().lastEnd?.sessionId).toBe('s1');
    expect((await again.append([text('d')]))[0]?.id).toBe(8);
  });

  it('keeps what no browser has, however old', async () => {
    const log = await openNew();
    await log.append([started('s0'), text('a'), ended('s0'), started('s1'), ended('s1')]);
    clock += 100 * EVENT_LOG_DEFAULTS.retentionMs;
    await log.ack(1);
    expect((await log.read(0, 10)).map(({ id }) => id)).toEqual([2, 3, 4, 5]);
  });

  it('has everything on disk when it is closed', async () => {
    const log = await openNew();
    const appended = [log.append([text('a', 'm1')]), log.append([text('b', 'm2')])];
    await log.close();
    expect(await log.read(0, 10)).toHaveLength(2);
    await Promise.all(appended);
  });

  it('tells listeners of events that another writer of the log has put in between', async () => {
    const log = await openNew();
    const heard: StoredEvent[] = [];
    log.subscribe((stored) => heard.push(stored));
    await log.append([text('a')]);
    const other = await open(`home-${homes - 1}`);
    await other.append([text('b'), text('c')]);
    await log.append([text('d')]);
    expect(heard).toEqual(['a', 'b', 'c', 'd'].map((words, i) => ({ id: i + 1, event: text(words) })));
    expect(log.head()).toBe(4);
  });

  it('fails the append, and no other, where the store refuses', async () => {
    const log = await openNew();
    await log.append([text('a')]);
    await store.db
      .insertInto('events')
      .values({ log: log.id, id: 2, kind: 'text', event_json: '{}', stored_at: 0 })
      .execute();
    await expect(log.append([text('b')])).rejects.toThrow(/duplicate key|UNIQUE constraint/);
    await store.db.deleteFrom('events').where('log', '=', log.id).where('id', '=', 2).execute();
    expect(await log.append([text('c')])).toEqual([{ id: 2, event: text('c') }]);
  });
});
