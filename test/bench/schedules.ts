/**
 * What runs by itself: how late it begins, what it takes while nothing is due, and what a day of
 * pulses costs. The team is wired as a relay wires it, on the embedded store; the model is scripted
 * over HTTP.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { createAnthropicMind } from '../../server/agents/minds/index.ts';
import { createScheduleRows } from '../../server/schedules/rows.ts';
import { SCHEDULE_LIMITS } from '../../server/schedules/settings.ts';
import { costOf, DEFAULT_PRICES } from '../../src/shared/domain/prices.ts';
import { openMortalRelay, type MortalRelay } from '../support/mortal-relay.ts';
import { SNAPSHOT, createHandClock, routine } from '../support/schedules.ts';
import { startScriptedModel, type Script, type ScriptedModel } from '../support/scripted-model.ts';
import { createStorePlace, usualStore } from '../support/stores.ts';
import type { Store } from '../../server/store/index.ts';
import { percentile, type Figure } from './figures.ts';
import { definePart } from './part.ts';

const MINUTE = 60_000;
/** ms from its being written until it is due. */
const AHEAD_MS = 250;
const PREFIX_CHARACTERS = 32_000;
const CHARACTERS_PER_TOKEN = 4;

/**
 * Runs that are due once, and those before them; schedules, and claims among them; ms at rest with
 * and without schedules; pulses of a day.
 */
const FULL = {
  ...{ runs: 60, warmUp: 5, schedules: 10_000, claims: 300 },
  ...{ settleMs: 2_000, idleMs: 62_000, baseMs: 15_000, pulses: 48 },
};
const SMOKE: typeof FULL = {
  ...{ runs: 1, warmUp: 0, schedules: 20, claims: 2 },
  ...{ settleMs: 10, idleMs: 100, baseMs: 100, pulses: 2 },
};
type Sizes = typeof FULL;

interface Bench {
  readonly relay: MortalRelay;
  readonly store: Store;
  readonly model: ScriptedModel;
  readonly home: string;
}

/** A relay whose one agent has left its copy; its clock goes. */
async function withRelay<Result>(
  { now = Date.now, script }: { readonly now?: () => number; readonly script: Script },
  run: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const place = await createStorePlace(usualStore());
  const store = await place.open();
  const model = await startScriptedModel(script);
  const mind = createAnthropicMind({ key: 'a-key-for-benches', baseUrl: model.url });
  const home = randomUUID();
  const relay = await openMortalRelay({ store, home, mind, now });
  try {
    await relay.team.directory.set({ agents: [{ agentId: 'agent-0', name: 'Lyra', position: 0, retired: false }] });
    await relay.team.configs.setHousehold({
      time_zone: 'UTC',
      coordination: { wake_guardrails: { max_daily_session_minutes: 1_440 } },
    });
    await relay.team.snapshots.leave('agent-0', SNAPSHOT, 'v1');
    await relay.team.schedules.clock.start();
    return await run({ relay, store, model, home });
  } finally {
    await relay.stop();
    await mind.close();
    await model.close();
    await store.close();
    await place.remove();
  }
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await run();
  return performance.now() - started;
}

async function lateness({ runs, warmUp }: Sizes): Promise<Figure[]> {
  return await withRelay({ script: () => [{ say: 'Done.' }] }, async ({ relay, model }) => {
    const late: number[] = [];
    const bare: number[] = [];
    for (let n = 0; n < warmUp + runs; n++) {
      const at = Date.now() + AHEAD_MS;
      const written = await relay.team.schedules.add(routine({ name: `Once ${n}`, timing: { kind: 'once', at } }));
      if (!written.ok) throw new Error(written.reason);
      const before = model.requests.length;
      while (model.requests.length === before) await sleep(2);
      const arrived = performance.timeOrigin + (model.requests.at(-1)?.at ?? Number.NaN);
      await relay.team.schedules.clock.whenQuiet();
      await relay.team.schedules.remove(written.scheduled.scheduleId);
      const body = JSON.stringify({ model: 'bare', messages: [{ role: 'user', content: 'Hello.' }] });
      const post = await timed(async () => {
        await (await fetch(`${model.url}/v1/messages`, { method: 'POST', body })).text();
      });
      if (n < warmUp) continue;
      late.push(arrived - at);
      bare.push(post);
    }
    const peer = { kind: 'peer', what: 'a bare request to the same model' } as const;
    return [
      {
        what: 'due → first request of the run, p95',
        value: percentile(late, 0.95),
        unit: 'ms',
        beside: { kind: 'limit', what: 'relay otherwise idle', value: 25 },
      },
      {
        what: '  median',
        value: percentile(late, 0.5),
        unit: 'ms',
        beside: { ...peer, value: percentile(bare, 0.5) },
      },
    ];
  });
}

