import { describe, expect, it } from 'vitest';
import { createBurst } from '../../../../../src/shared/domain/platform/burst.ts';
import { createDeferred, type Deferred } from '../../../../../src/shared/domain/platform/deferred.ts';
import {
  createLimiter,
  createQueue,
  createQueues,
  createSharedQueue,
} from '../../../../../src/shared/domain/platform/queue.ts';
import { backoff, createTrying } from '../../../../../src/shared/domain/platform/retry.ts';
import { keepLoaded, runAgain, singleFlight } from '../../../../../src/shared/domain/platform/single-flight.ts';
import { createTimerSet, sleep, within } from '../../../../../src/shared/domain/platform/timers.ts';
import { createManualTimers } from '../../../../support/manual-timers.ts';

/** What is left to be done in promises is done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('timers', () => {
  it('sleep for as long as they were told', async () => {
    const timers = createManualTimers();
    let awake = false;
    void sleep(timers.after, 100).then(() => (awake = true));
    timers.advance(99);
    await settled();
    expect(awake).toBe(false);
    timers.advance(1);
    await settled();
    expect(awake).toBe(true);
  });

  it('wait for work no longer than they were told, and leave no timer behind', async () => {
    const timers = createManualTimers();
    const late = within(timers.after, 100, new Promise<string>(() => undefined));
    timers.advance(100);
    expect(await late).toBeNull();
    expect(await within(timers.after, 100, Promise.resolve('done'))).toBe('done');
    await expect(within(timers.after, 100, Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(timers.waiting()).toEqual([]);
  });

  it('end with the set that they belong to', () => {
    const timers = createManualTimers();
    const set = createTimerSet(timers);
    const ran: string[] = [];
    set.after(1, () => ran.push('before'));
    set.after(5, () => ran.push('ended with the set'));
    set.after(1, () => ran.push('cancelled'))();
    timers.advance(2);
    set.close();
    set.after(1, () => ran.push('begun after it'));
    timers.advance(10);
    expect(ran).toEqual(['before']);
    expect(timers.waiting()).toEqual([]);
  });
});

describe('a burst', () => {
  const begin = () => {
    const timers = createManualTimers();
    let runs = 0;
    let busy = false;
    const burst = createBurst({
      after: timers.after,
      quietMs: 10,
      mostMs: 30,
      isBusy: () => busy,
      run: () => (runs += 1),
    });
    return { timers, burst, runs: () => runs, setBusy: (now: boolean) => (busy = now) };
  };

  it('runs once when the burst is over', () => {
    const { timers, burst, runs } = begin();
    burst.add();
    timers.advance(9);
    burst.add();
    timers.advance(9);
    expect(runs()).toBe(0);
    timers.advance(1);
    expect(runs()).toBe(1);
    timers.advance(100);
    expect(runs()).toBe(1);
  });

  it('runs after the longest wait when calls keep coming', () => {
    const { timers, burst, runs } = begin();
    for (let at = 0; at < 30; at += 5) {
      burst.add();
      timers.advance(5);
    }
    expect(runs()).toBe(1);
  });

  it('waits while it would be in the way, and for a quiet moment after that', () => {
    const { timers, burst, runs, setBusy } = begin();
    burst.add();
    setBusy(true);
    timers.advance(15);
    setBusy(false);
    expect(runs()).toBe(0);
    timers.advance(5);
    expect(runs()).toBe(1);
  });

  it('runs after the longest wait when something is always in the way', () => {
    const { timers, burst, runs, setBusy } = begin();
    setBusy(true);
    burst.add();
    timers.advance(29);
    expect(runs()).toBe(0);
    timers.advance(1);
    expect(runs()).toBe(1);
    timers.advance(100);
    expect(runs()).toBe(1);
  });

  it('runs nothing after it was cleared', () => {
    const { timers, burst, runs } = begin();
    burst.add();
    burst.within(5);
    burst.clear();
    timers.advance(100);
    expect(runs()).toBe(0);
    burst.within(5);
    timers.advance(5);
    expect(runs()).toBe(1);
  });
});

describe('single flight', () => {
  it('answers all who ask meanwhile, and begins anew for who asks after', async () => {
    const flights: Deferred<number>[] = [];
    const ask = singleFlight(() => {
      const flight = createDeferred<number>();
      flights.push(flight);
      return flight.promise;
    });
    const both = Promise.all([ask(), ask()]);
    flights[0]?.resolve(1);
    expect(await both).toEqual([1, 1]);
    const third = ask();
    flights[1]?.reject(new Error('no'));
    await expect(third).rejects.toThrow('no');
    expect(flights).toHaveLength(2);
  });

  it('runs once more where somebody asked meanwhile, however many did', async () => {
    const flights: Deferred<void>[] = [];
    const check = runAgain(() => {
      const flight = createDeferred();
      flights.push(flight);
      return flight.promise;
    });
    const first = check();
    await settled();
    void check();
    void check();
    flights[0]?.resolve();
    await settled();
    expect(flights).toHaveLength(2);
    flights[1]?.resolve();
    await first;
    expect(flights).toHaveLength(2);
  });

  it('hears who asks in the very moment in which it ends', async () => {
    for (let microtasks = 0; microtasks < 12; microtasks += 1) {
      let runs = 0;
      const check = runAgain(() => {
        runs += 1;
        return Promise.resolve();
      });
      void check();
      for (let i = 0; i < microtasks; i += 1) await Promise.resolve();
      const before = runs;
      await check();
      expect(runs, `after ${microtasks} microtasks`).toBeGreaterThan(before);
    }
  });

  it('loads again after a failure, also after a synchronous throw', async () => {
    let fails = true;
    const check = runAgain(() => {
      if (fails) throw new Error('no');
      return Promise.resolve();
    });
    await expect(check()).rejects.toThrow('no');
    fails = false;
    await check();
  });
});

describe('what is kept after it was loaded', () => {
  it('loads once, and again after a failure or when it was forgotten', async () => {
    let loads = 0;
    let fails = true;
    const kept = keepLoaded(() => {
      loads += 1;
      return fails ? Promise.reject(new Error('no')) : Promise.resolve(loads);
    });
    await expect(kept.get()).rejects.toThrow('no');
    fails = false;
    expect(await Promise.all([kept.get(), kept.get()])).toEqual([2, 2]);
    kept.forget();
    expect(await kept.get()).toBe(3);
  });

  it('drops a value that changed while it was loading', async () => {
    const loads: Deferred<string>[] = [];
    const kept = keepLoaded(() => {
      const load = createDeferred<string>();
      loads.push(load);
      return load.promise;
    });
    const old = kept.get();
    kept.forget();
    loads[0]?.resolve('as it was');
    expect(await old).toBe('as it was');
    const now = kept.get();
    loads[1]?.resolve('as it is');
    expect(await now).toBe('as it is');
  });

  it('loads again when the value is too old', async () => {
    let time = 0;
    let loads = 0;
    const kept = keepLoaded(() => Promise.resolve((loads += 1)), { forMs: 10, elapsed: () => time });
    expect(await kept.get()).toBe(1);
    time = 9;
    expect(await kept.get()).toBe(1);
    time = 10;
    expect(await kept.get()).toBe(2);
  });
});

describe('what failed', () => {
  it('waits twice as long each time, up to the most, and never less than half of that', () => {
    const limits = { backoffFirst: 100, backoffMost: 1_000 };
    expect([0, 1, 2, 3, 4, 99].map((failures) => backoff(limits, failures, () => 1))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
    expect(backoff(limits, 1, () => 0)).toBe(100);
  });

  it('retries until it succeeds, and reports the end of the trouble when nothing waits', async () => {
    const timers = createManualTimers();
    const told: unknown[] = [];
    const trying = createTrying({ after: timers.after, retryMs: 10, onTrouble: (error) => told.push(error) });
    let fails = true;
    const attempt = trying.attempt(() => (fails ? Promise.reject(new Error('full')) : Promise.resolve('stored')));
    await settled();
    expect(told).toHaveLength(1);
    fails = false;
    timers.advance(10);
    expect(await attempt).toEqual({ value: 'stored' });
    expect(told.at(-1)).toBeNull();
  });

  it('stops retrying when it is closed', async () => {
    const timers = createManualTimers();
    const trying = createTrying({ after: timers.after, retryMs: 10, onTrouble: () => undefined });
    const attempt = trying.attempt(() => Promise.reject(new Error('full')));
    await settled();
    trying.close();
    expect(await attempt).toBeNull();
    expect(timers.waiting()).toEqual([]);
  });
});

describe('a queue', () => {
  it('runs one task after the other, also after a failed one', async () => {
    const queue = createQueue();
    const order: string[] = [];
    const first = queue(async () => {
      await settled();
      order.push('first');
      throw new Error('no');
    });
    const second = queue(() => Promise.resolve(order.push('second')));
    await expect(first).rejects.toThrow('no');
    await second;
    expect(order).toEqual(['first', 'second']);
  });
});

describe('queues by key', () => {
  it('run beside each other where they may, one after another for a key, and alone where they must', async () => {
    const queue = createSharedQueue();
    const gates = [createDeferred(), createDeferred(), createDeferred()] as const;
    const order: string[] = [];
    const task = (name: string, gate?: Deferred<void>) => async () => {
      order.push(`${name} begins`);
      await gate?.promise;
      order.push(`${name} ends`);
    };
    const all = Promise.all([
      queue.beside('a', task('a', gates[0])),
      queue.beside('b', task('b', gates[1])),
      queue.beside('a', task('a again')),
      queue.alone(task('alone', gates[2])),
      queue.beside('a', task('a later')),
    ]);
    await settled();
    expect(order).toEqual(['a begins', 'b begins']);
    gates[0].resolve();
    await settled();
    expect(order.slice(2)).toEqual(['a ends', 'a again begins', 'a again ends']);
    gates[1].resolve();
    await settled();
    expect(order.slice(5)).toEqual(['b ends', 'alone begins']);
    const failing = queue.alone(() => Promise.reject(new Error('no')));
    const after = queue.beside('a', task('after'));
    gates[2].resolve();
    await all;
    await expect(failing).rejects.toThrow('no');
    await after;
    expect(order.slice(7)).toEqual(['alone ends', 'a later begins', 'a later ends', 'after begins', 'after ends']);
  });

  it('queues tasks of one key, and runs tasks of different keys side by side', async () => {
    const inTurn = createQueues<string>();
    const gate: Deferred<void> = createDeferred();
    const order: string[] = [];
    const failing = inTurn('a', async () => {
      await gate.promise;
      order.push('a 1');
      throw new Error('no');
    });
    const second = inTurn('a', () => Promise.resolve(order.push('a 2')));
    await inTurn('b', () => Promise.resolve(order.push('b')));
    gate.resolve();
    await expect(failing).rejects.toThrow('no');
    await second;
    await inTurn('a', () => Promise.resolve(order.push('a 3')));
    expect(order).toEqual(['b', 'a 1', 'a 2', 'a 3']);
  });
});

describe('a limiter', () => {
  it('lets so many be under way at once, in the order in which they came, also where some fail', async () => {
    const limited = createLimiter(2);
    const gates: Deferred<void>[] = [];
    const began: number[] = [];
    const all = [0, 1, 2, 3].map((n) =>
      limited(() => {
        began.push(n);
        gates[n] = createDeferred();
        return gates[n].promise;
      }).then(
        () => `${n} done`,
        () => `${n} failed`,
      ),
    );
    await settled();
    expect(began).toEqual([0, 1]);
    gates[1]?.reject(new Error('no'));
    await settled();
    expect(began).toEqual([0, 1, 2]);
    gates[0]?.resolve();
    await settled();
    expect(began).toEqual([0, 1, 2, 3]);
    gates[2]?.resolve();
    gates[3]?.resolve();
    expect(await Promise.all(all)).toEqual(['0 done', '1 failed', '2 done', '3 done']);
  });
});
