import { describe, expect, it } from 'vitest';
import type { PauseWait } from '../../../../server/team/pauses/index.ts';
import { createPauses } from '../../../../server/team/pauses/index.ts';
import type { EventOf, RoostEvent, StoredEvent } from '../../../../src/shared/protocol/events.ts';
import { NO_SESSION } from '../../../../src/shared/protocol/live.ts';
import { effectiveConfig } from '../../../support/effective-config.ts';
import { createManualTimers } from '../../../support/manual-timers.ts';
import { createRandom } from '../../../support/random.ts';

const SEEDS = 400;
const STEPS = 60;
const AGENTS = ['a', 'b', 'e'] as const;

/** A log that commits when it is told to, in order. */
function createHeldLog() {
  const written: RoostEvent[] = [];
  const held: { readonly events: readonly RoostEvent[]; readonly resolve: (stored: StoredEvent[]) => void }[] = [];
  return {
    written,
    held: () => held.length,
    commit() {
      const next = held.shift();
      if (!next) return;
      written.push(...next.events);
      next.resolve(next.events.map((event, i) => ({ id: written.length - next.events.length + i + 1, event })));
    },
    append: (events: readonly RoostEvent[]) => new Promise<StoredEvent[]>((resolve) => held.push({ events, resolve })),
    subscribe: () => () => undefined,
    snapshot: () => NO_SESSION,
  };
}

interface Waiter {
  readonly agentId: string;
  readonly sessionId: string | null;
  readonly asleepAtFirst: boolean;
  readonly clearedBefore: number;
  readonly dueAt: number;
  readonly abort: AbortController;
  readonly answers: { readonly how: PauseWait; readonly at: number }[];
}

/** Lets everything run that does not wait for the log, a timer or a signal. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function play(seed: number): Promise<{ waits: number; answers: Set<PauseWait> }> {
  const random = createRandom(seed);
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)];
  const log = createHeldLog();
  const timers = createManualTimers();
  let clock = 0;
  let sessions = 0;
  let sessionId: string | null = null;
  const ended = new Set<string>();
  const waiters: Waiter[] = [];
  const cleared = new Map<string, number>();
  const sets: Promise<void>[] = [];
  const configs = {
    agent: (agentId: string) =>
      Promise.resolve(effectiveConfig({ sleepEvents: agentId === 'e' ? ['agent_started'] : [] })),
  };
  const pauses = createPauses({
    log,
    configs,
    now: () => clock,
    timers,
    onListenerError: (error) => {
      throw error;
    },
  });
  pauses.subscribe(({ agentId, paused }) => {
    if (!paused) cleared.set(agentId, (cleared.get(agentId) ?? 0) + 1);
  });

  const moves: Record<string, () => void> = {
    session() {
      if (sessionId !== null && random() < 0.3) {
        pauses.end(sessionId);
        ended.add(sessionId);
        sessionId = null;
      } else if (sessionId === null) {
        sessionId = `s${++sessions}`;
        pauses.begin(sessionId);
        for (const agentId of AGENTS) sets.push(pauses.join(agentId));
      }
    },
    set() {
      const agentId = pick(AGENTS) ?? 'a';
      const asked = random() < 0.5;
      const into = sessionId ?? 'none';
      const set = pauses.set(into, agentId, asked, 'human').then((answer) => {
        if (answer === null) expect(ended.has(into) || into === 'none').toBe(true);
        else expect(answer).toBe(asked);
      });
      sets.push(set);
    },
    wait() {
      const agentId = pick(AGENTS) ?? 'a';
      const limitMs = random() < 0.5 ? Infinity : 1 + Math.floor(random() * 20);
      const abort = new AbortController();
      const waiter: Waiter = {
        agentId,
        sessionId,
        asleepAtFirst: pauses.isPaused(agentId),
        clearedBefore: cleared.get(agentId) ?? 0,
        dueAt: clock + limitMs,
        abort,
        answers: [],
      };
      waiters.push(waiter);
      void pauses
        .wait(agentId, { signal: abort.signal, limitMs })
        .then((how) => waiter.answers.push({ how, at: clock }));
    },
    abort() {
      pick(waiters.filter(({ answers }) => answers.length === 0))?.abort.abort();
    },
    commit: () => log.commit(),
    time() {
      const ms = 1 + Math.floor(random() * 8);
      clock += ms;
      timers.advance(ms);
    },
  };
  const bag = ['session', 'set', 'set', 'set', 'wait', 'wait', 'wait', 'abort', 'commit', 'commit', 'commit', 'time'];

  for (let step = 0; step < STEPS; step++) {
    moves[pick(bag) ?? 'commit']?.();
    // Sometimes several moves are made in one go.
    if (random() < 0.3) continue;
    await settle();
    const open = waiters.filter(({ answers }) => answers.length === 0);
    expect(pauses.waiting(), 'each that has no answer waits still').toBe(open.length);
    expect(
      open.filter(({ agentId }) => pauses.get(sessionId ?? '', agentId) === false),
      'nobody waits for an agent that is awake',
    ).toEqual([]);
  }
  for (await settle(); log.held() > 0; await settle()) log.commit();
  if (sessionId !== null) {
    pauses.end(sessionId);
    ended.add(sessionId);
  }
  await settle();
  await Promise.all(sets);

  for (const waiter of waiters) {
    expect(waiter.answers, 'each is answered exactly once').toHaveLength(1);
    for (const { how, at } of waiter.answers) {
      if (how === 'awake')
        expect(!waiter.asleepAtFirst || (cleared.get(waiter.agentId) ?? 0) > waiter.clearedBefore, 'it was woken').toBe(
          true,
        );
      if (how === 'late') expect(at).toBeGreaterThanOrEqual(waiter.dueAt);
      if (how === 'ended') expect(ended).toContain(waiter.sessionId);
      if (how === 'aborted') expect(waiter.abort.signal.aborted).toBe(true);
    }
  }
  const flags = log.written.filter((event): event is EventOf<'pause-flag'> => event.kind === 'pause-flag');
  for (const key of new Set(flags.map((flag) => `${flag.sessionId} ${flag.agentId}`))) {
    const story = flags.filter((flag) => `${flag.sessionId} ${flag.agentId}` === key).map(({ paused }) => paused);
    expect(story, 'no change is written twice').toEqual(story.map((_, i) => i % 2 === 0));
  }
  expect(pauses.waiting()).toBe(0);
  expect(timers.waiting()).toEqual([]);
  return { waits: waiters.length, answers: new Set(waiters.flatMap(({ answers }) => answers.map(({ how }) => how))) };
}

describe('sleeping and waking in any order', () => {
  it('answers everyone who waits exactly once, rightly, and leaves nobody behind', async () => {
    const outcome = { waits: 0, answers: new Set<PauseWait>() };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { waits, answers } = await play(seed).catch((error: unknown) => {
        throw new Error(`seed ${seed}`, { cause: error });
      });
      outcome.waits += waits;
      for (const how of answers) outcome.answers.add(how);
    }
    expect(outcome.waits).toBeGreaterThan(SEEDS * 5);
    expect([...outcome.answers].sort()).toEqual(['aborted', 'awake', 'ended', 'late']);
  });
});
