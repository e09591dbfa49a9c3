/**
 * Statements that a Postgres server has carried out, whose answer is lost with the connection: what
 * they did is not done a second time, and not taken for undone.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCallRows } from '../../../server/approvals/requests/rows.ts';
import { createCosts } from '../../../server/team/costs/index.ts';
import { openEventLog } from '../../../server/log/index.ts';
import { createInbox } from '../../../server/team/inbox/index.ts';
import { createScheduleRows, NO_DETAIL } from '../../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../../server/schedules/settings.ts';
import { isAway, openStore, type Store } from '../../../server/store/index.ts';
import { PLAIN_TERMS } from '../../../src/shared/domain/request-cost.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { openForgetfulLine, type ForgetfulLine } from '../../support/forgetful-line.ts';
import { createTestClock, createTestGate, request } from '../../support/gate.ts';
import { createDatabase, type TestDatabase } from '../../support/postgres.ts';
import { routine } from '../../support/schedules.ts';
import { createTestConfigs } from '../../support/test-configs.ts';

const NOW = Date.UTC(2026, 10, 23, 6, 0);
const MINUTE = 60_000;

let database: TestDatabase;
let line: ForgetfulLine;
let store: Store;
beforeAll(async () => {
  database = await createDatabase();
  line = await openForgetfulLine(database.url);
  store = await openStore({ folder: '', databaseUrl: line.url });
});
afterAll(async () => {
  await store.close();
  await line.close();
  await database.drop();
});

/** `work`, and the answer to the first statement with this text in it is lost. */
async function losing<Value>(statement: RegExp, work: () => Promise<Value>): Promise<Value> {
  const lost = line.loseAnswerTo(statement);
  const value = await work();
  await lost;
  return value;
}
const openLog = () =>
  openEventLog({
    db: store.db,
    database: store.database,
    home: randomUUID(),
    now: () => NOW,
    newId: randomUUID,
    onListenerError: () => undefined,
  });
const words = (text: string): RoostEvent => ({ kind: 'text', messageId: 'm1', text });

