import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { liveSessionOf } from '../../../../src/shared/protocol/live.ts';
import { SESSION_LIMITS } from '../../../../server/agents/session/settings.ts';
import { openSessionBench, payload, type Bench, type Household } from '../../../support/session.ts';

const DARA = { agentId: 'agent-0', name: 'Dara', position: 0, retired: false } as const;
const CLAUDE = { credentialId: 'c1', name: 'Claude Code', readsInbox: false } as const;

describe('an agent that a client drives', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  async function driven(options: Parameters<Bench['open']>[0] = {}): Promise<Household> {
    const house = await bench.open(options);
    await house.team.directory.set({ agents: [DARA] });
    await house.start();
    await house.host.joined(DARA, CLAUDE);
    return house;
  }
  const clients = (house: Household) => liveSessionOf(house.log.snapshot())?.clients;
  const awake = (house: Household) => [...(liveSessionOf(house.log.snapshot())?.awake ?? [])];

  it('sleeps, finds words in its inbox, and is woken by WAKE into the same seat', async () => {
    const house = await driven();
    expect(awake(house)).toEqual([]);
    expect(clients(house)?.get(DARA.agentId)).toEqual({ name: 'Claude Code', readsInbox: false });
    expect(house.host.stateOf(DARA.agentId)).toBe('driven');
    await house.post({ text: 'are you there?', to: DARA.agentId });
    expect((await house.inbox.waiting(DARA.agentId)).map(({ text }) => text)).toEqual(['are you there?']);
    expect(await house.wake([payload(0, { name: 'Dara' })])).toMatchObject({ ok: true });
    await house.until(() => awake(house).includes(DARA.agentId));
    await house.untilQuiet();
    await expect.poll(() => house.inbox.waiting(DARA.agentId)).toEqual([]);
    await house.post({ text: 'and now?', to: DARA.agentId });
    await house.until(() => house.of('message').at(-1)?.author === DARA.agentId);
    expect(clients(house)?.get(DARA.agentId)).toMatchObject({ name: 'Claude Code' });
  });

  it('is announced by one event, and again only when it turns out to read its inbox', async () => {
    const house = await driven();
    await Promise.all([house.host.joined(DARA, CLAUDE), house.host.joined(DARA, CLAUDE)]);
    await house.host.joined(DARA, { ...CLAUDE, readsInbox: true });
    await house.host.joined(DARA, CLAUDE);
    expect(house.of('client-joined').map(({ readsInbox }) => readsInbox)).toEqual([false, true]);
    expect(clients(house)?.get(DARA.agentId)).toEqual({ name: 'Claude Code', readsInbox: true });
  });

  it('is released when the credential is revoked or long silent, and sleeps', async () => {
    const house = await driven({ limits: { ...SESSION_LIMITS, clientSilentMs: 60 } });
    await house.until(() => house.of('client-left').length === 1);
    expect([clients(house)?.size, house.host.stateOf(DARA.agentId)]).toEqual([0, 'absent']);
    const other = await driven();
    other.host.left('somebody else’s');
    expect(clients(other)?.size).toBe(1);
    other.host.left(CLAUDE.credentialId);
    await other.until(() => clients(other)?.size === 0);
    expect(other.team.pauses.get(other.log.snapshot().session?.sessionId ?? '', DARA.agentId)).toBeNull();
  });

  it('is paused on demand, also after its mind has left, and woken whole', async () => {
    const house = await driven();
    const sessionId = house.log.snapshot().session?.sessionId ?? '';
    await house.team.pauses.set(sessionId, DARA.agentId, true, 'human');
    expect(house.host.stateOf(DARA.agentId)).toBe('paused');
    await house.wake([payload(0, { name: 'Dara' })]);
    await house.until(() => awake(house).includes(DARA.agentId));
    await house.untilQuiet();
    expect(house.team.pauses.isPaused(DARA.agentId)).toBe(false);
    await house.host.sleep(DARA.agentId);
    expect([awake(house), house.host.stateOf(DARA.agentId)]).toEqual([[], 'driven']);
    expect(await house.team.pauses.set(sessionId, DARA.agentId, true, 'human')).toBe(true);
  });

  it('is not reported awake to a sender: the message waits until the client looks', async () => {
    const house = await driven();
    const { text } = await house.team.wakes.wake(
      { agentId: 'lead', sessionId: null },
      { to: 'Dara', text: 'come', reason: 'blocker' },
    );
    expect(text).toMatch(/^Deferred: A client drives it from elsewhere/);
  });

  it('keeps its seat from a birth', async () => {
    const house = await driven();
    expect(await house.summon([0])).toMatchObject({ ok: false, reason: 'already-awake' });
  });
});
