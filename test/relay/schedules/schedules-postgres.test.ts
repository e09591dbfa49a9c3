/**
 * Runs of the night on a real Postgres: two relays of one home, of which the first hangs; and a
 * server that is started anew.
 */
import { execFileSync } from 'node:child_process';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openStore, type Store } from '../../../server/store/index.ts';
import { SCHEDULE_LIMITS } from '../../../server/schedules/settings.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { eventSchema, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { browserOf, openTestRelay, type Browser } from '../../support/open-relay.ts';
import { startPostgres, type PostgresProcess } from '../../support/postgres-process.ts';
import { createHome, startRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import { startScriptedModel, type ScriptedModel } from '../../support/scripted-model.ts';

const historySchema = z.object({ occurrences: z.array(occurrenceSchema) });
const ROUTINE = {
  kind: 'routine',
  agentId: 'a1',
  name: 'Morning round',
  instructions: 'Look around.',
  // No moment of its own comes while the test goes on.
  timing: { kind: 'every', minutes: 10_080 },
};

const END_UNSEEN = `const { Client } = require('pg');
const client = new Client({ connectionString: process.argv[1] });
const text = "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'unseen'";
client.connect().then(() => client.query(text)).then(() => client.end());`;

let postgres: PostgresProcess;
let model: ScriptedModel;
beforeAll(async () => {
  postgres = await startPostgres();
  model = await startScriptedModel(() => []);
});
afterAll(async () => {
  await model.close();
  await postgres.stop();
});

const env = () => ({ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' });
/** A routine of an agent who may run, set to work now. Its id. */
async function trigger(relay: Pick<Browser, 'fetch'>): Promise<string> {
  const call = async (method: string, path: string, json?: unknown) => {
    const answer = await relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    expect(answer.ok, `${path} ${answer.status}`).toBe(true);
    return answer;
  };
  await call('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  const added = scheduledSchema.parse(await (await call('POST', '/v1/pulse-routines', ROUTINE)).json());
  await call('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
  await call('POST', `/v1/pulse-routines/${added.scheduleId}/trigger`);
  return added.scheduleId;
}
async function historyOf(relay: Pick<Browser, 'fetch'>, scheduleId: string) {
  const answer = await relay.fetch(`/v1/pulse-routines/${scheduleId}/history`);
  return historySchema.parse(await answer.json()).occurrences;
}
async function eventsOf(store: Store, runId: string): Promise<RoostEvent[]> {
  const rows = await store.db.selectFrom('events').select('event_json').orderBy('id').execute();
  return rows
    .map(({ event_json }) => eventSchema.parse(JSON.parse(event_json)))
    .filter((event) => 'runId' in event && event.runId === runId);
}
const saidIn = (events: readonly RoostEvent[]) =>
  events.flatMap((event) => (event.kind === 'message' ? [event.blocks] : []));
const endsIn = (events: readonly RoostEvent[]) =>
  events.flatMap((event) => (event.kind === 'run-ended' ? [event.outcome] : []));

describe('connections that the server has ended unseen', () => {
  it('retries reads, and transactions without a statement, on connections that the server has ended', async () => {
    const databaseUrl = `${postgres.url}?application_name=unseen`;
    const store = await openStore({ folder: '', databaseUrl });
    const read = () => store.db.selectFrom('events').select('id').limit(1).execute();
    /** Ended while this process is held up: it hears of that only with its next statement. */
    const endAll = () => execFileSync(process.execPath, ['-e', END_UNSEEN, postgres.url]);
    try {
      // Side by side: a connection each.
      await Promise.all(Array.from({ length: 6 }, read));
      endAll();
      await expect(read()).resolves.toEqual([]);
      await Promise.all(Array.from({ length: 6 }, read));
      endAll();
      await expect(
        store.db.transaction().execute((trx) => trx.selectFrom('events').select('id').execute()),
      ).resolves.toEqual([]);
    } finally {
      await store.close();
    }
  });
});

describe('two relays of one home', () => {
  it('the first hangs in a run, and comes back after the second has ended it: it ends nothing, and says nothing more', async () => {
    const databaseUrl = postgres.url;
    const homes = [await createHome({ store: null }), await createHome({ store: null })] as const;
    const release = createDeferred();
    model.follow(() => [{ say: 'I have begun. ' }, { until: release.promise }, { say: 'And I end.' }]);
    const first = await startRelay({ home: homes[0], databaseUrl, env: env() });
    const store = await openStore({ folder: '', databaseUrl });
    let second: Awaited<ReturnType<typeof openTestRelay>> | null = null;
    try {
      const scheduleId = await trigger(first);
      await expect.poll(async () => (await historyOf(first, scheduleId))[0]?.state).toBe('running');
      const runId = (await historyOf(first, scheduleId))[0]?.runId ?? '';
      const words = async () =>
        await store.db.selectFrom('events').select('id').where('kind', '=', 'text').executeTakeFirst();
      await expect.poll(words).toBeDefined();
      process.kill(first.pid, 'SIGSTOP');

      for (const file of ['roost.json', 'sealing.key']) await cp(join(homes[0], file), join(homes[1], file));
      second = await openTestRelay({ home: homes[1], databaseUrl, args: ['--rehearsal', '{"delayMs":0,"wordMs":0}'] });
      const signIn = await first.signIn();
      const port = new URL(second.url).port;
      const browser = browserOf(second.url, {
        ...signIn,
        cookie: signIn.cookie.replace(/^((?:__Host-)?roost)_\d+=/, `$1_${port}=`),
      });
      second.pass(SCHEDULE_LIMITS.leaseMs + 10_000);
      await browser.fetch(`/v1/pulse-routines/${scheduleId}/toggle`, { method: 'POST' });
      await expect.poll(async () => (await historyOf(browser, scheduleId))[0]?.state).toBe('crashed');
      const [ended] = await historyOf(browser, scheduleId);
      const before = await eventsOf(store, runId);
      expect(endsIn(before)).toEqual(['crashed']);
      expect(saidIn(before)).toEqual([[{ kind: 'text', text: 'I have begun. ' }]]);

      process.kill(first.pid, 'SIGCONT');
      release.resolve();
      // Until it is in no run any more.
      await expect
        .poll(async () => (await first.fetch(`/v1/runs/${runId}/stop`, { method: 'POST' })).status, { timeout: 20_000 })
        .toBe(404);
      expect(await eventsOf(store, runId)).toEqual(before);
      expect(await historyOf(browser, scheduleId)).toEqual([ended]);
      expect(model.requests).toHaveLength(1);
    } finally {
      process.kill(first.pid, 'SIGCONT');
      release.resolve();
      await second?.close();
      await first.kill('SIGKILL');
      await store.close();
      await Promise.all(homes.map((home) => rm(home, { recursive: true, force: true })));
    }
  });
});

describe('a reminder at two relays of one home', () => {
  it('waits at the first, which is killed, and comes once at those that are there when it can', async () => {
    const databaseUrl = postgres.url;
    const homes = [
      await createHome({ store: null }),
      await createHome({ store: null }),
      await createHome({ store: null }),
    ];
    const [one = '', ...others] = homes;
    model.follow(() => [{ say: 'I had tea.' }]);
    const asked = model.requests.length;
    const first = await startRelay({ home: one, databaseUrl, env: env() });
    const relays: Awaited<ReturnType<typeof openTestRelay>>[] = [];
    try {
      const call = async (browser: Pick<Browser, 'fetch'>, method: string, path: string, json?: unknown) => {
        const answer = await browser.fetch(path, { method, ...(json === undefined ? {} : { json }) });
        expect(answer.ok, `${path} ${answer.status}`).toBe(true);
        return answer;
      };
      await call(first, 'PUT', '/api/team', {
        agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }],
      });
      await call(first, 'PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
      await call(first, 'PUT', '/v1/config', { coordination: {}, wakes_enabled: false });
      for (const name of ['tea', 'bread'])
        await call(first, 'POST', '/v1/pulse-routines', {
          ...{ kind: 'reminder', agentId: 'a1', name, message: `About ${name}.` },
          timing: { kind: 'once', at: Date.now() + 4_000 },
        });
      const waiting = async (browser: Pick<Browser, 'fetch'>) =>
        z
          .object({ schedules: z.array(scheduledSchema) })
          .parse(await (await call(browser, 'GET', '/v1/agents/a1/schedule')).json())
          .schedules.map(({ waits }) => waits?.reason);
      await expect.poll(() => waiting(first), { timeout: 20_000 }).toEqual(['switched-off', 'switched-off']);
      const signIn = await first.signIn();
      await first.kill('SIGKILL');
      for (const home of others) {
        for (const file of ['roost.json', 'sealing.key']) await cp(join(one, file), join(home, file));
        relays.push(await openTestRelay({ home, databaseUrl, env: env() }));
      }
      const browsers = relays.map(({ url }) =>
        browserOf(url, {
          ...signIn,
          cookie: signIn.cookie.replace(/^((?:__Host-)?roost)_\d+=/, `$1_${new URL(url).port}=`),
        }),
      );
      const [second = first] = browsers;
      expect(await waiting(second)).toEqual(['switched-off', 'switched-off']);
      await call(second, 'PUT', '/v1/config', { coordination: {}, wakes_enabled: true });
      // Both look at once.
      for (const relay of relays) relay.pass(SCHEDULE_LIMITS.leaseMs + SCHEDULE_LIMITS.waitMostMs);
      await Promise.all(
        browsers.map((browser, n) =>
          call(browser, 'POST', '/v1/pulse-routines', {
            ...{ kind: 'reminder', agentId: 'a1', name: `Never ${n}`, message: 'No.' },
            timing: { kind: 'once', at: Date.now() + 100 * 86_400_000 },
          }),
        ),
      );
      await expect.poll(() => waiting(second), { timeout: 30_000 }).toEqual([undefined, undefined]);
      const told = model.requests.slice(asked).map(({ last }) => last);
      for (const name of ['tea', 'bread'])
        expect(
          told.filter((last) => last.includes(`About ${name}.`)),
          name,
        ).toHaveLength(1);
    } finally {
      for (const relay of relays) await relay.close();
      await first.kill('SIGKILL');
      await Promise.all(homes.map((home) => rm(home, { recursive: true, force: true })));
    }
  });
});

describe('a Postgres that is started anew in the middle of a run', () => {
  it.each(['while its model thinks', 'while it speaks'] as const)(
    'takes the words and the one end of it all the same: %s',
    async (when) => {
      const home = await createHome({ store: null });
      const [release, goOn] = [createDeferred(), createDeferred()];
      model.follow(() => [
        { say: 'I have begun. ' },
        { until: release.promise },
        { say: 'Meanwhile. ' },
        { until: goOn.promise },
        { say: 'And I end.' },
      ]);
      const asked = model.requests.length;
      const relay = await startRelay({ home, databaseUrl: postgres.url, env: env() });
      try {
        const scheduleId = await trigger(relay);
        await expect.poll(async () => (await historyOf(relay, scheduleId))[0]?.state).toBe('running');
        await expect.poll(() => model.requests.length).toBe(asked + 1);
        await postgres.halt();
        if (when === 'while it speaks') {
          release.resolve();
          // Its words come while nothing can be written.
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        await postgres.resume();
        release.resolve();
        goOn.resolve();
        await expect
          .poll(async () => (await historyOf(relay, scheduleId).catch(() => []))[0], { timeout: 20_000 })
          .toMatchObject({ state: 'done', said: 'I have begun. Meanwhile. And I end.' });
        const [row, ...others] = await historyOf(relay, scheduleId);
        expect(others).toEqual([]);
        const store = await openStore({ folder: '', databaseUrl: postgres.url });
        const events = await eventsOf(store, row?.runId ?? '');
        await store.close();
        expect(endsIn(events)).toEqual(['done']);
        expect(saidIn(events)).toEqual([[{ kind: 'text', text: 'I have begun. Meanwhile. And I end.' }]]);
        expect(model.requests).toHaveLength(asked + 1);
      } finally {
        release.resolve();
        goOn.resolve();
        await relay.kill('SIGKILL');
        await rm(home, { recursive: true, force: true });
      }
    },
  );
});
