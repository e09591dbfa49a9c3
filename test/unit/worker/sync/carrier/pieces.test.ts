import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJoiner, cut, keepAlive } from '../../../../../src/worker/sync/carrier/carrier.ts';

const MOST = 1_000;
const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => at % 251);
const frames = fc.array(fc.integer({ min: 1, max: MOST }).map(bytes), { maxLength: 5 });

describe('a frame', () => {
  // SPEC 12.1
  it('comes out of its messages as it went in, in a buffer of its own, with keep-alives between them', () => {
    fc.assert(
      fc.property(frames, fc.integer({ min: 8, max: 500 }), (sent, most) => {
        const join = createJoiner(MOST);
        const got: Uint8Array[] = [];
        for (const frame of sent) {
          for (const message of cut(frame, most)) {
            expect(message.length).toBeLessThanOrEqual(most);
            expect(join(keepAlive())).toEqual({ kind: 'nothing' });
            const joined = join(message);
            expect(joined.kind).not.toBe('wrong');
            if (joined.kind === 'frame') got.push(joined.frame);
          }
        }
        expect(got).toEqual(sent);
        for (const frame of got) expect(frame.buffer.byteLength).toBe(frame.length);
      }),
    );
  });

  it('goes as one message where it fits', () => {
    expect([...cut(bytes(95), 100)].length).toBe(1);
    expect([...cut(bytes(96), 100)].map(({ length }) => length)).toEqual([100, 2]);
  });

  it('sends no empty frame', () => {
    expect(() => [...cut(new Uint8Array(0), 100)]).toThrow(RangeError);
  });
});

describe('messages that are none of ours', () => {
  const begun = [...cut(bytes(100), 50)];
  const [first = new Uint8Array(0), second = new Uint8Array(0), third = new Uint8Array(0)] = begun;
  const longest = [...cut(bytes(MOST + 1), 50)];

  // SPEC 12.1
  it.each<[string, readonly Uint8Array[]]>([
    ['an empty one', [new Uint8Array(0)]],
    ['of an unknown kind', [Uint8Array.of(3, 1)]],
    ['a keep-alive that says more', [Uint8Array.of(0, 0)]],
    ['one that begins and has no length', [Uint8Array.of(1, 0, 0, 0)]],
    ['one that begins a frame of nothing', [Uint8Array.of(1, 0, 0, 0, 0)]],
    ['one that begins with no part', [Uint8Array.of(1, 0, 0, 0, 5)]],
    ['one with more than its frame has', [Uint8Array.of(1, 0, 0, 0, 1, 7, 7)]],
    ['one that goes on with nothing', [second]],
    ['one that goes on with no part', [first, Uint8Array.of(2)]],
    ['one that begins before the last frame ended', [first, first]],
    ['one that goes on with too much', [first, second, Uint8Array.from([...third, 1])]],
    ['one that goes on after the end', [first, second, third, third]],
    ['one that begins a frame that is too long', longest],
  ])('%s is wrong', (_what, messages) => {
    const join = createJoiner(MOST);
    expect(messages.map(join).some(({ kind }) => kind === 'wrong')).toBe(true);
  });

  it('never do more than be wrong', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), (messages) => {
        const join = createJoiner(MOST);
        for (const message of messages) {
          const joined = join(message);
          if (joined.kind === 'frame') expect(joined.frame.length).toBeLessThanOrEqual(MOST);
        }
      }),
    );
  });
});