/** Share of one core, in percent, that this process takes while nothing is to be done. */
async function shareOfCore(ms: number): Promise<number> {
  const before = process.cpuUsage();
  const took = await timed(() => sleep(ms));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / took / 0.01;
}

/** Rows of one statement: a store has a limit of parameters. */
const ROWS_AT_ONCE = 1_000;

/** Schedules of a year ahead, of which nothing is due for days. */
async function fillUp({ db }: Store, home: string, count: number): Promise<void> {
  const value = JSON.stringify(routine({ timing: { kind: 'every', minutes: 10_080, offset: null } }));
  const later = Date.now() + 7 * 24 * 60 * MINUTE;
  for (let first = 1; first <= count; first += ROWS_AT_ONCE)
    await db
      .insertInto('schedules')
      .values(
        Array.from({ length: Math.min(ROWS_AT_ONCE, count - first + 1) }, (_none, i) => ({
          home,
          schedule: `filled-${first + i}`,
          agent_json: '"agent-0"',
          name_json: JSON.stringify(`Routine ${first + i}`),
          value_json: value,
          stamp: 'told',
          position: first + i,
          judged_at: Date.now(),
          due_at: later + (first + i) * 60_000,
          given_offset: first + i,
        })),
      )
      .execute();
  await sql`analyze`.execute(db);
}

async function atRest({ schedules, claims: asked, settleMs, idleMs, baseMs }: Sizes): Promise<Figure[]> {
  return await withRelay({ script: () => [{ say: 'Done.' }] }, async ({ relay, store, home }) => {
    await relay.team.schedules.clock.whenQuiet();
    await sleep(settleMs);
    const without = await shareOfCore(baseMs);
    await fillUp(store, home, schedules);
    relay.team.schedules.clock.wake();
    await sleep(settleMs);
    const share = await shareOfCore(idleMs);
    // Claims, beside bare inserts, in a home of its own, whose clock does not take them.
    const rows = createScheduleRows({ db: store.db, home: 'claims', limits: SCHEDULE_LIMITS });
    await fillUp(store, 'claims', schedules);
    const time = Date.now();
    for (const row of (await rows.all()).slice(0, asked)) await rows.trigger(row, time);
    const claims: number[] = [];
    const inserts: number[] = [];
    for (let n = 0; n < asked; n++) {
      claims.push(
        await timed(async () => {
          if (!(await rows.claim(Date.now(), randomUUID(), true))) throw new Error('Nothing was left to claim.');
        }),
      );
      inserts.push(
        await timed(() =>
          store.db
            .insertInto('clocks')
            .values({ home: `bare-${n}`, seen_at: time, stopped_at: null })
            .execute(),
        ),
      );
    }
    return [
      {
        what: `at rest with ${schedules.toLocaleString('en')} schedules, of a core`,
        value: share,
        unit: '%',
        beside: { kind: 'limit', what: 'nothing is due', value: 1 },
      },
      { what: '  the same', value: share, unit: '%', beside: { kind: 'peer', what: 'without any', value: without } },
      {
        what: `a claim among ${schedules.toLocaleString('en')}, p95`,
        value: percentile(claims, 0.95),
        unit: 'ms',
        beside: { kind: 'limit', what: 'on disk', value: 5 },
      },
      {
        what: '  the same',
        value: percentile(claims, 0.95),
        unit: 'ms',
        beside: { kind: 'peer', what: 'a bare insert', value: percentile(inserts, 0.95) },
      },
    ];
  });
}

