/**
 * A clock that stands still is said so, within two minutes and at the next start: it cannot say it
 * itself.
 */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { askToEnd } from '../../../server/startup/home.ts';
import { createClockWatch } from '../../../server/schedules/index.ts';
import { createAnthropicMind } from '../../../server/agents/minds/index.ts';
import { openStore } from '../../../server/store/index.ts';
import { openHealthSchema } from '../../../src/shared/protocol/http.ts';
import { occurrenceSchema, scheduledSchema } from '../../../src/shared/protocol/schedules.ts';
import { createManualTimers } from '../../support/manual-timers.ts';
import { openMortalRelay } from '../../support/mortal-relay.ts';
import { createHome, runRelayCommand, startRelay } from '../../support/relay.ts';
import { createHandClock } from '../../support/schedules.ts';
import type { SignIn } from '../../support/sign-in.ts';
import { storeFor } from '../../support/store-for.ts';

const MINUTE = 60_000;
const store = storeFor();

describe('the clock', () => {
  it('reports a stopped clock within two minutes of its last look, and its return', async () => {
    const clock = createHandClock(Date.UTC(2026, 10, 23, 6));
    const mind = createAnthropicMind({ key: 'a-key-for-tests', baseUrl: 'http://127.0.0.1:9' });
    const relay = await openMortalRelay({ store: store(), home: randomUUID(), mind, now: clock.now });
    const going = relay.team.schedules.clock;
    await going.start();
    await going.whenQuiet();
    const timers = createManualTimers();
    const said: string[] = [];
    let elapsed = 0;
    const watch = createClockWatch({
      clocks: () => [{ id: 'a', seenAt: () => going.seenAt(), copied: () => false, stoodMs: null }],
      elapsed: () => elapsed,
      timers,
      say: (line) => said.push(line),
    });
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= 5_000) {
        elapsed += 5_000;
        clock.pass(5_000);
        timers.advance(5_000);
      }
      await going.whenQuiet();
    };
    for (let n = 0; n < 5; n++) {
      await pass(MINUTE);
      going.wake();
      await going.whenQuiet();
    }
    expect(said).toEqual([]);
    // The store answers no more: it looks, and comes to no end.
    const goOn = relay.hangAt(/clocks/);
    clock.pass(MINUTE);
    going.wake();
    for (let n = 0; n < 24; n++) {
      elapsed += 5_000;
      timers.advance(5_000);
    }
    expect(said).toEqual([expect.stringContaining('The clock for schedules has stopped')]);
    expect(watch.state().standsStillMs).toBeGreaterThan(90_000);
    goOn();
    await going.whenQuiet();
    clock.pass(MINUTE);
    going.wake();
    await going.whenQuiet();
    timers.advance(15_000);
    expect(said[1]).toBe('The clock for schedules works again.');
    expect(watch.state()).toEqual({ standsStillMs: null, stoodMs: null, copied: false });
    watch.close();
    await relay.stop();
    await mind.close();
  });

  it('says at the next start how long it stood, to anybody, and at the terminal; not where the person had ended it, with --stop', async ({
    onTestFinished,
  }) => {
    const home = await createHome({ store: 'sqlite' });
    /** Ends with the test, however that ends. */
    const start = async (signIn?: SignIn) => {
      const relay = await startRelay({ home, ...(signIn ? { signIn } : {}) });
      onTestFinished(async () => void (await relay.kill('SIGKILL')));
      return relay;
    };
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const health = async (url: string) =>
      openHealthSchema.strict().parse(await (await fetch(`${url}/health`)).json()).clock;
    const first = await start();
    expect(await health(first.url)).toEqual({ standsStillMs: null, stoodMs: null, copied: false });
    await first.kill('SIGKILL');
    const opened = await openStore({ folder: join(home, 'store'), databaseUrl: null });
    await opened.db
      .updateTable('clocks')
      .set((eb) => ({ seen_at: eb('seen_at', '-', 3 * 60 * MINUTE) }))
      .execute();
    await opened.close();
    const second = await start();
    const { stoodMs } = await health(second.url);
    expect(stoodMs).toBeGreaterThanOrEqual(3 * 60 * MINUTE);
    const routine = { kind: 'routine', agentId: 'a1', name: 'Round', timing: { kind: 'every', minutes: 30 } };
    await second.fetch('/api/team', {
      method: 'PUT',
      json: { agents: [{ agentId: 'a1', name: 'Lyra', position: 0, retired: false }] },
    });
    const json = { ...routine, instructions: 'Look around.' };
    const { scheduleId } = scheduledSchema.parse(
      await (await second.fetch('/v1/pulse-routines', { method: 'POST', json })).json(),
    );
    const signIn = await second.signIn();
    const stopped = await runRelayCommand(['--home', home, '--stop']);
    expect(stopped).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('Roost has ended.') });
    const end = await second.ended;
    expect(end.code).toBe(0);
    expect(end.stderr).toContain('Roost was asked to end, with --stop.');
    expect(end.stdout + end.stderr).toContain('had stood for 3 hours');
    // Two hours of it.
    const stood = await openStore({ folder: join(home, 'store'), databaseUrl: null });
    const twoHours = 2 * 60 * MINUTE;
    await stood.db
      .updateTable('clocks')
      .set((eb) => ({
        seen_at: eb('seen_at', '-', twoHours),
        stopped_at: eb('stopped_at', '-', twoHours),
      }))
      .execute();
    await stood.db
      .updateTable('schedules')
      .set((eb) => ({ judged_at: eb('judged_at', '-', twoHours), due_at: eb('due_at', '-', twoHours) }))
      .execute();
    await stood.close();
    const third = await start(signIn);
    expect(await health(third.url)).toEqual({ standsStillMs: null, stoodMs: null, copied: false });
    // What came due in it was not missed: it is told as what it was, and nothing is made up for.
    const history = async () => {
      const answer: unknown = await (await third.fetch(`/v1/pulse-routines/${scheduleId}/history`)).json();
      return z.object({ occurrences: z.array(occurrenceSchema) }).parse(answer).occurrences;
    };
    await expect.poll(async () => (await history()).length).toBe(4);
    for (const one of await history()) expect(one).toMatchObject({ state: 'skipped', reason: 'planned-stop' });
    // One that hangs is named, and is not ended by force.
    process.kill(third.pid, 'SIGSTOP');
    expect(await askToEnd(home, 300)).toEqual({ kind: 'hangs', pid: String(third.pid) });
    process.kill(third.pid, 'SIGCONT');
    await third.ended;
    const none = await runRelayCommand(['--home', home, '--stop']);
    expect(none.code).toBe(1);
    expect(none.stderr).toBe(`No relay runs on the home ${home}. If yours has another home, name it with --home.\n`);
    expect(await askToEnd(join(home, 'nowhere'), 300)).toEqual({ kind: 'none' });
  });
});
