/**
 * A Postgres that is away for a while: frozen, or killed and started anew, with a whole relay at
 * work on it.
 */
import { rm } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openStore, type Store } from '../../../server/store/index.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { toolCallSchema } from '../../../src/shared/protocol/approvals.ts';
import { eventSchema, type EventOf, type RoostEvent } from '../../../src/shared/protocol/events.ts';
import { openHealthSchema, problemSchema } from '../../../src/shared/protocol/http.ts';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { openEventSource, type OpenStream } from '../../support/event-source.ts';
import { calls } from '../../support/hands.ts';
import { startPostgres, type PostgresProcess } from '../../support/postgres-process.ts';
import { createHome, startRelay, type TestRelay } from '../../support/relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import { startScriptedModel, type Part, type ScriptedModel } from '../../support/scripted-model.ts';
import { newTestDevice, newTestHousehold } from '../../support/sync-device.ts';
import { createTestReplica } from '../../support/sync-replica.ts';

/** ms that a frozen server is asked in vain before the relay says so, and more. */
const NOTICED = 15_000;
const PATIENCE = { timeout: 20_000 };

const historySchema = z.object({ occurrences: z.array(occurrenceSchema) });
const approvalsSchema = z.object({ waiting: z.array(toolCallSchema) });

let postgres: PostgresProcess;
beforeAll(async () => {
  postgres = await startPostgres();
});
// Also where a test failed.
afterEach(() => postgres.thaw());
afterAll(() => postgres.stop());

interface House {
  readonly relay: TestRelay;
  readonly model: ScriptedModel;
  readonly stream: OpenStream;
  readonly store: Store;
  call(method: string, path: string, json?: unknown): Promise<Response>;
  say(text: string): Promise<number>;
  /** An agent is set to work alone; its schedule. */
  work(): Promise<string>;
  history(scheduleId: string): Promise<z.infer<typeof occurrenceSchema>[]>;
  /** As the database has them. */
  events(): Promise<RoostEvent[]>;
  /** Of each request that was counted, what was held for it. */
  usage(): Promise<(string | null)[]>;
  /** What became of the calls of this tool. */
  calls(tool: string): Promise<string[]>;
  close(): Promise<void>;
}

/** A lead who is awake, and an agent that may work alone. */
async function openHouse(args: readonly string[] = []): Promise<House> {
  const model = await startScriptedModel(() => [{ say: 'Done.' }]);
  const home = await createHome({ store: null });
  const relay = await startRelay({
    home,
    args,
    databaseUrl: postgres.url,
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'sk-of-the-household-1234567890' },
  });
  const call: House['call'] = (method, path, json) =>
    relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const done = async (method: string, path: string, json?: unknown) => {
    const answer = await call(method, path, json);
    expect(answer.ok, `${method} ${path}: ${answer.status}`).toBe(true);
    return answer;
  };
  await done('PUT', '/api/team', { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] });
  await done('PUT', '/api/agent-snapshots/a1', { version: 'v1', snapshot: SNAPSHOT });
  await done('POST', '/api/sessions', {
    human: { name: 'Noa' },
    lead: { name: 'Sol', soul: 'I am Sol.', transcript: null },
  });
  const stream = await openEventSource((signal) => relay.fetch('/api/events?after=0', { signal }));
  const store = await openStore({ folder: '', databaseUrl: postgres.url });
  const { log, home: named } = await store.db
    .selectFrom('logs')
    .select(['log', 'home'])
    .orderBy('made_at', 'desc')
    .executeTakeFirstOrThrow();
  return {
    relay,
    model,
    stream,
    store,
    call,
    say: async (text) => (await call('POST', '/api/messages', { text, clientId: crypto.randomUUID() })).status,
    async work() {
      const added = await done('POST', '/v1/pulse-routines', {
        kind: 'routine',
        agentId: 'a1',
        name: crypto.randomUUID(),
        instructions: 'Look around.',
        timing: { kind: 'every', minutes: 10_080 },
      });
      const { scheduleId } = scheduledSchema.parse(await added.json());
      await done('POST', `/v1/pulse-routines/${scheduleId}/trigger`);
      return scheduleId;
    },
    async history(scheduleId) {
      const answer = await call('GET', `/v1/pulse-routines/${scheduleId}/history`);
      return historySchema.parse(await answer.json()).occurrences;
    },
    async events() {
      const rows = await store.db
        .selectFrom('events')
        .select('event_json')
        .where('log', '=', log)
        .orderBy('id')
        .execute();
      return rows.map(({ event_json }) => eventSchema.parse(JSON.parse(event_json)));
    },
    async usage() {
      const rows = await store.db.selectFrom('usage').select('reserve').where('home', '=', named).execute();
      return rows.map(({ reserve }) => reserve);
    },
    async calls(tool) {
      const rows = await store.db
        .selectFrom('tool_calls')
        .select('state')
        .where('home', '=', named)
        .where('tool', '=', tool)
        .execute();
      return rows.map(({ state }) => state);
    },
    async close() {
      stream.close();
      await relay.kill('SIGKILL');
      await store.close();
      await model.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}

const shown = ({ stream }: House, kind: string) => stream.messages.filter(({ event }) => event === kind);
const statuses = (house: House) => shown(house, 'database').map(({ data }) => data);
const wordsOf = (event: EventOf<'message'>) => event.blocks.map((block) => (block.kind === 'text' ? block.text : ''));
/** The words of each whole answer. */
const said = (events: readonly RoostEvent[]) =>
  events.flatMap((event) => (event.kind === 'message' && event.role === 'assistant' ? [wordsOf(event).join('')] : []));
/** The same, put together from what was shown as it came. */
const pieces = (events: readonly RoostEvent[], messageId: string) =>
  events.flatMap((event) => (event.kind === 'text' && event.messageId === messageId ? [event.text] : [])).join('');
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `${from + i} `).join('');
/** Numbers, one every so often. */
const counting = (from: number, to: number, everyMs: number): Part[] =>
  Array.from({ length: to - from }, (_, i) => [{ say: `${from + i} ` }, { wait: everyMs }]).flat();

