/**
 * What was scheduled uses none of the limits of wakes, and nothing of it is lost: through a relay
 * over HTTP, with a clock that the test moves.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { DEFAULT_INSTRUCTIONS } from '../../../src/shared/domain/schedule/default-routine.ts';
import { createDeferred } from '../../../src/shared/domain/platform/deferred.ts';
import { openScheduleRelay, type ScheduleRelay } from '../../support/schedule-relay.ts';
import { SNAPSHOT } from '../../support/schedules.ts';
import type { Script } from '../../support/scripted-model.ts';
import { longTests } from '../../support/long-tests.ts';

const itLong = longTests('relay/schedules/scheduled-wakes.test.ts');

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** ms. A slow machine takes more than a second for a call, and what is over is refused. */
const SOON = 30_000;
const LYRA = 'a1';
const ORIN = 'a2';

let scheduleRelay: ScheduleRelay;
afterEach(() => scheduleRelay.close());
const open = async (script?: Script) => (scheduleRelay = await openScheduleRelay([LYRA, ORIN], script));
/** As the next runs of Lyra were asked. */
const asked = () => scheduleRelay.model.requests.map(({ last }) => last);
const wake = (text: string) => scheduleRelay.tool(ORIN, 'wake_agent', { to: LYRA, message: text, reason: 'blocker' });
const routine = {
  kind: 'routine',
  agentId: LYRA,
  name: 'Round',
  instructions: 'Look around.',
  timing: { kind: 'every', minutes: 10_080 },
};
async function addRoutine(): Promise<string> {
  const added: unknown = await (await scheduleRelay.call('POST', '/v1/pulse-routines', routine)).json();
  return (added as { scheduleId: string }).scheduleId;
}
const trigger = async (id: string) =>
  expect((await scheduleRelay.call('POST', `/v1/pulse-routines/${id}/trigger`)).status).toBeLessThan(300);
const done = async (name: string) =>
  (await scheduleRelay.history(LYRA)).filter((one) => one.name === name && one.state === 'done').length;
const setBlackout = async (from: number, to: number) => {
  const at = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const blackouts = [{ type: 'one_off', label: 'night', start_time: at(from), end_time: at(to) }];
  expect((await scheduleRelay.call('PUT', `/v1/agents/${LYRA}/config`, { coordination: { blackouts } })).status).toBe(
    200,
  );
};

