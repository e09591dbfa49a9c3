/**
 * A message whose wake the gate did not let pass, for an agent that nothing wakes by itself: it is
 * read at the agent's next turn, however that comes about.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { teamScript } from '../../../support/scripted-model.ts';
import { type AgentPayload, writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import { seatColor } from '../../../../src/shared/domain/seat.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../../support/schedule-relay.ts';

const PATIENT = { timeout: 20_000 };

let scheduleRelay: ScheduleRelay;
beforeAll(async () => {
  scheduleRelay = await openScheduleRelay(['a', 'b', 'c'], teamScript());
  for (const agent of ['b', 'c'])
    await scheduleRelay.good('PUT', `/v1/agents/${agent}/config`, {
      coordination: { wake_guardrails: { max_wakes_per_day: 0 } },
    });
});
afterAll(() => scheduleRelay.close());

let letters = 0;
/** Leaves an urgent message that wakes nobody, and answers with its text. */
async function leave(to: string): Promise<string> {
  const text = `The well is dry, letter ${++letters}.`;
  const answer = await scheduleRelay.tool('a', 'message_agent', { to, message: text, priority: 'urgent' });
  expect(answer).toMatch(/limit of 0 wakes a day is reached/);
  expect((await scheduleRelay.wakes(to))[0]).toMatchObject({ outcome: 'suppressed', target: to });
  expect(await unread(to)).toBeGreaterThan(0);
  expect(sent(text)).toHaveLength(0);
  return text;
}
const unread = async (agentId: string) =>
  ((await scheduleRelay.good('GET', '/api/inbox')) as { unread: Record<string, number> }).unread[agentId] ?? 0;
const sent = (text: string) => scheduleRelay.model.requests.filter(({ body }) => JSON.stringify(body).includes(text));
async function isRead(to: string, text: string): Promise<void> {
  await expect.poll(() => sent(text).length, PATIENT).toBeGreaterThan(0);
  await expect.poll(() => unread(to), PATIENT).toBe(0);
}

describe('A message whose wake was suppressed', { timeout: 60_000 }, () => {
  it('is read by a run of a routine', async () => {
    const text = await leave('b');
    await scheduleRelay.good('POST', '/v1/pulse-routines', {
      kind: 'routine',
      agentId: 'b',
      name: 'Look around',
      instructions: 'Look around.',
      timing: { kind: 'once', at: scheduleRelay.now() + 60_000 },
    });
    await scheduleRelay.pass(61_000);
    await isRead('b', text);
  });
  it('is read by a run of a reminder', async () => {
    const text = await leave('b');
    await scheduleRelay.remind('b', 'river', scheduleRelay.now() + 60_000);
    await scheduleRelay.pass(61_000);
    await isRead('b', text);
  });
  it('is read through an API client', async () => {
    const text = await leave('b');
    expect(await scheduleRelay.tool('b', 'read_inbox', {})).toContain(text);
    expect(await unread('b')).toBe(0);
  });
  it('is read when the person wakes the agent in a session, at its next turn', async () => {
    const text = await leave('c');
    await scheduleRelay.good('POST', '/api/sessions', {
      human: { name: 'Ada' },
      lead: { name: 'Julian', soul: null, transcript: null },
    });
    const payload: AgentPayload = {
      ...{ id: 'c', name: 'Name of c', ...seatColor(2), position: 2 },
      ...{ soul: 'I am c.', transcript: null },
    };
    await scheduleRelay.good('POST', '/api/messages', { text: writeWake([payload]), clientId: 'wake-c' });
    await isRead('c', text);
    const later = await leave('c');
    await scheduleRelay.good('POST', '/api/messages', { text: 'And now?', to: 'c', clientId: 'turn-c' });
    await isRead('c', later);
  });
});
