/**
 * An agent at work: started by a test, with nothing but an identity, a cause and a mind. No
 * session, no lead, no page.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEventLog } from '../../../../server/log/index.ts';
import { createAnthropicMind, type Mind } from '../../../../server/agents/minds/index.ts';
import type { AgentRun, Run } from '../../../../server/agents/runs/index.ts';
import { createSealer } from '../../../../server/platform/sealer.ts';
import { SETS_NOTHING_ASIDE } from '../../../../server/platform/set-aside.ts';
import { openTeam } from '../../../../server/households/team.ts';
import { applyEvent, NO_SESSION } from '../../../../src/shared/protocol/live.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { longTests } from '../../../support/long-tests.ts';
import { programOf } from '../../../support/relay-build.ts';
import { agentRun, messageFromB } from '../../../support/runs.ts';
import { startScriptedModel, type Script } from '../../../support/scripted-model.ts';
import {
  createGate,
  openSessionBench,
  payload,
  PROTOCOL,
  wordsOf,
  type Bench,
  type Household,
} from '../../../support/session.ts';
import { brokenRules } from '../../../support/session-rules.ts';
import { createStorePlace, type StoreKind, USUAL_STORES } from '../../../support/stores.ts';

const itLong = longTests('relay/agents/runs/run.test.ts');

describe.each(USUAL_STORES)('a run on %s', (kind) => {
  let bench: Bench;
  const minds: Mind[] = [];
  beforeAll(async () => {
    bench = await openSessionBench(kind);
  });
  afterAll(async () => {
    await bench.close();
    for (const mind of minds) await mind.close();
  });

  async function open(
    script: Script,
  ): Promise<{ house: Household; asked: (more?: Parameters<typeof agentRun>[1]) => AgentRun }> {
    const house = await bench.open({ script });
    const mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: house.model.url });
    minds.push(mind);
    return { house, asked: (more) => agentRun(mind, more) };
  }
  async function start(house: Household, asked: AgentRun): Promise<Run> {
    const started = await house.team.runs.start(asked);
    if (!started.ok) throw new Error(started.refusal.why);
    return started.run;
  }
  const kindsOf = (house: Household) => house.events.map(({ kind: each }) => each);
  const usage = { inputTokens: 10, outputTokens: 20, cacheReadTokens: 3, cacheWriteTokens: 2 };

  it('needs no session, and logs words, end and usage in order', async () => {
    const { house, asked } = await open(() => [{ say: 'I looked around. ' }, { wait: 60 }, { say: 'All is well.' }]);
    const { runId, whenEnded } = await start(house, asked());
    expect(house.log.snapshot()).toMatchObject({
      session: null,
      runs: [{ runId, agentId: 'agent-a', sessionId: null, cause: { kind: 'pulse', routine: 'Morning round' } }],
    });
    const end = await whenEnded;
    expect(kindsOf(house)).toEqual(['run-started', 'answer-started', 'text', 'text', 'message', 'run-ended']);
    const [message] = house.of('message');
    expect(message).toMatchObject({
      sessionId: null,
      runId,
      agentId: 'agent-a',
      author: 'agent-a',
      status: 'complete',
    });
    expect(wordsOf(message)).toBe('I looked around. All is well.');
    // What it cost is what the account has of its reply.
    const cost = (await house.team.costs.replies([message?.messageId ?? ''])).get(message?.messageId ?? '');
    expect(end).toMatchObject({
      outcome: 'done',
      reason: null,
      usage,
      costMicroUsd: cost?.costMicroUsd,
      estimated: false,
    });
    expect(end.costMicroUsd).toBeGreaterThan(0);
    const { said, overBudget, refusedForNow, ...told } = end;
    expect({ said, overBudget, refusedForNow }).toEqual({
      said: 'I looked around. All is well.',
      overBudget: false,
      refusedForNow: false,
    });
    expect(house.of('run-ended')).toMatchObject([{ runId, sessionId: null, ...told }]);
    expect(house.log.snapshot()).toMatchObject({ session: null, runs: [], answering: [] });
    expect(house.stored.reduce(applyEvent, NO_SESSION)).toEqual(house.log.snapshot());
    // A browser stores it as what it was.
    expect(house.stored.flatMap(documentsOf).map(({ _id }) => _id)).toEqual([
      `run:${runId}:start`,
      `message:${message?.messageId}`,
      `run:${runId}:end`,
    ]);
    const [request] = house.model.requests;
    expect(request?.system).toBe('You are Lyra. Nobody is here to ask.');
    expect(request?.last).toBe('It is time for your morning round.');
  });

  it('uses the tools that came with it, adds up what its requests took, and reads what waits in its inbox once', async () => {
    const { house, asked } = await open(({ results }) =>
      results.length === 0 ? [{ call: 'look', input: { at: 'the sea' } }] : [{ say: `I saw ${results[0]}.` }],
    );
    await house.inbox.put(messageFromB());
    const seen: unknown[] = [];
    const own: AgentRun['tools']['own'] = {
      definitions: [{ name: 'look', description: 'Looks.', properties: { at: { type: 'string' } }, required: ['at'] }],
      run(_name, input) {
        seen.push(input);
        return { text: 'a heron', isError: false };
      },
    };
    const run = await start(house, asked({ tools: { own, team: house.team.tools }, readsInbox: true }));
    expect(await run.whenEnded).toMatchObject({
      outcome: 'done',
      usage: { inputTokens: 20, outputTokens: 40, cacheReadTokens: 6, cacheWriteTokens: 4 },
    });
    expect(seen).toEqual([{ at: 'the sea' }]);
    expect(house.of('message').map((message) => [message.author, message.runId, wordsOf(message)])).toEqual([
      ['agent-b', run.runId, 'The kettle is on.'],
      ['agent-a', run.runId, 'I saw a heron.'],
    ]);
    expect(house.model.requests[0]?.last).toContain('The kettle is on.');
    expect(await house.inbox.count('agent-a')).toBe(0);
    expect((await house.inbox.takenIn(run.runId)).map(({ messageId }) => messageId)).toEqual(['from-b']);
  });

  it('fails, and says why, where its mind does', async () => {
    const { house, asked } = await open(() => ({
      fail: { status: 400, type: 'invalid_request_error', message: 'no such thing' },
    }));
    const end = await (await start(house, asked())).whenEnded;
    expect(end).toMatchObject({ outcome: 'failed', usage: null, said: null });
    expect(end.reason).toContain('no such thing');
    expect(house.of('message')).toMatchObject([{ status: 'failed', error: end.reason }]);
    expect(kindsOf(house).at(-1)).toBe('run-ended');
  });

  it('ends when the person stops it, with its words so far', async () => {
    const { house, asked } = await open(() => [{ say: 'One, ' }, { until: new Promise(() => undefined) }]);
    const run = await start(house, asked());
    await house.until(() => house.of('text').length > 0);
    expect(house.team.runs.stop('agent-b')).toBe(false);
    expect(house.team.runs.stop('agent-a')).toBe(true);
    // Its model had not told all when it was left: what it cost is at the most, and says so.
    expect(await run.whenEnded).toMatchObject({
      outcome: 'stopped',
      reason: null,
      estimated: true,
      said: 'One,',
    });
    expect(house.of('message').map((message) => [message.status, wordsOf(message)])).toEqual([['stopped', 'One, ']]);
    expect(run.stop()).toBe(false);
    expect(house.of('run-ended')).toHaveLength(1);
  });

  it('ends when its time is over, with its words so far', async () => {
    const { house, asked } = await open(() => [{ say: 'One, ' }, { until: new Promise(() => undefined) }]);
    const run = await start(house, asked({ limits: { timeoutMs: 300 } }));
    const end = await run.whenEnded;
    expect(end).toMatchObject({ outcome: 'timed-out', reason: 'It was not done within 300 ms.' });
    expect(house.of('message')).toMatchObject([{ status: 'interrupted', error: end.reason }]);
    expect(house.of('run-ended')).toMatchObject([{ runId: run.runId, outcome: 'timed-out' }]);
  });

  it('says nothing and sends no request when nothing waits', async () => {
    const { house, asked } = await open(() => [{ say: 'Why?' }]);
    expect(await (await start(house, asked({ context: [], readsInbox: true }))).whenEnded).toMatchObject({
      outcome: 'done',
      usage: null,
      costMicroUsd: 0,
      estimated: false,
    });
    expect(kindsOf(house)).toEqual(['run-started', 'run-ended']);
    expect(house.model.requests).toEqual([]);
  });

  it('waits for its agent’s turn, and is skipped where that lasts; another agent’s does not matter', async () => {
    const gate = createGate();
    const { house, asked } = await open(({ last }) => [
      { say: 'I am on it.' },
      ...(last === 'first' ? [{ until: gate.passed }] : []),
    ]);
    const one = await start(house, asked({ context: [{ messageId: null, text: 'first' }] }));
    expect(await house.team.runs.start(asked({ limits: { busyMs: 50 } }))).toEqual({
      ok: false,
      refusal: { why: 'agent-busy' },
    });
    expect(await (await start(house, asked({ identity: { agentId: 'agent-b' } }))).whenEnded).toMatchObject({
      outcome: 'done',
    });
    const waiting = start(house, asked());
    gate.open();
    await one.whenEnded;
    expect(await (await waiting).whenEnded).toMatchObject({ outcome: 'done' });
    expect(house.of('run-started')).toHaveLength(3);
  });

  it('takes turns with the session at one mind', async () => {
    const gate = createGate();
    const { house, asked } = await open(({ last }) => [
      { say: 'Here.' },
      ...(last.includes('round') || last === 'hold' ? [{ until: gate.passed }] : []),
    ]);
    await house.start();
    await house.wake([payload(0)]);
    await house.untilQuiet();
    // In the session first.
    await house.post({ text: 'hold', to: 'agent-0' });
    await house.until(() => house.log.snapshot().answering.length === 1);
    const alone = asked({ identity: { agentId: 'agent-0' }, limits: { busyMs: 50 } });
    expect(await house.team.runs.start(alone)).toEqual({ ok: false, refusal: { why: 'agent-busy' } });
    gate.open();
    await house.untilQuiet();
    // Then out of it: what the person says meanwhile is answered after it, and nothing of it is
    // lost.
    const second = createGate();
    house.model.follow(({ last }) => [{ say: 'Done.' }, ...(last.includes('round') ? [{ until: second.passed }] : [])]);
    const run = await start(house, asked({ identity: { agentId: 'agent-0' } }));
    // Its answer is begun before its request is at the model.
    await house.until(() => house.model.requests.some(({ last }) => last.includes('round')));
    await house.post({ text: 'are you there?', to: 'agent-0' });
    const before = house.model.requests.length;
    await house.inbox.count('agent-0');
    expect(house.model.requests).toHaveLength(before);
    second.open();
    expect(await run.whenEnded).toMatchObject({ outcome: 'done' });
    await house.until(
      () =>
        house.of('message').filter(({ agentId, author }) => agentId === 'agent-0' && author === agentId).length === 4,
    );
    // The run stands beside the session, which lasts.
    expect(house.of('run-ended')).toMatchObject([{ runId: run.runId, sessionId: null }]);
    expect(house.log.snapshot().runs.map(({ agentId, cause }) => [agentId, cause.kind])).toEqual([
      ['lead', 'session'],
      ['agent-0', 'session'],
    ]);
    await house.host.end('ended');
    expect(
      house
        .of('run-ended')
        .slice(1)
        .map(({ agentId, outcome }) => [agentId, outcome]),
    ).toEqual([
      ['lead', 'done'],
      ['agent-0', 'done'],
    ]);
  });

  it('is marked as crashed once after the relay died, with the words on disk, also across sessions', async () => {
    const { house, asked } = await open(({ last }) => [
      { say: 'Half of' },
      ...(last.includes('round') ? [{ until: new Promise(() => undefined) }] : []),
    ]);
    const { runId } = await start(house, asked());
    await house.until(() => house.of('text').length > 0);
    await house.start();
    await house.host.end('ended');
    await house.restart();
    expect(house.of('run-ended').filter((end) => end.sessionId === null)).toMatchObject([
      { runId, outcome: 'crashed', reason: 'The relay stopped in the middle of it.' },
    ]);
    expect(house.of('message').map((message) => [message.runId, message.status, wordsOf(message)])).toEqual([
      [runId, 'interrupted', 'Half of'],
    ]);
    expect(house.log.snapshot()).toMatchObject({
      session: null,
      runs: [],
      answering: [],
      lastEnd: { reason: 'ended' },
    });
    const { length } = house.events;
    await house.restart();
    expect(house.events).toHaveLength(length);
  });

  it('is stopped when the relay ends, and none begins after it', async () => {
    const { house, asked } = await open(() => [{ say: 'One, ' }, { until: new Promise(() => undefined) }]);
    const run = await start(house, asked());
    await house.until(() => house.of('text').length > 0);
    await house.team.runs.close();
    expect(await run.whenEnded).toMatchObject({ outcome: 'stopped', reason: 'The relay stopped in the middle of it.' });
    expect(house.of('message')).toMatchObject([{ status: 'interrupted' }]);
    expect(await house.team.runs.start(asked())).toEqual({ ok: false, refusal: { why: 'closing' } });
  });
});

/** Kills the process of a run on this store. */
const isCrashed = (kind: StoreKind) => async () => {
  const place = await createStorePlace(kind);
  const model = await startScriptedModel(() => [
    { say: 'I have put ' },
    { wait: 60 },
    { say: 'the kettle' },
    { until: new Promise(() => undefined) },
  ]);
  const protocol = fileURLToPath(new URL('../../../../CLAUDE.md', import.meta.url));
  const args = [
    await programOf('test/support/run-starter.ts'),
    place.folder,
    place.databaseUrl ?? '',
    model.url,
    protocol,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
    if (said.split('said').length > 2) child.kill('SIGKILL');
  });
  await new Promise<void>((resolve, reject) => {
    child.once('close', (_code, signal) => (signal === 'SIGKILL' ? resolve() : reject(new Error(complaints))));
  });
  const store = await place.open();
  const mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: model.url });
  for (const start of [1, 2]) {
    const log = await openEventLog({
      db: store.db,
      home: 'killed',
      now: Date.now,
      newId: randomUUID,
      onListenerError: () => undefined,
    });
    const left = log.snapshot().runs;
    expect(left, `start ${start}`).toHaveLength(start === 1 ? 1 : 0);
    const logger = { warn: () => undefined, error: () => undefined };
    const team = openTeam({
      ...{ db: store.db, home: 'killed', alone: kind === 'sqlite', log, mind, protocol: PROTOCOL },
      ...{ now: Date.now, newId: randomUUID, logger, retentionMs: 60_000, sealer: createSealer(new Uint8Array(32)) },
    });
    await SETS_NOTHING_ASIDE.run(team.recovery);
    const stored = await log.read(0, 1_000);
    expect(brokenRules(stored)).toEqual([]);
    const ends = stored.flatMap(({ event }) => (event.kind === 'run-ended' ? [event] : []));
    expect(ends).toMatchObject([{ agentId: 'agent-a', sessionId: null, outcome: 'crashed' }]);
    const messages = stored.flatMap(({ event }) => (event.kind === 'message' ? [event] : []));
    expect(messages.map((message) => [message.author, message.status, wordsOf(message)])).toEqual([
      ['agent-b', 'complete', 'The kettle is on.'],
      ['agent-a', 'interrupted', 'I have put the kettle'],
    ]);
    expect(await team.inbox.count('agent-a')).toBe(0);
    expect(log.snapshot()).toMatchObject({ session: null, runs: [], answering: [] });
    await team.close();
    await log.close();
  }
  await store.close();
  await mind.close();
  await model.close();
  await place.remove();
};
const KILLED = 'is crashed after its process was killed: its words are there once, and what it had read is read';
it(`a run on SQLite ${KILLED}`, { timeout: 120_000 }, isCrashed('sqlite'));
itLong(`a run on Postgres ${KILLED}`, isCrashed('postgres'));
