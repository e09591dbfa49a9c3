/** Dreams: what they propose, what they may not do, and a kill in each of their states. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { mostAfterDream } from '../../../src/shared/domain/dreams.ts';
import type { Dream } from '../../../src/shared/protocol/dreams.ts';
import type { MemorySource } from '../../../src/shared/protocol/memories.ts';
import { SNAPSHOT, createHandClock } from '../../support/schedules.ts';
import { type Part, type Reply, type ScriptedRequest, teamScript } from '../../support/scripted-model.ts';
import { type Bench, createGate, type Household, openSessionBench, payload } from '../../support/session.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const BY_HUMAN: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };
const AGENT = 'agent-0';
const NOTES = '- 2026-03-01: Ada lives in Lyon.\n- 2026-03-02: The heron is called Otis.\n';
const DAY_MS = 86_400_000;

const isDream = ({ system }: ScriptedRequest) => system.includes('You dream,');

describe.each(USUAL_STORES)('a dream, on %s', (kind) => {
  let bench: Bench;
  let house: Household;
  let clock: ReturnType<typeof createHandClock>;
  /** What the model answers in a dream, request by request. */
  let dreaming: (request: ScriptedRequest) => Reply | Promise<Reply>;
  let next: readonly Reply[] = [];
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    const usual = teamScript();
    clock = createHandClock(Date.now());
    next = [];
    dreaming = () => {
      const [reply = [{ say: 'I changed nothing.' }], ...rest] = next;
      next = rest;
      return reply;
    };
    house = await bench.open({
      script: (request) => (isDream(request) ? dreaming(request) : usual(request)),
      now: clock.now,
    });
    await house.team.directory.set({
      agents: [{ agentId: AGENT, name: 'Name 0', position: 0, retired: false }],
    });
    await house.team.snapshots.leave(AGENT, { ...SNAPSHOT, name: 'Name 0' }, 'v1');
    await house.team.memories.add(AGENT, { path: 'notes.md', text: NOTES }, BY_HUMAN);
  });
  afterEach(() => house.close());

  const dreams = () => house.team.dreams;
  const call = (input: object): Reply => [{ call: 'memory', input }];
  const moves = (more = ''): Reply =>
    call({
      command: 'create',
      path: 'notes.md',
      file_text: `- 2026-11-29 (before: 2026-03-01): Ada lives in Paris.${more}\n- 2026-03-02: The heron is called Otis.\n`,
    });
  const DONE: readonly Part[] = [{ say: 'I noted the move.' }];
  const newest = async (): Promise<Dream> => {
    const [dream] = await dreams().of(AGENT);
    if (!dream) throw new Error('There is no dream.');
    return dream;
  };
  const text = async () => (await house.team.memories.list(AGENT)).map((file) => `${file.path}: ${file.text}`).join('');
  /** The person has the agent dream. Resolves when the dream is over. */
  async function dreamt(...replies: readonly Reply[]): Promise<Dream> {
    next = replies;
    clock.pass(1_000);
    const started = await dreams().start(AGENT);
    if (!started.ok) throw new Error(started.reason);
    await dreams().look();
    return await newest();
  }
  const said = (requests: readonly ScriptedRequest[]) => JSON.stringify(requests.map(({ body }) => body.messages));
  const asked = () => house.model.requests.filter(isDream);
  const tools = () => asked().flatMap(({ body }) => (body.tools ?? []).map(({ name }) => name));

  it('proposes a new version, leaves the memory as it is, and changes it when the person adopts it', async () => {
    const before = await text();
    const dream = await dreamt(moves(), DONE);
    expect(dream).toMatchObject({
      ...{ state: 'proposed', night: null, said: 'I noted the move.', detail: null },
      changes: [{ path: 'notes.md', pathBefore: 'notes.md', before: NOTES }],
    });
    expect(dream.costMicroUsd).toBeGreaterThan(0);
    expect(dream.changes[0]?.after).toContain('Ada lives in Paris.');
    expect(await text()).toBe(before);
    expect(await dreams().waiting()).toEqual([dream]);
    expect(await dreams().adopt(dream.dreamId)).toMatchObject({ ok: true, dream: { state: 'adopted' } });
    const [file] = await house.team.memories.list(AGENT);
    expect(file).toMatchObject({ text: dream.changes[0]?.after, source: { by: 'dream', runId: dream.runId } });
    expect(await dreams().adopt(dream.dreamId)).toEqual({ ok: false, reason: 'dream-over' });
    expect(await dreams().discard(dream.dreamId)).toEqual({ ok: false, reason: 'dream-over' });
    expect([...new Set(tools())]).toEqual(['memory']);
  });

  it('ends when its agent is woken, and changes nothing', async () => {
    const before = await text();
    next = [moves(), 'silent'];
    await dreams().start(AGENT);
    await house.until(() => asked().length === 2);
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 0);
    await dreams().look();
    expect(await newest()).toMatchObject({ state: 'failed', detail: expect.stringContaining('needed') as string });
    expect(await text()).toBe(before);
  });

  it('leaves the memory as it is when the person discards the dream, and another can follow', async () => {
    const before = await text();
    const dream = await dreamt(moves(), DONE);
    expect(await dreams().start(AGENT)).toEqual({ ok: false, reason: 'dream-waits' });
    expect(await dreams().discard(dream.dreamId)).toMatchObject({ ok: true, dream: { state: 'discarded' } });
    expect(await text()).toBe(before);
    expect(await dreams().start(AGENT)).toMatchObject({ ok: true });
  });

  it('waits for the snapshot of its agent, and fails with the reason where none comes', async () => {
    await house.team.snapshots.withdraw(AGENT);
    await dreams().start(AGENT);
    await dreams().look();
    expect(await newest()).toMatchObject({ state: 'due' });
    expect(await dreams().dreaming()).toEqual([AGENT]);
    await house.team.snapshots.leave(AGENT, { ...SNAPSHOT, name: 'Name 0' }, 'v2');
    next = [moves(), DONE];
    await dreams().look();
    expect(await newest()).toMatchObject({ state: 'proposed' });
    await dreams().discard((await newest()).dreamId);
    await house.team.snapshots.withdraw(AGENT);
    clock.pass(1_000);
    await dreams().start(AGENT);
    clock.pass(120_000);
    await dreams().look();
    expect(await newest()).toMatchObject({ state: 'failed', detail: expect.stringContaining('no copy') as string });
  });

  it('says that it changed nothing, and is no proposal', async () => {
    expect(await dreamt([{ say: 'Nothing needs a change.' }])).toMatchObject({
      ...{ state: 'unchanged', said: 'Nothing needs a change.', changes: [] },
    });
    const back = await dreamt(moves(), call({ command: 'create', path: 'notes.md', file_text: NOTES }), DONE);
    expect(back.state).toBe('unchanged');
    expect(await dreams().waiting()).toEqual([]);
  });

  it('reads the day, and neither results of tools nor what was said in an earlier dream', async () => {
    await house.team.memories.add(null, { path: 'rules.md', text: 'Rule one is secret.' }, BY_HUMAN);
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length > 0);
    await house.untilQuiet();
    await house.post({ text: 'I moved to Paris.', to: AGENT });
    await house.untilQuiet();
    await house.host.end('ended');
    await dreamt(call({ command: 'view', path: 'team/rules.md' }), [{ say: 'A word of the first dream.' }]);
    expect(said(asked())).toContain('I moved to Paris.');
    const first = asked().length;
    await dreamt([{ say: 'Nothing.' }]);
    const second = said(asked().slice(first));
    expect(second).not.toContain('A word of the first dream.');
    expect(second).not.toContain('Rule one is secret.');
    // The first dream has read that day.
    expect(second).not.toContain('I moved to Paris.');
    expect(second).toContain('Nobody said anything');
  });

  it('refuses a draft that is more than a fifth larger, or repeats a note, and says why', async () => {
    const large = Array.from({ length: 200 }, (_, i) => `- 2026-01-01: Fact ${i} of the year.\n`).join('');
    await house.team.memories.add(AGENT, { path: 'facts.md', text: large }, BY_HUMAN);
    const bytes = large.length + NOTES.length;
    const dream = await dreamt(
      call({ command: 'create', path: 'more.md', file_text: 'x'.repeat(bytes / 5 + 20) }),
      call({ command: 'insert', path: 'notes.md', insert_line: 0, insert_text: '- 2026-11-29: Fact 7 of the year.' }),
      call({ command: 'create', path: 'more.md', file_text: 'x'.repeat(bytes / 5 - 20) }),
      DONE,
    );
    const results = asked().flatMap(({ results: all }) => all);
    expect(results[0]).toContain(`may have ${mostAfterDream(bytes)} after it`);
    expect(results[1]).toContain('has this note already');
    expect(results[2]).toContain('more.md is written');
    expect(dream).toMatchObject({ state: 'proposed', bytesBefore: bytes });
    expect(dream.bytesAfter).toBeLessThanOrEqual(bytes * 1.2);
  });

  it('adopts a draft with what was noted since, and refuses it where a changed file differs in another way', async () => {
    const dream = await dreamt(moves(), DONE);
    const [file] = await house.team.memories.list(AGENT);
    if (!file) throw new Error('There is no file.');
    const edit = (next: string) => ({ edit: () => ({ ok: true, text: next }) as const });
    const noted = '- 2026-11-30: Ada has a cat.\n';
    await house.team.memories.change(file.memoryId, edit(`Ada moved.\n${NOTES}`), BY_HUMAN);
    expect(await dreams().adopt(dream.dreamId)).toMatchObject({ ok: false, by: { reason: 'changed-elsewhere' } });
    expect((await newest()).state).toBe('proposed');
    await house.team.memories.change(file.memoryId, edit(`${NOTES}${noted}`), BY_HUMAN);
    expect(await dreams().adopt(dream.dreamId)).toMatchObject({ ok: true });
    expect(await text()).toBe(`notes.md: ${dream.changes[0]?.after}${noted}`);
  });

  describe('by night', () => {
    const night = () => dreams().look();
    const setting = (choice: 'off' | 'propose' | 'adopt') =>
      house.team.configs.setAgent(AGENT, { coordination: { dreams: choice, dream_hour: 0 } });
    /** The agent has said something today. */
    async function talks(): Promise<void> {
      await house.start();
      await house.wake([payload(0)]);
      await house.until(() => house.of('agent-awake').length > 0);
      await house.untilQuiet();
      await house.host.end('ended');
    }

    it('begins once for each agent that has it on, if somebody said something', async () => {
      await setting('propose');
      await night();
      expect(await dreams().of(AGENT)).toEqual([]);
      await talks();
      await setting('off');
      await night();
      expect(await dreams().of(AGENT)).toEqual([]);
      await setting('propose');
      next = [moves(), DONE];
      await night();
      expect(await newest()).toMatchObject({
        state: 'proposed',
        night: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
      });
      await dreams().discard((await newest()).dreamId);
      await night();
      expect(await dreams().of(AGENT)).toHaveLength(1);
    });

    it('reads the log once for all agents that may dream, and not where none may', async () => {
      await talks();
      const team = [1, 2, 3, 5, 6].map((position) => ({
        ...{ agentId: `agent-${position}`, name: `Name ${position}`, position, retired: false },
      }));
      await house.team.directory.set({
        agents: [{ agentId: AGENT, name: 'Name 0', position: 0, retired: false }, ...team],
      });
      await house.team.configs.setHousehold({ coordination: { dreams: 'propose', dream_hour: 0 } });
      next = [moves(), DONE];
      const before = house.logReads();
      await night();
      expect(await newest()).toMatchObject({ state: 'proposed' });
      expect(house.logReads() - before).toBe(1);
      await setting('off');
      await house.team.configs.setHousehold({ coordination: { dreams: 'off' } });
      await night();
      expect(house.logReads() - before).toBe(1);
    });

    it('adopts what it proposes where the person has set that', async () => {
      await setting('adopt');
      await talks();
      next = [moves(), DONE];
      await night();
      expect(await newest()).toMatchObject({ state: 'adopted' });
      expect(await text()).toContain('Ada lives in Paris.');
    });

    it('waits until its agent sleeps, fails where that takes too long, and costs nothing', async () => {
      await setting('propose');
      await talks();
      await house.start();
      await house.wake([payload(0)]);
      await house.until(() => house.of('agent-awake').length > 1);
      await house.untilQuiet();
      await night();
      expect(await newest()).toMatchObject({ state: 'due', runId: null });
      clock.pass(DAY_MS - 3_600_000);
      await night();
      expect(await newest()).toMatchObject({ state: 'failed', costMicroUsd: 0 });
      expect(asked()).toEqual([]);
    });

    it('sends nothing when the budget of the day is used up', async () => {
      await talks();
      await house.team.configs.setAgent(AGENT, {
        coordination: { dreams: 'propose', dream_hour: 0, daily_budget_usd: 0 },
      });
      await night();
      expect(await newest()).toMatchObject({ state: 'failed', detail: expect.stringContaining('budget') as string });
      expect(asked()).toEqual([]);
    });
  });

  describe('a relay that is killed', () => {
    it('begins a due dream at the next start', async () => {
      await house.team.configs.setAgent(AGENT, { coordination: { dreams: 'propose', dream_hour: 0 } });
      await house.start();
      await house.wake([payload(0)]);
      await house.until(() => house.of('agent-awake').length > 0);
      await house.untilQuiet();
      await dreams().look();
      expect((await newest()).state).toBe('due');
      await house.restart();
      next = [moves(), DONE];
      await dreams().look();
      expect(await dreams().of(AGENT)).toMatchObject([{ state: 'proposed' }]);
    });

    it('fails a running dream with the reason, and leaves the memory unchanged', async () => {
      const before = await text();
      const gate = createGate();
      next = [moves(), [{ until: gate.passed }, ...DONE]];
      const started = await dreams().start(AGENT);
      if (!started.ok) throw new Error(started.reason);
      await house.until(() => asked().length === 2);
      expect((await newest()).state).toBe('running');
      await house.restart();
      gate.open();
      expect(await newest()).toMatchObject({
        state: 'failed',
        changes: [],
        detail: expect.stringContaining('stopped') as string,
      });
      expect(await text()).toBe(before);
      expect(await dreamt(moves(), DONE)).toMatchObject({ state: 'proposed', detail: null });
    });

    it('keeps a waiting dream so that it can be adopted', async () => {
      const { dreamId } = await dreamt(moves(), DONE);
      await house.restart();
      expect(await dreams().waiting()).toMatchObject([{ dreamId }]);
      expect(await dreams().adopt(dreamId)).toMatchObject({ ok: true });
    });

    it('between the proposal and its adoption by itself: the next look adopts it', async () => {
      const { dreamId } = await dreamt(moves(), DONE);
      await house.restart();
      await house.team.configs.setAgent(AGENT, { coordination: { dreams: 'adopt' } });
      await dreams().look();
      expect(await newest()).toMatchObject({ dreamId, state: 'adopted' });
    });

    it('keeps the state of a dream that was adopted, discarded, unchanged or failed', async () => {
      const adopted = await dreamt(moves(), DONE);
      await dreams().adopt(adopted.dreamId);
      const discarded = await dreamt(call({ command: 'create', path: 'a.md', file_text: 'a' }), DONE);
      await dreams().discard(discarded.dreamId);
      await dreamt([{ say: 'Nothing.' }]);
      await dreamt({ fail: { status: 401, type: 'authentication_error', message: 'No.' } });
      const states = async () => (await dreams().of(AGENT)).map(({ state }) => state).sort();
      const before = [await states(), await text()];
      expect(before[0]).toEqual(['adopted', 'discarded', 'failed', 'unchanged']);
      await house.restart();
      await dreams().look();
      expect([await states(), await text()]).toEqual(before);
    });
  });
});
