import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import { teamScript, type ScriptedRequest } from '../../../support/scripted-model.ts';
import {
  createGate,
  openSessionBench,
  payload,
  wordsOf,
  type Bench,
  type Household,
} from '../../../support/session.ts';

/** Texts of every turn of a request, joined. */
const turnsOf = ({ body }: ScriptedRequest) =>
  body.messages.map(({ content }) =>
    typeof content === 'string'
      ? content
      : content.map((block) => (typeof block['text'] === 'string' ? block['text'] : `<${block.type}>`)).join(' + '),
  );
const answersOf = (house: Household, agentId: string) =>
  house.of('message').filter((message) => message.author === agentId);
const idOf = (house: Household, text: string) =>
  house.of('message').findLast((message) => message.author === 'human' && wordsOf(message) === text)?.messageId ?? '';

async function withAgent(bench: Bench, options: Parameters<Bench['open']>[0] = {}): Promise<Household> {
  const house = await bench.open(options);
  await house.start();
  await house.wake([payload(0)]);
  await house.until(() => answersOf(house, 'agent-0').length === 1);
  await house.untilQuiet();
  return house;
}

describe('what the person says', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('reaches its recipient, and no other agent', async () => {
    const house = await withAgent(bench);
    await house.post({ text: 'for you alone', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await house.post({ text: 'for the lead' });
    await house.until(() => answersOf(house, 'lead').length === 2);
    expect(wordsOf(answersOf(house, 'agent-0')[1])).toBe('Seat 1 heard: for you alone');
    expect(house.requestsOf(null).some((request) => JSON.stringify(request.body).includes('for you alone'))).toBe(
      false,
    );
    expect(house.requestsOf(1).some((request) => JSON.stringify(request.body).includes('for the lead'))).toBe(false);
    expect(turnsOf(house.requestsOf(1)[1] ?? fail()).slice(1)).toEqual(['Good morning from seat 1.', 'for you alone']);
    expect(house.of('message').find((message) => wordsOf(message) === 'for you alone')).toMatchObject({
      agentId: 'agent-0',
      author: 'human',
      role: 'user',
      waiting: false,
      replaces: null,
    });
  });

  it('brings pictures, PDFs and texts before a model, now or when its agent wakes, and keeps their names alone', async () => {
    const house = await withAgent(bench);
    const file = (name: string, mediaType: 'image/png' | 'application/pdf' | 'text/plain', text: string) => ({
      attachmentId: `id-${name}`,
      name,
      mediaType,
      bytes: text.length,
      data: Buffer.from(text).toString('base64'),
    });
    const picture = { ...file('beach.png', 'image/png', 'pixels of the beach'), width: 800, height: 600 };
    const others = [file('plan.pdf', 'application/pdf', 'a plan as PDF'), file('a.py', 'text/plain', 'print(1)\n[x]')];
    await house.post({ text: '', to: 'agent-0', attachments: [picture, ...others] });
    await house.post({ text: 'for later', to: 'agent-1', attachments: [picture] });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await house.wake([payload(1)]);
    await house.until(() => answersOf(house, 'agent-1').length === 1);
    // What waited is read in its next turn.
    await house.until(() => JSON.stringify(house.requestsOf(2)).includes('for later'));
    await house.untilQuiet();
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture.data } };
    const line = '[Attached: beach.png, picture of 800 × 600, 19 B]';
    expect(house.requestsOf(1)[1]?.body.messages.at(-1)?.content).toMatchObject([
      { type: 'text', text: `${line}\n\n[Attached: plan.pdf, PDF, 13 B]\n\n[Attached: a.py, text, 12 B]` },
      image,
      {
        type: 'document',
        title: 'plan.pdf',
        source: { type: 'base64', media_type: 'application/pdf', data: others[0]?.data },
      },
      { type: 'text', text: '[Text of a.py]\n> print(1)\n> [x]' },
    ]);
    expect(JSON.stringify(house.requestsOf(2))).toContain(`for later\\n\\n${line}`);
    expect(JSON.stringify(house.requestsOf(2))).toContain(JSON.stringify(image).slice(0, -1));
    const known = { attachmentId: picture.attachmentId, name: 'beach.png', width: 800, height: 600 };
    expect(
      house.of('message').filter(({ attachments }) => attachments?.some((each) => each.name === known.name)),
    ).toMatchObject([{ blocks: [], attachments: [known, {}, {}] }, { attachments: [known] }]);
    expect(JSON.stringify([house.stored, await house.inbox.list('agent-1', { before: null, limit: 9 })])).not.toContain(
      picture.data,
    );
  });

  it('waits in order during an answer, and is then joined', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    house.model.follow(({ last }) => [{ say: `to ${last}` }, ...(last === 'one' ? [{ until: gate.passed }] : [])]);
    await house.post({ text: 'one', to: 'agent-0' });
    await house.until(() => house.requestsOf(1).length === 2);
    await house.post({ text: 'two', to: 'agent-0' });
    await house.post({ text: 'three', to: 'agent-0' });
    gate.open();
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(house.requestsOf(1)).toHaveLength(3);
    expect(turnsOf(house.requestsOf(1)[2] ?? fail()).slice(2)).toEqual(['one', 'to one', 'two + three']);
  });

  it('is withdrawn one by one while it waits, for an answer or in an inbox, and never once read', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    house.model.follow(({ last }) => [{ say: `to ${last}` }, ...(last === 'one' ? [{ until: gate.passed }] : [])]);
    await house.post({ text: 'one', to: 'agent-0' });
    await house.until(() => house.requestsOf(1).length === 2);
    for (const text of ['two', 'three', 'four']) await house.post({ text, to: 'agent-0' });
    await house.post({ text: 'for later', to: 'agent-1' });
    const withdraw = (text: string) => house.host.withdraw(idOf(house, text));
    expect([await withdraw('two'), await withdraw('four'), await withdraw('for later')]).toEqual([true, true, true]);
    // Read already, never there; and once more, by a page that has not heard that it is gone.
    expect([await withdraw('one'), await house.host.withdraw('x')]).toEqual([false, false]);
    expect([await withdraw('two'), await withdraw('for later')]).toEqual([true, true]);
    gate.open();
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(turnsOf(house.requestsOf(1)[2] ?? fail()).slice(2)).toEqual(['one', 'to one', 'three']);
    expect(await withdraw('three')).toBe(false);
    expect(await house.inbox.count('agent-1')).toBe(0);
    expect(await house.team.wakePayloads.conversationOf('agent-0')).not.toMatch(/two|four/);
  });

  it('is one message per client id, however often it is sent', async () => {
    const house = await withAgent(bench);
    const message = { text: 'once', to: 'agent-0', clientId: 'c' };
    const all = await Promise.all([house.post(message), house.post(message), house.post(message)]);
    all.push(await house.post(message));
    expect(new Set(all.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    expect(house.requestsOf(1)).toHaveLength(2);
  });

  it('keeps the words of a stopped answer, and continues the conversation from there', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    expect(await house.host.stop('agent-0')).toBe(false);
    house.model.follow(({ last }) =>
      last === 'tell' ? [{ say: 'Once upon' }, { until: gate.passed }, { say: ' a time' }] : [{ say: 'Yes.' }],
    );
    await house.post({ text: 'tell', to: 'agent-0' });
    await house.until(() => house.of('text').some(({ text }) => text === 'Once upon'));
    expect(await house.host.stop('agent-0')).toBe(true);
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    gate.open();
    expect(answersOf(house, 'agent-0')[1]).toMatchObject({
      status: 'stopped',
      error: null,
      blocks: [{ kind: 'text', text: 'Once upon' }],
    });
    await house.post({ text: 'go on', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(turnsOf(house.requestsOf(1)[2] ?? fail()).slice(2)).toEqual(['tell', 'Once upon', 'go on']);
  });

  it('continues after an answer that was stopped early, failed, was cut, or used tools', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    house.model.follow(({ last: texts, results }) => {
      // What was not answered stands in the same turn as the next message.
      const last = texts.split('\n').at(-1);
      if (last === 'nothing') return [{ until: gate.passed }];
      if (last === 'fail') return { fail: { status: 400, type: 'invalid_request_error', message: 'no' } };
      if (last === 'cut') return [{ say: 'Half' }, { cut: true }];
      if (last === 'cut call')
        return [{ say: 'I shall' }, { call: 'choose_name', input: { name: 'Rook' } }, { cut: true }];
      if (last === 'tools')
        return [
          { call: 'choose_name', input: { name: 'Rook' } },
          { call: 'nonsense', input: [] },
        ];
      return [{ say: results.length > 0 ? 'Done.' : 'Yes.' }];
    });
    await house.post({ text: 'nothing', to: 'agent-0' });
    await house.until(() => house.requestsOf(1).length === 2);
    await house.host.stop('agent-0');
    for (const [i, text] of ['fail', 'cut', 'cut call', 'tools', 'last'].entries()) {
      await house.until(() => answersOf(house, 'agent-0').length === i + 2);
      await house.untilQuiet();
      await house.post({ text, to: 'agent-0' });
    }
    await house.until(() => answersOf(house, 'agent-0').length === 7);
    expect(answersOf(house, 'agent-0').map(({ status }) => status)).toEqual([
      'complete',
      'stopped',
      'failed',
      'interrupted',
      'interrupted',
      'complete',
      'complete',
    ]);
    expect(answersOf(house, 'agent-0')[2]?.error).toContain('refused the request (400): no');
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail()).slice(2)).toEqual([
      'nothing + fail + cut',
      'Half',
      'cut call',
      'I shall',
      'tools',
      '<tool_use> + <tool_use>',
      '<tool_result> + <tool_result>',
      'Done.',
      'last',
    ]);
  });

  it('lets an agent continue with what it has after too many tool calls', async () => {
    const house = await withAgent(bench, { limits: { maxTurns: 2 } });
    house.model.follow(({ last }) =>
      last.endsWith('Go on.') ? [{ say: 'Done.' }] : [{ call: 'choose_name', input: { name: 'Rook' } }],
    );
    await house.post({ text: 'Work.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await house.untilQuiet();
    expect(answersOf(house, 'agent-0')[1]).toMatchObject({
      status: 'interrupted',
      error: 'Stopped after 2 steps (limit).',
    });
    await house.post({ text: 'Go on.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail()).slice(2)).toEqual([
      'Work.',
      '<tool_use>',
      '<tool_result>',
      '<tool_use>',
      '<tool_result> + Go on.',
    ]);
    expect(answersOf(house, 'agent-0')[2]?.status).toBe('complete');
  });

  it("uses the provider's web search only when allowed, shown as a call, recorded and paid", async () => {
    const house = await withAgent(bench, { mindConfig: { web: true } });
    const grant = (tools: Record<string, 'allow' | 'off'>) =>
      house.team.configs.setHousehold({ coordination: { tools } });
    const used = { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'trams' } };
    const page = { type: 'web_search_result', title: 'Trams', url: 'https://a.example/', page_age: null };
    const found = {
      type: 'web_search_tool_result',
      tool_use_id: 's1',
      content: [{ ...page, encrypted_content: 'c2VhbGVk' }],
    };
    const own = () =>
      house
        .requestsOf(1)
        .map(({ body }) => (body.tools ?? []).flatMap(({ type }) => (type === undefined ? [] : [type])));
    house.model.follow(({ last }) => [{ say: `To ${last}` }]);
    await house.post({ text: 'As it is at first: it asks.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await grant({ web_search: 'allow' });
    let searched = 0;
    house.model.follow(async ({ last }) => {
      if (last !== 'Search.' && searched !== 1) return [{ say: 'Yellow.' }];
      // Switched off in the middle of it: the next request is not told of it any more.
      if (++searched === 2) await grant({ web_search: 'off' });
      return [
        { block: used },
        { block: found },
        ...(searched === 1 ? [{ stop: 'pause_turn' as const }] : [{ call: 'list_team', input: {} }]),
        { usage: { server_tool_use: { web_search_requests: 2 } } },
      ];
    });
    await house.post({ text: 'Search.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(own().slice(1)).toEqual([[], ['web_search_20250305'], ['web_search_20250305'], []]);
    // It paused, and went on from what it had found by then.
    expect(house.requestsOf(1).at(-2)?.body.messages.at(-1)).toMatchObject({
      role: 'assistant',
      content: [used, found],
    });
    const answer = answersOf(house, 'agent-0')[2];
    expect(answer?.blocks).toMatchObject([
      {
        kind: 'tool',
        name: 'web_search',
        input: { query: 'trams' },
        result: 'Trams\nhttps://a.example/',
        isError: false,
      },
      { kind: 'tool', name: 'web_search' },
      { kind: 'tool', name: 'list_team' },
      { kind: 'text', text: 'Yellow.' },
    ]);
    await expect
      .poll(async () => (await house.team.approvals.page(null, 'agent-0', 9)).calls)
      .toMatchObject([
        { tool: 'list_team' },
        ...Array.from({ length: 2 }, () => ({
          ...{ tool: 'web_search', input: '{"query":"trams"}', state: 'done', allowedBy: 'grant', where: 'session' },
          outcome: 'Trams\nhttps://a.example/',
        })),
      ]);
    const { messageId } = answer ?? fail();
    const cost = (await house.team.costs.replies([messageId])).get(messageId)?.costMicroUsd ?? 0;
    expect(cost).toBeGreaterThan(4 * 10_000);
    expect(cost).toBeLessThan(4 * 10_000 + 5_000);
  });

  it('records an interrupted provider search with its outcome and cost; a paused one ends with its result', async () => {
    const house = await withAgent(bench, { mindConfig: { web: true } });
    await house.team.configs.setHousehold({ coordination: { tools: { web_search: 'allow' } } });
    const used = (id: string) => ({
      block: { type: 'server_tool_use', id, name: 'web_search', input: { query: `trams ${id}` } },
    });
    const found = (id: string) => ({ block: { type: 'web_search_tool_result', tool_use_id: id, content: [] } });
    const gate = createGate();
    house.model.follow(({ last, body }) => {
      if (last.endsWith('Break.')) return [used('broken'), { cut: true }];
      if (last.endsWith('Stop.')) return [used('stopped'), { until: gate.passed }];
      if (last.endsWith('Pause.')) return [used('paused'), { stop: 'pause_turn' }];
      return JSON.stringify(body.messages.at(-1)).includes('paused') && body.messages.at(-1)?.role === 'assistant'
        ? [found('paused'), { say: 'None.' }]
        : [{ say: `To ${last}` }];
    });
    const account = async () =>
      (await house.team.approvals.page(null, 'agent-0', 9)).calls.map(({ input, state, isError, outcome }) => [
        ...[input, state, isError, outcome],
      ]);
    const cut = (id: string) => [`{"query":"trams ${id}"}`, 'done', true, 'This call was cut off before it answered.'];
    await house.post({ text: 'Break.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await expect.poll(account).toEqual([cut('broken')]);
    expect(answersOf(house, 'agent-0')[1]).toMatchObject({
      blocks: [
        { kind: 'tool', name: 'web_search', result: 'This call was cut off before it answered.', isError: true },
      ],
    });
    await house.post({ text: 'Stop.', to: 'agent-0' });
    // It stands there from its beginning.
    await expect.poll(account).toMatchObject([['{"query":"trams stopped"}', 'running', false, null], {}]);
    await house.host.stop('agent-0');
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    gate.open();
    await expect.poll(account).toEqual([cut('stopped'), cut('broken')]);
    for (const { messageId } of answersOf(house, 'agent-0').slice(1))
      expect((await house.team.costs.replies([messageId])).get(messageId)?.costMicroUsd).toBeGreaterThan(10_000);
    await house.post({ text: 'Pause.', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 4);
    expect(await account()).toMatchObject([
      ['{"query":"trams paused"}', 'done', false, 'Nothing was found.'],
      cut('stopped'),
      cut('broken'),
    ]);
    // What did not come to its end is not handed back.
    await house.post({ text: 'And now?', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 5);
    const handed = JSON.stringify(house.requestsOf(1).at(-1)?.body.messages);
    expect(handed).toMatch(/"paused".*"tool_use_id":"paused"/);
    expect(handed).not.toMatch(/"broken"|"stopped"/);
  });

  it('cuts the conversation back when changed, and closes the current answer before the new message', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    house.model.follow(({ last }) =>
      last === 'tpyo' ? [{ say: 'What is a tp' }, { until: gate.passed }] : [{ say: `to ${last}` }],
    );
    await house.post({ text: 'first', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    await house.untilQuiet();
    await house.post({ text: 'tpyo', to: 'agent-0' });
    await house.until(() => house.of('text').some(({ text }) => text === 'What is a tp'));
    const replaces = idOf(house, 'tpyo');
    expect(await house.post({ text: 'typo', to: 'agent-0', replaces })).toMatchObject({ ok: true });
    await house.until(() => wordsOf(answersOf(house, 'agent-0').at(-1)) === 'to typo');
    gate.open();
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail()).slice(1)).toEqual([
      'Good morning from seat 1.',
      'first',
      'to first',
      'typo',
    ]);
    const conversation = house
      .of('message')
      .filter(({ agentId }) => agentId === 'agent-0')
      .slice(-4);
    expect(conversation.map((message) => [wordsOf(message), message.status, message.replaces])).toEqual([
      ['tpyo', 'complete', null],
      ['What is a tp', 'stopped', null],
      ['typo', 'complete', replaces],
      ['to typo', 'complete', null],
    ]);
    // Retry is the same, with the same words.
    expect(await house.post({ text: 'typo', to: 'agent-0', replaces: idOf(house, 'typo') })).toMatchObject({
      ok: true,
    });
    await house.until(() => house.requestsOf(1).length === 5);
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail())).toEqual(turnsOf(house.requestsOf(1).at(-2) ?? fail()));
  });

  it('is changed while it waits, and never read as it was', async () => {
    const house = await withAgent(bench);
    const gate = createGate();
    house.model.follow(({ last }) => [{ say: `to ${last}` }, ...(last === 'one' ? [{ until: gate.passed }] : [])]);
    await house.post({ text: 'one', to: 'agent-0' });
    await house.until(() => house.requestsOf(1).length === 2);
    await house.post({ text: 'tow', to: 'agent-0' });
    await house.post({ text: 'two', to: 'agent-0', replaces: idOf(house, 'tow') });
    gate.open();
    await house.until(() => answersOf(house, 'agent-0').length === 3);
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail()).slice(2)).toEqual(['one', 'to one', 'two']);
  });

  it('is changed when more came after it: the mind continues from there, and nothing is lost', async () => {
    const house = await withAgent(bench);
    house.model.follow(({ last }) => [{ say: `to ${last}` }]);
    for (const text of ['one', 'two', 'three']) {
      await house.post({ text, to: 'agent-0' });
      await house.until(() => answersOf(house, 'agent-0').some((answer) => wordsOf(answer) === `to ${text}`));
    }
    const gate = createGate();
    house.model.follow(({ last }) => [{ say: `to ${last}` }, ...(last === 'four' ? [{ until: gate.passed }] : [])]);
    // While one is answered, and another waits: both go with what they came after.
    await house.post({ text: 'four', to: 'agent-0' });
    await house.until(() => house.requestsOf(1).length === 5);
    await house.post({ text: 'five', to: 'agent-0' });
    const replaces = idOf(house, 'two');
    expect(await house.post({ text: 'other', to: 'agent-0', replaces })).toMatchObject({ ok: true });
    gate.open();
    await house.until(() => answersOf(house, 'agent-0').some((answer) => wordsOf(answer) === 'to other'));
    expect(turnsOf(house.requestsOf(1).at(-1) ?? fail()).slice(2)).toEqual(['one', 'to one', 'other']);
    expect(house.of('message').map(wordsOf)).toEqual(
      expect.arrayContaining(['two', 'to two', 'three', 'four', 'five']),
    );
    // What went is not there to be changed, what stayed is.
    const again = (text: string) => house.post({ text: 'x', to: 'agent-0', replaces: idOf(house, text) });
    for (const text of ['two', 'three', 'five'])
      expect(await again(text)).toMatchObject({ ok: false, reason: 'not-last' });
    expect(await again('one')).toMatchObject({ ok: true });
    await house.untilQuiet();
  });

  it('cannot be changed when it is missing, or twice at once', async () => {
    const house = await withAgent(bench);
    for (const text of ['one', 'two']) await house.post({ text, to: 'agent-0' });
    const refused = { ok: false, reason: 'not-last' };
    expect(await house.post({ text: 'x', to: 'agent-0', replaces: 'nothing' })).toMatchObject(refused);
    expect(await house.post({ text: 'x', replaces: idOf(house, 'two') })).toMatchObject(refused);
    expect(await house.post({ text: 'x', to: 'nobody-here', replaces: idOf(house, 'two') })).toMatchObject(refused);
    const replaces = idOf(house, 'two');
    const both = await Promise.all([
      house.post({ text: 'a', to: 'agent-0', replaces }),
      house.post({ text: 'b', to: 'agent-0', replaces }),
    ]);
    expect(both.map(({ ok }) => ok).toSorted()).toEqual([false, true]);
    expect(house.of('message').filter((message) => message.replaces === replaces)).toHaveLength(1);
    await house.untilQuiet();
  });

  it('is accepted up to the size limit and refused above', async () => {
    const house = await withAgent(bench);
    const most = 'x'.repeat(LIMITS.messageText);
    expect(await house.post({ text: `${most}x`, to: 'agent-0' })).toMatchObject({ ok: false, reason: 'too-large' });
    expect(await house.post({ text: `${most}x` })).toMatchObject({ ok: false, reason: 'too-large' });
    expect(await house.post({ text: most, to: 'agent-0' })).toMatchObject({ ok: true });
    await house.until(() => answersOf(house, 'agent-0').length === 2);
  });

  it('is refused when no session runs', async () => {
    const house = await bench.open();
    expect(await house.post({ text: 'hello' })).toMatchObject({ ok: false, reason: 'no-session' });
    expect(await house.post({ text: 'hello', to: 'agent-0' })).toMatchObject({ ok: false, reason: 'no-session' });
    expect(await house.host.stop('lead')).toBe(false);
    expect(await house.host.sleep('agent-0')).toBe(false);
  });
});

describe('what is written to somebody who sleeps', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('waits, says so, and is read once, after the greeting', async () => {
    const house = await bench.open();
    await house.start();
    await house.post({ text: 'first thing', to: 'agent-0', clientId: 'c1' });
    await house.post({ text: 'second thing', to: 'agent-0', clientId: 'c2' });
    await house.post({ text: 'first thing', to: 'agent-0', clientId: 'c1' });
    const waiting = house.of('message').filter((message) => message.waiting);
    expect(waiting.map(wordsOf)).toEqual(['first thing', 'second thing']);
    expect(house.model.requests).toEqual([]);
    await house.wake([payload(0)]);
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    expect(turnsOf(house.requestsOf(1)[1] ?? fail()).slice(1)).toEqual([
      'Good morning from seat 1.',
      'first thing + second thing',
    ]);
    expect(house.of('message-read').map(({ messageId }) => messageId)).toEqual(
      waiting.map(({ messageId }) => messageId),
    );
    // Asleep and awake again: it is not read a second time.
    await house.host.sleep('agent-0');
    await house.wake([payload(0)]);
    await house.until(() => house.of('call-ended').length === 2);
    await house.untilQuiet();
    await house.post({ text: 'again', to: 'agent-0' });
    await house.until(() => answersOf(house, 'agent-0').length === 4);
    expect(house.of('message-read')).toHaveLength(2);
  });

  it('outlives the session, and the relay', async () => {
    const house = await bench.open();
    await house.start();
    await house.post({ text: 'for later', to: 'agent-0', clientId: 'c1' });
    await house.host.end('ended');
    await house.restart();
    await house.start();
    // The page sends again what it does not know to be taken.
    expect(await house.post({ text: 'for later', to: 'agent-0', clientId: 'c1' })).toMatchObject({ ok: true });
    await house.wake([payload(0)]);
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    expect(house.requestsOf(1)[1]?.last).toBe('for later');
    expect(house.of('message-read')).toHaveLength(1);
    expect(house.of('message').filter((message) => wordsOf(message) === 'for later')).toHaveLength(1);
  });

  it('is read after the greeting, also when it was written during the wake', async () => {
    const gate = createGate();
    const usual = teamScript();
    const house = await bench.open({
      script: async (request) => {
        if (request.seat === 1 && request.body.messages.length === 1) await gate.passed;
        return usual(request);
      },
    });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.requestsOf(1).length === 1);
    await house.post({ text: 'are you up?', to: 'agent-0' });
    expect(house.of('message').at(-1)).toMatchObject({ waiting: true });
    gate.open();
    await house.until(() => answersOf(house, 'agent-0').length === 2);
    expect(wordsOf(answersOf(house, 'agent-0')[1])).toBe('Seat 1 heard: are you up?');
  });

  it('stays unread where the wake fails, and is read at the next one', async () => {
    const house = await bench.open({
      script: (request) =>
        request.seat === 1
          ? { fail: { status: 400, type: 'invalid_request_error', message: 'no' } }
          : teamScript()(request),
    });
    await house.start();
    await house.post({ text: 'still here', to: 'agent-0' });
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-asleep').length === 1);
    expect(house.of('message-read')).toEqual([]);
    house.model.follow(teamScript());
    await house.untilQuiet();
    await house.wake([payload(0)]);
    await house.until(() => house.of('message-read').length === 1);
    await house.until(() => answersOf(house, 'agent-0').length === 2);
  });

  it('is read by an egg when it is born', async () => {
    const gate = createGate();
    const usual = teamScript();
    const house = await bench.open({
      script: async (request) => {
        if (request.seat === 1 && request.body.messages.length === 1) await gate.passed;
        return usual(request);
      },
    });
    await house.start();
    await house.summon([0]);
    const egg = house.of('call-started')[0]?.seats[0]?.agentId ?? '';
    await house.until(() => house.requestsOf(1).length === 1);
    await house.post({ text: 'welcome', to: egg });
    gate.open();
    await house.until(() => house.of('message-read').length === 1);
    await house.until(() => answersOf(house, egg).length === 2);
    const kinds = house.events.map(({ kind }) => kind);
    expect(kinds.indexOf('agent-born')).toBeLessThan(kinds.indexOf('message-read'));
    expect(house.of('agent-born')[0]?.soul).not.toContain('welcome');
  });
});

function fail(): never {
  throw new Error('There is no such request.');
}
