import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  eventSchema,
  snapshotSchema,
  type EventKind,
  type EventOf,
  type RoostEvent,
  type Snapshot,
  type StoredEvent,
} from '../../../../src/shared/protocol/events.ts';
import { applyEvent, liveSessionOf, NO_SESSION } from '../../../../src/shared/protocol/live.ts';
import { someHistory } from './arbitraries.ts';

const fold = (events: readonly StoredEvent[], from: Snapshot = NO_SESSION) => events.reduce(applyEvent, from);
const log = (...events: Record<string, unknown>[]): StoredEvent[] =>
  events.map((event, i) => ({ id: i + 1, event: eventSchema.parse({ time: 10 + i, sessionId: 's1', ...event }) }));

const mind = { kind: 'rehearsal', leadModel: 'r', agentModel: 'r' };
const begin = { kind: 'session-started', mind };
const reason = { code: 'failed', message: 'The model refused.' };
const wake = (callId: string, ...positions: number[]) => ({
  kind: 'call-started',
  callId,
  call: 'wake',
  seats: positions.map((position) => ({ agentId: `a${position}`, position, name: 'Lyra' })),
});
const summon = (callId: string, ...positions: number[]) => ({ ...wake(callId, ...positions), call: 'summon' });
const about = (kind: EventKind, position: number, more: object = {}) => ({
  kind,
  agentId: `a${position}`,
  position,
  ...more,
});
const born = (position: number) =>
  about('agent-born', position, { name: 'Lyra', color: '#fff', colorName: 'White', soul: 'I am', bornAt: 1 });
const live = (...events: Record<string, unknown>[]) => liveSessionOf(fold(log(...events)));

describe('the running session', () => {
  it('builds the same state from all events, from a snapshot on, and from repeated events', () => {
    fc.assert(
      fc.property(someHistory, fc.nat(), fc.nat(), (history, a, b) => {
        const whole = fold(history);
        const cut = a % (history.length + 1);
        const again = Math.min(cut, b % (history.length + 1));
        const snapshot = snapshotSchema.parse(JSON.parse(JSON.stringify(fold(history.slice(0, cut)))));
        expect(fold(history.slice(again), snapshot)).toEqual(whole);
      }),
      { numRuns: 1000 },
    );
  });

  it('applies each event at most once, and never mutates the state', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        let state = NO_SESSION;
        for (const stored of history) {
          const before = structuredClone(state);
          const after = applyEvent(state, stored);
          expect(state).toEqual(before);
          expect(applyEvent(after, stored)).toBe(after);
          expect(after.upTo).toBe(stored.id);
          state = after;
        }
        expect(snapshotSchema.parse(state)).toEqual(state);
      }),
    );
  });

  it('lists nobody twice, and nobody as awake and asleep at once', () => {
    fc.assert(
      fc.property(someHistory, (history) => {
        const session = fold(history).session;
        if (!session) return;
        const all = [...session.awake, ...session.asleep.map((each) => each.agentId)];
        expect(new Set(all).size).toBe(all.length);
        const stirring = session.hatching.map((each) => each.agentId);
        expect(new Set(stirring).size).toBe(stirring.length);
      }),
    );
  });

  it('has no session before the start and after the end, and says how it ended', () => {
    expect(live()).toBeNull();
    expect(liveSessionOf(null)).toBeNull();
    const state = fold(log(begin, wake('w', 0), about('agent-awake', 0), { kind: 'session-ended', reason: 'idle' }));
    expect(state).toEqual({
      upTo: 4,
      session: null,
      runs: [],
      answering: [],
      lastEnd: { sessionId: 's1', reason: 'idle', endedAt: 13 },
    });
    expect(liveSessionOf(state)).toBeNull();
  });

  it('started anew begins with everyone asleep', () => {
    const state = fold(log(begin, wake('w', 0), about('agent-awake', 0), { ...begin, sessionId: 's2' }));
    expect(liveSessionOf(state)).toEqual({
      sessionId: 's2',
      awake: new Set(),
      clients: new Map(),
      paused: new Set(),
      waking: new Set(),
      births: new Set(),
    });
  });

  it('wakes nobody because of messages outside a session', () => {
    expect(live(about('agent-awake', 0), wake('w', 0))).toBeNull();
  });
});

describe('a sleeping flag', () => {
  const here = [begin, wake('w', 0, 1), about('agent-awake', 0), about('agent-awake', 1)];
  const flag = (position: number, paused: boolean) => about('pause-flag', position, { paused, by: 'human' });

  it('says who of those awake is set to sleep, once, until it is cleared', () => {
    expect(live(...here, flag(0, true), flag(1, true), flag(0, true))).toMatchObject({
      awake: new Set(['a0', 'a1']),
      paused: new Set(['a0', 'a1']),
    });
    expect(live(...here, flag(0, true), flag(1, true), flag(0, false), flag(0, false))).toMatchObject({
      paused: new Set(['a1']),
    });
  });

  it('clears a sleeping flag when its agent falls asleep, and with the session', () => {
    expect(live(...here, flag(0, true), about('agent-asleep', 0, { reason }))).toMatchObject({
      awake: new Set(['a1']),
      paused: new Set(),
    });
    expect(
      live(...here, flag(0, true), { kind: 'session-ended', reason: 'ended' }, { ...begin, sessionId: 's2' }),
    ).toMatchObject({ paused: new Set() });
  });
});

