import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withWarmMind } from '../../../../server/agents/minds/index.ts';
import { SESSION_LIMITS } from '../../../../server/agents/session/settings.ts';
import { LEAD_ID } from '../../../../src/shared/domain/seat.ts';
import { agentRun } from '../../../support/runs.ts';
import { teamScript } from '../../../support/scripted-model.ts';
import { openSessionBench, payload, type Bench } from '../../../support/session.ts';

const LYRA = payload(1, { name: 'Lyra' });

describe('what the relay holds of souls and conversations while a session runs', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it("holds the lead's from the start, an agent’s from its WAKE or birth, and none after the session", async () => {
    const house = await bench.open({ script: teamScript({}) });
    const { wakePayloads } = house.team;
    await house.start();
    expect([
      wakePayloads.soulOf(LEAD_ID),
      wakePayloads.soulOf(LYRA.id),
      await wakePayloads.conversationOf(LYRA.id),
    ]).toEqual(['I keep the door.', undefined, null]);
    await house.wake([LYRA]);
    await house.summon([2]);
    await house.until(() => house.of('agent-born').length === 1);
    await house.untilQuiet();
    const born = house.of('agent-born')[0];
    expect([wakePayloads.soulOf(LYRA.id), wakePayloads.soulOf(born?.agentId ?? '')]).toEqual([LYRA.soul, born?.soul]);
    expect(await wakePayloads.conversationOf(LYRA.id)).toContain('The word of place 1 is heron.');
    await house.host.end('ended');
    expect([LEAD_ID, LYRA.id, born?.agentId ?? ''].map(wakePayloads.soulOf)).toEqual([undefined, undefined, undefined]);
    expect(await wakePayloads.conversationOf(LYRA.id)).toBeNull();
    await house.start();
    expect(wakePayloads.soulOf(LYRA.id)).toBeUndefined();
  });

  it('holds nothing of what an agent did alone while the session ran', async () => {
    const house = await bench.open({ script: () => [{ say: 'All is well.' }] });
    const { wakePayloads, runs } = house.team;
    await house.start();
    await house.wake([LYRA]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    const before = await wakePayloads.conversationOf(LYRA.id);
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
    expect(await wakePayloads.conversationOf(LYRA.id)).toBe(before);
  });

  it('leaves out what the person has replaced, and tells how much has no room', async () => {
    const conversationChars = 600;
    const house = await bench.open({ limits: { ...SESSION_LIMITS, conversationChars } });
    const { wakePayloads } = house.team;
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
    expect(await wakePayloads.conversationOf(LYRA.id)).toMatch(
      /\nAda \([^)]+\):\n> Is it a crow\?\n\nLyra \([^)]+\):\n/,
    );
    await say('Is it a heron?', first);
    expect(await wakePayloads.conversationOf(LYRA.id)).toContain('Is it a heron?');
    expect(await wakePayloads.conversationOf(LYRA.id)).not.toContain('Is it a crow?');

    for (let number = 1; number <= 6; number += 1) await say(`${number}: ${'so it went on. '.repeat(6)}`);
    const told = (await wakePayloads.conversationOf(LYRA.id)) ?? '';
    expect(told).toMatch(/=== In this session ===[^]*\[\d+ earlier messages of this session were left out\]/);
    expect(told).toContain('6: so it went on.');
    expect(told).not.toContain('Is it a heron?');
    const [, since = ''] = told.split('=== In this session ===\n\n');
    expect(since.length).toBeLessThanOrEqual(conversationChars);
  });
});
