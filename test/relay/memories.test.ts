import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withWarmMind } from '../../server/agents/minds/index.ts';
import { SESSION_LIMITS } from '../../server/agents/session/settings.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { agentRun } from '../support/runs.ts';
import { teamScript } from '../support/scripted-model.ts';
import { openSessionBench, payload, type Bench } from '../support/session.ts';

const LYRA = payload(1, { name: 'Lyra' });

describe('what the relay holds of souls and conversations while a session runs', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('is the lead’s from the beginning, an agent’s from its WAKE or its birth, and nobody’s after the session', async () => {
    const house = await bench.open({ script: teamScript({}) });
    const { wakeMaterials } = house.team;
    await house.start();
    expect([
      wakeMaterials.soulOf(LEAD_ID),
      wakeMaterials.soulOf(LYRA.id),
      await wakeMaterials.conversationOf(LYRA.id),
    ]).toEqual(['I keep the door.', undefined, null]);
    await house.wake([LYRA]);
    await house.summon([2]);
    await house.until(() => house.of('agent-born').length === 1);
    await house.untilQuiet();
    const born = house.of('agent-born')[0];
    expect([wakeMaterials.soulOf(LYRA.id), wakeMaterials.soulOf(born?.agentId ?? '')]).toEqual([LYRA.soul, born?.soul]);
    expect(await wakeMaterials.conversationOf(LYRA.id)).toContain('The word of place 1 is heron.');
    await house.host.end('ended');
    expect([LEAD_ID, LYRA.id, born?.agentId ?? ''].map(wakeMaterials.soulOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await wakeMaterials.conversationOf(LYRA.id)).toBeNull();
    await house.start();
    expect(wakeMaterials.soulOf(LYRA.id)).toBeUndefined();
  });

  it('has nothing of what an agent did alone while the session ran', async () => {
    const house = await bench.open({ script: () => [{ say: 'All is well.' }] });
    const { wakeMaterials, runs } = house.team;
    await house.start();
    await house.wake([LYRA]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    const before = await wakeMaterials.conversationOf(LYRA.id);
    await withWarmMind(async (mind) => {
      const started = await runs.start(
        agentRun(mind, {
          identity: { agentId: LYRA.id },
          context: [{ messageId: null, text: 'Look around.' }],
        }),
      );
      if (started.ok) await started.run.whenEnded;
    });
    const ofRun = house.of('message').filter(({ sessionId }) => sessionId === null);
    expect(ofRun.map(({ agentId, author }) => [agentId, author])).toContainEqual([LYRA.id, LYRA.id]);
    expect(await wakeMaterials.conversationOf(LYRA.id)).toBe(before);
  });

  it('leaves out what the person has replaced, and tells how much has no room', async () => {
    const conversationChars = 600;
    const house = await bench.open({ limits: { ...SESSION_LIMITS, conversationChars } });
    const { wakeMaterials } = house.team;
    await house.start();
    await house.wake([LYRA]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    const say = async (text: string, replaces?: string) => {
      await house.post({ text, to: LYRA.id, ...(replaces === undefined ? {} : { replaces }) });
      await house.until(() => house.of('message').at(-1)?.author === LYRA.id);
      return house.of('message').findLast(({ author }) => author === 'human')?.messageId;
    };
    const first = await say('Is it a crow?');
    expect(await wakeMaterials.conversationOf(LYRA.id)).toMatch(
      /\nAda \([^)]+\):\n> Is it a crow\?\n\nLyra \([^)]+\):\n/,
    );
    await say('Is it a heron?', first);
    expect(await wakeMaterials.conversationOf(LYRA.id)).toContain('Is it a heron?');
    expect(await wakeMaterials.conversationOf(LYRA.id)).not.toContain('Is it a crow?');

    for (let number = 1; number <= 6; number += 1) await say(`${number}: ${'so it went on. '.repeat(6)}`);
    const told = (await wakeMaterials.conversationOf(LYRA.id)) ?? '';
    expect(told).toMatch(/=== In this session ===[^]*\[\d+ earlier messages of this session were left out\]/);
    expect(told).toContain('6: so it went on.');
    expect(told).not.toContain('Is it a heron?');
    const [, since = ''] = told.split('=== In this session ===\n\n');
    expect(since.length).toBeLessThanOrEqual(conversationChars);
  });
});
