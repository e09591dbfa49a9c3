import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PauseWait } from '../../../../server/team/pauses/index.ts';
import { openEventLog } from '../../../../server/log/index.ts';
import { findMember } from '../../../../server/team/directory/index.ts';
import { problem } from '../../../../server/http/problem.ts';
import { createPauses, createPauseRoutes } from '../../../../server/team/pauses/index.ts';
import { NO_SESSION } from '../../../../src/shared/protocol/live.ts';
import type { WakeDecision, WakeSource } from '../../../../src/shared/protocol/wakes.ts';
import { effectiveConfig } from '../../../support/effective-config.ts';
import { createManualTimers } from '../../../support/manual-timers.ts';
import { serveRoutes } from '../../../support/served-routes.ts';
import { storeFor } from '../../../support/store-for.ts';
import { USUAL_STORES } from '../../../support/stores.ts';

const LEAD = { agentId: 'lead', name: 'Julian', position: 4, retired: false };
const ALMA = { agentId: 'a', name: 'Alma', position: 0, retired: false };
const MIND = { kind: 'rehearsal', leadModel: 'm', agentModel: 'm' } as const;
const never = new AbortController().signal;
const FOREVER = { signal: never, limitMs: Infinity };

describe.each(USUAL_STORES)('the sleeping flag, with the log on %s', (kind) => {
  const store = storeFor(kind);

  /** A session "s1" with the agents "a" and "b"; the early bird "e" starts asleep. */
  async function begin() {
    const failures: unknown[] = [];
    const timers = createManualTimers();
    const log = await openEventLog({
      db: store().db,
      home: randomUUID(),
      now: () => 7,
      newId: randomUUID,
      onListenerError: (error) => failures.push(error),
    });
    const configs = {
      agent: (agentId: string) =>
        Promise.resolve(effectiveConfig({ sleepEvents: agentId === 'e' ? ['agent_started'] : [] })),
    };
    const pauses = createPauses({
      log,
      configs,
      now: () => 7,
      timers,
      onListenerError: (error) => failures.push(error),
    });
    await log.append([{ kind: 'session-started', time: 7, sessionId: 's1', mind: MIND }]);
    pauses.begin('s1');
    await pauses.join('a');
    await pauses.join('b');
    const flags = async () =>
      (await log.read(0, 1_000)).flatMap(({ event }) => (event.kind === 'pause-flag' ? [event] : []));
    const resting = () => log.snapshot().session?.paused;
    return { log, timers, pauses, flags, resting, failures };
  }

  it('starts awake, unless an agent’s settings say that it starts asleep', async () => {
    const { pauses, flags, resting } = await begin();
    expect([pauses.isPaused('a'), pauses.get('s1', 'a')]).toEqual([false, false]);
    await pauses.join('e');
    await pauses.join('e');
    expect([pauses.isPaused('e'), pauses.get('s1', 'e')]).toEqual([true, true]);
    expect(await flags()).toMatchObject([
      { kind: 'pause-flag', time: 7, sessionId: 's1', agentId: 'e', paused: true, by: 'agent_started' },
    ]);
    expect(resting()).toEqual(['e']);
  });

  it('holds what an agent asks for in the moment in which it joins, until it is known whether it starts asleep', async () => {
    const { pauses } = await begin();
    const joining = [pauses.join('e'), pauses.join('d')];
    await Promise.resolve();
    const [early, other] = [pauses.wait('e', FOREVER), pauses.wait('d', FOREVER)];
    expect(await other).toBe('awake');
    await Promise.all(joining);
    expect(pauses.waiting()).toBe(1);
    await pauses.set('s1', 'e', false, 'human');
    expect(await early).toBe('awake');
  });

  it('lets an agent be whose settings cannot be read, and lets it join again', async () => {
    let broken = true;
    const pauses = createPauses({
      log: { append: () => Promise.resolve([]), subscribe: () => () => undefined, snapshot: () => NO_SESSION },
      configs: {
        agent: () =>
          broken
            ? Promise.reject(new Error('the store is gone'))
            : Promise.resolve(effectiveConfig({ sleepEvents: ['agent_started'] })),
      },
      now: () => 7,
      timers: createManualTimers(),
      onListenerError: () => undefined,
    });
    pauses.begin('s1');
    const join = pauses.join('a');
    await Promise.resolve();
    const wait = pauses.wait('a', FOREVER);
    await expect(join).rejects.toThrow('the store is gone');
    expect([await wait, pauses.get('s1', 'a')]).toEqual(['awake', null]);
    broken = false;
    await pauses.join('a');
    expect(pauses.isPaused('a')).toBe(true);
  });

  it('stays cleared when a woken agent joins a second time', async () => {
    const { pauses } = await begin();
    await Promise.all([pauses.join('e'), pauses.join('e'), pauses.set('s1', 'e', false, 'human')]);
    await pauses.join('e');
    expect(pauses.isPaused('e')).toBe(false);
  });

  it('holds what asks while it is set, and lets all of it go on when it is cleared', async () => {
    const { pauses, resting } = await begin();
    expect(await pauses.wait('a', FOREVER)).toBe('awake');
    expect(await pauses.set('s1', 'a', true, 'human')).toBe(true);
    expect(resting()).toEqual(['a']);
    const waits = [1, 2, 3].map(() => pauses.wait('a', FOREVER));
    expect(pauses.waiting()).toBe(3);
    expect(await pauses.wait('b', FOREVER), 'others are not held').toBe('awake');
    expect(await pauses.set('s1', 'a', false, 'b')).toBe(false);
    expect(await Promise.all(waits)).toEqual(['awake', 'awake', 'awake']);
    expect(pauses.waiting()).toBe(0);
    expect(resting()).toEqual([]);
  });

  it('is written before anyone is released', async () => {
    const { pauses, resting } = await begin();
    await pauses.set('s1', 'a', true, 'human');
    const seen = pauses.wait('a', FOREVER).then(() => resting());
    await pauses.set('s1', 'a', false, 'human');
    expect(await seen).toEqual([]);
  });

  it('survives being set and cleared twice, and loses no waiting call', async () => {
    const { pauses, flags } = await begin();
    await Promise.all([pauses.set('s1', 'a', true, 'human'), pauses.set('s1', 'a', true, 'b')]);
    const first = pauses.wait('a', FOREVER);
    await pauses.set('s1', 'a', true, 'human');
    const second = pauses.wait('a', FOREVER);
    expect(await Promise.all([pauses.set('s1', 'a', false, 'human'), pauses.set('s1', 'a', false, 'b')])).toEqual([
      false,
      false,
    ]);
    expect(await Promise.all([first, second])).toEqual(['awake', 'awake']);
    await pauses.set('s1', 'a', false, 'human');
    expect((await flags()).map(({ paused, by }) => ({ paused, by }))).toEqual([
      { paused: true, by: 'human' },
      { paused: false, by: 'human' },
    ]);
  });

  it('tells whoever subscribed of each change, when it is on disk, and goes on where one of them fails', async () => {
    const { pauses, resting, failures } = await begin();
    const heard: unknown[] = [];
    pauses.subscribe(() => {
      throw new Error('a listener that fails');
    });
    const stop = pauses.subscribe((change) => heard.push({ ...change, resting: resting() }));
    await pauses.set('s1', 'a', true, 'human');
    await pauses.set('s1', 'a', true, 'human');
    await pauses.set('s1', 'a', false, 'human');
    stop();
    await pauses.set('s1', 'a', true, 'human');
    expect(heard).toEqual([
      { sessionId: 's1', agentId: 'a', paused: true, resting: ['a'] },
      { sessionId: 's1', agentId: 'a', paused: false, resting: [] },
    ]);
    expect(failures).toHaveLength(3);
  });

  it('ends a wait when its limit is over, not before, and when whoever waits gives up', async () => {
    const { pauses, timers } = await begin();
    await pauses.set('s1', 'a', true, 'human');
    const ended: PauseWait[] = [];
    const waiter = new AbortController();
    const late = pauses.wait('a', { signal: never, limitMs: 1_000 }).then((how) => ended.push(how));
    const aborted = pauses.wait('a', { signal: waiter.signal, limitMs: Infinity });
    timers.advance(999);
    expect([ended, pauses.waiting()]).toEqual([[], 2]);
    timers.advance(1);
    await late;
    expect(ended).toEqual(['late']);
    waiter.abort();
    expect(await aborted).toBe('aborted');
    expect(await pauses.wait('a', { signal: waiter.signal, limitMs: Infinity })).toBe('aborted');
    expect(await pauses.wait('a', { signal: never, limitMs: 0 })).toBe('late');
    expect(pauses.waiting()).toBe(0);
    expect(timers.waiting()).toEqual([]);
  });

  it('ends every wait with the session, and nothing goes over into the next', async () => {
    const { pauses, timers } = await begin();
    await pauses.set('s1', 'a', true, 'human');
    await pauses.set('s1', 'b', true, 'human');
    const waits = [pauses.wait('a', FOREVER), pauses.wait('b', { signal: never, limitMs: 1_000 })];
    pauses.end('another session');
    expect(pauses.waiting()).toBe(2);
    pauses.end('s1');
    expect(await Promise.all(waits)).toEqual(['ended', 'ended']);
    expect([pauses.waiting(), timers.waiting()]).toEqual([0, []]);
    expect(await pauses.wait('a', FOREVER), 'no session runs').toBe('awake');

    pauses.begin('s2');
    expect([pauses.get('s1', 'a'), pauses.get('s2', 'a')]).toEqual([null, null]);
    expect(await pauses.wait('a', FOREVER), 'it is not in the session').toBe('awake');
    await pauses.join('a');
    expect([pauses.isPaused('a'), pauses.get('s2', 'a')]).toEqual([false, false]);
    expect(await pauses.set('s1', 'a', true, 'human')).toBeNull();
    expect(await pauses.wait('a', FOREVER)).toBe('awake');
  });

  it('ends the waits of a session when another starts without its end', async () => {
    const { pauses } = await begin();
    await pauses.set('s1', 'a', true, 'human');
    const wait = pauses.wait('a', FOREVER);
    pauses.begin('s1');
    expect(pauses.waiting()).toBe(1);
    pauses.begin('s2');
    expect(await wait).toBe('ended');
  });

  it('sets no flag for a session that ends during the write', async () => {
    const { pauses } = await begin();
    const set = pauses.set('s1', 'a', true, 'human');
    const join = pauses.join('e');
    pauses.end('s1');
    pauses.begin('s2');
    await pauses.join('a');
    expect([await set, await join]).toEqual([null, undefined]);
    expect([pauses.get('s2', 'a'), pauses.get('s2', 'e'), pauses.isPaused('e')]).toEqual([false, null, false]);
  });

  it('does not hold an agent that has left the session', async () => {
    const { pauses, log } = await begin();
    await pauses.set('s1', 'a', true, 'human');
    const wait = pauses.wait('a', FOREVER);
    await log.append([
      {
        kind: 'agent-asleep',
        time: 7,
        agentId: 'a',
        position: 0,
        sessionId: 's1',
        reason: { code: 'failed', message: 'It failed.' },
      },
    ]);
    expect(await wait).toBe('awake');
    expect([pauses.isPaused('a'), pauses.get('s1', 'a')]).toEqual([false, null]);
  });

  it('stays as it is where the change cannot be written', async () => {
    const { pauses } = await begin();
    const failing = createPauses({
      log: {
        append: () => Promise.reject(new Error('the disk is full')),
        subscribe: () => () => undefined,
        snapshot: () => NO_SESSION,
      },
      configs: { agent: () => Promise.resolve(effectiveConfig()) },
      now: () => 7,
      timers: createManualTimers(),
      onListenerError: () => undefined,
    });
    failing.begin('s1');
    await failing.join('a');
    await expect(failing.set('s1', 'a', true, 'human')).rejects.toThrow('the disk is full');
    expect(failing.isPaused('a')).toBe(false);
    await expect(failing.set('s1', 'a', true, 'human'), 'the next has its turn').rejects.toThrow('the disk is full');
    pauses.close();
  });

  describe('by its calls', () => {
    const outcomes: { next: Pick<WakeDecision, 'outcome' | 'detail'> } = {
      next: { outcome: 'granted', detail: 'Granted.' },
    };

    async function served() {
      const asked: { agentId: string; source: WakeSource }[] = [];
      const { pauses, flags, log } = await begin();
      const routes = createPauseRoutes({
        pauses,
        directory: { find: (called) => Promise.resolve(findMember([LEAD, ALMA], called)) },
        sessionId: () => 's1',
        callerOf(context, agentId) {
          const credential = context.req.header('authorization');
          if (credential === undefined) return Promise.resolve({ kind: 'person' });
          if (credential === `Bearer ${agentId}`) return Promise.resolve({ kind: 'api', name: agentId });
          throw problem(403, 'other-agent', 'This credential is another agent’s.');
        },
        wake(agentId, source) {
          asked.push({ agentId, source });
          return Promise.resolve(outcomes.next);
        },
      });
      return { pauses, flags, log, asked, ...(await serveRoutes(routes)) };
    }
    const at = (sessionId: string, agentId: string) => `/api/v1/sessions/${sessionId}/${agentId}/sleeping`;

    it('is not cleared past the gate by a call during its write', async () => {
      const { call, close, asked, pauses, log } = await served();
      const { append } = log;
      let reached: () => void = () => undefined;
      const onDisk = new Promise<void>((resolve) => (reached = resolve));
      Object.assign(log, { append: async (events: Parameters<typeof append>[0]) => onDisk.then(() => append(events)) });
      const setting = pauses.set('s1', 'a', true, 'human');
      expect(await call('PUT', at('s1', 'a'), { sleeping: false })).toEqual({ status: 200, body: { sleeping: false } });
      reached();
      expect(await setting).toBe(true);
      expect(asked).toEqual([]);
      expect(pauses.isPaused('a')).toBe(true);
      await close();
    });

    it('is read, set and cleared by PUT and POST alike, and waking asks the gate', async () => {
      const { call, close, asked, flags } = await served();
      expect(await call('GET', at('s1', 'a'))).toEqual({ status: 200, body: { sleeping: false } });
      expect(await call('PUT', at('s1', 'a'), { sleeping: true })).toEqual({ status: 200, body: { sleeping: true } });
      expect(await call('POST', at('s1', 'a'), { sleeping: true })).toEqual({ status: 200, body: { sleeping: true } });
      expect(await call('GET', at('s1', 'a'))).toEqual({ status: 200, body: { sleeping: true } });
      expect(asked).toEqual([]);
      expect(await call('POST', at('s1', 'a'), { sleeping: false })).toEqual({
        status: 200,
        body: { sleeping: false },
      });
      expect(await call('PUT', at('s1', 'a'), { sleeping: false })).toEqual({ status: 200, body: { sleeping: false } });
      expect(asked).toEqual([{ agentId: 'a', source: { kind: 'person' } }]);
      expect((await flags()).map(({ paused, by }) => ({ paused, by }))).toEqual([
        { paused: true, by: 'human' },
        { paused: false, by: 'human' },
      ]);
      await close();
    });

    it('finds an agent by its name, the running session without its id, and the lead, which never sleeps', async () => {
      const { call, close, pauses } = await served();
      expect(await call('PUT', at('current', 'alma'), { sleeping: true })).toEqual({
        status: 200,
        body: { sleeping: true },
      });
      expect(pauses.isPaused('a')).toBe(true);
      expect(await call('GET', at('s1', 'Alma'))).toEqual({ status: 200, body: { sleeping: true } });
      for (const lead of ['lead', 'Julian']) {
        expect(await call('GET', at('current', lead))).toEqual({ status: 200, body: { sleeping: false } });
        expect(await call('PUT', at('s1', lead), { sleeping: false })).toEqual({
          status: 200,
          body: { sleeping: false },
        });
        expect(await call('PUT', at('s1', lead), { sleeping: true })).toMatchObject({
          status: 409,
          body: { detail: expect.stringContaining('lead cannot be set to sleep') as unknown },
        });
        expect(await call('GET', at('s0', lead))).toMatchObject({ status: 404 });
      }
      await close();
    });

    it('lets an agent’s own credential call, as such, and stays asleep where the gate says no', async () => {
      const { call, close, asked, pauses, flags } = await served();
      const own = { authorization: 'Bearer a' };
      expect(await call('PUT', at('s1', 'a'), { sleeping: true }, own)).toMatchObject({ status: 200 });
      outcomes.next = { outcome: 'suppressed', detail: 'Woken 20 s ago; 280 s are left.' };
      expect(await call('PUT', at('s1', 'a'), { sleeping: false }, own)).toMatchObject({
        status: 409,
        body: { detail: 'Woken 20 s ago; 280 s are left.' },
      });
      expect(pauses.isPaused('a')).toBe(true);
      outcomes.next = { outcome: 'granted', detail: 'Granted.' };
      expect(await call('PUT', at('s1', 'a'), { sleeping: false }, own)).toMatchObject({ status: 200 });
      expect(asked.map(({ source }) => source)).toEqual([
        { kind: 'api', name: 'a' },
        { kind: 'api', name: 'a' },
      ]);
      expect((await flags()).map(({ by }) => by)).toEqual(['a', 'a']);
      expect(await call('GET', at('s1', 'a'), undefined, { authorization: 'Bearer b' })).toMatchObject({ status: 403 });
      expect(await call('PUT', at('s1', 'b'), { sleeping: true }, own)).toMatchObject({ status: 403 });
      await close();
    });

    it('is a 404 for an unknown session or agent, and a 400 for invalid input', async () => {
      const { call, close } = await served();
      for (const path of [at('s0', 'a'), at('s1', 'nobody'), at('s1', 'x'.repeat(200))]) {
        expect(await call('GET', path)).toMatchObject({ status: 404 });
        for (const method of ['PUT', 'POST'])
          expect(await call(method, path, { sleeping: true })).toMatchObject({ status: 404 });
      }
      expect(await call('PUT', at('s1', 'a'), { sleeping: 'yes' })).toMatchObject({
        status: 400,
        body: { errors: [{ field: 'sleeping' }] },
      });
      expect(await call('PUT', at('s1', 'a'), {})).toMatchObject({ status: 400 });
      expect(await call('DELETE', at('s1', 'a'))).toMatchObject({ status: 405 });
      await close();
    });
  });
});
