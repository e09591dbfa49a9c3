import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  finalForgets,
  FORGET_AFTER,
  pendingForgets,
  type Forget,
  type ForgetUndo,
  sourceHash,
} from '../../../../src/shared/domain/forgetting.ts';
import { isCovered } from '../../../../src/shared/protocol/documents/kinds.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';

const stamp = (time: number) => formatStamp({ time, counter: 0, node: 'test' });
const asked = (time: number, kind: 'agent' | 'conversation' = 'conversation', agentId = 'a1'): Forget => ({
  _id: `forget:${time}`,
  at: stamp(time),
  target: { kind, agentId },
  finalAt: time + FORGET_AFTER,
});
const undone = (forget: Forget, time: number): ForgetUndo => ({ forgetId: forget._id, at: stamp(time) });

describe('forgetting a conversation', () => {
  it('covers what was said with that agent before the asking, and nothing else', () => {
    const forget = asked(1_000);
    const doc = (type: string, time: number, agentId = 'a1') => ({ type, at: stamp(time), agentId });
    for (const type of ['message', 'queued-message', 'message-read']) {
      expect(isCovered(doc(type, 999), forget)).toBe(true);
      expect(isCovered(doc(type, 1_000), forget)).toBe(false);
      expect(isCovered(doc(type, 999, 'a2'), forget)).toBe(false);
    }
    expect(isCovered(doc('agent-identity', 1), forget)).toBe(false);
    expect(isCovered({ type: 'setting', at: stamp(1) }, forget)).toBe(false);
  });
});

describe('forgetting a span of time', () => {
  const forget = (agentId: string | null): Forget => ({
    ...asked(9_000),
    target: { kind: 'span', agentId, from: 1_000, to: 2_000 },
  });
  const said = (time: number, agentId = 'a1') => ({ type: 'message', at: stamp(time), agentId });

  it('covers what was said within it, with one agent or with all', () => {
    for (const [time, covered] of [
      [999, false],
      [1_000, true],
      [1_999, true],
      [2_000, false],
    ] as const)
      expect(isCovered(said(time), forget('a1'))).toBe(covered);
    expect(isCovered(said(1_500, 'a2'), forget('a1'))).toBe(false);
    expect(isCovered(said(1_500, 'a2'), forget(null))).toBe(true);
    expect(isCovered({ type: 'agent-identity', at: stamp(1_500), agentId: 'a1' }, forget(null))).toBe(false);
  });
});

describe('forgetting what mentions a person or a page', () => {
  it('covers the documents that it names, and no others', () => {
    const target = { kind: 'items', what: 'words', agentId: null, sources: [sourceHash('message:m1')] } as const;
    const forget: Forget = { ...asked(1_000), target };
    const said = (id: string) => ({ _id: `message:${id}`, type: 'message', at: stamp(10), agentId: 'a1' });
    expect(isCovered(said('m1'), forget)).toBe(true);
    expect(isCovered(said('m2'), forget)).toBe(false);
    expect(isCovered({ type: 'message', at: stamp(10), agentId: 'a1' }, forget)).toBe(false);
  });

  it('tells a million ids apart', () => {
    const ids = Array.from(
      { length: 1_000_000 },
      (_, i) => `message:00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    );
    expect(new Set(ids.map(sourceHash)).size).toBe(ids.length);
  });
});

describe('what an agent keeps', () => {
  const memory = (by: 'human' | 'agent', changedAt: number, rest: object = {}) => ({
    type: 'memory',
    at: stamp(changedAt + 5_000),
    agentId: 'a1',
    value: { agentId: 'a1', path: 'notes.md', text: 'A note\n', removed: false, source: { by }, changedAt, ...rest },
  });

  it('forgets memory with the conversation it came from, but not what the person wrote', () => {
    expect(isCovered(memory('agent', 999), asked(1_000))).toBe(true);
    expect(isCovered(memory('agent', 1_001), asked(1_000))).toBe(false);
    expect(isCovered(memory('human', 999), asked(1_000))).toBe(false);
    expect(isCovered(memory('agent', 999), asked(1_000, 'conversation', 'a2'))).toBe(false);
  });

  it('forgets a file when one of its lines replaced a line from that conversation', () => {
    const lines = (time: number) => ({
      sources: [{ by: 'agent' }, { by: 'human' }],
      origins: [
        { source: 0, time, after: [] },
        { source: 1, time: 3_000, after: [0] },
      ],
      runs: [[1, 0, 1]],
    });
    expect(isCovered(memory('human', 3_000, { lines: lines(999) }), asked(1_000))).toBe(true);
    expect(isCovered(memory('human', 3_000, { lines: lines(1_001) }), asked(1_000))).toBe(false);
  });

  it('judges a file by its last write when its list of lines fits no schema', () => {
    expect(isCovered(memory('agent', 999, { lines: { origins: 7 } }), asked(1_000))).toBe(true);
  });
});

describe('forgetting an agent', () => {
  it('covers its attempts at tasks, also those of which only the value names it', () => {
    const forget = asked(1_000, 'agent');
    const attempt = (agentId: string) => ({ type: 'attempt', at: stamp(1), value: { agentId } });
    expect(isCovered(attempt('a1'), forget)).toBe(true);
    expect(isCovered(attempt('a2'), forget)).toBe(false);
  });
  it('covers everything about it, whenever it was written, of whatever kind, but not the asking itself', () => {
    const forget = asked(1_000, 'agent');
    for (const type of ['agent-identity', 'agent-change', 'message', 'memory', 'of a newer app'])
      for (const time of [1, 999_999]) expect(isCovered({ type, at: stamp(time), agentId: 'a1' }, forget)).toBe(true);
    for (const type of ['forget', 'forget-undo'])
      expect(isCovered({ type, at: stamp(1), agentId: 'a1' }, forget)).toBe(false);
  });
});

describe('what was asked for', () => {
  it('keeps a request pending until the last millisecond of 30 days, and final from then on', () => {
    const forget = asked(1_000);
    expect(pendingForgets([forget], [], forget.finalAt - 1)).toEqual([forget]);
    expect(finalForgets([forget], [], forget.finalAt - 1)).toEqual([]);
    expect(pendingForgets([forget], [], forget.finalAt)).toEqual([]);
    expect(finalForgets([forget], [], forget.finalAt)).toEqual([forget]);
  });

  it('cancels a request that is undone in time; undone too late, it stays final', () => {
    const forget = asked(1_000);
    const inTime = undone(forget, forget.finalAt - 1);
    const late = undone(forget, forget.finalAt);
    for (const now of [1_001, forget.finalAt - 1, forget.finalAt, forget.finalAt * 2]) {
      expect(pendingForgets([forget], [inTime], now)).toEqual([]);
      expect(finalForgets([forget], [inTime], now)).toEqual([]);
    }
    expect(finalForgets([forget], [late], forget.finalAt)).toEqual([forget]);
    expect(finalForgets([forget], [{ ...inTime, forgetId: 'forget:other' }], forget.finalAt)).toEqual([forget]);
    expect(finalForgets([forget], [{ ...inTime, at: 'no stamp' }], forget.finalAt)).toEqual([forget]);
  });

  it('is either pending or final at every moment, unless it was undone', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1e12 }), { maxLength: 5 }),
        fc.integer({ min: 0, max: 2e12 }),
        (times, now) => {
          const forgets = [...new Set(times)].map((time) => asked(time));
          const split = [...pendingForgets(forgets, [], now), ...finalForgets(forgets, [], now)];
          expect(split.map(({ _id }) => _id).sort()).toEqual(forgets.map(({ _id }) => _id).sort());
        },
      ),
    );
  });
});