describe('scheduled runs', () => {
  it('do not count as wakes: after thirteen of them others still wake the agent, and reminders come', async () => {
    await open();
    const id = await addRoutine();
    for (let n = 1; n <= 13; n++) {
      await scheduleRelay.pass(20 * MINUTE);
      await trigger(id);
      await expect.poll(() => done('Round')).toBe(n);
    }
    expect(await scheduleRelay.stats(LYRA)).toMatchObject({ wakesToday: 0, stoppedBy: null });
    expect(await wake('The well is dry.')).toContain('Granted');
    await expect.poll(() => asked().at(-1)).toContain('The well is dry.');
    expect((await scheduleRelay.stats(LYRA)).wakesToday).toBe(1);
    await expect.poll(async () => (await scheduleRelay.stats(LYRA)).running).toBe(0);
    expect(await wake('The roof leaks.')).toContain('Suppressed');
    await scheduleRelay.remind(LYRA, 'tea', scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(() => asked().at(-1)).toContain('About tea.');
    await expect.poll(() => done('tea')).toBe(2);
    expect((await scheduleRelay.stats(LYRA)).wakesToday).toBe(1);
  });

  itLong('do not fill the flood guard either', async () => {
    await open();
    for (let n = 0; n < 6; n++) await scheduleRelay.remind(LYRA, `R${n}`, scheduleRelay.now() + SOON + n);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(async () => (await scheduleRelay.scheduled(LYRA)).length).toBe(0);
    expect(await wake('Come.')).not.toContain('Suppressed');
  });

  itLong('have whoever is woken meanwhile wait for their end, uncharged, and then come', async () => {
    await open();
    const { promise, resolve } = createDeferred();
    scheduleRelay.model.follow(({ last }) =>
      last.includes('Your routine')
        ? [{ say: 'I look. ' }, { until: promise }, { say: 'All is well.' }]
        : [{ say: 'I came.' }],
    );
    await trigger(await addRoutine());
    await expect.poll(() => asked().length).toBe(1);
    expect(await wake('The well is dry.')).toContain('Deferred');
    expect(await scheduleRelay.stats(LYRA)).toMatchObject({ wakesToday: 0, running: 1 });
    expect(asked()).toHaveLength(1);
    resolve();
    await expect.poll(() => asked().length).toBe(2);
    expect(asked()[1]).toContain('The well is dry.');
    expect((await scheduleRelay.stats(LYRA)).wakesToday).toBe(1);
  });

  itLong('have whoever is woken meanwhile come even where the relay is started anew before their end', async () => {
    await open();
    const { promise, resolve } = createDeferred();
    scheduleRelay.model.follow(({ last }) => [
      { say: 'I look. ' },
      ...(last.includes('Your routine') ? [{ until: promise }] : []),
    ]);
    await trigger(await addRoutine());
    await expect.poll(() => asked().length).toBe(1);
    expect(await wake('The well is dry.')).toContain('Deferred');
    await scheduleRelay.restart();
    resolve();
    await expect.poll(() => asked().length, { timeout: 15_000 }).toBe(2);
    expect(asked()[1]).toContain('The well is dry.');
    expect((await scheduleRelay.stats(LYRA)).wakesToday).toBe(1);
  });

  itLong('say what a wake is for: its run has the agent’s default pulse instructions', async () => {
    await open();
    await wake('Before it has any.');
    await expect.poll(() => asked().length).toBe(1);
    expect(scheduleRelay.model.requests[0]?.system).not.toContain('## What you do here');
    const config = { coordination: {}, pulse_enabled: true };
    expect((await scheduleRelay.call('PUT', `/v1/agents/${LYRA}/config`, config)).status).toBe(200);
    await scheduleRelay.pass(6 * MINUTE);
    await wake('Now it has.');
    // A pulse may have been due in those six minutes.
    const woken = () => scheduleRelay.model.requests.find(({ last }) => last.includes('Now it has.'));
    await expect.poll(woken).toBeDefined();
    expect(woken()?.system).toContain(DEFAULT_INSTRUCTIONS.split('\n').at(-1));
  });
});

describe('what was set and cannot run', () => {
  itLong('waits for the end of a blackout and comes in one run, each named; none of fourteen is lost', async () => {
    await open();
    const start = scheduleRelay.now();
    await setBlackout(start + 20 * MINUTE, start + 50 * MINUTE);
    const names = Array.from({ length: 14 }, (_, n) => `R${n + 1}`);
    for (const [n, name] of names.entries()) await scheduleRelay.remind(LYRA, name, start + (n + 1) * 6 * MINUTE);
    const left = async () => (await scheduleRelay.scheduled(LYRA)).map(({ schedule }) => schedule.name);
    for (let n = 1; n <= 14; n++) {
      await scheduleRelay.pass(6 * MINUTE + (n === 1 ? 1_000 : 0));
      const isDark = n * 6 > 20 && n * 6 < 50;
      if (isDark) {
        const waiting = async () =>
          (await scheduleRelay.scheduled(LYRA)).find(({ schedule }) => schedule.name === `R${n}`)?.waits;
        await expect
          .poll(waiting)
          .toMatchObject({ reason: 'blackout', detail: expect.stringContaining('night') as unknown });
        expect(await scheduleRelay.tool(LYRA, 'wake_list', {})).toMatch(
          new RegExp(`“R${n}”.*due now; was due on .*blackout`),
        );
      } else await expect.poll(left).not.toContain(`R${n}`);
    }
    await expect.poll(left).toEqual([]);
    const words = asked().filter((last) => last.includes('A reminder that you left'));
    for (const name of names)
      expect(
        words.filter((last) => last.includes(`About ${name}.`)),
        name,
      ).toHaveLength(1);
    const together = words.filter((last) => last.includes('About R4.'));
    for (const name of ['R5', 'R6', 'R7', 'R8']) expect(together[0]).toContain(`“${name}”`);
    // What is tried again and again stands in the account of wakes once.
    expect((await scheduleRelay.wakes(LYRA)).filter(({ check }) => check === 'blackout')).toHaveLength(5);
  });

  it('waits over a restart of the relay', async () => {
    await open();
    await setBlackout(scheduleRelay.now(), scheduleRelay.now() + HOUR);
    await scheduleRelay.remind(LYRA, 'tea', scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(async () => (await scheduleRelay.scheduled(LYRA))[0]?.waits?.reason).toBe('blackout');
    await scheduleRelay.restart();
    expect((await scheduleRelay.scheduled(LYRA))[0]?.waits?.reason).toBe('blackout');
    expect(asked()).toEqual([]);
    await scheduleRelay.pass(HOUR + 6 * MINUTE);
    await expect.poll(() => asked().length).toBe(1);
    expect(asked()[0]).toContain('About tea.');
    await expect.poll(async () => (await scheduleRelay.scheduled(LYRA)).length).toBe(0);
    await scheduleRelay.pass(HOUR);
    expect(asked()).toHaveLength(1);
  });

  it('waits where a budget is used up, with its message unread, and comes when that is raised', async () => {
    await open();
    await scheduleRelay.call('PUT', '/v1/config', { coordination: {}, daily_budget_usd: 0 });
    await scheduleRelay.remind(LYRA, 'tea', scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(async () => (await scheduleRelay.scheduled(LYRA))[0]?.waits?.reason).toBe('budget');
    await wake('The well is dry.');
    await expect
      .poll(async () => (await scheduleRelay.history(LYRA)).find(({ kind }) => kind === 'wake')?.reason)
      .toBe('budget');
    await scheduleRelay.call('PUT', '/v1/config', { coordination: {}, daily_budget_usd: null });
    await scheduleRelay.pass(6 * MINUTE);
    await expect.poll(() => asked().length).toBe(1);
    expect(asked()[0]).toContain('About tea.');
    expect(asked()[0]).toContain('The well is dry.');
  });

  it('waits where nobody may be woken, until that is allowed again; taken away meanwhile it does not come', async () => {
    await open();
    await scheduleRelay.call('PUT', '/v1/config', { coordination: {}, wakes_enabled: false });
    for (const name of ['tea', 'bread']) await scheduleRelay.remind(LYRA, name, scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    const reasons = async () => (await scheduleRelay.scheduled(LYRA)).map(({ waits }) => waits?.reason);
    await expect.poll(reasons).toEqual(['switched-off', 'switched-off']);
    expect(await scheduleRelay.tool(LYRA, 'wake_cancel', { name: 'bread' })).toContain('removed');
    await scheduleRelay.call('PUT', '/v1/config', { coordination: {}, wakes_enabled: true });
    await scheduleRelay.pass(MINUTE);
    await expect.poll(() => asked().length).toBe(1);
    expect(asked()[0]).toContain('About tea.');
    expect(asked()[0]).not.toContain('bread');
  });

  it('keeps a schedule that its agent sets again while it runs for it', async () => {
    await open(({ results }) =>
      results.length > 0
        ? [{ say: 'Tomorrow again.' }]
        : [{ call: 'wake_later', input: { name: 'tea', message: 'Again.', delay: '2 hours' } }],
    );
    await scheduleRelay.remind(LYRA, 'tea', scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(() => asked().length).toBe(2);
    await expect.poll(async () => (await scheduleRelay.stats(LYRA)).running).toBe(0);
    await expect.poll(() => done('tea')).toBe(2);
    expect(await scheduleRelay.scheduled(LYRA)).toMatchObject([{ schedule: { name: 'tea', message: 'Again.' } }]);
  });

  it("runs the lead's reminders without a session, and refuses routines of the lead", async () => {
    await open();
    const snapshot = { ...SNAPSHOT, name: 'Julian', position: 4 };
    expect((await scheduleRelay.call('PUT', '/api/agent-snapshots/lead', { version: 'v1', snapshot })).ok).toBe(true);
    await scheduleRelay.remind('lead', 'tea', scheduleRelay.now() + SOON);
    await scheduleRelay.pass(SOON + 1_000);
    await expect.poll(() => asked().length).toBe(1);
    expect(asked()[0]).toContain('About tea.');
    const refused = await scheduleRelay.call('POST', '/v1/pulse-routines', { ...routine, agentId: 'lead' });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('has no routines');
  });
});
