/** What an agent may do, what waits for the person, and what became of it: through a whole relay, killed where it hurts. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { calls, startHands, type Hands } from '../support/hands.ts';
import { openSessionBench, payload, type Bench } from '../support/session.ts';
import { teamScript, type Script } from '../support/scripted-model.ts';

const problem = z.looseObject({ detail: z.string() });
const write = (content: string, path = 'plan.md') => calls('write_file', { path, content });

describe('a tool that asks, in a run that nobody watches', () => {
  let hands: Hands;
  beforeAll(async () => {
    hands = await startHands();
  });
  afterEach(async () => {
    for (const { callId } of await hands.waiting()) await hands.answer(callId, 'no');
    await hands.grant({});
  });
  afterAll(() => hands.close());

  const asks = { toolsets: { files: 'ask' } };
  const only = async () => {
    const [one, ...more] = await hands.waiting();
    if (!one || more.length > 0) throw new Error(`Not one question waits: ${more.length}`);
    return one;
  };
  const told = () => hands.model.requests.map(({ first }) => first).join('\n---\n');

  it('waits as a question with its whole input; the run goes on without; a yes runs it once and begins a run with the result', async () => {
    await hands.grant(asks);
    const [waits] = await hands.works(write('# Lisbon'));
    expect(waits).toContain('This waits for the human, who is not here: it has not run.');
    const question = await only();
    expect(question).toMatchObject({ agentId: 'a1', tool: 'write_file', state: 'asked', where: 'run', later: false });
    expect(JSON.parse(question.input)).toEqual({ path: 'plan.md', content: '# Lisbon' });
    expect(await hands.file('plan.md')).toBeNull();
    const before = hands.model.requests.length;
    expect((await hands.answer(question.callId, 'once')).status).toBe(200);
    await expect.poll(() => hands.file('plan.md')).toBe('# Lisbon');
    await expect.poll(() => hands.model.requests.length).toBe(before + 1);
    const text = hands.model.requests.at(-1)?.first ?? '';
    expect(text).toContain('The human said yes, and it has run, once.');
    expect(text).toContain('> > plan.md is written: 8 characters.');
    expect((await hands.answered())[0]).toMatchObject({ callId: question.callId, state: 'done', allowedBy: 'once' });
    const again = await hands.answer(question.callId, 'once');
    expect([again.status, problem.parse(await again.json()).detail]).toEqual([
      409,
      'It was answered before, with yes.',
    ]);
    expect(await hands.waiting()).toEqual([]);
  });

  it('is asked about once, however often it is called, and only so many wait', async () => {
    await hands.grant(asks);
    await hands.works(write('same'), write('same'), write('same'));
    expect(await hands.waiting()).toHaveLength(1);
    const many = await hands.works(...Array.from({ length: 9 }, (_, n) => write(`${n}`)));
    expect(many.every((each) => each.includes('it has not run'))).toBe(true);
    await hands.works(...Array.from({ length: 9 }, (_, n) => write(`${n + 9}`)));
    const [, refused] = await hands.works(write('18'), write('19'));
    expect(refused).toContain('20 questions of yours wait');
    const [long] = await hands.works(write('x'.repeat(200_001)));
    expect(long).toContain('it was not asked');
    expect(await hands.waiting()).toHaveLength(20);
  });

  it('is told a no in the person’s words, with whatever comes next', async () => {
    await hands.grant(asks);
    await hands.works(write('no'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'no', 'Not in that folder, please.')).status).toBe(200);
    await hands.works(calls('list_team', {}));
    expect(told()).toContain('The human said no: it has not run. They say:\n> > Not in that folder, please.');
    expect((await hands.answer(callId, 'once')).status).toBe(409);
    expect((await hands.account()).find((each) => each.callId === callId)).toMatchObject({ state: 'declined' });
  });

  it('asks no more once the person has said always, and is not there at all once it is off', async () => {
    await hands.grant(asks);
    await hands.works(write('first', 'always.md'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'always-command')).status).toBe(400);
    expect((await hands.answer(callId, 'always-tool')).status).toBe(200);
    await expect.poll(() => hands.file('always.md')).toBe('first');
    const [done, other] = await hands.works(write('second', 'always.md'), calls('read_file', { path: 'always.md' }));
    expect(done).toBe('always.md is replaced: 6 characters.');
    expect(other).toContain('it has not run');
    await hands.grant({ toolsets: { files: 'off' } });
    const [off] = await hands.works(write('third', 'always.md'));
    expect(off).toContain('There is no tool “write_file” here.');
    const waits = await only();
    const late = await hands.answer(waits.callId, 'once');
    expect([late.status, problem.parse(await late.json()).detail]).toEqual([
      409,
      'It was withdrawn, and has not run. The tool is switched off for this agent by now.',
    ]);
  });

  it('is put off and still waits, and neither it nor its answer is lost when the relay is killed', async () => {
    await hands.grant(asks);
    await hands.works(write('kept', 'kept.md'));
    const { callId } = await only();
    expect((await hands.answer(callId, 'later')).status).toBe(200);
    await hands.restart();
    expect(await only()).toMatchObject({ callId, later: true });
    expect((await hands.answer(callId, 'once')).status).toBe(200);
    await hands.restart();
    const { state } = (await hands.account()).find((each) => each.callId === callId) ?? {};
    expect(['done', 'unknown']).toContain(state);
    await hands.works(calls('list_team', {}));
    expect(told()).toMatch(state === 'done' ? /it has run, once/ : /it is not known whether it ran/);
  });

  it('stands in the account with whoever let it, as every call does', async () => {
    await hands.works(write('counted', 'counted.md'), calls('read_file', { path: 'counted.md' }));
    await expect
      .poll(async () => (await hands.account()).slice(0, 2).map(({ tool, state }) => [tool, state]))
      .toEqual([
        ['read_file', 'done'],
        ['write_file', 'done'],
      ]);
    const [read, wrote] = await hands.account();
    expect(wrote).toMatchObject({ agentId: 'a1', allowedBy: 'grant', where: 'run', isError: false, bytes: 36 });
    expect(read?.outcome).toContain('counted');
    const page = await (await hands.call('GET', `/api/calls?agent=a1&limit=1&before=${read?.callId}`)).json();
    expect(page).toMatchObject({ calls: [{ callId: wrote?.callId }], more: true });
  });

  it('is the person who answers: whoever holds a credential is not', async () => {
    await hands.grant(asks);
    await hands.works(write('mine'));
    const { callId } = await only();
    const made = await hands.call('POST', '/api/credentials', { agentId: 'a1', label: 'a program' });
    const { secret } = z.looseObject({ secret: z.string() }).parse(await made.json());
    for (const headers of [{}, { authorization: `Bearer ${secret}` }])
      for (const [method, path] of [
        ['GET', '/api/approvals'],
        ['GET', '/api/calls'],
        ['POST', `/api/approvals/${callId}/answer`],
      ] as const) {
        const answer = await fetch(`${hands.relay().url}${path}`, {
          method,
          headers: { ...headers, 'content-type': 'application/json' },
          ...(method === 'POST' ? { body: JSON.stringify({ answer: 'once' }) } : {}),
        });
        expect([401, 403]).toContain(answer.status);
      }
    expect(await only()).toMatchObject({ callId, state: 'asked' });
  });
});

/** Whoever is asked who is here looks, says this once it has an answer, and hears what became of it. */
function asking(meanwhile: string): Script {
  const usual = teamScript();
  return (request) => {
    const { seat, last, results } = request;
    if (seat === null) return usual(request);
    if (results.length > 0) return [{ say: meanwhile }];
    if (last.includes('Who is here?')) return [{ call: 'list_team', input: {} }];
    return last.includes('The human said yes') ? [{ say: 'Now I know.' }] : usual(request);
  };
}

