import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderTemplate } from '../../../../src/shared/domain/prompts.ts';
import { SEAT_ORDER, seatColor, seatNumber } from '../../../../src/shared/domain/seat.ts';
import { writeSummon } from '../../../../src/shared/domain/wake-payload.ts';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { teamScript, type Script } from '../../../support/scripted-model.ts';
import {
  createGate,
  openSessionBench,
  payload,
  PROTOCOL,
  wordsOf,
  type Bench,
  type Household,
} from '../../../support/session.ts';

const NUDGE = renderTemplate(PROTOCOL.templates.nudge, 'nudge', { human: 'Ada', lead: 'Julian' });
/** The eggs say what `eggs` says; the lead behaves. */
const withEggs = (eggs: Script): Script => {
  const usual = teamScript();
  return (request) => (request.seat === null ? usual(request) : eggs(request));
};
const eggIn = (house: Household, position: number) =>
  house
    .of('call-started')
    .flatMap(({ seats }) => seats)
    .findLast((seat) => seat.position === position)?.agentId ?? '';

/** ms in which an egg finds a name. It is asked again after one third and after two. */
const BIRTH_MS = 60_000;
/** Passes a third of that time, once the egg in the first seat has answered so often. */
async function untilNudge(house: Household, answers: number): Promise<void> {
  const ofEgg = () => house.of('message').filter(({ author }) => author === eggIn(house, 0));
  await house.until(() => ofEgg().length === answers);
  house.hurry(BIRTH_MS / 3);
}