describe('A lost answer', () => {
  it('stores an event once after a lost answer, and tells each listener once', async () => {
    const log = await openLog();
    const heard: number[] = [];
    log.subscribe(({ id }) => heard.push(id));
    await log.append([words('one ')]);
    const stored = await losing(/insert into "roost"\."events"/, () => log.append([words('two ')]));
    expect(stored.map(({ id }) => id)).toEqual([2]);
    const once = await losing(/insert into "roost"\."taken"/, () => log.appendOnce('c1', [words('three ')]));
    expect(once).toEqual({ eventId: 3, repeated: false });
    // The one that looks for it loses its answer too.
    const [, again] = await Promise.all([
      losing(/insert into "roost"\."events"/, () => log.append([words('four ')])),
      log.appendOnce('c1', [words('three ')]),
    ]);
    expect(again).toEqual({ eventId: 3, repeated: true });
    expect((await log.read(0, 100)).map(({ event }) => (event.kind === 'text' ? event.text : ''))).toEqual([
      'one ',
      'two ',
      'three ',
      'four ',
    ]);
    expect(heard).toEqual([1, 2, 3, 4]);
    await log.close();
  });

  it('counts a cost or hold once after a lost answer', async () => {
    const home = randomUUID();
    const log = await openLog();
    const configs = createTestConfigs({ db: store.db, relay: home });
    const costs = createCosts({
      db: store.db,
      database: store.database,
      home,
      configs,
      directory: { all: () => Promise.resolve([]) },
      log,
      now: () => NOW,
    });
    const size = {
      ...{ model: 'claude-opus-5-5', bytes: 0, pictures: 0, openEnded: false, searches: 0, maxOutputTokens: 100 },
      ...{ cached: 'not' as const, terms: PLAIN_TERMS },
    };
    const usage = { model: size.model, inputTokens: 0, outputTokens: 100, cacheReadTokens: 0, cacheWriteTokens: 0 };
    for (const statement of [/insert into "roost"\."reserves"/, /insert into "roost"\."usage"/])
      await losing(statement, async () => {
        const check = await costs.check({ agentId: 'a1', size });
        if (!check.ok) throw new Error(check.message);
        await check.hold.settle({ sessionId: null, messageId: null, via: 'session', took: { usage, whole: true } });
      });
    const { agents } = await costs.report(1);
    expect(agents).toMatchObject([{ agentId: 'a1', today: { requests: 2, outputTokens: 200 } }]);
    const spent = await store.db.selectFrom('spending').select('cost_micro_usd').where('home', '=', home).execute();
    expect(spent).toEqual([{ cost_micro_usd: agents[0]?.today.costMicroUsd }]);
    await costs.close();
    expect(await store.db.selectFrom('reserves').select('reserve').where('home', '=', home).execute()).toEqual([]);
    await log.close();
  });

  it('delivers an inbox message after a lost answer, and stores a sent one once', async () => {
    const home = randomUUID();
    const inbox = createInbox({ db: store.db, home, retentionMs: MINUTE, tell: () => undefined, now: () => NOW });
    const put = () =>
      inbox.put({ messageId: 'm1', to: 'a1', from: 'a2', text: 'Hm.', time: NOW, priority: 'normal', threadId: null });
    expect(await losing(/commit/, put)).toBeNull();
    expect(await inbox.count('a1')).toBe(1);
    const claim = () => inbox.claim(['m1'], { readIn: 's1', run: 'answer-1', time: NOW });
    expect(await losing(/update "roost"\."inbox"/, claim)).toMatchObject([{ messageId: 'm1', text: 'Hm.' }]);
    expect(await claim()).toEqual([]);
  });

  it('grants and counts one wake after a lost answer of the gate', async () => {
    const { gate } = createTestGate(store, createTestClock(NOW));
    const { decision } = await losing(/insert into "roost"\."wakes"/, () => gate.ask(request()));
    expect(decision.outcome).toBe('granted');
    const { wakes } = await gate.feed({ before: null, limit: 9, agentId: null });
    expect(wakes.map(({ decisionId }) => decisionId)).toEqual([decision.decisionId]);
    expect((await gate.stats('orin')).wakesToday).toBe(1);
    await gate.close();
  });

  it('claims, starts and ends a moment once after a lost answer', async () => {
    const rows = createScheduleRows({ db: store.db, home: randomUUID(), limits: SCHEDULE_LIMITS });
    await rows.write('s1', routine(), NOW, null, 0);
    const row = await rows.get('s1');
    if (!row) throw new Error('It was written.');
    await rows.trigger(row, NOW);
    const claim = await losing(/update "roost"\."occurrences"/, () => rows.claim(NOW, randomUUID(), true));
    if (!claim) throw new Error('It was due.');
    expect(await rows.claim(NOW, randomUUID(), true)).toBeNull();
    expect(await losing(/update "roost"\."occurrences"/, () => rows.begins(claim, 'run-1', NOW))).toBe(true);
    expect(await rows.begins(claim, 'run-2', NOW)).toBe(false);
    const end = () => rows.end(claim, { state: 'done', reason: null }, NO_DETAIL, NOW + 1);
    expect(await losing(/commit/, end)).toBe(true);
    expect(await end()).toBe(false);
    const woken = await losing(/insert into "roost"\."occurrences"/, () =>
      rows.woken({ scheduleId: 'wakes', agentId: 'a1', token: randomUUID() }, { kind: 'wake', name: 'human' }, NOW),
    );
    expect(woken.dueAt).toBe(NOW);
    expect(await rows.between(0, NOW + MINUTE, { most: 10 })).toHaveLength(2);
  });

  it('reports an ambiguous write as an error, and repeats a read', async () => {
    const rows = createCallRows({ db: store.db, home: randomUUID() });
    const error = await losing(/update "roost"\."tool_calls"/, () =>
      rows.putOff('c1').catch((reason: unknown) => reason),
    );
    expect(isAway(error) && error.sent).toBe('in-doubt');
    expect(await losing(/select \* from "roost"\."tool_calls"/, () => rows.open())).toEqual([]);
    const undone = await losing(/insert into "roost"\."clocks"/, () =>
      store.db
        .transaction()
        .execute((trx) => trx.insertInto('clocks').values({ home: 'h', seen_at: 1, stopped_at: null }).execute())
        .catch((reason: unknown) => reason),
    );
    expect(isAway(undone) && undone.sent).toBe('undone');
    expect(await store.db.selectFrom('clocks').select('home').where('home', '=', 'h').execute()).toEqual([]);
  });
});
