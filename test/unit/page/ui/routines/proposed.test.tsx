import { screen, waitFor, within } from '@testing-library/react';
import { expect, test } from 'vitest';
import { report } from '../../support/costs.ts';
import { MIND, runningSession, team } from '../../support/household.ts';
import { proposal, SCHEDULED } from '../../support/schedules.ts';
import { type AskedCall, configAnswer, json } from '../../support/reach.ts';
import { openPage } from '../../support/render.tsx';

/** The conversation with an agent that proposes one routine. `microUsd`: of one run of it. */
async function open(microUsd: number, routine: Partial<ReturnType<typeof proposal>['routine']> = {}, runs = 4) {
  const asked = proposal(1, 'Night watch');
  const measured: unknown[] = [];
  let left = [{ ...asked, routine: { ...asked.routine, ...routine } }];
  const page = await openPage({
    docs: team(2),
    path: '/agent/agent-2',
    snapshot: runningSession({ awake: ['agent-2'], mind: { ...MIND, kind: 'anthropic' } }),
    prepare({ reach }) {
      const past = { agentId: 'agent-2', name: null, kind: 'routine' as const, tokens: 1, estimated: false };
      const routines = [{ ...past, scheduleId: 's1', runs, costMicroUsd: runs * microUsd }];
      reach.on('GET /api/costs', report({ routines }));
      reach.on('POST /api/costs/run', ({ body }: AskedCall) => {
        measured.push(body);
        const read = { agentId: 'agent-2', requests: 1, tokens: 9_000, costMicroUsd: 45_000, estimated: false };
        return json({ reads: [{ ...read, program: false }] });
      });
      reach.on('GET /v1/config', configAnswer({}));
      reach.on('GET /v1/routine-proposals', () => json({ proposals: left }));
      reach.on('POST /v1/routine-proposals/proposal-1/accept', () => {
        left = [];
        return json(SCHEDULED[0], 201);
      });
    },
  });
  return { page, measured, card: await screen.findByRole('article', { name: 'Night watch' }) };
}

test('a proposed routine is a card in the conversation with its time and its price, and one press saves it', async () => {
  const { page, card } = await open(120_000);
  expect(card.textContent).toContain('Every day at 03:00');
  await waitFor(() => expect(card.textContent).toContain('1 run a day · about $0.12 a day'));
  expect(within(card).queryByRole('alert')).toBeNull();
  await page.user.click(within(card).getByRole('button', { name: 'Save: Night watch' }));
  await waitFor(() => expect(screen.queryByRole('article', { name: 'Night watch' })).toBeNull());
  expect(page.reach.times('POST /v1/routine-proposals/proposal-1/accept')).toBe(1);
});

test('a routine that costs more than $5 a day warns before it is saved', async () => {
  const { card } = await open(120_000, { timing: { kind: 'every', minutes: 20, offset: null } });
  await waitFor(() => expect(card.textContent).toContain('72 runs a day · about $8.64 a day'));
  expect(within(card).getByRole('alert').textContent).toContain('That is more than $5.00 a day.');
});

test('a routine whose agent never ran has the price of its first requests, as the relay measures the run itself', async () => {
  const { card, measured } = await open(0, {}, 0);
  await waitFor(() => expect(card.textContent).toContain('1 run a day · from $0.045 a day'));
  expect(measured).toEqual([
    {
      snapshot: expect.objectContaining({ name: 'Wren', position: 1 }) as unknown,
      routine: expect.objectContaining({ name: 'Night watch' }) as unknown,
    },
  ]);
});