describe('a summon', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('hatches eight side by side, each with its own name and all of its words as soul', async () => {
    const gate = createGate();
    const usual = teamScript();
    const house = await bench.open({
      script: async (request) => {
        if (request.seat !== null) await gate.passed;
        return usual(request);
      },
    });
    const sessionId = await house.start();
    expect(await house.summon()).toMatchObject({ ok: true });
    await house.until(() => house.model.requests.filter(({ seat }) => seat !== null).length === 8);
    expect(Math.max(...house.model.requests.map((request) => request.open))).toBeGreaterThanOrEqual(8);
    expect(house.of('call-started')).toMatchObject([
      { call: 'summon', seats: SEAT_ORDER.map((position) => ({ position, name: null })) },
    ]);
    expect(house.log.snapshot().session?.hatching).toHaveLength(8);
    gate.open();
    await house.until(() =>
      house.of('message').some((message) => message.author === 'lead' && message.status === 'complete'),
    );

    const born = house.of('agent-born');
    expect(born.map(({ position }) => position).toSorted()).toEqual([...SEAT_ORDER]);
    expect(new Set(born.map(({ agentId }) => agentId)).size).toBe(8);
    for (const agent of born) {
      const seat = seatNumber(agent.position);
      expect(agent).toMatchObject({
        name: `Name${seat}`,
        ...seatColor(SEAT_ORDER.find((position) => position === agent.position) ?? 0),
        soul: `I am somebody in seat ${seat}.\n\nThat is me.`,
        sessionId,
        agentId: eggIn(house, agent.position),
      });
      const [first, second] = house.requestsOf(seat);
      expect(first?.first.replace(/It is .* for Ada/, 'It is THEN for Ada')).toBe(
        renderTemplate(PROTOCOL.templates.birth, 'birth', {
          now: 'THEN',
          human: 'Ada',
          lead: 'Julian',
          seat: String(seat),
          color: agent.color,
          colorName: agent.colorName,
        }),
      );
      expect(second?.results).toEqual([`Your name is Name${seat}.`]);
      const [answer] = house.of('message').filter(({ author }) => author === agent.agentId);
      expect(answer).toMatchObject({
        agentId: agent.agentId,
        status: 'complete',
        blocks: [
          { kind: 'text' },
          { kind: 'tool', name: 'choose_name', isError: false },
          { kind: 'text', text: 'That is me.' },
        ],
      });
    }
    expect(house.of('call-ended')).toMatchObject([{ error: null }]);
    const [asked, reported] = house.requestsOf(null);
    expect(asked?.last).toBe(writeSummon(SEAT_ORDER.map((position) => ({ position, ...seatColor(position) }))));
    expect(reported?.results[0]).toBe(
      `[TEAM REPORT]\nHere: ${SEAT_ORDER.map((position) => `Name${position + 1} (seat ${position + 1})`).join(', ')}.`,
    );
    expect(house.log.snapshot().session).toMatchObject({ hatching: [], asleep: [] });

    // And the ledger gets them: one identity for each, by the id it was born with.
    const identities = house.stored.flatMap(documentsOf).filter(({ type }) => type === 'agent-identity');
    expect(identities.map(({ _id }) => _id).toSorted()).toEqual(
      born.map(({ agentId }) => `agent-identity:${agentId}`).toSorted(),
    );
    expect(identities[0]).toMatchObject({
      schema: 1,
      agentId: born[0]?.agentId,
      name: born[0]?.name,
      individuationArtifact: born[0]?.soul,
      bornAt: born[0]?.bornAt,
      bornSessionId: sessionId,
    });
    expect(await house.summon()).toMatchObject({
      ok: false,
      reason: 'already-awake',
      detail: 'Each of these seats has an agent or an egg already.',
    });
  });

  it('keeps a soul to the letter, including the text of write_soul', async () => {
    const words = '  I am\u0000 \ud800 </soul>]]> 🪺 שלום  \n';
    const house = await bench.open({
      script: withEggs(({ results }) =>
        results.length > 0
          ? [{ say: 'Last.' }]
          : [
              { say: words, chunk: 1 },
              { call: 'write_soul', input: { text: ' Mine. ' } },
              { call: 'choose_name', input: { name: '  Wren ' } },
            ],
      ),
    });
    await house.start();
    await house.summon([2]);
    await house.until(() => house.of('call-ended').length === 1);
    const [born] = house.of('agent-born');
    expect(born?.name).toBe('Wren');
    for (const part of [words, ' Mine. ', 'Last.']) expect(born?.soul).toContain(part);
    expect(born?.soul).toHaveLength([words, ' Mine. ', 'Last.'].join('\n\n').length);
    expect(house.of('agent-changed')).toEqual([]);
  });

  it('takes only empty seats, also while eggs lie in the others', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: withEggs((request) =>
        request.seat === 2 ? [{ until: gate.passed }, ...silence] : teamScript()(request),
      ),
    });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('call-ended').length === 1);
    await house.summon([0, 1]);
    await house.until(() => house.requestsOf(2).length === 1);
    expect(house.of('call-started')[1]?.seats).toMatchObject([{ position: 1 }]);
    await house.summon([0, 1, 2]);
    expect(house.of('call-started')[2]?.seats).toMatchObject([{ position: 2 }]);
    await house.until(() => house.of('agent-born').length === 1);
    expect(house.of('agent-born')).toMatchObject([{ position: 2 }]);
    gate.open();
    await house.until(() => house.of('call-ended').length === 3);
  });

  it('keeps five of eight where three fail, and takes the three empty seats the next time', async () => {
    const usual = teamScript();
    const house = await bench.open({
      script: withEggs((request) => {
        if (request.seat === 2)
          return { fail: { status: 400, type: 'invalid_request_error', message: 'no luck today' } };
        if (request.seat === 6) return 'silent';
        if (request.seat === 7) return [{ say: 'I was about to' }, { cut: true }];
        return usual(request);
      }),
    });
    await house.start({}, { wakeTimeoutMs: 4_000 });
    await house.summon();
    await house.until(() => house.of('agent-born').length + house.of('birth-ended').length === 7);
    await house.untilTimedOut(4_000, () => house.of('call-ended').length === 1);
    expect(house.of('agent-born')).toHaveLength(5);
    const ended = new Map(house.of('birth-ended').map(({ position, reason }) => [position, reason.code]));
    expect([...ended].toSorted()).toEqual([
      [1, 'failed'],
      [5, 'silent'],
      [6, 'failed'],
    ]);
    house.model.follow(usual);
    await house.summon();
    await house.until(() => house.of('call-ended').length === 2);
    expect(house.of('call-started')[1]?.seats.map(({ position }) => position)).toEqual([1, 5, 6]);
    expect(house.of('agent-born')).toHaveLength(8);
  });

  it('lets two agents choose the same name', async () => {
    const house = await bench.open({ script: teamScript({ names: { 1: 'Echo', 2: 'Echo' } }) });
    await house.start();
    await house.summon([0, 1]);
    await house.until(() => house.of('call-ended').length === 1);
    const born = house.of('agent-born');
    expect(born.map(({ name }) => name)).toEqual(['Echo', 'Echo']);
    expect(born[0]?.agentId).not.toBe(born[1]?.agentId);
  });

  it('tells an egg why a name cannot be taken, and lets it try again', async () => {
    const bad: readonly unknown[] = [
      {},
      { name: '' },
      { name: '   ' },
      { name: 'x'.repeat(81) },
      { name: 'the human' },
      { name: 7 },
    ];
    let tries = 0;
    const house = await bench.open({
      script: withEggs(() => {
        const input = bad[tries++];
        if (input !== undefined) return [{ say: `Try ${tries}.` }, { call: 'choose_name', input }];
        return tries === bad.length + 1 ? [{ call: 'choose_name', input: { name: 'Wren' } }] : [{ say: 'There.' }];
      }),
    });
    await house.start();
    await house.summon([0]);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-born')).toMatchObject([
      { name: 'Wren', soul: 'Try 1.Try 2.Try 3.Try 4.Try 5.Try 6.There.'.replaceAll('.T', '.\n\nT') },
    ]);
    const results = house
      .requestsOf(1)
      .slice(1)
      .map((request) => request.results[0]);
    expect(
      results
        .slice(0, 6)
        .every((result) => /^choose_name could not be read\. name: |Choose another/.test(result ?? '')),
    ).toBe(true);
    expect(results.at(-1)).toBe('Your name is Wren.');
  });

  it('asks an egg that takes a name without a word for the words, once', async () => {
    const house = await bench.open({
      script: withEggs(({ last, results }) =>
        last === NUDGE
          ? [{ say: 'Because it is short.' }]
          : results.length > 0
            ? []
            : [{ call: 'choose_name', input: { name: 'Wren' } }],
      ),
    });
    await house.start();
    await house.summon([0]);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-born')).toMatchObject([{ name: 'Wren', soul: 'Because it is short.' }]);
    const inConversation = house.of('message').filter(({ agentId }) => agentId === eggIn(house, 0));
    expect(inConversation.map(({ author }) => author)).toEqual([eggIn(house, 0), 'relay', eggIn(house, 0)]);
  });

  it('asks an egg without a name again, and it is born with all its words when it has found one', async () => {
    const house = await bench.open({
      script: withEggs(({ last, results }) => {
        if (results.length > 0) return [{ say: 'It stayed.' }];
        return last === NUDGE
          ? [{ say: 'Now I know.' }, { call: 'choose_name', input: { name: 'Wren' } }]
          : [{ say: 'None feels right yet.' }];
      }),
    });
    await house.start({}, { birthTimeoutMs: BIRTH_MS });
    await house.summon([0]);
    await untilNudge(house, 1);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('agent-born')).toMatchObject([
      { name: 'Wren', soul: 'None feels right yet.\n\nNow I know.\n\nIt stayed.' },
    ]);
    expect(
      house
        .of('message')
        .filter(({ author }) => author === 'relay')
        .map(wordsOf),
    ).toEqual([NUDGE]);
  });

  it('asks twice, and then lets the seat be empty again', async () => {
    const house = await bench.open({ script: withEggs(() => [{ say: 'Not yet.' }]) });
    await house.start({}, { birthTimeoutMs: BIRTH_MS });
    await house.summon([0]);
    for (const answers of [1, 2, 3]) await untilNudge(house, answers);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('birth-ended')).toMatchObject([
      { position: 0, reason: { code: 'unnamed', message: expect.stringContaining('It found no name within') } },
    ]);
    expect(
      house
        .requestsOf(1)
        .map(({ last }) => last)
        .slice(1),
    ).toEqual([NUDGE, NUDGE]);
    expect(house.of('agent-born')).toEqual([]);
    house.model.follow(teamScript());
    expect(await house.summon([0])).toMatchObject({ ok: true });
    await house.until(() => house.of('agent-born').length === 1);
  });

  it('gives up an egg at any moment: before its first word, during it, while it waits', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: withEggs(({ seat }) =>
        seat === 1 ? 'silent' : seat === 2 ? [{ say: 'I am' }, { until: gate.passed }] : [{ say: 'Not yet.' }],
      ),
    });
    await house.start();
    await house.summon([0, 1, 2]);
    await house.until(
      () =>
        house.requestsOf(1).length === 1 &&
        house.of('text').some(({ text }) => text === 'I am') &&
        house.of('message').some(({ agentId }) => agentId === eggIn(house, 2)),
    );
    for (const position of [0, 1, 2]) {
      expect(await house.host.sleep(eggIn(house, position))).toBe(true);
      expect(house.of('birth-ended').at(-1)).toMatchObject({ position, reason: { code: 'cancelled' } });
      expect(await house.host.sleep(eggIn(house, position))).toBe(false);
    }
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.log.snapshot().session?.hatching).toEqual([]);
    gate.open();
  });

  it('gives an egg up also in the moment in which its answer ends', async () => {
    const house = await bench.open({ script: withEggs(() => [{ say: 'Not yet.' }]) });
    await house.start();
    await house.summon([0]);
    // The answer's end is on its way to the disk when its event is heard.
    const ended = new Promise<boolean>((resolve) => {
      const stop = house.log.subscribe(({ event }) => {
        if (event.kind !== 'message' || event.agentId !== eggIn(house, 0)) return;
        stop();
        resolve(house.host.sleep(event.agentId));
      });
    });
    expect(await ended).toBe(true);
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('birth-ended')).toMatchObject([{ reason: { code: 'cancelled' } }]);
  });

  it('lets those who are born change their name and their soul, and the lead its soul', async () => {
    const house = await bench.open({
      script: (request) => {
        const { seat, last, results } = request;
        if (results.length > 0 && !results[0]?.startsWith('[TEAM')) return [{ say: 'So be it.' }];
        if (last === 'change')
          return seat === null
            ? [{ call: 'write_soul', input: { text: 'I keep another door.' } }]
            : [
                { call: 'choose_name', input: { name: 'Rook' } },
                { call: 'write_soul', input: { text: 'I am Rook.' } },
              ];
        if (last === 'clear') return [{ call: 'write_soul', input: { text: '  ' } }];
        return teamScript()(request);
      },
    });
    const sessionId = await house.start();
    await house.summon([0]);
    await house.until(() => house.of('agent-born').length === 1);
    const agentId = eggIn(house, 0);
    await house.post({ text: 'change', to: agentId });
    await house.post({ text: 'change' });
    await house.until(() => house.of('agent-changed').length === 3);
    expect(
      house
        .of('agent-changed')
        .filter((event) => event.agentId === agentId)
        .map(({ change }) => change),
    ).toEqual([
      { kind: 'rename', name: 'Rook' },
      { kind: 'soul', individuationArtifact: 'I am Rook.' },
    ]);
    expect(house.of('agent-changed').find((event) => event.agentId === 'lead')).toMatchObject({
      sessionId,
      change: { kind: 'soul', individuationArtifact: 'I keep another door.' },
    });
    const documents = house.stored.flatMap(documentsOf).filter(({ type }) => type === 'agent-change');
    expect(new Set(documents.map(({ _id }) => _id)).size).toBe(3);
    await house.untilQuiet();
    await house.post({ text: 'clear', to: agentId });
    await house.until(() =>
      house.requestsOf(1).some(({ results }) => results[0]?.includes('a soul is not empty') ?? false),
    );
    expect(house.of('agent-changed')).toHaveLength(3);
  });

  it('tells the lead of a late egg when it is born, and does not keep the lead from the person until then', async () => {
    const gate = createGate();
    const house = await bench.open({
      script: async (request) => {
        if (request.seat === 2) await gate.passed;
        return teamScript()(request);
      },
    });
    await house.start();
    await house.summon([0, 1]);
    await house.until(() => house.of('agent-born').length === 1 && house.requestsOf(2).length === 1);
    await house.post({ text: 'Are you there?' });
    await house.until(() =>
      house
        .of('message')
        .some((message) => message.author === 'lead' && wordsOf(message) === 'The lead heard: Are you there?'),
    );
    expect(house.requestsOf(null)[1]?.results).toEqual([
      '[TEAM REPORT]\nHere: Name1 (seat 1).\nStill on the way: seat 2.',
    ]);
    gate.open();
    await house.until(() => house.requestsOf(null).some(({ last }) => last === '[TEAM REPORT]\nHere: Name2 (seat 2).'));
    await house.untilQuiet();
    expect(
      house
        .of('message')
        .filter(({ author }) => author === 'relay')
        .map(wordsOf),
    ).toEqual(['[TEAM REPORT]\nHere: Name2 (seat 2).']);
  });
});

/** Nothing said, no name: an egg that ends by itself. */
const silence = [{ say: ' ' }] as const;
