/** Dreams that are left with Anthropic's server, which answers them at half the price. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { OFFICIAL_API } from '../../../server/agents/minds/settings.ts';
import { forgetSaid } from '../../../server/store/said.ts';
import type { Dream } from '../../../src/shared/protocol/dreams.ts';
import type { MemorySource } from '../../../src/shared/protocol/memories.ts';
import { createHandClock, SNAPSHOT } from '../../support/schedules.ts';
import type { BatchReply } from '../../support/scripted-batches.ts';
import { type Part, startScriptedModel, type ScriptedModel, teamScript } from '../../support/scripted-model.ts';
import { type Bench, type Household, openSessionBench } from '../../support/session.ts';
import { USUAL_STORES } from '../../support/stores.ts';

const BY_HUMAN: MemorySource = { by: 'human', sessionId: null, runId: null, read: [] };
const AGENT = 'agent-0';
const NOTES = '- 2026-03-01: Ada lives in Lyon.\n- 2026-03-02: The heron is called Otis.\n';
const MOVED = '- 2026-11-29 (before: 2026-03-01): Ada lives in Paris.\n- 2026-03-02: The heron is called Otis.\n';
const call = (input: object): Part => ({ call: 'memory', input });
const moves = call({ command: 'create', path: 'notes.md', file_text: MOVED });
const DONE: Part = { say: 'I noted the move.' };
const answer = (...parts: readonly Part[]): BatchReply => ({ parts });

describe.each(USUAL_STORES)('a dream in a batch, on %s', (kind) => {
  let bench: Bench;
  let model: ScriptedModel;
  let house: Household;
  let clock: ReturnType<typeof createHandClock>;
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(() => bench.close());
  beforeEach(async () => {
    model = await startScriptedModel(teamScript());
    clock = createHandClock(Date.now());
    house = await bench.open({
      script: teamScript(),
      now: clock.now,
      mindConfig: {
        baseUrl: null,
        // Anthropic's own address, led to this machine.
        fetch: (input, init) => fetch(String(input).replace(OFFICIAL_API, model.url), init),
      },
    });
    await house.team.directory.set({ agents: [{ agentId: AGENT, name: 'Name 0', position: 0, retired: false }] });
    await house.team.snapshots.leave(AGENT, { ...SNAPSHOT, name: 'Name 0' }, 'v1');
    await house.team.memories.add(AGENT, { path: 'notes.md', text: NOTES }, BY_HUMAN);
    await house.team.memories.add(AGENT, { path: 'old.md', text: 'Once there was a boat.' }, BY_HUMAN);
  });
  afterEach(async () => {
    await house.close();
    await model.close();
  });

  const dreams = () => house.team.dreams;
  const newest = async (): Promise<Dream> => {
    const [dream] = await dreams().of(AGENT);
    if (!dream) throw new Error('There is no dream.');
    return dream;
  };
  const text = async () => (await house.team.memories.list(AGENT)).map((file) => `${file.path}: ${file.text}`).join('');
  async function submitted(): Promise<Dream> {
    clock.pass(1_000);
    expect(await dreams().start(AGENT)).toMatchObject({ ok: true });
    await dreams().look();
    return await newest();
  }
  async function ended(reply: BatchReply): Promise<Dream> {
    model.batches.follow(() => reply);
    await dreams().look();
    return await newest();
  }
  const spentToday = async () => (await house.team.costs.report(1)).today;

  it("sends one request with every file and the memory tool, and proposes the answer's changes", async () => {
    const before = await text();
    const dream = await submitted();
    expect(dream).toMatchObject({ state: 'submitted', runId: null, estimated: true });
    expect(dream.costMicroUsd).toBeGreaterThan(0);
    expect(model.requests).toEqual([]);
    expect(model.batches.created).toHaveLength(1);
    const [sent] = model.batches.created;
    expect(sent?.tools?.map(({ name }) => name)).toEqual(['memory']);
    const words = JSON.stringify(sent);
    for (const part of ['You dream,', 'this one answer', 'The heron is called Otis.', 'Once there was a boat.'])
      expect(words).toContain(part);
    expect(words).not.toContain('cache_control');
    expect(await dreams().start(AGENT)).toEqual({ ok: false, reason: 'dream-waits' });
    await dreams().look();
    expect((await newest()).state).toBe('submitted');
    const done = await ended(
      answer({ think: 'Hm.', signature: 's' }, moves, call({ command: 'delete', path: 'old.md' }), DONE),
    );
    expect(done).toMatchObject({
      ...{ state: 'proposed', said: 'I noted the move.', detail: null, tokens: 1_100, estimated: false },
      changes: [
        { path: 'notes.md', before: NOTES, after: MOVED },
        { path: 'old.md', after: null },
      ],
    });
    expect(await text()).toBe(before);
    expect(await dreams().adopt(done.dreamId)).toMatchObject({ ok: true });
    expect(await text()).toBe(`notes.md: ${MOVED}`);
    expect(model.batches.created).toHaveLength(1);
  });

  it('costs half of what the same tokens cost otherwise', async () => {
    await submitted();
    const { costMicroUsd } = await ended(answer(DONE));
    // 1,000 tokens read and 100 written by Sonnet 5.5, at $2 and $10 for a million.
    expect(costMicroUsd).toBe((1_000 * 2 + 100 * 10) / 2);
    expect((await spentToday()).costMicroUsd).toBe(costMicroUsd);
  });

  it('leaves out changes that do not fit, and says how many', async () => {
    await submitted();
    const large = call({ command: 'create', path: 'more.md', file_text: 'x'.repeat(5_000) });
    const done = await ended(answer(moves, large, { call: 'fetch_page', input: { url: 'https://a.example' } }, DONE));
    expect(done).toMatchObject({ state: 'proposed', changes: [{ path: 'notes.md' }] });
    expect(done.detail).toContain('2 changes did not fit');
  });

  it.each<readonly [string, BatchReply, string, boolean]>([
    ['expires', 'expired', 'within a day', true],
    ['fails at the server', { errored: 'The prompt is odd.' }, 'The prompt is odd.', true],
    ['cannot be read', 'unreadable', 'cannot be read', true],
    ['is declined', answer({ stop: 'refusal' }), 'declined', false],
    ['is cut off', answer(moves, { stop: 'max_tokens' }), 'cut off', false],
  ])('fails when the batch %s, and leaves the memory unchanged', async (_what, reply, why, isFree) => {
    const before = await text();
    await submitted();
    const done = await ended(reply);
    expect(done).toMatchObject({ state: 'failed', changes: [], detail: expect.stringContaining(why) as string });
    expect(done.costMicroUsd === 0).toBe(isFree);
    expect((await spentToday()).costMicroUsd).toBe(done.costMicroUsd);
    expect(await text()).toBe(before);
    expect(await dreams().start(AGENT)).toMatchObject({ ok: true });
  });

  it('is cancelled by the person, and costs what the server had used by then', async () => {
    const { dreamId } = await submitted();
    expect(await dreams().cancel(dreamId)).toMatchObject({ ok: true });
    await dreams().look();
    expect(model.batches.cancelled).toEqual(['msgbatch_1']);
    expect(await newest()).toMatchObject({
      state: 'failed',
      costMicroUsd: 0,
      detail: expect.stringContaining('Stopped') as string,
    });
    expect(await dreams().cancel(dreamId)).toEqual({ ok: false, reason: 'dream-over' });
    const second = await submitted();
    model.batches.follow(() => answer(moves, DONE));
    expect(await dreams().cancel(second.dreamId)).toMatchObject({ ok: true });
    await dreams().look();
    expect(await newest()).toMatchObject({ state: 'failed', changes: [], estimated: false });
    expect((await newest()).costMicroUsd).toBeGreaterThan(0);
  });

  it("is cancelled when its agent's words are forgotten", async () => {
    await submitted();
    await forgetSaid(house.db, house.home, { agentIds: [AGENT], from: 0, to: Number.MAX_SAFE_INTEGER });
    await dreams().look();
    expect(await dreams().of(AGENT)).toEqual([]);
    expect(model.batches.cancelled).toEqual(['msgbatch_1']);
  });

  it('is cancelled at the server before its agent is forgotten, so that a kill leaves none there', async () => {
    await submitted();
    await dreams().cancelOf(['agent-7']);
    expect(model.batches.cancelled).toEqual([]);
    await dreams().cancelOf([AGENT]);
    expect(model.batches.cancelled).toEqual(['msgbatch_1']);
  });

  it('runs as an ordinary run when the server takes no batches', async () => {
    model.batches.takes('not-found');
    model.follow(({ results }) => [results.length === 0 ? moves : DONE]);
    const dream = await submitted();
    expect(dream).toMatchObject({ state: 'proposed', changes: [{ path: 'notes.md' }] });
    expect(dream.runId).not.toBeNull();
    expect(model.requests).toHaveLength(2);
  });

  it('fails when the server refuses it or its answer is lost, and is not sent again', async () => {
    model.batches.takes('bad-request');
    expect(await submitted()).toMatchObject({ state: 'failed', costMicroUsd: 0 });
    model.batches.takes('drop');
    const lost = await submitted();
    expect(lost).toMatchObject({
      state: 'failed',
      estimated: true,
      detail: expect.stringContaining('not sent again') as string,
    });
    expect(lost.costMicroUsd).toBeGreaterThan(0);
    expect(model.batches.created).toHaveLength(1);
  });

  it('is not sent when the daily budget is used up', async () => {
    await house.team.configs.setAgent(AGENT, { coordination: { daily_budget_usd: 0 } });
    expect(await submitted()).toMatchObject({ state: 'failed', detail: expect.stringContaining('budget') as string });
    expect(model.batches.created).toEqual([]);
  });

  it('fails after the relay was killed while sending it, and is not sent again', async () => {
    model.batches.takes('silent');
    await dreams().start(AGENT);
    await expect.poll(() => model.batches.created.length).toBe(1);
    expect((await newest()).state).toBe('running');
    await house.restart();
    await dreams().look();
    const died = await newest();
    expect(died).toMatchObject({
      state: 'failed',
      estimated: true,
      detail: expect.stringContaining('stopped') as string,
    });
    expect((await spentToday()).costMicroUsd).toBe(died.costMicroUsd);
    expect(model.batches.created).toHaveLength(1);
  });

  it('goes on after a kill of the relay by the batch that was sent, and is counted once', async () => {
    const { costMicroUsd: most } = await submitted();
    await house.restart();
    expect((await newest()).state).toBe('submitted');
    const done = await ended(answer(moves, DONE));
    expect(done).toMatchObject({ state: 'proposed', costMicroUsd: most, estimated: true });
    expect(model.batches.created).toHaveLength(1);
    expect((await spentToday()).costMicroUsd).toBe(most);
    await house.restart();
    expect(await newest()).toEqual(done);
    expect(await dreams().adopt(done.dreamId)).toMatchObject({ ok: true });
  });

  it('is cancelled after the relay was killed between the wish and the server’s answer', async () => {
    const { dreamId } = await submitted();
    await dreams().cancel(dreamId);
    await house.restart();
    await dreams().look();
    expect(await newest()).toMatchObject({
      dreamId,
      state: 'failed',
      detail: expect.stringContaining('Stopped') as string,
    });
    expect(model.batches.created).toHaveLength(1);
  });
});