/**
 * Millionths of a dollar for the prompts of a day of pulses, by what a model says that keeps what
 * is marked for it: for an hour where the mark says so, else for five minutes; each read keeps it
 * anew. `honoured`: false: it knows no hour.
 */
async function dayOfPulses(
  pulses: number,
  honoured: boolean,
): Promise<{ readonly microUsd: number; readonly requests: number }> {
  const clock = createHandClock(Date.UTC(2027, 0, 4));
  const kept = new Map<string, number>();
  let microUsd = 0;
  const tokens = (value: unknown) => Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN);
  const script: Script = ({ body }) => {
    const { system, tools, messages, model } = body;
    const marked = JSON.stringify(system).includes('"ttl":"1h"') && honoured;
    const key = JSON.stringify([system, tools]);
    const prefix = tokens([system, tools]);
    const hit = (kept.get(key) ?? 0) > clock.now();
    kept.set(key, clock.now() + (marked ? 60 : 5) * MINUTE);
    const count = {
      model,
      inputTokens: tokens(messages),
      outputTokens: 0,
      cacheReadTokens: hit ? prefix : 0,
      cacheWriteTokens: hit ? 0 : prefix,
    };
    const hourWrites = marked ? count.cacheWriteTokens : 0;
    microUsd += costOf(count, DEFAULT_PRICES, hourWrites).microUsd;
    return [
      {
        usage: {
          input_tokens: count.inputTokens,
          cache_read_input_tokens: count.cacheReadTokens,
          cache_creation_input_tokens: count.cacheWriteTokens,
          cache_creation: {
            ephemeral_1h_input_tokens: hourWrites,
            ephemeral_5m_input_tokens: count.cacheWriteTokens - hourWrites,
          },
        },
      },
      { say: 'Nothing is to be done.' },
    ];
  };
  return await withRelay({ now: clock.now, script }, async ({ relay, model }) => {
    const written = await relay.team.schedules.add(
      routine({
        instructions: 'Look around. '.repeat(Math.ceil(PREFIX_CHARACTERS / 13)).slice(0, PREFIX_CHARACTERS),
        timing: { kind: 'every', minutes: 30, offset: 0 },
      }),
    );
    if (!written.ok) throw new Error(written.reason);
    for (let n = 0; n < pulses; n++) {
      clock.pass(30 * MINUTE);
      relay.team.schedules.clock.wake();
      await relay.team.schedules.clock.whenQuiet();
    }
    // What the relay counts is the same, but for what was said.
    const [spent] = await relay.team.schedules.spentSince(0);
    if ((spent?.costMicroUsd ?? 0) < microUsd) throw new Error('The relay counted less than the model said.');
    return { microUsd, requests: model.requests.length };
  });
}

export const schedules = definePart({
  name: 'schedules',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  async run(sizes) {
    const late = await lateness(sizes);
    const rest = await atRest(sizes);
    const [kept, plain] = [await dayOfPulses(sizes.pulses, true), await dayOfPulses(sizes.pulses, false)];
    return {
      title: 'What runs by itself',
      method: `${sizes.runs} runs that are due once; ${sizes.idleMs / 1_000} s at rest; ${sizes.claims} claims; ${sizes.pulses} pulses of a day, a prefix of ${(PREFIX_CHARACTERS / CHARACTERS_PER_TOKEN).toLocaleString('en')} tokens and more; the embedded store`,
      figures: [
        ...late,
        ...rest,
        {
          what: `input of ${kept.requests} pulses, kept for an hour, to the same kept for five minutes`,
          value: kept.microUsd / plain.microUsd,
          unit: '×',
          beside: { kind: 'limit', what: 'by the price table', value: 0.3 },
        },
      ],
      notes: [
        `$${(kept.microUsd / 1e6).toFixed(4)} against $${(plain.microUsd / 1e6).toFixed(4)} for the input of a day`,
      ],
    };
  },
});
