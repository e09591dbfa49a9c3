/**
 * What a decision of the gate costs when a household has years of wakes behind it, beside a bare
 * insert into the same table in a transaction of its own: in turns, so that what else the machine
 * does meets both.
 */
import { randomUUID } from 'node:crypto';
import { createConfigs, createGate } from '../../server/team/gate/index.ts';
import { openStore, type Store } from '../../server/store/index.ts';
import { createDatabase, type TestDatabase } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-process.ts';
import { createStorePlace } from '../support/stores.ts';
import { percentile, type Figure } from './figures.ts';
import { definePart, withOpened } from './part.ts';

const AGENTS = 8;
/** Some eleven wakes of each agent a day, for three years. */
const EVERY_MS = 16 * 60_000;
const LIMIT_MS = 5;
const HOME = 'bench';
/** Rows of one statement: a store has a limit of parameters. */
const ROWS_AT_ONCE = 1_000;

/** Past wakes; rounds that are counted, and those before them. */
const FULL = { past: 100_000, rounds: 200, warmUp: 50 };
const SMOKE: typeof FULL = { past: 100, rounds: 10, warmUp: 1 };

/**
 * One agent after another is woken by the next, and sleeps a minute later; the last of it just now.
 */
async function fillUp({ db }: Store, now: number, count: number): Promise<void> {
  const agent = (n: number) => JSON.stringify(`agent-${n % AGENTS}`);
  for (let first = 1; first <= count; first += ROWS_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(ROWS_AT_ONCE, count - first + 1) }, (_none, i) => first + i);
    const at = (n: number) => now - (count - n) * EVERY_MS - 120_000;
    await db
      .insertInto('wakes')
      .values(
        numbers.map((n) => ({
          home: HOME,
          wake: `past-${n}`,
          asked_at: at(n),
          target_json: agent(n),
          source_kind: 'agent',
          source_json: JSON.stringify({ kind: 'agent', agentId: `agent-${(n + 1) % AGENTS}` }),
          way: 'wake_agent',
          reason: 'blocker',
          outcome: 'granted',
          detail_json: '"Every check passed."',
          granted_target_json: agent(n),
          budget_json: `session-${Math.floor(n / 50)}`,
        })),
      )
      .execute();
    await db
      .insertInto('wake_sessions')
      .values(
        numbers.map((n) => ({
          home: HOME,
          wake: `past-${n}`,
          target_json: agent(n),
          opened_at: at(n),
          seen_at: at(n) + 60_000,
          ended_at: at(n) + 60_000,
        })),
      )
      .execute();
  }
}

interface Times {
  readonly decision: readonly number[];
  readonly insert: readonly number[];
}

async function timesOf(store: Store, { past, rounds, warmUp }: typeof FULL): Promise<Times> {
  const { db, kind } = store;
  // Time goes on as it did in the years before: with the limits as they ship, every wake passes.
  let clock = Date.now();
  const now = () => clock;
  const shared = { db, home: HOME, now, tell: () => undefined };
  const configs = createConfigs({ ...shared, alone: kind === 'sqlite', timeZone: 'Europe/Berlin' });
  const fail = (error: unknown) => {
    throw error;
  };
  const opened = createGate({
    ...shared,
    configs,
    newId: randomUUID,
    alone: kind === 'sqlite',
    onHeartbeatError: fail,
  });
  await fillUp(store, clock, past);
  await configs.setHousehold({ coordination: {} });

  async function timed<T>(run: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
    const started = performance.now();
    const value = await run();
    return { ms: performance.now() - started, value };
  }
  const decision: number[] = [];
  const insert: number[] = [];
  for (let round = 0; round < warmUp + rounds; round++) {
    // In the order of the past, so that no agent has a thirteenth wake on the day between.
    const agent = (shift: number) => `agent-${(past + 1 + round + shift) % AGENTS}`;
    clock += EVERY_MS;
    const decided = await timed(() =>
      opened.ask({
        target: agent(0),
        source: { kind: 'agent', agentId: agent(2 + (Math.floor(round / AGENTS) % 3)) },
        way: 'wake_agent',
        reason: 'blocker',
        messageId: `message-${round}`,
        callerSession: `now-${round}`,
        state: 'idle',
      }),
    );
    const { outcome } = decided.value.decision;
    if (outcome !== 'granted') throw new Error(`wake ${round} was ${outcome}: ${decided.value.decision.detail}`);
    await decided.value.permit?.release();
    const bare = await timed(() =>
      db.transaction().execute((trx) =>
        trx
          .insertInto('wakes')
          .values({
            home: 'bare',
            wake: `bare-${round}`,
            asked_at: clock,
            target_json: JSON.stringify(agent(0)),
            source_kind: 'agent',
            source_json: JSON.stringify({ kind: 'agent', agentId: agent(1) }),
            way: 'wake_agent',
            reason: 'blocker',
            message_json: `"message-${round}"`,
            outcome: 'granted',
            stopped_by: null,
            until_at: null,
            detail_json: '""',
            granted_target_json: '"bare"',
            budget_json: null,
          })
          .execute(),
      ),
    );
    if (round < warmUp) continue;
    decision.push(decided.ms);
    insert.push(bare.ms);
  }
  await opened.close();
  return { decision, insert };
}

async function figuresOf(name: string, store: Store, sizes: typeof FULL): Promise<Figure[]> {
  const { decision, insert } = await timesOf(store, sizes);
  const bare = { kind: 'peer', what: 'a bare insert in a transaction' } as const;
  return [
    {
      what: `${name}: a decision, p95`,
      value: percentile(decision, 0.95),
      unit: 'ms',
      beside: { kind: 'limit', what: `at ${sizes.past.toLocaleString('en')} past wakes`, value: LIMIT_MS },
    },
    {
      what: '  the same',
      value: percentile(decision, 0.95),
      unit: 'ms',
      beside: { ...bare, value: percentile(insert, 0.95) },
    },
    {
      what: '  median',
      value: percentile(decision, 0.5),
      unit: 'ms',
      beside: { ...bare, value: percentile(insert, 0.5) },
    },
  ];
}

/** In the Postgres server of a run of the tests; in one of its own where there is none. */
async function emptyDatabase(): Promise<TestDatabase> {
  if (process.env['TEST_POSTGRES_URL'] !== undefined) return await createDatabase();
  const { url, stop } = await startPostgres();
  return { url, drop: stop };
}

/** About half a minute. */
export const gate = definePart({
  name: 'gate',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  run: (sizes) =>
    withOpened(async (keep) => {
      const place = keep(await createStorePlace('sqlite'), (made) => made.remove());
      const builtIn = keep(await place.open(), (store) => store.close());
      const database = keep(await emptyDatabase(), (made) => made.drop());
      const server = keep(await openStore({ folder: '', databaseUrl: database.url }), (store) => store.close());
      return {
        title: 'A decision of the gate',
        method: `${sizes.rounds} wakes, all granted, asked for one after the other, each recorded on disk before it is answered`,
        figures: [
          ...(await figuresOf('built-in store', builtIn, sizes)),
          ...(await figuresOf('Postgres', server, sizes)),
        ],
      };
    }),
});
