/**
 * What a decision of the gate costs when a household has years of wakes behind it, beside a bare insert into
 * the same table in a transaction of its own: in turns, so that what else the machine does meets both.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createConfigs, createGate } from '../../server/gate/index.ts';
import { openStore, type Store } from '../../server/store/index.ts';
import { startPostgres } from '../support/postgres-process.ts';
import { percentile, type Figure, type Section } from './figures.ts';

const PAST = 100_000;
const AGENTS = 8;
/** Some eleven wakes of each agent a day, for three years. */
const EVERY_MS = 16 * 60_000;
const WARM_UP = 50;
const ROUNDS = 200;
const LIMIT_MS = 5;
const HOME = 'bench';

/** One agent after another is woken by the next, and sleeps a minute later; the last of it just now. */
async function fillUp({ db }: Store, now: number): Promise<void> {
  const agent = (shift: number) => sql`'agent-' || (n + ${sql.lit(shift)}) % ${sql.lit(AGENTS)}`;
  const past = sql`(select n, ${agent(0)} as target, ${now}::bigint - (${PAST} - n) * ${EVERY_MS}::bigint - 120000 as at from generate_series(1, ${PAST}) as n) as past`;
  await sql`
    insert into roost.wakes (relay, wake, asked_at, target_json, source_kind, source_json, way, reason, outcome, detail_json, granted_target_json, budget_json)
    select ${HOME}, 'past-' || n, at, to_json(target)::text, 'agent', json_build_object('kind', 'agent', 'agentId', ${agent(1)})::text, 'wake_agent', 'blocker',
      'granted', '"Every check passed."', to_json(target)::text, 'session-' || n / 50 from ${past}`.execute(db);
  await sql`
    insert into roost.runs (relay, wake, target_json, opened_at, seen_at, ended_at)
    select ${HOME}, 'past-' || n, to_json(target)::text, at, at + 60000, at + 60000 from ${past}`.execute(db);
}

interface Times {
  readonly decision: readonly number[];
  readonly insert: readonly number[];
}

async function timesOf(store: Store): Promise<Times> {
  const { db, kind } = store;
  // Time goes on as it did in the years before: with the limits as they ship, every wake passes.
  let clock = Date.now();
  const now = () => clock;
  const shared = { db, home: HOME, now, tell: () => undefined };
  const configs = createConfigs({ ...shared, alone: kind === 'pglite', timeZone: 'Europe/Berlin' });
  const fail = (error: unknown) => {
    throw error;
  };
  const gate = createGate({ ...shared, configs, newId: randomUUID, alone: kind === 'pglite', onHeartbeatError: fail });
  await fillUp(store, clock);
  await configs.setHousehold({ coordination: {} });

  async function timed<T>(run: () => Promise<T>): Promise<{ readonly ms: number; readonly value: T }> {
    const started = performance.now();
    const value = await run();
    return { ms: performance.now() - started, value };
  }
  const decision: number[] = [];
  const insert: number[] = [];
  for (let round = 0; round < WARM_UP + ROUNDS; round++) {
    const agent = (shift: number) => `agent-${(round + shift) % AGENTS}`;
    clock += EVERY_MS;
    const decided = await timed(() =>
      gate.ask({
        target: agent(0),
        source: { kind: 'agent', agentId: agent(2 + (Math.floor(round / AGENTS) % 3)) },
        way: 'wake_agent',
        reason: 'blocker',
        messageId: `message-${round}`,
        callerSession: `now-${round}`,
        state: 'idle',
      }),
    );
    const { decisionId, outcome } = decided.value.decision;
    if (outcome !== 'granted') throw new Error(`wake ${round} was ${outcome}: ${decided.value.decision.detail}`);
    await gate.ended(decisionId);
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
    if (round < WARM_UP) continue;
    decision.push(decided.ms);
    insert.push(bare.ms);
  }
  await gate.close();
  return { decision, insert };
}

async function figuresOf(name: string, store: Store): Promise<Figure[]> {
  try {
    const { decision, insert } = await timesOf(store);
    const bare = { kind: 'peer', what: 'a bare insert in a transaction' } as const;
    return [
      {
        what: `${name}: a decision, p95`,
        value: percentile(decision, 0.95),
        unit: 'ms',
        beside: { kind: 'limit', what: `at ${PAST.toLocaleString('en')} past wakes`, value: LIMIT_MS },
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
  } finally {
    await store.close();
  }
}

/** The figures; about half a minute. */
export async function gateFigures(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'roost-bench-gate-'));
  const postgres = await startPostgres();
  try {
    return {
      title: 'A decision of the gate',
      method: `${ROUNDS} wakes, all granted, asked for one after the other, each recorded on disk before it is answered`,
      figures: [
        ...(await figuresOf('built-in store', await openStore({ folder: join(folder, 'store'), databaseUrl: null }))),
        ...(await figuresOf('Postgres', await openStore({ folder, databaseUrl: postgres.url }))),
      ],
    };
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