const healthOf = async (house: House) =>
  openHealthSchema.parse(await (await house.call('GET', '/api/health')).json()).database;
async function goesAway(house: House, how: 'frozen' | 'killed'): Promise<void> {
  if (how === 'frozen') postgres.freeze();
  else await postgres.crash();
  await expect.poll(async () => (await healthOf(house)).awayMs, { timeout: NOTICED }).not.toBeNull();
  await expect.poll(() => statuses(house).at(-1)).toEqual({ away: true });
}
const comesBack = async (how: 'frozen' | 'killed') => (how === 'frozen' ? postgres.thaw() : await postgres.resume());

describe.each(['frozen', 'killed'] as const)('a Postgres that is %s for a while', (how) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse();
  }, 60_000);
  afterAll(() => house.close());

  it(
    'loses and doubles no word, ends no session and no run, and counts each request once',
    { timeout: 90_000 },
    async () => {
      // A question that waits for its answer, and a device that shares.
      await house.call('PUT', '/v1/agents/a1/config', { coordination: { toolsets: { files: 'ask' } } });
      house.model.follow(({ results }) =>
        results.length === 0 ? calls('write_file', { path: 'plan.md', content: '# Lisbon' }) : [{ say: 'Done.' }],
      );
      const first = await house.work();
      await expect.poll(async () => (await house.history(first))[0]?.state, PATIENCE).toBe('done');
      const { waiting } = approvalsSchema.parse(await (await house.call('GET', '/api/approvals')).json());
      const answer = (given: string) =>
        house.call('POST', `/api/approvals/${waiting[0]?.callId ?? ''}/answer`, { answer: given, words: '' });
      const replica = createTestReplica(newTestHousehold(), newTestDevice());
      const socket = await replica.connect(house.relay);
      let lost = false;
      void socket.closed.then(() => (lost = true));
      const [requests, texts, whole] = [
        house.model.requests.length,
        shown(house, 'text').length,
        said(await house.events()).length,
      ];

      const release = createDeferred();
      // Both speak as it goes, and end while it is away; what one of them is asked next waits for
      // it.
      house.model.follow(({ last, first }) =>
        first.includes('The human has answered')
          ? [{ say: 'Thank you.' }]
          : last.includes('again')
            ? [{ say: 'And again.' }]
            : [...counting(0, 20, 20), { until: release.promise }, ...counting(20, 40, 20)],
      );
      const scheduleId = await house.work();
      expect(await house.say('Count, please.')).toBe(202);
      await expect.poll(() => house.model.requests.length).toBe(requests + 2);
      await expect.poll(() => shown(house, 'text').length, PATIENCE).toBeGreaterThan(texts + 10);
      expect(await house.say('Once again.')).toBe(202);
      const yes = how === 'frozen' ? (postgres.freeze(), answer('once')) : null;
      await goesAway(house, how);
      release.resolve();
      replica.write('written meanwhile');

      expect((await healthOf(house)).trouble).toContain(
        'The relay cannot reach its database; what is being said is kept',
      );
      const refused = await house.call('POST', '/api/messages', { text: 'Hm?', clientId: 'c-away' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
      expect(problemSchema.parse(await refused.json()).type).toBe('about:roost/database-away');
      const page = await house.relay.fetch('/', { headers: { accept: 'text/html' } });
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining('cannot reach its database')]);
      expect((await (yes ?? answer('once'))).status).toBe(503);
      // Both answers are at their end by now, and nobody was asked anything more.
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(house.model.requests).toHaveLength(requests + 2);
      expect(replica.acknowledged()).toBe(0);

      await comesBack(how);
      await expect.poll(() => statuses(house).at(-1), PATIENCE).toEqual({ away: false });
      await expect.poll(async () => (await house.history(scheduleId))[0]?.state, PATIENCE).toBe('done');
      await expect.poll(async () => said(await house.events()).length, PATIENCE).toBe(whole + 3);
      const events = await house.events();
      expect(said(events).slice(whole).sort()).toEqual([numbers(0, 40), numbers(0, 40), 'And again.']);
      for (const event of events)
        if (event.kind === 'message' && event.role === 'assistant')
          expect(pieces(events, event.messageId)).toBe(said([event])[0]);
      expect(events.flatMap((event) => (event.kind === 'run-ended' ? [event.outcome] : []))).toEqual(['done', 'done']);
      expect(events.some(({ kind }) => kind === 'session-ended')).toBe(false);
      // What its page heard is what the database has.
      expect(shown(house, 'text').map(({ data }) => data)).toEqual(events.filter(({ kind }) => kind === 'text'));
      expect(house.model.requests).toHaveLength(requests + 3);
      const usage = await house.usage();
      expect([usage.length, new Set(usage).size]).toEqual([requests + 3, requests + 3]);
      // What another device wrote is taken; a line that broke is made anew, as a device does.
      const again = lost ? await replica.connect(house.relay) : socket;
      await expect.poll(() => replica.acknowledged(), PATIENCE).toBe(1);
      // The yes holds, or the question waits still. It is carried out once.
      expect([200, 409]).toContain((await answer('once')).status);
      const file = () => house.call('GET', '/api/workspaces/a1/file?path=plan.md');
      await expect.poll(async () => (await file()).status, PATIENCE).toBe(200);
      await expect.poll(async () => said(await house.events()).at(-1), PATIENCE).toBe('Thank you.');
      expect(await house.calls('write_file')).toEqual(['done']);
      await again.close();
      await replica.close();
    },
  );
});