describe('a wake', () => {
  it('stirs the called ones, and each wakes with its own first words', () => {
    expect(live(begin, wake('w', 0, 1))).toMatchObject({ waking: new Set(['a0', 'a1']), awake: new Set() });
    expect(live(begin, wake('w', 0, 1), about('agent-awake', 1))).toMatchObject({
      waking: new Set(['a0']),
      awake: new Set(['a1']),
    });
  });

  it('leaves an agent that ignores a wake asleep with the reason, and the others unchanged', () => {
    const state = fold(log(begin, wake('w', 0, 1), about('agent-awake', 1), about('agent-asleep', 0, { reason })));
    expect(liveSessionOf(state)).toMatchObject({ waking: new Set(), awake: new Set(['a1']) });
    expect(state.session?.asleep).toEqual([{ agentId: 'a0', reason }]);
  });

  it('called again takes the old reason away', () => {
    const state = fold(log(begin, wake('w', 0), about('agent-asleep', 0, { reason }), wake('w2', 0)));
    expect(state.session).toMatchObject({ asleep: [], hatching: [{ agentId: 'a0', callId: 'w2' }] });
  });

  it('leaves nobody stirring when a wake ends, except for those of another call', () => {
    const state = fold(log(begin, wake('w', 0, 1), wake('w2', 2), { kind: 'call-ended', callId: 'w', error: null }));
    expect(liveSessionOf(state)?.waking).toEqual(new Set(['a2']));
  });

  it('puts an agent that was awake to sleep only when that is said', () => {
    const said = [begin, wake('w', 0), about('agent-awake', 0), { kind: 'call-ended', callId: 'w', error: null }];
    expect(live(...said)?.awake).toEqual(new Set(['a0']));
    expect(live(...said, about('agent-asleep', 0, { reason }))?.awake).toEqual(new Set());
  });
});

describe('a summon', () => {
  it('lays eggs in seats; who is born is awake, who is not leaves the seat empty', () => {
    expect(live(begin, summon('w', 0, 1))).toMatchObject({ births: new Set([0, 1]), waking: new Set() });
    expect(live(begin, summon('w', 0, 1), born(0), about('birth-ended', 1, { reason }))).toMatchObject({
      births: new Set(),
      awake: new Set(['a0']),
    });
  });
});

describe('an answer', () => {
  it('keeps an answer open from its start to its message', () => {
    const start = { kind: 'answer-started', messageId: 'm1', agentId: 'a0' };
    const end = { ...messageOf('m1'), agentId: 'a0' };
    const text = { kind: 'text', messageId: 'm1', text: 'Hello' };
    expect(fold(log(begin, start, text)).answering).toMatchObject([{ messageId: 'm1', agentId: 'a0' }]);
    expect(fold(log(begin, start, text, end)).answering).toEqual([]);
  });
});

describe('a run', () => {
  const started = (runId: string, sessionId: string | null) =>
    ({ kind: 'run-started', runId, agentId: 'a0', sessionId, cause: { kind: 'pulse', routine: 'Round' } }) as const;
  const ended = {
    kind: 'run-ended',
    runId: 'r1',
    agentId: 'a0',
    sessionId: null,
    outcome: 'done',
    reason: null,
  } as const;
  const answer = { kind: 'answer-started', messageId: 'm1', agentId: 'a0', sessionId: null, runId: 'r1' } as const;

  it('keeps a run under way from start to end across sessions, and drops those of an ended session', () => {
    const both = fold(
      log(started('r1', null), answer, begin, started('r2', 's1'), { kind: 'session-ended', reason: 'idle' }),
    );
    expect(both.runs).toMatchObject([{ runId: 'r1', agentId: 'a0', sessionId: null, startedBy: 1 }]);
    expect(both.answering).toMatchObject([{ messageId: 'm1', runId: 'r1' }]);
    expect(liveSessionOf(both)).toBeNull();
  });

  it('leaves nothing open behind it', () => {
    const state = fold(log(started('r1', null), answer, { ...ended, usage: null, costMicroUsd: 0, estimated: false }));
    expect([state.runs, state.answering]).toEqual([[], []]);
  });
});

function messageOf(messageId: string): Partial<EventOf<'message'>> & { kind: RoostEvent['kind'] } {
  const nothing = { error: null, usage: null, clientId: null, replaces: null, waiting: false };
  return { kind: 'message', messageId, author: 'a0', role: 'assistant', blocks: [], status: 'complete', ...nothing };
}