describe('a tool that asks, in a session', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench('pglite');
  });
  afterAll(() => bench.close());

  it('leaves its agent free to talk, and comes back as a turn of its own', async () => {
    const house = await bench.open({
      script: asking('I have asked. Meanwhile: hello.'),
    });
    await house.team.configs.setAgent('agent-0', { coordination: { tools: { list_team: 'ask' } } });
    await house.start();
    await house.wake([payload(0)]);
    await house.untilQuiet();
    expect(await house.post({ text: 'Who is here?', to: 'agent-0' })).toMatchObject({ ok: true });
    await house.until(() => /I have asked|I wait/.test(JSON.stringify(house.events)));
    const [question] = await house.team.calls.waiting();
    expect(question).toMatchObject({ tool: 'list_team', where: 'session' });
    expect(JSON.stringify(house.events)).toContain('I have asked. Meanwhile: hello.');
    expect((await house.team.calls.answer(question?.callId ?? '', 'once', '')).ok).toBe(true);
    await house.until(() => JSON.stringify(house.events).includes('Now I know.'));
    await house.close();
  });

  it('is withdrawn with its session, in so many words, and a later answer says so', async () => {
    const house = await bench.open({ script: asking('I wait.') });
    await house.team.configs.setAgent('agent-0', { coordination: { tools: { list_team: 'ask' } } });
    await house.start();
    await house.wake([payload(0)]);
    await house.untilQuiet();
    expect(await house.post({ text: 'Who is here?', to: 'agent-0' })).toMatchObject({ ok: true });
    await house.until(() => /I have asked|I wait/.test(JSON.stringify(house.events)));
    const [question] = await house.team.calls.waiting();
    await house.host.end('ended');
    await expect.poll(() => house.team.calls.waiting()).toEqual([]);
    expect(await house.team.calls.answer(question?.callId ?? '', 'once', '')).toEqual({
      ok: false,
      reason: 'over',
      detail: 'It was withdrawn, and has not run. The session ended before you answered.',
    });
    await house.close();
  });
});