describe('a Postgres that is away for longer than what is said waits for it', () => {
  it(
    'ends what is being said with that as the reason, and the session goes on when it is back',
    { timeout: 90_000 },
    async () => {
      const house = await openHouse(['--database-away-seconds', '2']);
      try {
        const release = createDeferred();
        house.model.follow(({ last }) =>
          last.includes('again')
            ? [{ say: 'Here I am.' }]
            : [{ say: 'I have begun. ' }, { until: release.promise }, { say: 'Never heard.' }],
        );
        const scheduleId = await house.work();
        expect(await house.say('Speak.')).toBe(202);
        await expect.poll(() => shown(house, 'text').length, PATIENCE).toBe(2);
        await goesAway(house, 'frozen');
        await expect.poll(async () => (await healthOf(house)).awayMs ?? 0, PATIENCE).toBeGreaterThan(3_000);
        await comesBack('frozen');
        await expect
          .poll(async () => (await house.history(scheduleId).catch(() => []))[0]?.state, PATIENCE)
          .toBe('failed');
        const WHY = 'The relay could not reach its database for 2 s. What was said until then is stored.';
        expect((await house.history(scheduleId))[0]).toMatchObject({ said: 'I have begun.', detail: WHY });
        await expect
          .poll(async () => said(await house.events()), PATIENCE)
          .toEqual(['I have begun. ', 'I have begun. ']);
        const events = await house.events();
        expect(
          events.flatMap((event) => (event.kind === 'message' && event.role === 'assistant' ? [event.error] : [])),
        ).toEqual([WHY, WHY]);
        expect(events.flatMap((event) => (event.kind === 'run-ended' ? [[event.outcome, event.reason]] : []))).toEqual([
          ['failed', WHY],
        ]);
        expect(events.some(({ kind }) => kind === 'session-ended')).toBe(false);
        expect(await house.say('Are you there again?')).toBe(202);
        await expect.poll(async () => said(await house.events()).at(-1), PATIENCE).toBe('Here I am.');
        release.resolve();
      } finally {
        postgres.thaw();
        await house.close();
      }
    },
  );
});
